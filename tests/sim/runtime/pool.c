/* Stream-ordered memory and its pools. */
#include "tests/sim/runtime/runtime.h"

RT_API_PTSZ(cudaMallocAsync, (void **ptr, size_t size, cudaStream_t stream), (ptr, size, stream))
{
	if (!ptr)
		return cudaErrorInvalidValue;
	*ptr = NULL;
	return size ? (int)d->cuMemAllocAsync((CUdeviceptr *)ptr, size, stream) : 0;
}

RT_API_PTSZ(cudaMallocFromPoolAsync, (void **ptr, size_t size, cudaMemPool_t pool,
	    cudaStream_t stream), (ptr, size, pool, stream))
{
	if (!ptr)
		return cudaErrorInvalidValue;
	*ptr = NULL;
	return size ? (int)d->cuMemAllocFromPoolAsync((CUdeviceptr *)ptr, size, pool, stream) : 0;
}

RT_API_PTSZ(cudaFreeAsync, (void *ptr, cudaStream_t stream), (ptr, stream))
{
	return ptr ? (int)d->cuMemFreeAsync(RT_PTR(ptr), stream) : 0;
}

RT_API_DRIVER(cudaDeviceGetDefaultMemPool, (cudaMemPool_t *pool, int device), (pool, device))
{
	return d->cuDeviceGetDefaultMemPool(pool, device);
}

RT_API_DRIVER(cudaDeviceSetMemPool, (int device, cudaMemPool_t pool), (device, pool))
{
	return d->cuDeviceSetMemPool(device, pool);
}

RT_API_DRIVER(cudaDeviceGetMemPool, (cudaMemPool_t *pool, int device), (pool, device))
{
	return d->cuDeviceGetMemPool(pool, device);
}

RT_API(cudaMemPoolCreate, (cudaMemPool_t * pool, const struct cudaMemPoolProps *props),
       (pool, props))
{
	_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "same layout");
	return d->cuMemPoolCreate(pool, (const CUmemPoolProps *)props);
}

RT_API(cudaMemPoolDestroy, (cudaMemPool_t pool), (pool))
{
	return d->cuMemPoolDestroy(pool);
}

RT_API(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep), (pool, keep))
{
	return d->cuMemPoolTrimTo(pool, keep);
}

RT_API(cudaMemPoolSetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value),
       (pool, attr, value))
{
	return d->cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attr, value);
}

RT_API(cudaMemPoolGetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value),
       (pool, attr, value))
{
	return d->cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attr, value);
}

RT_API(cudaMemPoolSetAccess, (cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t n),
       (pool, list, n))
{
	return d->cuMemPoolSetAccess(pool, (const CUmemAccessDesc *)list, n);
}

RT_API(cudaMemPoolGetAccess, (enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
       struct cudaMemLocation *location), (flags, pool, location))
{
	return d->cuMemPoolGetAccess((CUmemAccess_flags *)flags, pool, (CUmemLocation *)location);
}

RT_API(cudaMemPoolExportToShareableHandle, (void *handle, cudaMemPool_t pool,
       enum cudaMemAllocationHandleType type, unsigned int flags), (handle, pool, type, flags))
{
	return d->cuMemPoolExportToShareableHandle(handle, pool, (CUmemAllocationHandleType)type,
						   flags);
}

RT_API(cudaMemPoolImportFromShareableHandle, (cudaMemPool_t *pool, void *handle,
       enum cudaMemAllocationHandleType type, unsigned int flags), (pool, handle, type, flags))
{
	return d->cuMemPoolImportFromShareableHandle(pool, handle, (CUmemAllocationHandleType)type,
						     flags);
}

RT_API(cudaMemPoolExportPointer, (struct cudaMemPoolPtrExportData *data, void *ptr), (data, ptr))
{
	return d->cuMemPoolExportPointer((CUmemPoolPtrExportData *)data, RT_PTR(ptr));
}

RT_API(cudaMemPoolImportPointer, (void **ptr, cudaMemPool_t pool,
       struct cudaMemPoolPtrExportData *data), (ptr, pool, data))
{
	return d->cuMemPoolImportPointer((CUdeviceptr *)ptr, pool, (CUmemPoolPtrExportData *)data);
}

RT_API_DRIVER(cudaMemGetDefaultMemPool, (cudaMemPool_t *pool, struct cudaMemLocation *location,
	      enum cudaMemAllocationType type), (pool, location, type))
{
	return d->cuMemGetDefaultMemPool(pool, (CUmemLocation *)location,
					 (CUmemAllocationType)type);
}

RT_API_DRIVER(cudaMemGetMemPool, (cudaMemPool_t *pool, struct cudaMemLocation *location,
	      enum cudaMemAllocationType type), (pool, location, type))
{
	return d->cuMemGetMemPool(pool, (CUmemLocation *)location, (CUmemAllocationType)type);
}

RT_API_DRIVER(cudaMemSetMemPool, (struct cudaMemLocation *location,
	      enum cudaMemAllocationType type, cudaMemPool_t pool), (location, type, pool))
{
	return d->cuMemSetMemPool((CUmemLocation *)location, (CUmemAllocationType)type, pool);
}

RT_API_DRIVER(cudaDeviceGraphMemTrim, (int device), (device))
{
	return d->cuDeviceGraphMemTrim(device);
}

RT_API_DRIVER(cudaDeviceGetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType attr,
	      void *value), (device, attr, value))
{
	return d->cuDeviceGetGraphMemAttribute(device, (CUgraphMem_attribute)attr, value);
}

RT_API_DRIVER(cudaDeviceSetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType attr,
	      void *value), (device, attr, value))
{
	return d->cuDeviceSetGraphMemAttribute(device, (CUgraphMem_attribute)attr, value);
}
