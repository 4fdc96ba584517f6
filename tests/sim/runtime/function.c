/* Kernels as functions: attributes, occupancy, names; and libraries loaded at run time. */
#include "tests/sim/runtime/runtime.h"

static int attribute(const struct rt_driver *d, CUfunction f, CUfunction_attribute which)
{
	int value = 0;

	d->cuFuncGetAttribute(&value, which, f);
	return value;
}

RT_API(cudaFuncGetAttributes, (struct cudaFuncAttributes *to, const void *func), (to, func))
{
	CUfunction f;
	int r;

	if (!to)
		return cudaErrorInvalidValue;
	r = rt_function(d, func, &f);
	if (r)
		return r;
#define A(name) attribute(d, f, CU_FUNC_ATTRIBUTE_##name)
	*to = (struct cudaFuncAttributes){
		.sharedSizeBytes = (size_t)A(SHARED_SIZE_BYTES),
		.constSizeBytes = (size_t)A(CONST_SIZE_BYTES),
		.localSizeBytes = (size_t)A(LOCAL_SIZE_BYTES),
		.maxThreadsPerBlock = A(MAX_THREADS_PER_BLOCK),
		.numRegs = A(NUM_REGS),
		.ptxVersion = A(PTX_VERSION),
		.binaryVersion = A(BINARY_VERSION),
		.cacheModeCA = A(CACHE_MODE_CA),
		.maxDynamicSharedSizeBytes = A(MAX_DYNAMIC_SHARED_SIZE_BYTES),
		.preferredShmemCarveout = A(PREFERRED_SHARED_MEMORY_CARVEOUT),
		.clusterDimMustBeSet = A(CLUSTER_SIZE_MUST_BE_SET),
		.requiredClusterWidth = A(REQUIRED_CLUSTER_WIDTH),
		.requiredClusterHeight = A(REQUIRED_CLUSTER_HEIGHT),
		.requiredClusterDepth = A(REQUIRED_CLUSTER_DEPTH),
		.clusterSchedulingPolicyPreference = A(CLUSTER_SCHEDULING_POLICY_PREFERENCE),
		.nonPortableClusterSizeAllowed = A(NON_PORTABLE_CLUSTER_SIZE_ALLOWED),
	};
#undef A
	return 0;
}

RT_API(cudaFuncSetAttribute, (const void *func, enum cudaFuncAttribute attr, int value),
       (func, attr, value))
{
	CUfunction f;
	int r = rt_function(d, func, &f);

	return r ? r : (int)d->cuFuncSetAttribute(f, (CUfunction_attribute)attr, value);
}

RT_API(cudaFuncSetCacheConfig, (const void *func, enum cudaFuncCache config), (func, config))
{
	CUfunction f;
	int r = rt_function(d, func, &f);

	return r ? r : (int)d->cuFuncSetCacheConfig(f, (CUfunc_cache)config);
}

/* Without effect since devices have one bank size; only the kernel is checked. */
RT_API(cudaFuncSetSharedMemConfig, (const void *func, enum cudaSharedMemConfig config RT_UNUSED),
       (func, config))
{
	CUfunction f;

	return rt_function(d, func, &f);
}

RT_API(cudaFuncGetName, (const char **name, const void *func), (name, func))
{
	struct rt_code code;
	int r;

	if (!name)
		return cudaErrorInvalidValue;
	r = rt_code(d, func, &code);
	if (!r)
		*name = code.name;
	return r;
}

RT_API(cudaFuncGetParamInfo, (const void *func, size_t index, size_t *offset, size_t *size),
       (func, index, offset, size))
{
	CUfunction f;
	int r = rt_function(d, func, &f);

	return r ? r : (int)d->cuFuncGetParamInfo(f, index, offset, size);
}

RT_API(cudaGetFuncBySymbol, (cudaFunction_t *function, const void *func), (function, func))
{
	CUfunction f;
	int r;

	if (!function)
		return cudaErrorInvalidValue;
	r = rt_function(d, func, &f);
	if (r)
		return r;
	rt_code_add(NULL, f, rt_code_name(func));
	*function = f;
	return 0;
}

/* --- occupancy
 * ------------------------------------------------------------------------------------ */

RT_API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *blocks, const void *func,
       int size, size_t shared, unsigned int flags), (blocks, func, size, shared, flags))
{
	CUfunction f;
	int r = rt_function(d, func, &f);

	return r ? r : (int)d->cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, size,
			shared, flags);
}

RT_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, const void *func, int size,
       size_t shared), (blocks, func, size, shared))
{
	CUfunction f;
	int r = rt_function(d, func, &f);

	return r ? r : (int)d->cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, size,
			shared, 0);
}

RT_API(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t *bytes, const void *func, int blocks,
       int size), (bytes, func, blocks, size))
{
	CUfunction f;
	int r = rt_function(d, func, &f);

	return r ? r : (int)d->cuOccupancyAvailableDynamicSMemPerBlock(bytes, f, blocks, size);
}

