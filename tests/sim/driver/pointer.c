/* What an address is: attributes of pointers, of ranges of managed memory, and advice about them.
 */
#include "sim.h"
#include <string.h>

static CUresult attribute(void *data, CUpointer_attribute attribute, const struct alloc *a,
			  CUdeviceptr ptr)
{
	bool host = a && (a->kind == MEM_HOST || a->kind == MEM_REGISTERED);
	switch ((int)attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)data = a ? (CUcontext)a->obj.ctx : NULL;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(CUmemorytype *)data = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)data = ptr;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (a && !host && a->kind != MEM_MANAGED)
			return CUDA_ERROR_INVALID_VALUE;
		*(void **)data = (void *)(uintptr_t)ptr;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		*(int *)data = a && a->sync_memops;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(unsigned long long *)data = a ? a->id : 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(int *)data = a && a->kind == MEM_MANAGED;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = a ? a->device : -2;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		*(int *)data = 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)data = a ? a->address : 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)data = a ? a->size : 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(int *)data = a != NULL;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		*(uint64_t *)data = 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		*(int *)data = a ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
				 : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*(CUmemoryPool *)data = a ? (CUmemoryPool)a->pool : NULL;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult sim_cuPointerGetAttribute(void *data, CUpointer_attribute what, CUdeviceptr ptr)
{
	const struct alloc *a = sim_memory_find(ptr);
	return data && a ? attribute(data, what, a, ptr) : CUDA_ERROR_INVALID_VALUE;
}

/* Unlike the single form, memory that the driver does not know is no error here. */
CUresult sim_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
				    void **data, CUdeviceptr ptr)
{
	const struct alloc *a = sim_memory_find(ptr);
	if (!numAttributes || !attributes || !data)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < numAttributes; i++) {
		if (!data[i])
			return CUDA_ERROR_INVALID_VALUE;
		if (!a && attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
			*(CUmemorytype *)data[i] = (CUmemorytype)0;
		else if (!a && attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER)
			*(CUdeviceptr *)data[i] = 0;
		else if (attribute(data[i], attributes[i], a, ptr) && a)
			memset(data[i], 0, sizeof(int));
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuPointerSetAttribute(const void *value, CUpointer_attribute what, CUdeviceptr ptr)
{
	struct alloc *a = sim_memory_find(ptr);
	if (!value || !a || what != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
		return CUDA_ERROR_INVALID_VALUE;
	a->sync_memops = *(const int *)value != 0;
	return CUDA_SUCCESS;
}

static bool managed_range(CUdeviceptr ptr, size_t count)
{
	const struct alloc *a = sim_memory_find(ptr);
	return a && a->kind == MEM_MANAGED && count && ptr - a->address + count <= a->size;
}

static CUresult prefetch(CUdeviceptr ptr, size_t count, CUstream handle)
{
	CUresult error;
	struct stream *stream = sim_stream_get(handle, &error);
	if (!stream)
		return error;
	if (!managed_range(ptr, count))
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
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
				CUstream hStream)
{
	if (dstDevice != CU_DEVICE_CPU && sim_device_check(dstDevice))
		return CUDA_ERROR_INVALID_DEVICE;
	return prefetch(devPtr, count, hStream);
}

CUresult sim_cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
	if ((int)advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
	    advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY || !managed_range(devPtr, count))
		return CUDA_ERROR_INVALID_VALUE;
	return device != CU_DEVICE_CPU && sim_device_check(device) ? CUDA_ERROR_INVALID_DEVICE
								   : CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12020
CUresult sim_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
				   unsigned int flags, CUstream hStream)
{
	if (flags ||
	    (location.type == CU_MEM_LOCATION_TYPE_DEVICE && sim_device_check(location.id)))
		return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
	return prefetch(devPtr, count, hStream);
}

CUresult sim_cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
			    CUmemLocation location)
{
	bool device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
	return sim_cuMemAdvise(devPtr, count, advice, device ? location.id : CU_DEVICE_CPU);
}
#endif

CUresult sim_cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute what,
				    CUdeviceptr devPtr, size_t count)
{
	if (!data || dataSize < sizeof(int) || !managed_range(devPtr, count))
		return CUDA_ERROR_INVALID_VALUE;
	*(int *)data = what == CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ? 0 : CU_DEVICE_INVALID;
	return CUDA_SUCCESS;
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
	return managed_range(dptr, 1) && flags && flags <= CU_MEM_ATTACH_SINGLE
		   ? CUDA_SUCCESS
		   : CUDA_ERROR_INVALID_VALUE;
}
