// Every way to launch, once.
#include <cooperative_groups.h>

#include "check.h"

__global__ void plain(int *p) { p[threadIdx.x] = 1; }
template <typename T> __global__ void generic(T *p) { p[threadIdx.x] = T(2); }
__global__ void grid_wide(int *p)
{
	cooperative_groups::this_grid().sync();
	p[threadIdx.x] = 3;
}

static void CUDART_CB host_function(void *user) { ++*(int *)user; }
static void CUDART_CB callback(cudaStream_t, cudaError_t status, void *user)
{
	if (status == cudaSuccess)
		++*(int *)user;
}

int main()
{
	int *p, calls = 0;
	void *args[1] = { &p };
	cudaStream_t stream;
	cudaKernel_t kernel;
	cudaFunction_t function;

	CHECK(cudaMalloc(&p, 256 * sizeof(int)));
	CHECK(cudaStreamCreate(&stream));
	plain<<<1, 32>>>(p);
	plain<<<dim3(2, 2, 2), dim3(4, 4, 2), 1024, stream>>>(p);
	generic<float><<<1, 64>>>((float *)p);
	CHECK(cudaGetLastError());
	CHECK(cudaLaunchKernel((const void *)plain, dim3(1), dim3(32), args, 0, stream));
	CHECK(cudaLaunchCooperativeKernel((const void *)grid_wide, dim3(1), dim3(32), args, 0, stream));

	cudaLaunchConfig_t config = {};
	cudaLaunchAttribute attribute = {};
	attribute.id = cudaLaunchAttributePriority;
	attribute.val.priority = 0;
	config.gridDim = dim3(3);
	config.blockDim = dim3(32);
	config.stream = stream;
	config.attrs = &attribute;
	config.numAttrs = 1;
	CHECK(cudaLaunchKernelExC(&config, (const void *)plain, args));
	CHECK(cudaLaunchKernelEx(&config, generic<int>, p));

	CHECK(cudaGetKernel(&kernel, (const void *)plain));
	CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(32), args, 0, stream));
	CHECK(cudaGetFuncBySymbol(&function, (const void *)plain));
	CHECK(cudaLaunchHostFunc(stream, host_function, &calls));
	CHECK(cudaStreamAddCallback(stream, callback, &calls, 0));

	cudaGraph_t graph;
	cudaGraphExec_t exec;
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	plain<<<1, 32, 0, stream>>>(p);
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaStreamDestroy(stream));
	CHECK(cudaFree(p));
	std::printf("every form launched, %d host calls\n", calls);
	return 0;
}