static int launch_config(const cudaLaunchConfig_t *from, CUlaunchConfig *to)
{
	if (!from)
		return cudaErrorInvalidValue;
	*to = (CUlaunchConfig){
		.gridDimX = from->gridDim.x,
		.gridDimY = from->gridDim.y,
		.gridDimZ = from->gridDim.z,
		.blockDimX = from->blockDim.x,
		.blockDimY = from->blockDim.y,
		.blockDimZ = from->blockDim.z,
		.sharedMemBytes = (unsigned int)from->dynamicSmemBytes,
		.hStream = from->stream,
		.attrs = (CUlaunchAttribute *)from->attrs,
		.numAttrs = from->numAttrs,
	};
	return 0;
}

RT_API(cudaOccupancyMaxPotentialClusterSize, (int *size, const void *func,
       const cudaLaunchConfig_t *config), (size, func, config))
{
	CUlaunchConfig c;
	CUfunction f;
	int r = launch_config(config, &c);

	if (!r)
		r = rt_function(d, func, &f);
	return r ? r : (int)d->cuOccupancyMaxPotentialClusterSize(size, f, &c);
}

RT_API(cudaOccupancyMaxActiveClusters, (int *n, const void *func, const cudaLaunchConfig_t *config),
       (n, func, config))
{
	CUlaunchConfig c;
	CUfunction f;
	int r = launch_config(config, &c);

	if (!r)
		r = rt_function(d, func, &f);
	return r ? r : (int)d->cuOccupancyMaxActiveClusters(n, f, &c);
}

/* --- libraries
 * ------------------------------------------------------------------------------------ */

RT_API(cudaLibraryLoadData, (cudaLibrary_t *library, const void *code,
       enum cudaJitOption *jit, void **jit_values, unsigned int n_jit,
       enum cudaLibraryOption *options, void **values, unsigned int n),
       (library, code, jit, jit_values, n_jit, options, values, n))
{
	return d->cuLibraryLoadData((CUlibrary *)library, code, (CUjit_option *)jit, jit_values,
				    n_jit, (CUlibraryOption *)options, values, n);
}

RT_API(cudaLibraryLoadFromFile, (cudaLibrary_t *library, const char *path,
       enum cudaJitOption *jit, void **jit_values, unsigned int n_jit,
       enum cudaLibraryOption *options, void **values, unsigned int n),
       (library, path, jit, jit_values, n_jit, options, values, n))
{
	return d->cuLibraryLoadFromFile((CUlibrary *)library, path, (CUjit_option *)jit, jit_values,
					n_jit, (CUlibraryOption *)options, values, n);
}

RT_API(cudaLibraryUnload, (cudaLibrary_t library), (library))
{
	return d->cuLibraryUnload((CUlibrary)library);
}

RT_API(cudaLibraryGetKernel, (cudaKernel_t *kernel, cudaLibrary_t library, const char *name),
       (kernel, library, name))
{
	int r = d->cuLibraryGetKernel((CUkernel *)kernel, (CUlibrary)library, name);

	if (!r)
		rt_code_add((CUkernel)*kernel, NULL, name);
	return r;
}

RT_API(cudaLibraryGetKernelCount, (unsigned int *n, cudaLibrary_t library), (n, library))
{
	return d->cuLibraryGetKernelCount(n, (CUlibrary)library);
}

RT_API(cudaLibraryEnumerateKernels, (cudaKernel_t *kernels, unsigned int n, cudaLibrary_t library),
       (kernels, n, library))
{
	const char *name;
	int r = d->cuLibraryEnumerateKernels((CUkernel *)kernels, n, (CUlibrary)library);

	for (unsigned int i = 0; !r && i < n && kernels[i]; i++)
		if (!d->cuKernelGetName(&name, (CUkernel)kernels[i]))
			rt_code_add((CUkernel)kernels[i], NULL, name);
	return r;
}

RT_API(cudaLibraryGetGlobal, (void **ptr, size_t *size, cudaLibrary_t library, const char *name),
       (ptr, size, library, name))
{
	return d->cuLibraryGetGlobal((CUdeviceptr *)ptr, size, (CUlibrary)library, name);
}

RT_API(cudaLibraryGetManaged, (void **ptr, size_t *size, cudaLibrary_t library, const char *name),
       (ptr, size, library, name))
{
	return d->cuLibraryGetManaged((CUdeviceptr *)ptr, size, (CUlibrary)library, name);
}

RT_API(cudaLibraryGetUnifiedFunction, (void **function, cudaLibrary_t library, const char *symbol),
       (function, library, symbol))
{
	return d->cuLibraryGetUnifiedFunction(function, (CUlibrary)library, symbol);
}

RT_API(cudaKernelSetAttributeForDevice,
       (cudaKernel_t kernel, enum cudaFuncAttribute attr, int value, int device),
       (kernel, attr, value, device))
{
	return d->cuKernelSetAttribute((CUfunction_attribute)attr, value, (CUkernel)kernel, device);
}
