/* Memory of every kind but arrays and pools. */
#include "tests/sim/runtime/runtime.h"

RT_API(cudaMalloc, (void **ptr, size_t size), (ptr, size))
{
	if (!ptr)
		return cudaErrorInvalidValue;
	*ptr = NULL;
	return size ? (int)d->cuMemAlloc((CUdeviceptr *)ptr, size) : 0;
}

RT_API(cudaFree, (void *ptr), (ptr))
{
	return ptr ? (int)d->cuMemFree(RT_PTR(ptr)) : 0;
}

RT_API(cudaMallocPitch, (void **ptr, size_t *pitch, size_t width, size_t height),
       (ptr, pitch, width, height))
{
	if (!ptr || !pitch)
		return cudaErrorInvalidValue;
	*ptr = NULL;
	*pitch = 0;
	if (!width || !height)
		return 0;
	return d->cuMemAllocPitch((CUdeviceptr *)ptr, pitch, width, height, 4);
}

RT_API(cudaMalloc3D, (struct cudaPitchedPtr *ptr, struct cudaExtent extent), (ptr, extent))
{
	CUdeviceptr address = 0;
	size_t pitch = 0;
	int r = 0;

	if (!ptr)
		return cudaErrorInvalidValue;
	if (extent.width && extent.height && extent.depth)
		r = d->cuMemAllocPitch(&address, &pitch, extent.width,
				       extent.height * extent.depth, 4);
	if (!r)
		*ptr = (struct cudaPitchedPtr){ .ptr = (void *)(uintptr_t)address, .pitch = pitch,
			.xsize = extent.width, .ysize = extent.height };
	return r;
}

RT_API(cudaMallocManaged, (void **ptr, size_t size, unsigned int flags), (ptr, size, flags))
{
	if (!ptr || !size)
		return cudaErrorInvalidValue;
	return d->cuMemAllocManaged((CUdeviceptr *)ptr, size, flags);
}

/* --- host memory -------------------------------------------------------------------------------
 */

RT_API(cudaMallocHost, (void **ptr, size_t size), (ptr, size))
{
	if (!ptr)
		return cudaErrorInvalidValue;
	*ptr = NULL;
	return size ? (int)d->cuMemHostAlloc(ptr, size, 0) : 0;
}

RT_API(cudaHostAlloc, (void **ptr, size_t size, unsigned int flags), (ptr, size, flags))
{
	if (!ptr)
		return cudaErrorInvalidValue;
	*ptr = NULL;
	return size ? (int)d->cuMemHostAlloc(ptr, size, flags) : 0;
}

RT_API(cudaFreeHost, (void *ptr), (ptr))
{
	return ptr ? (int)d->cuMemFreeHost(ptr) : 0;
}

RT_API(cudaHostRegister, (void *ptr, size_t size, unsigned int flags), (ptr, size, flags))
{
	return d->cuMemHostRegister(ptr, size, flags);
}

RT_API(cudaHostUnregister, (void *ptr), (ptr))
{
	return d->cuMemHostUnregister(ptr);
}

RT_API(cudaHostGetDevicePointer, (void **device, void *host, unsigned int flags),
       (device, host, flags))
{
	if (!device)
		return cudaErrorInvalidValue;
	return d->cuMemHostGetDevicePointer((CUdeviceptr *)device, host, flags);
}

RT_API(cudaHostGetFlags, (unsigned int *flags, void *host), (flags, host))
{
	return flags ? (int)d->cuMemHostGetFlags(flags, host) : (int)cudaErrorInvalidValue;
}

/* --- what memory is ----------------------------------------------------------------------------
 */

RT_API(cudaMemGetInfo, (size_t *available, size_t *total), (available, total))
{
	size_t unused;

	return d->cuMemGetInfo(available ? available : &unused, total ? total : &unused);
}

RT_API(cudaPointerGetAttributes, (struct cudaPointerAttributes *to, const void *ptr), (to, ptr))
{
	unsigned int type = 0, managed = 0;
	CUdeviceptr p = RT_PTR(ptr), device = 0;
	int r;

	if (!to)
		return cudaErrorInvalidValue;
	*to = (struct cudaPointerAttributes){ .type = cudaMemoryTypeUnregistered, .device = -2,
		.hostPointer = (void *)(uintptr_t)ptr };
	r = d->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p);
	if (r == CUDA_ERROR_INVALID_VALUE)
		return 0;       /* memory that CUDA knows nothing of is not an error */
	if (r)
		return r;
	d->cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p);
	to->type = managed ? cudaMemoryTypeManaged :
		   type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
	to->device = 0;
	d->cuPointerGetAttribute(&to->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p);
	if (!d->cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p))
		to->devicePointer = (void *)(uintptr_t)device;
	if (d->cuPointerGetAttribute(&to->hostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, p))
		to->hostPointer = NULL;
	return 0;
}

int rt_advise(const struct rt_driver *d, const void *ptr, size_t count, int advice,
	      CUmemLocation location)
{
	return d->cuMemAdvise(RT_PTR(ptr), count, (CUmem_advise)advice, location);
}

RT_API(cudaMemRangeGetAttribute, (void *data, size_t size, enum cudaMemRangeAttribute attribute,
       const void *ptr, size_t count), (data, size, attribute, ptr, count))
{
	return d->cuMemRangeGetAttribute(data, size, (CUmem_range_attribute)attribute, RT_PTR(ptr),
					 count);
}

RT_API(cudaMemRangeGetAttributes, (void **data, size_t *sizes,
       enum cudaMemRangeAttribute *attributes, size_t n, const void *ptr, size_t count),
       (data, sizes, attributes, n, ptr, count))
{
	return d->cuMemRangeGetAttributes(data, sizes, (CUmem_range_attribute *)attributes, n,
					  RT_PTR(ptr), count);
}

/* --- symbols -----------------------------------------------------------------------------------
 */

RT_API(cudaGetSymbolAddress, (void **ptr, const void *symbol), (ptr, symbol))
{
	CUdeviceptr address;
	size_t size;
	int r;

	if (!ptr)
		return cudaErrorInvalidValue;
	r = rt_symbol(d, symbol, &address, &size);
	if (!r)
		*ptr = (void *)(uintptr_t)address;
	return r;
}

RT_API(cudaGetSymbolSize, (size_t *size, const void *symbol), (size, symbol))
{
	CUdeviceptr address;

	return size ? rt_symbol(d, symbol, &address, size) : (int)cudaErrorInvalidValue;
}
