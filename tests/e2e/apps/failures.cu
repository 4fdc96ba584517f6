// Calls that fail: the program sees the error it always saw, and goes on.
#include "check.h"

__global__ void kernel(int *p) { p[threadIdx.x] = 0; }

static void show(const char *what, cudaError_t error)
{
	std::printf("%s: %s, last %s\n", what, cudaGetErrorName(error), cudaGetErrorName(cudaGetLastError()));
}

int main()
{
	char host[16] = "", other[16];
	int *p;
	void *q = host;
	cudaGraph_t graph;

	CHECK(cudaMalloc(&p, 256));
	show("too much memory", cudaMalloc(&q, (size_t)1 << 50));
	show("no place for the pointer", cudaMalloc((void **)nullptr, 16));
	show("no place for the pinned pointer", cudaMallocHost((void **)nullptr, 16));
	show("free of a stranger", cudaFree(host));
	show("copy in no direction", cudaMemcpy(p, host, 16, (cudaMemcpyKind)17));
	show("pitch smaller than the row", cudaMemcpy2D(p, 4, host, 16, 8, 2, cudaMemcpyHostToDevice));
	show("no such device", cudaSetDevice(1000));
	show("properties of no device", cudaGetDeviceProperties((cudaDeviceProp *)nullptr, 0));
	show("unregister what is not", cudaHostUnregister(other));
	kernel<<<1, 4096>>>(p);
	show("block too large", cudaPeekAtLastError());
	kernel<<<0, 32>>>(p);
	show("empty grid", cudaPeekAtLastError());
	show("not a kernel", cudaLaunchKernel((const void *)host, dim3(1), dim3(1), nullptr, 0, 0));
	show("not a symbol", cudaMemcpyToSymbol((const void *)host, other, 4));
	show("not capturing", cudaStreamEndCapture(cudaStreamPerThread, &graph));
	show("after all that", cudaMemset(p, 0, 256));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(p));
	show("end", cudaSuccess);
	return 0;
}
