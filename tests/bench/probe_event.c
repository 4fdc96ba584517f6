/* P1, P3, P4: events without a stack, beside the floor and LTTng-UST in the same process.
 *   probe_event FOLDER one|two   FOLDER holds libfloor.so and, where there is one, libpeer_lttng.so
 */
#include "tests/bench/bench.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#if __has_include("core/tstrace.h")
#include "core/tstrace.h"
#endif
#include "tests/bench/span.h"

cudaError_t bench_malloc(void **pointer, size_t size);
cudaError_t bench_free(void *pointer);
cudaError_t bench_launch(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
			 cudaStream_t stream);

static floor_event_fn floor_event, floor_edges, peer_event;
static int threads = 1;
static _Atomic int arrived;

/* Start all threads' bursts at one moment. */
static void meet(void)
{
	int goal = (atomic_fetch_add(&arrived, 1) / threads + 1) * threads;

	while (atomic_load(&arrived) < goal)
		;
}

static char kernel_stub;
static __thread void *pointers[EVENTS];

static void run_floor(void)
{
	for (uint64_t i = 0; i < EVENTS; i++)
		floor_event(i, 2, 3);
}

static void run_floor_edges(void)
{
	for (uint64_t i = 0; i < EVENTS; i++)
		floor_edges(i, 2, 3);
}

static void run_peer(void)
{
	for (uint64_t i = 0; i < EVENTS; i++)
		peer_event(i, 2, 3);
}

static void allocate(void)
{
	for (int i = 0; i < EVENTS; i++)
		cudaMalloc(&pointers[i], 256);
	usleep(PAUSE_US);
}

static void run_free(void)
{
	for (int i = 0; i < EVENTS; i++)
		cudaFree(pointers[i]);
}

static void run_plain_free(void)
{
	for (int i = 0; i < EVENTS; i++)
		bench_free(pointers[i]);
}

static void run_launch(void)
{
	for (int i = 0; i < EVENTS; i++)
		cudaLaunchKernel(&kernel_stub, (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 }, NULL, 0,
				 NULL);
}

static void run_plain_launch(void)
{
	for (int i = 0; i < EVENTS; i++)
		bench_launch(&kernel_stub, (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 }, NULL, 0, NULL);
}

/* Spans nest: a burst of begins, then one of as many ends. */
#define NESTED 60
static double begin_cost, end_cost;

static void run_spans(void)
{
	double t0, t1, t2, begins = 0, ends = 0;

	for (int i = 0; i < EVENTS / NESTED; i++) {
		t0 = now_ns();
		for (int k = 0; k < NESTED; k++)
			span_begin("decoder.layer.0.attention");
		t1 = now_ns();
		for (int k = 0; k < NESTED; k++)
			span_end();
		t2 = now_ns();
		begins += t1 - t0;
		ends += t2 - t1;
	}
	begin_cost = begins / (EVENTS / NESTED * NESTED);
	end_cost = ends / (EVENTS / NESTED * NESTED);
}

static double burst(void (*prepare)(void), void (*run)(void))
{
	double t0;

	if (prepare)
		prepare();
	if (threads > 1)
		meet();
	t0 = now_ns();
	run();
	t0 = (now_ns() - t0) / EVENTS;
	usleep(PAUSE_US);
	return t0;
}

/* What is measured, and what the plain call costs; `plain` NULL: nothing to take off. */
static const struct what {
	const char *key;
	void (*prepare)(void), (*run)(void), (*plain)(void);
	bool peer;
} measured[] = {
	{ "floor", NULL, run_floor, NULL, false },
	{ "floor_edges", NULL, run_floor_edges, NULL, false },
	{ "lttng", NULL, run_peer, NULL, true },
	{ "free", allocate, run_free, run_plain_free, false },
	{ "launch", NULL, run_launch, run_plain_launch, false },
};

static void round_of(const struct what *what)
{
	double costs[BURSTS];

	for (int i = 0; i < BURSTS; i++) {
		costs[i] = burst(what->prepare, what->run);
		if (what->plain)
			costs[i] -= burst(NULL, what->plain);
	}
	printf("%s%s %.3f\n", what->key, threads > 1 ? "_2" : "", median(costs, BURSTS));
}

static void span_round(void)
{
	double begins[BURSTS], ends[BURSTS];

	for (int i = 0; i < BURSTS; i++) {
		burst(NULL, run_spans);
		begins[i] = begin_cost;
		ends[i] = end_cost;
	}
	printf("span_begin %.3f\nspan_end %.3f\n", median(begins, BURSTS), median(ends, BURSTS));
}

static void *work(void *arg)
{
	(void)arg;
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < sizeof(measured) / sizeof(measured[0]); i++)
			if (!measured[i].peer || (peer_event && threads == 1))
				round_of(&measured[i]);
		if (HAVE_SPANS && threads == 1)
			span_round();
	}
	return NULL;
}

static void *symbol(const char *folder, const char *library, const char *name)
{
	char path[4096];
	void *handle;

	snprintf(path, sizeof(path), "%s/%s", folder, library);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return handle ? dlsym(handle, name) : NULL;
}

int main(int argc, char **argv)
{
	int (*recording)(void) = NULL;
	pthread_t second;

	if (argc < 3)
		return 2;
	threads = strcmp(argv[2], "two") ? 1 : 2;
	*(void **)&floor_event = symbol(argv[1], "libfloor.so", "floor_event");
	*(void **)&floor_edges = symbol(argv[1], "libfloor.so", "floor_edges");
	if (!floor_event || !floor_edges)
		return 1;
	if (threads == 1 && getenv("BENCH_LTTNG")) {
		*(void **)&recording = symbol(argv[1], "libpeer_lttng.so", "peer_recording");
		if (recording && recording())
			*(void **)&peer_event = symbol(argv[1], "libpeer_lttng.so", "peer_event");
	}
	if (threads > 1 && pthread_create(&second, NULL, work, NULL))
		return 1;
	work(NULL);
	if (threads > 1)
		pthread_join(second, NULL);
	/* an allocation, a free and a launch each time; both ends of each span */
	printf("made %d\n", threads * ROUNDS * BURSTS * EVENTS * 3 +
	       (HAVE_SPANS && threads == 1 ? ROUNDS * BURSTS * (EVENTS / NESTED * NESTED) * 2 : 0));
	return 0;
}
