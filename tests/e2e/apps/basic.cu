// The first program of every course: allocate, copy in, launch, copy out, free.
#include "check.h"

__global__ void scale(float *x, float by, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		x[i] *= by;
}

int main()
{
	constexpr int n = 1024;
	float host[n], *device;

	for (int i = 0; i < n; i++)
		host[i] = (float)i;
	CHECK(cudaMalloc(&device, sizeof(host)));
	CHECK(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
	scale<<<n / 256, 256>>>(device, 1.0f, n);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpyAsync(host, device, sizeof(host), cudaMemcpyDeviceToHost, 0));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(device));
	std::printf("host[1023] = %g\n", host[n - 1]);
	return 0;
}
