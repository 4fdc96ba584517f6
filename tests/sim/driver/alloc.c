/* cuMemAlloc, pinned, registered and managed memory. */
#include "graph.h"
#include <limits.h>

static CUresult device_alloc(CUdeviceptr *dptr, size_t size, enum sim_memory kind, unsigned flags)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!dptr || !size)
		return CUDA_ERROR_INVALID_VALUE;
	error = sim_capture_unsafe();
	if (error)
		return error;
	struct alloc *alloc;
	error = sim_memory_new(size, kind, ctx->device, ctx, &alloc);
	if (error)
		return error;
	alloc->flags = flags;
	sim_report_memory(alloc, 1, NULL);
	*dptr = alloc->address;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	return device_alloc(dptr, bytesize, MEM_DEVICE, 0);
}

CUresult sim_cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	return device_alloc(dptr, bytesize, MEM_MANAGED, flags);
}

CUresult sim_cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
				size_t Height, unsigned int ElementSizeBytes)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!pPitch || !WidthInBytes || !Height || WidthInBytes > INT_MAX ||
	    (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16))
		return CUDA_ERROR_INVALID_VALUE;
	size_t pitch = (WidthInBytes + 511) / 512 * 512, size;
	if (__builtin_mul_overflow(pitch, Height, &size))
		return CUDA_ERROR_OUT_OF_MEMORY;
	error = device_alloc(dptr, size, MEM_DEVICE, 0);
	if (!error)
		*pPitch = pitch;
	return error;
}

/* cuMemFree waits for the device, as the real one does. */
static void drain(struct context *ctx)
{
	if (ctx && !ctx->dead)
		sim_context_wait(ctx);
}

static bool freeable(const struct alloc *alloc)
{
	switch (alloc->kind) {
	case MEM_DEVICE:
	case MEM_MANAGED:
	case MEM_POOL:
		return !alloc->freeing;
	case MEM_EXTERNAL:
		return !alloc->flags; /* of an array: not the caller's */
	case MEM_GRAPH:
		return alloc->charged; /* between its allocation and its free */
	default:
		return false;
	}
}

CUresult sim_cuMemFree_v2(CUdeviceptr dptr)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!dptr)
		return CUDA_SUCCESS;
	error = sim_capture_unsafe();
	if (error)
		return error;
	for (int waited = 0;; waited = 1) {
		struct alloc *alloc = sim_memory_find(dptr);
		if (!alloc || alloc->address != dptr || !freeable(alloc))
			return CUDA_ERROR_INVALID_VALUE;
		if (!waited) { /* the lock was given back: look again */
			drain(alloc->obj.ctx);
			continue;
		}
		sim_report_memory(alloc, 2, NULL);
		if (alloc->kind == MEM_POOL)
			return sim_pool_give(alloc);
		if (alloc->kind == MEM_GRAPH)
			return sim_graph_free(alloc) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
		sim_memory_drop(alloc, alloc->kind == MEM_DEVICE);
		return CUDA_SUCCESS;
	}
}

CUresult sim_cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	const unsigned known =
	    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
	if (!pp || !bytesize || (Flags & ~known))
		return CUDA_ERROR_INVALID_VALUE;
	error = sim_capture_unsafe();
	if (error)
		return error;
	struct alloc *alloc;
	error = sim_memory_new(bytesize, MEM_HOST, ctx->device, ctx, &alloc);
	if (error)
		return error;
	alloc->flags = Flags | CU_MEMHOSTALLOC_DEVICEMAP;
	sim_report_memory(alloc, 1, NULL);
	*pp = (void *)alloc->address;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemAllocHost_v2(void **pp, size_t bytesize)
{
	return sim_cuMemHostAlloc(pp, bytesize, 0);
}

CUresult sim_cuMemFreeHost(void *p)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!p)
		return CUDA_SUCCESS;
	error = sim_capture_unsafe();
	if (error)
		return error;
	struct alloc *alloc = sim_memory_find((uintptr_t)p);
	if (!alloc || alloc->address != (uintptr_t)p || alloc->kind != MEM_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	drain(ctx);
	alloc = sim_memory_find((uintptr_t)p);
	if (!alloc || alloc->kind != MEM_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	sim_report_memory(alloc, 2, NULL);
	sim_memory_drop(alloc, false);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
			       CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
	if (!p || !bytesize || (Flags & ~known))
		return CUDA_ERROR_INVALID_VALUE;
	error = sim_capture_unsafe();
	if (error)
		return error;
	if (sim_memory_find_range((uintptr_t)p, bytesize))
		return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	struct alloc *alloc =
	    sim_memory_name((uintptr_t)p, bytesize, MEM_REGISTERED, ctx->device, ctx);
	SIM_ALLOC_CHECK(alloc);
	alloc->flags = (Flags & CU_MEMHOSTREGISTER_PORTABLE) | CU_MEMHOSTALLOC_DEVICEMAP;
	sim_report_memory(alloc, 1, NULL);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
	return sim_cuMemHostRegister_v2(p, bytesize, Flags);
}

CUresult sim_cuMemHostUnregister(void *p)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	struct alloc *alloc = sim_memory_find((uintptr_t)p);
	if (!alloc || alloc->kind != MEM_REGISTERED || alloc->address != (uintptr_t)p)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	sim_report_memory(alloc, 2, NULL);
	sim_memory_drop(alloc, false);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	struct alloc *alloc = sim_memory_find((uintptr_t)p);
	if (!pdptr || Flags || !alloc || (alloc->kind != MEM_HOST && alloc->kind != MEM_REGISTERED))
		return CUDA_ERROR_INVALID_VALUE;
	*pdptr = (uintptr_t)p;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	struct alloc *alloc = sim_memory_find((uintptr_t)p);
	if (!pFlags || !alloc || (alloc->kind != MEM_HOST && alloc->kind != MEM_REGISTERED))
		return CUDA_ERROR_INVALID_VALUE;
	*pFlags = alloc->flags;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemGetInfo_v2(size_t *free, size_t *total)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!free || !total)
		return CUDA_ERROR_INVALID_VALUE;
	*free = sim_config.memory - sim_devices[ctx->device].used;
	*total = sim_config.memory;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	struct alloc *alloc = sim_memory_find(dptr);
	if (!alloc)
		return dptr ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
	if (pbase)
		*pbase = alloc->address;
	if (psize)
		*psize = alloc->size;
	return CUDA_SUCCESS;
}
