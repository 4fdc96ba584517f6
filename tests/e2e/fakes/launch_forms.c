/* Every function of the runtime and the driver that starts work of its own, once each, taken by
 *symbol, by dlsym or by cuGetProcAddress (argument 1).  Says for each on stdout what a trace of it
 *must hold: API GRID BLOCK STREAM RESULT            the stream as a letter, - is the default one
 * Compiled with -D__CUDA_API_VERSION_INTERNAL: cuda.h then declares the per-thread forms under
 *their own names. */
#define _GNU_SOURCE
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *mode = "symbol";
static unsigned n; /* number of the form: no two grids are the same */
static CUstream streams[2];
static CUfunction function;
static cudaKernel_t kernel;
static int host_calls;
static void *no_arguments[1] = {&host_calls};

static void *get(void *direct, const char *symbol, const char *base, int version, int per_thread)
{
	static void *driver, *runtime;
	void *found = direct;

	if (!strcmp(mode, "proc") && base)
		cuGetProcAddress_v2(base, &found, version, per_thread ? 2 : 0, NULL);
	else if (strcmp(mode, "symbol")) {
		if (!driver) {
			driver = dlopen("libcuda.so.1", RTLD_NOW);
			runtime = dlopen("libcudart.so.13", RTLD_NOW);
		}
		found = dlsym(base ? driver : runtime, symbol);
	}
	if (!found) {
		printf("no %s\n", symbol);
		exit(2);
	}
	return found;
}

static void said(const char *api, int has_shape, int stream, int result)
{
	if (has_shape)
		printf("%s %u,2,1 32,%u,1 %c %d\n", api, n, n % 4 + 1,
		       stream < 0 ? '-' : 'a' + stream, result);
	else
		printf("%s - - %c %d\n", api, stream < 0 ? '-' : 'a' + stream, result);
}

