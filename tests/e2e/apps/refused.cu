// Every kind of call once, whatever it returns: each error by number, name and text, the last error before and after,
// and errno.  Without a driver, or on one that the runtime does not accept, this is all that a program sees.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

__global__ void nothing(int) {}
__device__ int variable;

static void told(const char *what, cudaError_t error)
{
	int saved = errno;
	cudaError_t peeked = cudaPeekAtLastError(), last = cudaGetLastError();

	printf("%s: %d %s (%s), last %d %d, errno %d\n", what, error, cudaGetErrorName(error), cudaGetErrorString(error),
	       peeked, last, saved);
	errno = 33;
}

int main()
{
	int n = -7, value = 5, version = -7;
	void *p = nullptr, *q = nullptr, *host = nullptr;
	cudaStream_t stream = nullptr;
	cudaEvent_t event = nullptr;
	cudaDeviceProp *none = nullptr;

	errno = 33;
	told("cudaGetDeviceCount", cudaGetDeviceCount(&n));
	printf("%d devices\n", n);
	told("cudaDriverGetVersion", cudaDriverGetVersion(&version));
	told("cudaGetDeviceProperties", cudaGetDeviceProperties(none, 0));
	told("cudaFree(0)", cudaFree(nullptr));
	told("cudaMalloc", cudaMalloc(&p, 4096));
	told("cudaMallocManaged", cudaMallocManaged(&q, 4096));
	told("cudaMallocHost", cudaMallocHost(&host, 4096));
	told("cudaStreamCreate", cudaStreamCreate(&stream));
	told("cudaEventCreate", cudaEventCreate(&event));
	nothing<<<2, 32, 0, stream>>>(1);
	told("<<<>>>", cudaGetLastError());
	void *args[] = { &value };
	told("cudaLaunchKernel", cudaLaunchKernel((const void *)nothing, dim3(2), dim3(32), args, 0, stream));
	told("cudaMemcpyToSymbol", cudaMemcpyToSymbol(variable, &value, sizeof(value)));
	told("cudaMemset", cudaMemset(p, 0, p ? 16 : 0));
	told("cudaMemcpy", cudaMemcpy(host, p, p ? 16 : 0, cudaMemcpyDefault));
	told("cudaDeviceSynchronize", cudaDeviceSynchronize());
	told("cudaFreeHost", cudaFreeHost(host));
	told("cudaFree", cudaFree(q));
	told("cudaFree", cudaFree(p));
	told("cudaDeviceReset", cudaDeviceReset());
	return p ? 0 : 3;
}
