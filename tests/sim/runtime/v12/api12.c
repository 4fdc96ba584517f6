/* Functions whose meaning or parameters changed between CUDA 12 and 13: the forms of 12. */
#include "tests/sim/runtime/v12/api12.h"
#include "tests/sim/runtime/semaphore.h"

#include <stddef.h>

const int rt_version = 12090;

/* Public layout of CUDA 12; what ends at reservedSharedMemPerBlock is the struct of CUDA 11. */
struct cudaDeviceProp {
	char name[256];
	cudaUUID_t uuid;
	char luid[8];
	unsigned int luidDeviceNodeMask;
	size_t totalGlobalMem, sharedMemPerBlock;
	int regsPerBlock, warpSize;
	size_t memPitch;
	int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
	size_t totalConstMem;
	int major, minor;
	size_t textureAlignment, texturePitchAlignment;
	int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated;
	int canMapHostMemory, computeMode, maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear;
	int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2];
	int maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2];
	int maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2];
	int maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap;
	int maxSurfaceCubemapLayered[2];
	size_t surfaceAlignment;
	int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
	int asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize;
	int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported;
	int globalL1CacheSupported, localL1CacheSupported;
	size_t sharedMemPerMultiprocessor;
	int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
	int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess;
	int concurrentManagedAccess, computePreemptionSupported;
	int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
	size_t sharedMemPerBlockOptin;
	int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
	int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
	size_t reservedSharedMemPerBlock;
	int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
	int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
	unsigned int gpuDirectRDMAFlushWritesOptions;
	int gpuDirectRDMAWritesOrdering;
	unsigned int memoryPoolSupportedHandleTypes;
	int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch;
	int unifiedFunctionPointers, reserved2[2], reserved1[1], reserved[60];
};
_Static_assert(sizeof(struct cudaDeviceProp) == 1032, "the size of CUDA 12");

#include "tests/sim/runtime/properties.h"

