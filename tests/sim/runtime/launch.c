/* Kernel launches in every form, and the call configuration behind <<<>>>. */
#include "tests/sim/runtime/runtime.h"

/* One exported launch symbol: like RT_DEFINE, but the kernel's name goes with the report. */
#define LAUNCH(symbol, impl, per_thread, func, params, args)                                   \
	RT_EXPORT cudaError_t symbol(RT_UNPAREN params);                                       \
	RT_EXPORT cudaError_t symbol(RT_UNPAREN params)                                        \
	{                                                                                      \
		RT_PARAMS args;                                                                \
		struct rt_call call_ = { .arguments = &params_ };                                 \
		int result_ = rt_enter(&call_, #symbol, RT_NEED_CONTEXT, per_thread,           \
				       rt_code_name(func));                                    \
		if (!result_)                                                                  \
			result_ = impl(call_.d, RT_UNPAREN args);                              \
		return rt_leave(&call_, result_);                                              \
	}

#define LAUNCH_PARAMS (const void *func, dim3 grid, dim3 block, void **args, size_t shared,    \
		       cudaStream_t stream)
#define LAUNCH_ARGS   (func, grid, block, args, shared, stream)

/* The driver says "invalid value" for a launch whose dimensions the device cannot do. */
static int launch_result(int result)
{
	return result == CUDA_ERROR_INVALID_VALUE ? (int)cudaErrorInvalidConfiguration : result;
}

static int launch(const struct rt_driver *d, const void *func, dim3 grid, dim3 block, void **args,
		  size_t shared, cudaStream_t stream)
{
	struct rt_code code;
	int r = rt_code(d, func, &code);

	if (r)
		return r;
	return launch_result(d->cuLaunchKernel(code.function, grid.x, grid.y, grid.z, block.x,
			block.y, block.z, (unsigned int)shared, stream, args, NULL));
}

static int launch_cooperative(const struct rt_driver *d, const void *func, dim3 grid, dim3 block,
			      void **args, size_t shared, cudaStream_t stream)
{
	struct rt_code code;
	int r = rt_code(d, func, &code);

	if (r)
		return r;
	return launch_result(d->cuLaunchCooperativeKernel(code.function, grid.x, grid.y, grid.z,
			block.x, block.y, block.z, (unsigned int)shared, stream, args));
}

static int launch_ex(const struct rt_driver *d, const cudaLaunchConfig_t *config, const void *func,
		     void **args)
{
	CUlaunchConfig c;
	struct rt_code code;
	int r;

	if (!config)
		return cudaErrorInvalidValue;
	r = rt_code(d, func, &code);
	if (r)
		return r;
	_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute), "same layout");
	c = (CUlaunchConfig){
		.gridDimX = config->gridDim.x, .gridDimY = config->gridDim.y,
		.gridDimZ = config->gridDim.z, .blockDimX = config->blockDim.x,
		.blockDimY = config->blockDim.y, .blockDimZ = config->blockDim.z,
		.sharedMemBytes = (unsigned int)config->dynamicSmemBytes,
		.hStream = config->stream, .attrs = (CUlaunchAttribute *)config->attrs,
		.numAttrs = config->numAttrs,
	};
	return launch_result(d->cuLaunchKernelEx(&c, code.function, args, NULL));
}

LAUNCH(cudaLaunchKernel, launch, false, func, LAUNCH_PARAMS, LAUNCH_ARGS)
LAUNCH(cudaLaunchKernel_ptsz, launch, true, func, LAUNCH_PARAMS, LAUNCH_ARGS)
LAUNCH(cudaLaunchCooperativeKernel, launch_cooperative, false, func, LAUNCH_PARAMS, LAUNCH_ARGS)
LAUNCH(cudaLaunchCooperativeKernel_ptsz, launch_cooperative, true, func, LAUNCH_PARAMS, LAUNCH_ARGS)
LAUNCH(cudaLaunchKernelExC, launch_ex, false, func,
       (const cudaLaunchConfig_t *config, const void *func, void **args), (config, func, args))
LAUNCH(cudaLaunchKernelExC_ptsz, launch_ex, true, func,
       (const cudaLaunchConfig_t *config, const void *func, void **args), (config, func, args))

/* --- <<<>>> -------------------------------------------------------------------------------------
 * The caller pushes the configuration, the compiler's stub pops it and launches by handle. */

RT_EXPORT unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
		struct CUstream_st *stream);
RT_EXPORT unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
		struct CUstream_st *stream)
{
	struct rt_thread *t = rt_thread();

	if (t->depth == sizeof(t->config) / sizeof(t->config[0]))
		return (unsigned int)rt_fail(cudaErrorLaunchOutOfResources);
	t->config[t->depth++] = (struct rt_config){
		.grid = grid, .block = block, .shared = shared, .stream = stream
	};
	return 0;
}

RT_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
		void *stream);
RT_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
		void *stream)
{
	struct rt_thread *t = rt_thread();
	struct rt_config *c;

	if (!t->depth)
		return (cudaError_t)rt_fail(cudaErrorMissingConfiguration);
	c = &t->config[--t->depth];
	*grid = c->grid;
	*block = c->block;
	*shared = c->shared;
	*(cudaStream_t *)stream = c->stream;
	return cudaSuccess;
}

static int get_kernel(const struct rt_driver *d, cudaKernel_t *kernel, const void *func)
{
	struct rt_code code;
	int r;

	if (!kernel)
		return cudaErrorInvalidValue;
	r = rt_code(d, func, &code);
	if (!r && !code.kernel)
		r = cudaErrorInvalidDeviceFunction;
	if (!r)
		*kernel = (cudaKernel_t)code.kernel;
	return r;
}

RT_DEFINE(__cudaGetKernel, get_kernel, RT_NEED_CONTEXT, false,
	  (cudaKernel_t *kernel, const void *func), (kernel, func))
RT_DEFINE(cudaGetKernel, get_kernel, RT_NEED_CONTEXT, false,
	  (cudaKernel_t *kernel, const void *func), (kernel, func))
LAUNCH(__cudaLaunchKernel, launch, false, func,
       (cudaKernel_t func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
       (func, grid, block, args, shared, stream))
LAUNCH(__cudaLaunchKernel_ptsz, launch, true, func,
       (cudaKernel_t func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
       (func, grid, block, args, shared, stream))

RT_API_PTSZ(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t fn, void *user),
	    (stream, fn, user))
{
	return d->cuLaunchHostFunc(stream, fn, user);
}
