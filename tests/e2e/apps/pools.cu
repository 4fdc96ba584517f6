// Stream-ordered allocation: the default pool on two streams, a pool of one's own, reuse, trim, destroy.
#include "check.h"

__global__ void touch(char *p) { p[threadIdx.x] = 1; }

static void default_pool(cudaStream_t a, cudaStream_t b)
{
	cudaMemPool_t pool;
	cudaEvent_t ready;
	unsigned long long keep = ~0ull;
	void *p, *q;

	CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
	CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
	for (int i = 0; i < 4; i++) {
		CHECK(cudaMallocAsync(&p, 1 << 20, a));
		CHECK(cudaMallocAsync(&q, 4096, b));
		touch<<<1, 64, 0, a>>>((char *)p);
		touch<<<1, 64, 0, b>>>((char *)q);
		CHECK(cudaEventRecord(ready, a));
		CHECK(cudaStreamWaitEvent(b, ready, 0));
		CHECK(cudaFreeAsync(p, b));     // freed on another stream than it was made on
		CHECK(cudaFreeAsync(q, b));
	}
	CHECK(cudaStreamSynchronize(a));
	CHECK(cudaStreamSynchronize(b));
	CHECK(cudaMemPoolTrimTo(pool, 0));
	CHECK(cudaEventDestroy(ready));
}

static void own_pool(cudaStream_t stream)
{
	cudaMemPoolProps props = {};
	cudaMemPool_t pool;
	unsigned long long used = 1;
	void *p[3];

	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	props.location.id = 0;
	CHECK(cudaMemPoolCreate(&pool, &props));
	for (int i = 0; i < 3; i++)
		CHECK(cudaMallocFromPoolAsync(&p[i], (size_t)(i + 1) << 16, pool, stream));
	CHECK(cudaFreeAsync(p[0], stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaFree(p[1]));                  // allowed: the synchronous form frees pool memory as well
	CHECK(cudaFreeAsync(p[2], stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
	CHECK(cudaMemPoolTrimTo(pool, 0));
	CHECK(cudaMemPoolDestroy(pool));
	std::printf("own pool: %llu bytes used at the end\n", used);
}

int main()
{
	cudaStream_t a, b;

	CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	default_pool(a, b);
	own_pool(a);
	CHECK(cudaStreamDestroy(a));
	CHECK(cudaStreamDestroy(b));
	std::printf("pools done\n");
	return 0;
}
