/* P5: an allocation with a warm stack of 30 frames.
 *   probe_stack FOLDER cuda|heap one|two
 * cuda: cudaMalloc and cudaFree (preloaded tstrace) beside unw_backtrace + intern + ring in the
 * same process; heap: malloc and free, for heaptrack. */
#include "tests/bench/bench.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

cudaError_t bench_malloc(void **pointer, size_t size);
cudaError_t bench_free(void *pointer);

#define PAIRS 600       /* heaptrack writes every event into a pipe: small bursts */

static int threads = 1;
static _Atomic int arrived;
static floor_stack_fn floor_stack;
static void (*bottom)(void);
static __thread double cost;

static void meet(void)
{
	int goal = (atomic_fetch_add(&arrived, 1) / threads + 1) * threads;

	while (atomic_load(&arrived) < goal)
		;
}

/* A tower of thirty functions, each with its own return address. */
#define FLOOR(n, below)                                                                            \
	__attribute__((noinline)) static void f##n(void)                                           \
	{                                                                                          \
		below();                                                                           \
		__asm__ volatile("" ::: "memory");                                                 \
	}
static void ground(void)
{
	bottom();
	__asm__ volatile("" ::: "memory");
}
FLOOR(1, ground) FLOOR(2, f1) FLOOR(3, f2) FLOOR(4, f3) FLOOR(5, f4) FLOOR(6, f5) FLOOR(7, f6)
FLOOR(8, f7) FLOOR(9, f8) FLOOR(10, f9) FLOOR(11, f10) FLOOR(12, f11) FLOOR(13, f12) FLOOR(14, f13)
FLOOR(15, f14) FLOOR(16, f15) FLOOR(17, f16) FLOOR(18, f17) FLOOR(19, f18) FLOOR(20, f19)
FLOOR(21, f20) FLOOR(22, f21) FLOOR(23, f22) FLOOR(24, f23) FLOOR(25, f24) FLOOR(26, f25)

static void timed(void (*run)(int count), int count)
{
	double t0;

	if (threads > 1)
		meet();
	t0 = now_ns();
	run(count);
	cost = (now_ns() - t0) / count;
}

static __thread void *pointers[PAIRS];

static void allocations(int count)
{
	for (int i = 0; i < count; i++)
		cudaMalloc(&pointers[i], 256);
}

static void plain_allocations(int count)
{
	for (int i = 0; i < count; i++)
		bench_malloc(&pointers[i], 256);
}

static void floor_allocations(int count)
{
	for (int i = 0; i < count; i++)
		floor_stack((uint64_t)i);
}

static void pairs(int count)
{
	for (int i = 0; i < count; i++) {
		cudaMalloc(&pointers[0], 256);
		cudaFree(pointers[0]);
	}
}

static void plain_pairs(int count)
{
	for (int i = 0; i < count; i++) {
		bench_malloc(&pointers[0], 256);
		bench_free(pointers[0]);
	}
}

static void heap_pairs(int count)
{
	for (int i = 0; i < count; i++) {
		void *volatile p = malloc(256);

		free(p);
	}
}

static __thread void (*chosen)(int count);

static void at_bottom(void)
{
	timed(chosen, PAIRS);
}

static double sample(void (*run)(int count), void (*plain)(int count), int freed)
{
	double costs[BURSTS], plain_cost;

	for (int i = 0; i < BURSTS; i++) {
		chosen = run;
		f26();
		costs[i] = cost;
		usleep(PAUSE_US);
		for (int k = 0; freed && k < PAIRS; k++)
			cudaFree(pointers[k]);
		if (!plain)
			continue;
		chosen = plain;
		f26();
		plain_cost = cost;
		costs[i] -= plain_cost;
		usleep(PAUSE_US);
	}
	return median(costs, BURSTS);
}

static void *cuda(void *arg)
{
	const char *two = threads > 1 ? "_2" : "";

	(void)arg;
	for (int round = 0; round < ROUNDS; round++) {
		if (floor_stack)
			printf("unw%s %.3f\n", two, sample(floor_allocations, NULL, 0));
		printf("alloc%s %.3f\n", two, sample(allocations, plain_allocations, 1));
		printf("pair%s %.3f\n", two, sample(pairs, plain_pairs, 0));
	}
	return NULL;
}

static void *heap(void *arg)
{
	(void)arg;
	for (int round = 0; round < ROUNDS; round++)
		printf("%s %.3f\n", getenv("BENCH_KEY") ? getenv("BENCH_KEY") : "heap",
		       sample(heap_pairs, NULL, 0));
	return NULL;
}

static void open_floor(const char *folder)
{
	char path[4096];
	int (*open_stack)(void) = NULL;
	void *handle;

	snprintf(path, sizeof(path), "%s/libfloor.so", folder);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return;
	*(void **)&open_stack = dlsym(handle, "floor_stack_open");
	if (open_stack && !open_stack())
		*(void **)&floor_stack = dlsym(handle, "floor_stack");
}

int main(int argc, char **argv)
{
	void *(*work)(void *);
	pthread_t second;

	if (argc < 4)
		return 2;
	bottom = at_bottom;
	work = strcmp(argv[2], "heap") ? cuda : heap;
	threads = strcmp(argv[3], "two") ? 1 : 2;
	if (work == cuda)
		open_floor(argv[1]);
	if (threads > 1 && pthread_create(&second, NULL, work, NULL))
		return 1;
	work(NULL);
	if (threads > 1)
		pthread_join(second, NULL);
	/* an allocation and a free each time, in two measurements */
	if (work == cuda)
		printf("made %d\n", threads * ROUNDS * BURSTS * PAIRS * 4);
	return 0;
}
