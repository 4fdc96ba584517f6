/* Devices: which, what they can do, limits, peers. */
#include "tests/sim/runtime/runtime.h"

static int check_device(const struct rt_driver *d, int device)
{
	int count = 0;
	int r = d->cuDeviceGetCount(&count);

	return r ? r : device < 0 || device >= count ? (int)cudaErrorInvalidDevice : 0;
}

RT_API_DRIVER(cudaGetDeviceCount, (int *count), (count))
{
	int r;

	if (!count)
		return cudaErrorInvalidValue;
	r = d->cuDeviceGetCount(count);
	return !r && !*count ? (int)cudaErrorNoDevice : r;
}

RT_API_DRIVER(cudaGetDevice, (int *device), (device))
{
	CUcontext current = NULL;

	if (!device)
		return cudaErrorInvalidValue;
	*device = rt_thread()->device;
	if (d->cuCtxGetCurrent(&current) || !current)
		return 0;
	return d->cuCtxGetDevice(device);
}

RT_API_DRIVER(cudaSetDevice, (int device), (device))
{
	return rt_use_device(device);
}

RT_API_DRIVER(cudaInitDevice, (int device, unsigned int device_flags, unsigned int flags),
	      (device, device_flags, flags))
{
	CUcontext context;
	int r = check_device(d, device);

	if (!r && flags & cudaInitDeviceFlagsAreValid)
		r = d->cuDevicePrimaryCtxSetFlags(device, device_flags);
	return r ? r : rt_primary(device, &context);
}

RT_API_DRIVER(cudaSetValidDevices, (int *devices, int n), (devices, n))
{
	int r = 0;

	if (n < 0 || (n && !devices))
		return cudaErrorInvalidValue;
	for (int i = 0; i < n && !r; i++)
		r = check_device(d, devices[i]);
	if (!r && n)
		rt_thread()->device = devices[0];
	return r;
}

RT_API_DRIVER(cudaSetDeviceFlags, (unsigned int flags), (flags))
{
	return rt_device_flags(flags & ~cudaDeviceMapHost);
}

RT_API_DRIVER(cudaGetDeviceFlags, (unsigned int *flags), (flags))
{
	int active;

	if (!flags)
		return cudaErrorInvalidValue;
	return d->cuDevicePrimaryCtxGetState(rt_thread()->device, flags, &active);
}

RT_API_DRIVER(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attr, int device),
	      (value, attr, device))
{
	int r = check_device(d, device);

	if (!value)
		return cudaErrorInvalidValue;
	return r ? r : (int)d->cuDeviceGetAttribute(value, (CUdevice_attribute)attr, device);
}

/* The device that fits best: the first one with enough memory and compute capability. */
RT_API_DRIVER(cudaChooseDevice, (int *device, const struct cudaDeviceProp *want), (device, want))
{
	int count = 0, major = 0, minor = 0;
	size_t total = 0;
	int r = d->cuDeviceGetCount(&count);

	if (!device || !want)
		return cudaErrorInvalidValue;
	*device = 0;
	for (int i = 0; i < count && !r; i++) {
		d->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i);
		d->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, i);
		d->cuDeviceTotalMem(&total, i);
		if (total >= want->totalGlobalMem &&
		    major * 10 + minor >= want->major * 10 + want->minor) {
			*device = i;
			break;
		}
	}
	return r;
}

RT_API_DRIVER(cudaDeviceGetByPCIBusId, (int *device, const char *id), (device, id))
{
	return d->cuDeviceGetByPCIBusId(device, id);
}

RT_API_DRIVER(cudaDeviceGetPCIBusId, (char *id, int length, int device), (id, length, device))
{
	int r = check_device(d, device);

	return r ? r : (int)d->cuDeviceGetPCIBusId(id, length, device);
}

RT_API_DRIVER(cudaDeviceGetP2PAttribute,
	      (int *value, enum cudaDeviceP2PAttr attr, int from, int to), (value, attr, from, to))
{
	return d->cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attr, from, to);
}