#define DRV(symbol, type, base, version, per_thread)                                               \
	((__typeof__(type) *)get((void *)symbol, #symbol, base, version, per_thread))
#define RT(symbol, type) ((__typeof__(type) *)get((void *)symbol, #symbol, NULL, 0, 0))
#define SHAPE n, 2, 1, 32, n % 4 + 1, 1

/* Not in the headers under these names. */
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
#define PER_THREAD(name) __typeof__(name) name##_ptsz
PER_THREAD(cudaLaunchKernel);
PER_THREAD(cudaLaunchKernelExC);
PER_THREAD(cudaLaunchCooperativeKernel);
PER_THREAD(cudaLaunchHostFunc);
PER_THREAD(cudaStreamAddCallback);
PER_THREAD(cudaGraphLaunch);

static void CUDA_CB host(void *user)
{
	++*(int *)user;
}
static void CUDA_CB host_driver(CUstream s, CUresult r, void *user)
{
	(void)s, (void)r, ++*(int *)user;
}
static void CUDART_CB host_runtime(cudaStream_t s, cudaError_t r, void *user)
{
	(void)s, (void)r, ++*(int *)user;
}

/* The stream by which the next form goes: a, b, the default one, a ... */
static int next_stream(void)
{
	return (int)(++n % 3) - 1;
}
#define STREAM(s) ((s) < 0 ? NULL : streams[s])

static void driver_kernels(void)
{
	CUlaunchConfig config = {.gridDimY = 2, .gridDimZ = 1, .blockDimX = 32, .blockDimZ = 1};
	CUDA_LAUNCH_PARAMS multi = {.gridDimY = 2, .gridDimZ = 1, .blockDimX = 32, .blockDimZ = 1};
	int s;

#define KERNEL(symbol, base, version, pt, ...)                                                     \
	s = next_stream(), said(#symbol, 1, s, DRV(symbol, symbol, base, version, pt)(__VA_ARGS__))
#define EX(symbol, pt)                                                                             \
	s = next_stream(), config.gridDimX = n, config.blockDimY = n % 4 + 1,                      \
	config.hStream = STREAM(s),                                                                \
	said(#symbol, 1, s,                                                                        \
	     DRV(symbol, symbol, "cuLaunchKernelEx", 11060, pt)(&config, function, no_arguments,   \
								NULL))
	KERNEL(cuLaunchKernel, "cuLaunchKernel", 4000, 0, function, SHAPE, 0, STREAM(s),
	       no_arguments, NULL);
	KERNEL(cuLaunchKernel_ptsz, "cuLaunchKernel", 7000, 1, function, SHAPE, 0, STREAM(s),
	       no_arguments, NULL);
	EX(cuLaunchKernelEx, 0);
	EX(cuLaunchKernelEx_ptsz, 1);
	KERNEL(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel", 9000, 0, function, SHAPE, 0,
	       STREAM(s), no_arguments);
	KERNEL(cuLaunchCooperativeKernel_ptsz, "cuLaunchCooperativeKernel", 9000, 1, function,
	       SHAPE, 0, STREAM(s), no_arguments);
	n++, multi.function = function, multi.gridDimX = n, multi.blockDimY = n % 4 + 1,
	     multi.hStream = streams[1];
	multi.kernelParams = no_arguments;
	said("cuLaunchCooperativeKernelMultiDevice", 1, 1,
	     DRV(cuLaunchCooperativeKernelMultiDevice, cuLaunchCooperativeKernelMultiDevice,
		 "cuLaunchCooperativeKernelMultiDevice", 9000, 0)(&multi, 1, 0));
}

/* The shape of the block was set before, on the function. */
static void old_kernels(void)
{
	cuFuncSetBlockShape(function, 32, 2, 1);
	printf("cuLaunch 1,1,1 - - %d\n", DRV(cuLaunch, cuLaunch, "cuLaunch", 2000, 0)(function));
	n++;
	printf("cuLaunchGrid %u,3,1 - - %d\n", n,
	       DRV(cuLaunchGrid, cuLaunchGrid, "cuLaunchGrid", 2000, 0)(function, (int)n, 3));
	n++;
	printf("cuLaunchGridAsync %u,3,1 - b %d\n", n,
	       DRV(cuLaunchGridAsync, cuLaunchGridAsync, "cuLaunchGridAsync", 2000,
		   0)(function, (int)n, 3, streams[1]));
}

static CUgraphExec graph_of(int s)
{
	CUgraph graph;
	CUgraphExec exec;

	if (cuStreamBeginCapture_v2(streams[s], CU_STREAM_CAPTURE_MODE_RELAXED) ||
	    cuLaunchKernel(function, 100 + (unsigned)s, 1, 1, 32, 1, 1, 0, streams[s], no_arguments,
			   NULL) ||
	    cuStreamEndCapture(streams[s], &graph) || cuGraphInstantiateWithFlags(&exec, graph, 0))
		exit(3);
	return exec;
}

static void driver_others(CUgraphExec exec)
{
	int s;

#define OTHER(symbol, base, version, pt, ...)                                                      \
	s = next_stream(), said(#symbol, 0, s, DRV(symbol, symbol, base, version, pt)(__VA_ARGS__))
	OTHER(cuLaunchHostFunc, "cuLaunchHostFunc", 10000, 0, STREAM(s), host, &host_calls);
	OTHER(cuLaunchHostFunc_ptsz, "cuLaunchHostFunc", 10000, 1, STREAM(s), host, &host_calls);
	OTHER(cuStreamAddCallback, "cuStreamAddCallback", 5000, 0, STREAM(s), host_driver,
	      &host_calls, 0);
	OTHER(cuStreamAddCallback_ptsz, "cuStreamAddCallback", 7000, 1, STREAM(s), host_driver,
	      &host_calls, 0);
	OTHER(cuGraphLaunch, "cuGraphLaunch", 10000, 0, exec, STREAM(s));
	OTHER(cuGraphLaunch_ptsz, "cuGraphLaunch", 10000, 1, exec, STREAM(s));
}

static void runtime_kernels(void)
{
	cudaLaunchConfig_t config;
	int s;

#define RTSHAPE (dim3){n, 2, 1}, (dim3){32, n % 4 + 1, 1}
#define RTKERNEL(symbol, what)                                                                     \
	s = next_stream(),                                                                         \
	said(#symbol, 1, s, RT(symbol, symbol)(what, RTSHAPE, no_arguments, 0, STREAM(s)))
#define RTEX(symbol)                                                                               \
	s = next_stream(), memset(&config, 0, sizeof(config)), config.gridDim = (dim3){n, 2, 1},   \
	config.blockDim = (dim3){32, n % 4 + 1, 1}, config.stream = STREAM(s),                     \
	said(#symbol, 1, s, RT(symbol, symbol)(&config, (const void *)kernel, no_arguments))
	RTKERNEL(cudaLaunchKernel, (const void *)kernel);
	RTKERNEL(cudaLaunchKernel_ptsz, (const void *)kernel);
	RTKERNEL(__cudaLaunchKernel, kernel);
	RTKERNEL(__cudaLaunchKernel_ptsz, kernel);
	RTKERNEL(cudaLaunchCooperativeKernel, (const void *)kernel);
	RTKERNEL(cudaLaunchCooperativeKernel_ptsz, (const void *)kernel);
	RTEX(cudaLaunchKernelExC);
	RTEX(cudaLaunchKernelExC_ptsz);
}

static void runtime_others(CUgraphExec exec)
{
	int s;

#define RTOTHER(symbol, ...) s = next_stream(), said(#symbol, 0, s, RT(symbol, symbol)(__VA_ARGS__))
	RTOTHER(cudaLaunchHostFunc, STREAM(s), host, &host_calls);
	RTOTHER(cudaLaunchHostFunc_ptsz, STREAM(s), host, &host_calls);
	RTOTHER(cudaStreamAddCallback, STREAM(s), host_runtime, &host_calls, 0);
	RTOTHER(cudaStreamAddCallback_ptsz, STREAM(s), host_runtime, &host_calls, 0);
	RTOTHER(cudaGraphLaunch, exec, STREAM(s));
	RTOTHER(cudaGraphLaunch_ptsz, exec, STREAM(s));
}

/* cudaLaunchParams went with CUDA 13; the runtime of 12 has the call and, simulated, refuses it.  A
 * list of none is not looked at. */
static void runtime_multi(void)
{
	struct {
		const void *func;
		dim3 grid, block;
		void **args;
		size_t shared;
		cudaStream_t stream;
	} list = {.func = (const void *)kernel, .args = no_arguments, .stream = streams[0]};
	void *runtime = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
	int (*launch)(void *, unsigned, unsigned);

	if (!runtime)
		exit(4);
	*(void **)&launch = dlsym(runtime, "cudaLaunchCooperativeKernelMultiDevice");
	n++;
	list.grid = (dim3){n, 2, 1};
	list.block = (dim3){32, n % 4 + 1, 1};
	said("cudaLaunchCooperativeKernelMultiDevice", 1, 0, launch(&list, 1, 0));
	printf("none: %d\n", launch((void *)1, 0, 0));
}

int main(int argc, char **argv)
{
	static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
				  ".visible .entry nothing(.param .u64 p)\n{\n\tret;\n}\n";
	CUmodule module;
	cudaLibrary_t library;
	CUgraphExec exec;

	if (argc > 1)
		mode = argv[1];
	if (cudaSetDevice(0) || cudaFree(NULL) || cuModuleLoadData(&module, ptx) ||
	    cuModuleGetFunction(&function, module, "nothing") ||
	    cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0) ||
	    cudaLibraryGetKernel(&kernel, library, "nothing") || cuStreamCreate(&streams[0], 0) ||
	    cuStreamCreate(&streams[1], 0))
		return 1;
	exec = graph_of(0);
	driver_kernels();
	old_kernels();
	driver_others(exec);
	runtime_kernels();
	runtime_others(exec);
	runtime_multi();
	cudaDeviceSynchronize();
	printf("%d host calls\n", host_calls);
	return 0;
}