static int properties(const struct rt_driver *d, struct cudaDeviceProp *prop, int device)
{
	int r = fill_properties(d, prop, device);

	if (r)
		return r;
#define ATTR(field, name) d->cuDeviceGetAttribute(&prop->field, CU_DEVICE_ATTRIBUTE_##name, device)
	ATTR(clockRate, CLOCK_RATE);
	ATTR(deviceOverlap, GPU_OVERLAP);
	ATTR(kernelExecTimeoutEnabled, KERNEL_EXEC_TIMEOUT);
	ATTR(computeMode, COMPUTE_MODE);
	ATTR(maxTexture1DLinear, MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
	ATTR(memoryClockRate, MEMORY_CLOCK_RATE);
	ATTR(singleToDoublePrecisionPerfRatio, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
	ATTR(cooperativeMultiDeviceLaunch, COOPERATIVE_MULTI_DEVICE_LAUNCH);
#undef ATTR
	return 0;
}

/* The plain name is for programs of CUDA 11 and writes no more than their struct holds. */
static int old_properties(const struct rt_driver *d, void *prop, int device)
{
	struct cudaDeviceProp full;
	int r = prop ? properties(d, &full, device) : (int)cudaErrorInvalidValue;

	if (!r)
		memcpy(prop, &full, offsetof(struct cudaDeviceProp, hostRegisterSupported));
	return r;
}

RT_DEFINE(cudaGetDeviceProperties_v2, properties, RT_NEED_DRIVER, false,
	  (struct cudaDeviceProp *prop, int device), (prop, device))
RT_DEFINE(cudaGetDeviceProperties, old_properties, RT_NEED_DRIVER, false,
	  (void *prop, int device), (prop, device))

/* --- places as device numbers, and as locations in _v2
 * -------------------------------------------------- */

static CUmemLocation device_location(int device)
{
	if (device == cudaCpuDeviceId)
		return (CUmemLocation){ .type = CU_MEM_LOCATION_TYPE_HOST };
	return (CUmemLocation){ .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device };
}

static CUmemLocation location_of(struct cudaMemLocation from)
{
	return (CUmemLocation){ .type = (CUmemLocationType)from.type, .id = from.id };
}

RT_API(cudaMemAdvise, (const void *ptr, size_t count, enum cudaMemoryAdvise advice, int device),
       (ptr, count, advice, device))
{
	return rt_advise(d, ptr, count, advice, device_location(device));
}

RT_API(cudaMemAdvise_v2, (const void *ptr, size_t count, enum cudaMemoryAdvise advice,
       struct cudaMemLocation location), (ptr, count, advice, location))
{
	return rt_advise(d, ptr, count, advice, location_of(location));
}

RT_API_PTSZ(cudaMemPrefetchAsync, (const void *ptr, size_t count, int device, cudaStream_t stream),
	    (ptr, count, device, stream))
{
	return d->cuMemPrefetchAsync(RT_PTR(ptr), count, device_location(device), 0, stream);
}

RT_API_PTSZ(cudaMemPrefetchAsync_v2, (const void *ptr, size_t count,
	    struct cudaMemLocation location, unsigned int flags, cudaStream_t stream),
	    (ptr, count, location, flags, stream))
{
	return d->cuMemPrefetchAsync(RT_PTR(ptr), count, location_of(location), flags, stream);
}

/* --- batches: the form of 12 also says which copy failed
 * ------------------------------------------------ */

RT_API_PTSZ(cudaMemcpyBatchAsync, (void **dsts, void **srcs, size_t *sizes, size_t count,
	    struct cudaMemcpyAttributes *attrs, size_t *indices, size_t n, size_t *failed,
	    cudaStream_t stream), (dsts, srcs, sizes, count, attrs, indices, n, failed, stream))
{
	if (failed)
		*failed = SIZE_MAX;     /* documented: an error that is no single copy's */
	return d->cuMemcpyBatchAsync((CUdeviceptr *)dsts, (CUdeviceptr *)srcs, sizes, count,
				     (CUmemcpyAttributes *)attrs, indices, n, stream);
}

RT_API_PTSZ(cudaMemcpy3DBatchAsync, (size_t n, struct cudaMemcpy3DBatchOp *ops, size_t *failed,
	    unsigned long long flags, cudaStream_t stream), (n, ops, failed, flags, stream))
{
	if (failed)
		*failed = SIZE_MAX;
	return d->cuMemcpy3DBatchAsync(n, (CUDA_MEMCPY3D_BATCH_OP *)ops, flags, stream);
}

RT_API(cudaEventElapsedTime_v2, (float *ms, cudaEvent_t start, cudaEvent_t end), (ms, start, end))
{
	return ms ? (int)d->cuEventElapsedTime(ms, start, end) : (int)cudaErrorInvalidValue;
}

/* --- names that 13 dropped
 * ------------------------------------------------------------------------------ */

RT_API_VOID(cudaThreadSynchronize, RT_NEED_CONTEXT)
{
	return d->cuCtxSynchronize();
}

RT_API_VOID(cudaThreadExit, RT_NEED_DRIVER)
{
	rt_forget_sticky();
	return rt_reset_device(rt_thread()->device);
}

RT_API(cudaThreadSetLimit, (enum cudaLimit limit, size_t value), (limit, value))
{
	return d->cuCtxSetLimit((CUlimit)limit, value);
}

RT_API(cudaThreadGetLimit, (size_t *value, enum cudaLimit limit), (value, limit))
{
	return d->cuCtxGetLimit(value, (CUlimit)limit);
}

RT_API(cudaThreadSetCacheConfig, (enum cudaFuncCache config), (config))
{
	return d->cuCtxSetCacheConfig((CUfunc_cache)config);
}

RT_API(cudaThreadGetCacheConfig, (enum cudaFuncCache *config), (config))
{
	return d->cuCtxGetCacheConfig((CUfunc_cache *)config);
}

#define RT_STUB(name)                                                                          \
	RT_EXPORT int stub_##name(void) __asm__(#name);                                        \
	int stub_##name(void)                                                                  \
	{                                                                                      \
		return rt_unsupported(#name);                                                  \
	}
RT_STUB(cudaLaunchCooperativeKernelMultiDevice)

RT_SEMAPHORES_BOTH(_v2)
