/* Managed memory: prefetches, advice, and what ranges say of themselves.  Advice is kept for a
 * whole allocation, whatever part of it was named. */
#include "graph.h"
#include <string.h>

#define CPU_BIT 31

static struct alloc *managed(CUdeviceptr ptr, size_t count)
{
	struct alloc *a = sim_memory_find(ptr);
	return a && a->kind == MEM_MANAGED && count && ptr - a->address + count <= a->size ? a
											   : NULL;
}

static CUresult prefetch(CUdeviceptr ptr, size_t count, CUdevice place, CUstream handle)
{
	CUresult error;
	struct stream *stream = sim_stream_get(handle, &error);
	struct alloc *alloc = managed(ptr, count);
	if (!stream)
		return error;
	if (!alloc)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_capturing(stream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	struct op *op = sim_op_new(sim_config.copy_base_ns +
				   (uint64_t)((double)count / sim_config.copy_bytes_per_ns));
	SIM_ALLOC_CHECK(op);
	sim_fill_activity(&op->work, SIM_UVM, stream);
	op->work.bytes = count;
	op->work.address = ptr;
	op->report = true;
	sim_submit(stream, op);
	alloc->advice.prefetched = place;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
				CUstream hStream)
{
	if (dstDevice != CU_DEVICE_CPU && sim_device_check(dstDevice))
		return CUDA_ERROR_INVALID_DEVICE;
	return prefetch(devPtr, count, dstDevice, hStream);
}

CUresult sim_cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
	struct alloc *a = managed(devPtr, count);
	if (!a)
		return CUDA_ERROR_INVALID_VALUE;
	/* Two kinds of advice name no place. */
	if (advice != CU_MEM_ADVISE_SET_READ_MOSTLY && advice != CU_MEM_ADVISE_UNSET_READ_MOSTLY &&
	    advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION && device != CU_DEVICE_CPU &&
	    sim_device_check(device))
		return CUDA_ERROR_INVALID_DEVICE;
	uint32_t bit = 1u << (device < 0 ? CPU_BIT : device);
	switch (advice) {
	case CU_MEM_ADVISE_SET_READ_MOSTLY:
	case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
		a->advice.read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
		return CUDA_SUCCESS;
	case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
		a->advice.preferred = device;
		return CUDA_SUCCESS;
	case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
		a->advice.preferred = CU_DEVICE_INVALID;
		return CUDA_SUCCESS;
	case CU_MEM_ADVISE_SET_ACCESSED_BY:
		a->advice.accessed_by |= bit;
		return CUDA_SUCCESS;
	case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
		a->advice.accessed_by &= ~bit;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

#if CUDA_VERSION >= 12020
/* Nodes of the host are all the CPU. */
static CUresult place_of(const CUmemLocation *location, CUdevice *place)
{
	switch ((int)location->type) {
	case CU_MEM_LOCATION_TYPE_DEVICE:
		*place = location->id;
		return sim_device_check(location->id) ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
	case CU_MEM_LOCATION_TYPE_HOST:
	case CU_MEM_LOCATION_TYPE_HOST_NUMA:
	case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		*place = CU_DEVICE_CPU;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult sim_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
				   unsigned int flags, CUstream hStream)
{
	CUdevice place;
	CUresult error = flags ? CUDA_ERROR_INVALID_VALUE : place_of(&location, &place);
	return error ? error : prefetch(devPtr, count, place, hStream);
}

CUresult sim_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
			    CUmemLocation location)
{
	CUdevice place = CU_DEVICE_CPU;
	bool named = advice != CU_MEM_ADVISE_SET_READ_MOSTLY &&
		     advice != CU_MEM_ADVISE_UNSET_READ_MOSTLY &&
		     advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
	CUresult error = named ? place_of(&location, &place) : CUDA_SUCCESS;
	return error ? error : sim_cuMemAdvise(devPtr, count, advice, place);
}
#endif

#if CUDA_VERSION >= 13000
/* Nothing is done unless all of it can be.  Places may be NULL: what is discarded is nowhere. */
static CUresult batch(CUdeviceptr *dptrs, size_t *sizes, size_t count, const CUmemLocation *places,
		      const size_t *firsts, size_t nplaces, unsigned long long flags,
		      CUstream handle)
{
	CUresult error;
	CUdevice place = CU_DEVICE_INVALID;
	struct stream *stream = sim_stream_get(handle, &error);
	if (!stream)
		return error;
	if (!dptrs || !sizes || !count || flags ||
	    (places && (!firsts || !nplaces || nplaces > count || firsts[0])))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++)
		if (!managed(dptrs[i], sizes[i]))
			return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; places && i < nplaces; i++) {
		if (i && (firsts[i] <= firsts[i - 1] || firsts[i] >= count))
			return CUDA_ERROR_INVALID_VALUE;
		error = place_of(&places[i], &place);
		if (error)
			return error;
	}
	if (sim_capturing(stream))
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	for (size_t i = 0, at = 0; i < count && !error; i++) {
		if (!places) {
			managed(dptrs[i], sizes[i])->advice.prefetched = CU_DEVICE_INVALID;
			continue;
		}
		while (at + 1 < nplaces && firsts[at + 1] <= i)
			at++;
		place_of(&places[at], &place);
		error = prefetch(dptrs[i], sizes[i], place, handle);
	}
	return error;
}

