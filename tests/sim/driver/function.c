/* What a kernel says of itself. */
#include "code.h"
#include <string.h>

#define FUNCTION(f, handle)                                                                        \
	struct function *f = sim_function_get(handle);                                             \
	if (!f)                                                                                    \
	return CUDA_ERROR_INVALID_HANDLE

void sim_function_defaults(struct function *f)
{
	f->attrs[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024;
	f->attrs[CU_FUNC_ATTRIBUTE_NUM_REGS] = 32;
	f->attrs[CU_FUNC_ATTRIBUTE_PTX_VERSION] = sim_config.cc_major * 10 + sim_config.cc_minor;
	f->attrs[CU_FUNC_ATTRIBUTE_BINARY_VERSION] = f->attrs[CU_FUNC_ATTRIBUTE_PTX_VERSION];
	f->attrs[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = 49152;
	f->attrs[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = -1;
	f->block[0] = f->block[1] = f->block[2] = 1;
}

CUresult sim_cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
	FUNCTION(f, hfunc);
	if (!pi || (unsigned)attrib >= CU_FUNC_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	*pi = f->attrs[attrib];
	return CUDA_SUCCESS;
}

CUresult sim_cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
	FUNCTION(f, hfunc);
	if ((unsigned)attrib < CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
	    (unsigned)attrib >= CU_FUNC_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (attrib == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
	    (value < 0 || value > 232448))
		return CUDA_ERROR_INVALID_VALUE;
	f->attrs[attrib] = value;
	if (f->twin)
		f->twin->attrs[attrib] = value;
	return CUDA_SUCCESS;
}

CUresult sim_cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
	FUNCTION(f, hfunc);
	return (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE
							     : CUDA_SUCCESS;
}

CUresult sim_cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig config)
{
	FUNCTION(f, hfunc);
	(void)config;
	return CUDA_SUCCESS;
}

CUresult sim_cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
	FUNCTION(f, hfunc);
	if (!hmod)
		return CUDA_ERROR_INVALID_VALUE;
	if (f->module->obj.type == OBJ_LIBRARY)
		return sim_cuLibraryGetModule(hmod, (CUlibrary)f->module);
	*hmod = (CUmodule)f->module;
	return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12030
CUresult sim_cuFuncGetName(const char **name, CUfunction hfunc)
{
	FUNCTION(f, hfunc);
	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	*name = f->name;
	return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetName(const char **name, CUkernel hfunc)
{
	FUNCTION(f, hfunc);
	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	*name = f->name;
	return CUDA_SUCCESS;
}
#endif

#if CUDA_VERSION >= 12040
/* Parameters are not known: the tables of the cubin are not read. */
CUresult sim_cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
				size_t *paramSize)
{
	FUNCTION(f, func);
	(void)paramIndex, (void)paramOffset, (void)paramSize;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult sim_cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
				  size_t *paramSize)
{
	return sim_cuFuncGetParamInfo((CUfunction)kernel, paramIndex, paramOffset, paramSize);
}

CUresult sim_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
	FUNCTION(f, function);
	if (!state)
		return CUDA_ERROR_INVALID_VALUE;
	*state = CU_FUNCTION_LOADING_STATE_LOADED;
	return CUDA_SUCCESS;
}

CUresult sim_cuFuncLoad(CUfunction function)
{
	FUNCTION(f, function);
	return CUDA_SUCCESS;
}
#endif

CUresult sim_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
	struct function *f = sim_object_get(kernel, OBJ_KERNEL);
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!pFunc)
		return CUDA_ERROR_INVALID_VALUE;
	if (!f->twin) {
		struct function *twin = sim_object_new(OBJ_FUNCTION, sizeof *twin, NULL);
		SIM_ALLOC_CHECK(twin);
		twin->name = f->name;
		twin->module = f->module;
		sim_function_defaults(twin);
		memcpy(twin->attrs, f->attrs, sizeof f->attrs);
		twin->twin = f;
		f->twin = twin;
	}
	*pFunc = (CUfunction)f->twin;
	return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
	struct function *f = sim_object_get(kernel, OBJ_KERNEL);
	if (!f || !pLib)
		return f ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*pLib = (CUlibrary)f->module;
	return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel,
				  CUdevice dev)
{
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	return sim_cuFuncGetAttribute(pi, attrib, (CUfunction)kernel);
}

CUresult sim_cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
				  CUdevice dev)
{
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	return sim_cuFuncSetAttribute((CUfunction)kernel, attrib, val);
}

CUresult sim_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	return sim_cuFuncSetCacheConfig((CUfunction)kernel, config);
}

static int blocks_per_sm(int threads, size_t shared)
{
	int blocks = 2048 / ((threads + 31) / 32 * 32);
	if (shared && (size_t)blocks > 233472 / (shared + 1024))
		blocks = (int)(233472 / (shared + 1024));
	return blocks > 32 ? 32 : blocks;
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
								  int blockSize,
								  size_t dynamicSMemSize,
								  unsigned int flags)
{
	FUNCTION(f, func);
	if (!numBlocks || blockSize <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
		return CUDA_ERROR_INVALID_VALUE;
	*numBlocks = blockSize > 1024 ? 0 : blocks_per_sm(blockSize, dynamicSMemSize);
	return CUDA_SUCCESS;
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
							 int blockSize, size_t dynamicSMemSize)
{
	return sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
									dynamicSMemSize, 0);
}

/* The user's function is called without the lock. */
CUresult
sim_cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
					      CUoccupancyB2DSize blockSizeToDynamicSMemSize,
					      size_t dynamicSMemSize, int blockSizeLimit,
					      unsigned int flags)
{
	FUNCTION(f, func);
	if (!minGridSize || !blockSize || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
		return CUDA_ERROR_INVALID_VALUE;
	int best = 32, most = 0,
	    limit = blockSizeLimit > 0 && blockSizeLimit < 1024 ? blockSizeLimit : 1024;
	for (int size = limit / 32 * 32; size >= 32; size -= 32) {
		size_t shared = dynamicSMemSize;
		if (blockSizeToDynamicSMemSize) {
			sim_unlock();
			shared = blockSizeToDynamicSMemSize(size);
			sim_lock();
		}
		int threads = size * blocks_per_sm(size, shared);
		if (threads > most) {
			most = threads;
			best = size;
		}
	}
	*blockSize = best;
	*minGridSize = 64 * (most / best);
	return CUDA_SUCCESS;
}

CUresult sim_cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
					      CUoccupancyB2DSize blockSizeToDynamicSMemSize,
					      size_t dynamicSMemSize, int blockSizeLimit)
{
	return sim_cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func,
							     blockSizeToDynamicSMemSize,
							     dynamicSMemSize, blockSizeLimit, 0);
}

CUresult sim_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func,
						     int numBlocks, int blockSize)
{
	FUNCTION(f, func);
	if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	size_t each = 233472 / (size_t)numBlocks;
	*dynamicSmemSize = each > 1024 ? each - 1024 : 0;
	return CUDA_SUCCESS;
}

CUresult sim_cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func,
						const CUlaunchConfig *config)
{
	FUNCTION(f, func);
	if (!clusterSize || !config)
		return CUDA_ERROR_INVALID_VALUE;
	*clusterSize = 8;
	return CUDA_SUCCESS;
}

CUresult sim_cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
					  const CUlaunchConfig *config)
{
	FUNCTION(f, func);
	if (!numClusters || !config)
		return CUDA_ERROR_INVALID_VALUE;
	*numClusters = 8;
	return CUDA_SUCCESS;
}
