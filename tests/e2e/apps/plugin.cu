// A plug-in with CUDA code of its own, as a Python extension is: nothing but plugin_run is exported.
#include "check.h"

__global__ void plugin_kernel(int *p) { p[threadIdx.x] = 1; }

extern "C" __attribute__((visibility("default"))) int plugin_run(int value)
{
	int *p, back = 0;

	CHECK(cudaMalloc(&p, 128));
	plugin_kernel<<<1, 32>>>(p);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(p, &value, sizeof(value), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(&back, p, sizeof(back), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(p));
	return back;
}
