/* P4: what is left when nothing is recorded.
 *   probe_off header    tstrace.h alone, in a process without the library
 *   probe_off paused    hooks outside the window, with it */
#define TSTRACE_DYNAMIC
#include "core/tstrace.h"
#include "tests/bench/bench.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

cudaError_t bench_malloc(void **pointer, size_t size);
cudaError_t bench_free(void *pointer);
cudaError_t bench_launch(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
			 cudaStream_t stream);

static char kernel_stub;
static void *pointers[EVENTS], *plain_pointers[EVENTS];

static void nothing(void)
{
	for (int i = 0; i < EVENTS; i++)
		__asm__ volatile("" : : : "memory");
}

/* Two calls, a scalar beside: three in all. */
static void spans(void)
{
	for (int i = 0; i < EVENTS; i++) {
		/* Each time round the library could be there. */
		tstrace_span span = tstrace_begin_span(NULL, "name", TSTRACE_FUNCTION);

		__asm__ volatile("" : : : "memory");
		tstrace_record_scalar(NULL, 0, "loss", 1);
		__asm__ volatile("" : : : "memory");
		tstrace_end_span(NULL, span);
		__asm__ volatile("" : : : "memory");
	}
}

static void launches(void)
{
	for (int i = 0; i < EVENTS; i++)
		cudaLaunchKernel(&kernel_stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL);
}

static void plain_launches(void)
{
	for (int i = 0; i < EVENTS; i++)
		bench_launch(&kernel_stub, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL);
}

static void allocations(void)
{
	for (int i = 0; i < EVENTS; i++)
		cudaMalloc(&pointers[i], 256);
}

static void plain_allocations(void)
{
	for (int i = 0; i < EVENTS; i++)
		bench_malloc(&plain_pointers[i], 256);
}

static void frees(void)
{
	for (int i = 0; i < EVENTS; i++)
		cudaFree(pointers[i]);
}

static void plain_frees(void)
{
	for (int i = 0; i < EVENTS; i++)
		bench_free(plain_pointers[i]);
}

static double cost(void (*run)(void))
{
	double t0 = now_ns();

	run();
	return (now_ns() - t0) / EVENTS;
}

struct what {
	const char *key;
	void (*run)(void), (*plain)(void);
	double calls;
};

static const struct what header[] = {{"off_header", spans, nothing, 3}};
static const struct what paused[] = {
    {"paused_span", spans, nothing, 3},
    {"paused_launch", launches, plain_launches, 1},
    {"paused_alloc", allocations, plain_allocations, 1},
    {"paused_free", frees, plain_frees, 1},
};

/* In turn, so that what is freed was allocated. */
static void measure(const struct what *all, size_t count)
{
	static double costs[4][BURSTS];

	for (int i = 0; i < BURSTS; i++) {
		for (size_t k = 0; k < count; k++)
			costs[k][i] = (cost(all[k].run) - cost(all[k].plain)) / all[k].calls;
		usleep(PAUSE_US);
	}
	for (size_t k = 0; k < count; k++)
		printf("%s %.3f\n", all[k].key, median(costs[k], BURSTS));
}

int main(int argc, char **argv)
{
	bool header_alone = argc > 1 && !strcmp(argv[1], "header");

	if (argc < 2)
		return 2;
	/* A row that measures something else is worse than none. */
	if (header_alone != (tstrace_bound_ == NULL))
		return 1;
	if (!header_alone && tstrace_pause(NULL))
		return 1;
	for (int round = 0; round < ROUNDS; round++) {
		if (header_alone)
			measure(header, sizeof(header) / sizeof(header[0]));
		else
			measure(paused, sizeof(paused) / sizeof(paused[0]));
	}
	return 0;
}
