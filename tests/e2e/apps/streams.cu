// Streams and events: kinds, priorities, callbacks in order, waiting across streams, time.
#include "check.h"

__global__ void spin(int *p) { p[threadIdx.x] = threadIdx.x; }

struct Log { int n; int order[4]; };
static Log seen;

static void CUDART_CB note(void *which) { seen.order[seen.n++] = (int)(size_t)which; }

int main()
{
	cudaStream_t plain, high, free_running;
	cudaEvent_t begin, end, between;
	cudaStreamCaptureStatus capturing;
	unsigned long long id_a, id_b;
	int least, greatest, priority, *p;
	unsigned int flags;
	float ms;

	CHECK(cudaMalloc(&p, 4096));
	CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	CHECK(cudaStreamCreate(&plain));
	CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
	CHECK(cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking));
	CHECK(cudaStreamGetPriority(high, &priority));
	CHECK(cudaStreamGetFlags(free_running, &flags));
	CHECK(cudaStreamGetId(plain, &id_a));
	CHECK(cudaStreamGetId(high, &id_b));
	std::printf("priority %s, flags %u, ids %s\n", priority == greatest ? "kept" : "lost", flags,
		    id_a != id_b ? "differ" : "same");
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	CHECK(cudaEventCreateWithFlags(&between, cudaEventDisableTiming));
	CHECK(cudaEventRecord(begin, plain));
	spin<<<1, 32, 0, plain>>>(p);
	CHECK(cudaLaunchHostFunc(plain, note, (void *)1));
	CHECK(cudaEventRecord(between, plain));
	CHECK(cudaStreamWaitEvent(high, between, 0));
	spin<<<1, 32, 0, high>>>(p);
	CHECK(cudaLaunchHostFunc(high, note, (void *)2));
	CHECK(cudaStreamSynchronize(high));
	CHECK(cudaLaunchHostFunc(plain, note, (void *)3));
	CHECK(cudaEventRecordWithFlags(end, plain, cudaEventRecordDefault));
	CHECK(cudaEventSynchronize(end));
	CHECK(cudaEventQuery(end));
	CHECK(cudaStreamQuery(plain));
	CHECK(cudaEventElapsedTime(&ms, begin, end));
	std::printf("order %d %d %d, time %s\n", seen.order[0], seen.order[1], seen.order[2],
		    ms >= 0 ? "went on" : "went back");
	CHECK(cudaStreamIsCapturing(plain, &capturing));
	std::printf("capturing: %d\n", (int)capturing);
	spin<<<1, 32, 0, cudaStreamLegacy>>>(p);
	spin<<<1, 32, 0, cudaStreamPerThread>>>(p);
	CHECK(cudaStreamSynchronize(cudaStreamPerThread));
	CHECK(cudaDeviceSynchronize());
	for (cudaEvent_t e : { begin, end, between })
		CHECK(cudaEventDestroy(e));
	for (cudaStream_t s : { plain, high, free_running })
		CHECK(cudaStreamDestroy(s));
	CHECK(cudaFree(p));
	return 0;
}
