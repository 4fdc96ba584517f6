// Every device there is: memory and a kernel on each, copies between neighbours.
#include <vector>

#include "check.h"

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

int main()
{
	std::vector<int *> memory;
	int n, current, value = 42, back = 0;

	CHECK(cudaGetDeviceCount(&n));
	for (int i = 0; i < n; i++) {
		cudaDeviceProp prop;
		int *p;

		CHECK(cudaGetDeviceProperties(&prop, i));
		CHECK(cudaSetDevice(i));
		CHECK(cudaGetDevice(&current));
		if (current != i || prop.warpSize != 32)
			return 1;
		CHECK(cudaMalloc(&p, 256 * sizeof(int)));
		fill<<<1, 256>>>(p, i);
		CHECK(cudaGetLastError());
		CHECK(cudaDeviceSynchronize());
		memory.push_back(p);
	}
	CHECK(cudaMemcpy(memory[0], &value, sizeof(value), cudaMemcpyHostToDevice));
	for (int i = 0; i + 1 < n; i++) {
		int can = 0;

		CHECK(cudaSetDevice(i));
		CHECK(cudaDeviceCanAccessPeer(&can, i, i + 1));
		if (can)
			CHECK(cudaDeviceEnablePeerAccess(i + 1, 0));
		CHECK(cudaMemcpyPeer(memory[i + 1], i + 1, memory[i], i, sizeof(value)));
		CHECK(cudaMemcpyPeerAsync(memory[i + 1], i + 1, memory[i], i, sizeof(value), 0));
		CHECK(cudaDeviceSynchronize());
		if (can)
			CHECK(cudaDeviceDisablePeerAccess(i + 1));
	}
	CHECK(cudaSetDevice(n - 1));
	CHECK(cudaMemcpy(&back, memory[n - 1], sizeof(back), cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++) {
		CHECK(cudaSetDevice(i));
		CHECK(cudaFree(memory[i]));
		CHECK(cudaDeviceReset());
	}
	std::printf("every device done, the last one holds %d\n", back);
	return 0;
}
