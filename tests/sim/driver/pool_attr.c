/* What pools say of themselves, which pool a device uses, and what cannot leave the process. */
#include "sim.h"

CUresult sim_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
	if (!pool_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	struct pool *pool = sim_pool_default(dev);
	SIM_ALLOC_CHECK(pool);
	*pool_out = (CUmemoryPool)pool;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
	CUmemoryPool ignored;
	CUresult error = sim_cuDeviceGetDefaultMemPool(pool ? &ignored : NULL, dev);
	if (!error)
		*pool = (CUmemoryPool)sim_devices[dev].pool;
	return error;
}

CUresult sim_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool hPool)
{
	struct pool *pool = sim_object_get(hPool, OBJ_POOL);
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!pool || pool->device != dev || pool->closing || !sim_pool_default(dev))
		return CUDA_ERROR_INVALID_VALUE;
	sim_devices[dev].pool = pool;
	return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 13000
static bool of_device(const CUmemLocation *location, CUmemAllocationType type)
{
	return location && location->type == CU_MEM_LOCATION_TYPE_DEVICE &&
	       type == CU_MEM_ALLOCATION_TYPE_PINNED;
}

CUresult sim_cuMemGetDefaultMemPool(CUmemoryPool *pool_out, CUmemLocation *location,
				    CUmemAllocationType type)
{
	return of_device(location, type) ? sim_cuDeviceGetDefaultMemPool(pool_out, location->id)
					 : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
	return of_device(location, type) ? sim_cuDeviceGetMemPool(pool, location->id)
					 : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
	return of_device(location, type) ? sim_cuDeviceSetMemPool(location->id, pool)
					 : CUDA_ERROR_NOT_SUPPORTED;
}
#endif

static uint64_t *figure(struct pool *pool, CUmemPool_attribute attr)
{
	switch ((int)attr) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		return &pool->threshold;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		return &pool->reserved;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		return &pool->reserved_high;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		return &pool->used;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		return &pool->used_high;
	default:
		return NULL;
	}
}

static bool is_switch(CUmemPool_attribute attr)
{
	return (int)attr >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
	       attr <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

CUresult sim_cuMemPoolGetAttribute(CUmemoryPool hPool, CUmemPool_attribute attr, void *value)
{
	struct pool *pool = sim_object_get(hPool, OBJ_POOL);
	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (is_switch(attr)) {
		*(int *)value = pool->reuse[attr - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
		return CUDA_SUCCESS;
	}
	uint64_t *n = figure(pool, attr);
	if (!n)
		return CUDA_ERROR_INVALID_VALUE;
	*(cuuint64_t *)value = *n;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolSetAttribute(CUmemoryPool hPool, CUmemPool_attribute attr, void *value)
{
	struct pool *pool = sim_object_get(hPool, OBJ_POOL);
	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (is_switch(attr)) {
		pool->reuse[attr - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] =
		    *(int *)value != 0;
		return CUDA_SUCCESS;
	}
	if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
		pool->threshold = *(cuuint64_t *)value;
		return CUDA_SUCCESS;
	}
	if (*(cuuint64_t *)value) /* the marks can only be reset */
		return CUDA_ERROR_INVALID_VALUE;
	if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
		pool->reserved_high = pool->reserved;
	else if (attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
		pool->used_high = pool->used;
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolSetAccess(CUmemoryPool hPool, const CUmemAccessDesc *map, size_t count)
{
	struct pool *pool = sim_object_get(hPool, OBJ_POOL);
	if (!pool || !map || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		if (map[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
		    sim_device_check(map[i].location.id))
			return CUDA_ERROR_INVALID_DEVICE;
		pool->access[map[i].location.id] = map[i].flags;
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool memPool,
				CUmemLocation *location)
{
	struct pool *pool = sim_object_get(memPool, OBJ_POOL);
	if (!pool || !flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    sim_device_check(location->id))
		return CUDA_ERROR_INVALID_VALUE;
	*flags = pool->access[location->id];
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
	if (!value || (unsigned)attr > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(device))
		return CUDA_ERROR_INVALID_DEVICE;
	bool high =
	    attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
	*(cuuint64_t *)value =
	    high ? sim_devices[device].graph_high : sim_devices[device].graph_used;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void *value)
{
	if (!value || *(cuuint64_t *)value ||
	    (attr != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH &&
	     attr != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH))
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(device))
		return CUDA_ERROR_INVALID_DEVICE;
	sim_devices[device].graph_high = sim_devices[device].graph_used;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGraphMemTrim(CUdevice device)
{
	return sim_device_check(device) ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

/* --- between processes: refused, as on a device without support --------------------------------
 */

CUresult sim_cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
	return pHandle && sim_memory_find(dptr) ? CUDA_ERROR_NOT_SUPPORTED
						: CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
	(void)handle, (void)Flags;
	return pdptr ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
	return sim_cuIpcOpenMemHandle_v2(pdptr, handle, Flags);
}

CUresult sim_cuIpcCloseMemHandle(CUdeviceptr dptr)
{
	(void)dptr;
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
	if (!sim_event_get(event))
		return CUDA_ERROR_INVALID_HANDLE;
	return pHandle ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
	(void)handle;
	return phEvent ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

/* Pools of the simulated device have no shareable kind, as
 * CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES says. */
CUresult sim_cuMemPoolExportToShareableHandle(void *handle_out, CUmemoryPool pool,
					      CUmemAllocationHandleType handleType,
					      unsigned long long flags)
{
	return handle_out && handleType && !flags && sim_object_get(pool, OBJ_POOL)
		   ? CUDA_ERROR_NOT_SUPPORTED
		   : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPoolImportFromShareableHandle(CUmemoryPool *pool_out, void *handle,
						CUmemAllocationHandleType handleType,
						unsigned long long flags)
{
	(void)handle; /* a descriptor: 0 is one */
	return pool_out && handleType && !flags ? CUDA_ERROR_NOT_SUPPORTED
						: CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPoolExportPointer(CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr)
{
	const struct alloc *alloc = sim_memory_find(ptr);
	return shareData_out && alloc && alloc->pool ? CUDA_ERROR_NOT_SUPPORTED
						     : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemPoolImportPointer(CUdeviceptr *ptr_out, CUmemoryPool pool,
				    CUmemPoolPtrExportData *shareData)
{
	return ptr_out && shareData && sim_object_get(pool, OBJ_POOL) ? CUDA_ERROR_NOT_SUPPORTED
								      : CUDA_ERROR_INVALID_VALUE;
}