CUresult sim_cuMemPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
				     CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
				     size_t numPrefetchLocs, unsigned long long flags,
				     CUstream hStream)
{
	if (!prefetchLocs)
		return CUDA_ERROR_INVALID_VALUE;
	return batch(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags,
		     hStream);
}

CUresult sim_cuMemDiscardBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
				    unsigned long long flags, CUstream hStream)
{
	return batch(dptrs, sizes, count, NULL, NULL, 0, flags, hStream);
}

/* What was discarded may hold anything afterwards, so it may as well stay as it is. */
CUresult sim_cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *dptrs, size_t *sizes, size_t count,
					       CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs,
					       size_t numPrefetchLocs, unsigned long long flags,
					       CUstream hStream)
{
	return sim_cuMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs,
					   numPrefetchLocs, flags, hStream);
}
#endif

static CUresult accessed_by(int *data, size_t size, uint32_t bits)
{
	if (size % sizeof *data)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0, device = 0; i < size / sizeof *data; i++) {
		while (device <= CPU_BIT && !(bits & 1u << device))
			device++;
		data[i] = device > CPU_BIT    ? CU_DEVICE_INVALID
			  : device == CPU_BIT ? CU_DEVICE_CPU
					      : (int)device;
		device++;
	}
	return CUDA_SUCCESS;
}

static int type_of(CUdevice place)
{
	if (place == CU_DEVICE_INVALID)
		return 0; /* CU_MEM_LOCATION_TYPE_INVALID */
	return place == CU_DEVICE_CPU ? 2 : CU_MEM_LOCATION_TYPE_DEVICE; /* 2: the host */
}

CUresult sim_cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute what,
				    CUdeviceptr devPtr, size_t count)
{
	const struct alloc *a = managed(devPtr, count);
	int *out = data;
	if (!data || !a)
		return CUDA_ERROR_INVALID_VALUE;
	if (what == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
		return accessed_by(out, dataSize, a->advice.accessed_by);
	if (dataSize != sizeof *out)
		return CUDA_ERROR_INVALID_VALUE;
	switch ((int)what) {
	case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
		*out = a->advice.read_mostly;
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
		*out = a->advice.preferred;
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
		*out = a->advice.prefetched;
		return CUDA_SUCCESS;
#if CUDA_VERSION >= 12020
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
		*out = type_of(a->advice.preferred);
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
		*out = a->advice.preferred;
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
		*out = type_of(a->advice.prefetched);
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
		*out = a->advice.prefetched;
		return CUDA_SUCCESS;
#endif
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult sim_cuMemRangeGetAttributes(void **data, size_t *dataSizes,
				     CUmem_range_attribute *attributes, size_t numAttributes,
				     CUdeviceptr devPtr, size_t count)
{
	if (!data || !dataSizes || !attributes || !numAttributes)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < numAttributes; i++) {
		CUresult error =
		    sim_cuMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count);
		if (error)
			return error;
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
				    unsigned int flags)
{
	CUresult error;
	(void)length;
	if (!sim_stream_get(hStream, &error))
		return error;
	return managed(dptr, 1) && flags && flags <= CU_MEM_ATTACH_SINGLE
		   ? CUDA_SUCCESS
		   : CUDA_ERROR_INVALID_VALUE;
}
