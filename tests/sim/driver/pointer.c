/* What an address is: attributes of pointers. */
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
		*(uint64_t *)data = 0; /* of pools; none can be shared */
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
