// Eight threads, each with a stream and memory of its own.
#include <thread>
#include <vector>

#include "check.h"

__global__ void fill(int *p, int value) { p[threadIdx.x] = value; }

static void work(int id, int *sum)
{
	int host[128], back[128] = { 0 }, *p;
	cudaStream_t stream;

	CHECK(cudaSetDevice(0));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (int round = 0; round < 25; round++) {
		for (int &v : host)
			v = id + round;
		CHECK(cudaMalloc(&p, sizeof(host)));
		fill<<<1, 128, 0, stream>>>(p, id + round);
		CHECK(cudaMemcpyAsync(p, host, sizeof(host), cudaMemcpyHostToDevice, stream));
		CHECK(cudaMemcpyAsync(back, p, sizeof(back), cudaMemcpyDeviceToHost, stream));
		CHECK(cudaStreamSynchronize(stream));
		CHECK(cudaFree(p));
		*sum += back[round];
	}
	CHECK(cudaStreamDestroy(stream));
}

int main()
{
	std::vector<std::thread> threads;
	int sums[8] = { 0 }, total = 0;

	for (int i = 0; i < 8; i++)
		threads.emplace_back(work, i, &sums[i]);
	for (std::thread &t : threads)
		t.join();
	for (int s : sums)
		total += s;
	std::printf("8 threads, sum %d\n", total);
	return 0;
}
