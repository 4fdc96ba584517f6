/* External memory: a file descriptor is mapped, other kinds are refused. */
#include "sim.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct external {
	struct object obj;
	void *base;
	size_t size;
	unsigned mapped;
};

CUresult sim_cuImportExternalMemory(CUexternalMemory *extMem_out,
				    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!extMem_out || !desc || !desc->size)
		return CUDA_ERROR_INVALID_VALUE;
	if (desc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
		return CUDA_ERROR_NOT_SUPPORTED;
	void *base = mmap(NULL, desc->size, PROT_READ | PROT_WRITE, MAP_SHARED, desc->handle.fd, 0);
	if (base == MAP_FAILED)
		return CUDA_ERROR_INVALID_VALUE;
	struct external *e = sim_object_new(OBJ_EXTMEM, sizeof *e, NULL);
	if (!e) {
		munmap(base, desc->size);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	close(desc->handle.fd); /* the driver owns it from here on, as documented */
	e->base = base;
	e->size = desc->size;
	*extMem_out = (CUexternalMemory)e;
	return CUDA_SUCCESS;
}

CUresult sim_cuExternalMemoryGetMappedBuffer(CUdeviceptr *devPtr, CUexternalMemory extMem,
					     const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	struct external *e = sim_object_get(extMem, OBJ_EXTMEM);
	if (error)
		return error;
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!devPtr || !desc || !desc->size || desc->flags || desc->offset > e->size ||
	    desc->size > e->size - desc->offset)
		return CUDA_ERROR_INVALID_VALUE;
	struct alloc *alloc = sim_memory_name((uintptr_t)e->base + desc->offset, desc->size,
					      MEM_EXTERNAL, ctx->device, ctx);
	if (!alloc)
		return CUDA_ERROR_ALREADY_MAPPED;
	sim_report_memory(alloc, 1, NULL);
	*devPtr = alloc->address;
	return CUDA_SUCCESS;
}

CUresult sim_cuDestroyExternalMemory(CUexternalMemory extMem)
{
	struct external *e = sim_object_get(extMem, OBJ_EXTMEM);
	struct alloc *alloc;
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	while ((alloc = sim_memory_find_range((uintptr_t)e->base, e->size)))
		sim_memory_drop(alloc, false);
	munmap(e->base, e->size);
	sim_object_drop(e);
	return CUDA_SUCCESS;
}

CUresult sim_cuExternalMemoryGetMappedMipmappedArray(
    CUmipmappedArray *mipmap, CUexternalMemory extMem,
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *mipmapDesc)
{
	if (!sim_object_get(extMem, OBJ_EXTMEM))
		return CUDA_ERROR_INVALID_HANDLE;
	/* The layout of a foreign image is its maker's secret. */
	return mipmap && mipmapDesc ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}