RT_API_DRIVER(cudaDeviceGetTexture1DLinearMaxWidth, (size_t *width,
	      const struct cudaChannelFormatDesc *desc, int device), (width, desc, device))
{
	CUarray_format format;
	unsigned int channels;
	int r = rt_format(desc, &format, &channels);

	return r ? r : (int)d->cuDeviceGetTexture1DLinearMaxWidth(width, format, channels, device);
}

RT_API_VOID(cudaDeviceSynchronize, RT_NEED_CONTEXT)
{
	return d->cuCtxSynchronize();
}

RT_API_VOID(cudaDeviceReset, RT_NEED_DRIVER)
{
	CUcontext current = NULL;
	CUdevice device = rt_thread()->device;
	int r;

	if (!d->cuCtxGetCurrent(&current) && current)
		d->cuCtxGetDevice(&device);
	r = rt_reset_device(device);
	rt_forget_sticky();
	return r;
}

/* --- settings of the context
 * ----------------------------------------------------------------------- */

RT_API(cudaDeviceSetLimit, (enum cudaLimit limit, size_t value), (limit, value))
{
	return d->cuCtxSetLimit((CUlimit)limit, value);
}

RT_API(cudaDeviceGetLimit, (size_t *value, enum cudaLimit limit), (value, limit))
{
	return d->cuCtxGetLimit(value, (CUlimit)limit);
}

RT_API(cudaDeviceGetCacheConfig, (enum cudaFuncCache *config), (config))
{
	return d->cuCtxGetCacheConfig((CUfunc_cache *)config);
}

RT_API(cudaDeviceSetCacheConfig, (enum cudaFuncCache config), (config))
{
	return d->cuCtxSetCacheConfig((CUfunc_cache)config);
}

RT_API(cudaDeviceGetSharedMemConfig, (enum cudaSharedMemConfig *config), (config))
{
	return d->cuCtxGetSharedMemConfig((CUsharedconfig *)config);
}

RT_API(cudaDeviceSetSharedMemConfig, (enum cudaSharedMemConfig config), (config))
{
	return d->cuCtxSetSharedMemConfig((CUsharedconfig)config);
}

RT_API(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest), (least, greatest))
{
	return d->cuCtxGetStreamPriorityRange(least, greatest);
}

RT_API_VOID(cudaCtxResetPersistingL2Cache, RT_NEED_CONTEXT)
{
	return d->cuCtxResetPersistingL2Cache();
}

RT_API(cudaDeviceFlushGPUDirectRDMAWrites, (enum cudaFlushGPUDirectRDMAWritesTarget target,
       enum cudaFlushGPUDirectRDMAWritesScope scope), (target, scope))
{
	return d->cuFlushGPUDirectRDMAWrites((CUflushGPUDirectRDMAWritesTarget)target,
					     (CUflushGPUDirectRDMAWritesScope)scope);
}

/* --- peers
 * ------------------------------------------------------------------------------------------ */

RT_API_DRIVER(cudaDeviceCanAccessPeer, (int *can, int device, int peer), (can, device, peer))
{
	int r = check_device(d, device);

	if (!r)
		r = check_device(d, peer);
	if (!can)
		return cudaErrorInvalidValue;
	return r ? r : (int)d->cuDeviceCanAccessPeer(can, device, peer);
}

RT_API(cudaDeviceEnablePeerAccess, (int peer, unsigned int flags), (peer, flags))
{
	CUcontext context;
	int r = rt_primary(peer, &context);

	return r ? r : (int)d->cuCtxEnablePeerAccess(context, flags);
}

RT_API(cudaDeviceDisablePeerAccess, (int peer), (peer))
{
	CUcontext context;
	int r = rt_primary(peer, &context);

	return r ? r : (int)d->cuCtxDisablePeerAccess(context);
}
