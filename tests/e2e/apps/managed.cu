// Unified memory: variables, allocations, advice, prefetch, attachment; and registered host memory.
#include "check.h"

__managed__ int counter = 5;
__device__ int table[16];
__constant__ float weights[8];

__global__ void touch(int *p) { p[threadIdx.x] += counter; }

int main()
{
	constexpr size_t n = 1 << 16;
	static char buffer[1 << 16];
	int *p, host[16], back[16] = { 0 }, value = 0;
	float w[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, w_back[8] = { 0 };
	cudaMemLocation device = {}, cpu = {};
	cudaPointerAttributes attributes;
	cudaStream_t stream;
	void *address;
	size_t size;

	device.type = cudaMemLocationTypeDevice;
	cpu.type = cudaMemLocationTypeHost;
	CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrConcurrentManagedAccess, 0));
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMallocManaged(&p, n));
	CHECK(cudaPointerGetAttributes(&attributes, p));
	std::printf("%s\n", attributes.type == cudaMemoryTypeManaged ? "managed" : "other");
	p[0] = 1;
	if (value) {
		CHECK(cudaMemAdvise(p, n, cudaMemAdviseSetPreferredLocation, device));
		CHECK(cudaMemAdvise(p, n, cudaMemAdviseSetReadMostly, device));
		CHECK(cudaMemPrefetchAsync(p, n, device, 0, stream));
	}
	CHECK(cudaStreamAttachMemAsync(stream, p, 0, cudaMemAttachSingle));
	touch<<<1, 32, 0, stream>>>(p + 64);
	if (value)
		CHECK(cudaMemPrefetchAsync(p, n, cpu, 0, stream));
	CHECK(cudaStreamSynchronize(stream));
	std::printf("p[0] = %d\n", p[0]);
	CHECK(cudaFree(p));

	counter = 9;
	CHECK(cudaGetSymbolAddress(&address, counter));
	CHECK(cudaGetSymbolSize(&size, table));
	std::printf("counter %d, table of %zu bytes\n", counter, size);
	for (int i = 0; i < 16; i++)
		host[i] = i * i;
	CHECK(cudaMemcpyToSymbol(table, host, sizeof(host)));
	CHECK(cudaMemcpyFromSymbol(back, table, sizeof(back)));
	CHECK(cudaMemcpyToSymbolAsync(weights, w, sizeof(w), 0, cudaMemcpyHostToDevice, stream));
	CHECK(cudaMemcpyFromSymbolAsync(w_back, weights, sizeof(w), 0, cudaMemcpyDeviceToHost, stream));
	CHECK(cudaStreamSynchronize(stream));
	std::printf("table[15] = %d, weights[7] = %g\n", back[15], w_back[7]);

	CHECK(cudaHostRegister(buffer, sizeof(buffer), cudaHostRegisterMapped));
	CHECK(cudaPointerGetAttributes(&attributes, buffer));
	std::printf("%s\n", attributes.type == cudaMemoryTypeHost ? "pinned" : "other");
	CHECK(cudaHostUnregister(buffer));
	CHECK(cudaPointerGetAttributes(&attributes, buffer));
	std::printf("%s\n", attributes.type == cudaMemoryTypeUnregistered ? "unknown" : "other");
	CHECK(cudaStreamDestroy(stream));
	return 0;
}
