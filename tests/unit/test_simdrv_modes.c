/* The simulated driver: its switches.  They are read when it is loaded, so that each test is a
 * child. */
#include "simdrv.h"
#include <pthread.h>
#include <sys/wait.h>

static void in_child(const char *name, const char *value, void (*body)(void))
{
	pid_t pid = fork();
	if (!pid) {
		setenv(name, value, 1);
		alarm(15);
		drv_open();
		drv_context();
		body();
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define NEED(x)                                                                                    \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);                    \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void body_faults(void)
{
	CUdeviceptr p = 7;
	CUfunction f = drv_kernel("faulty");
	__typeof__(&cuMemAlloc) alloc = D(cuMemAlloc);
	NEED(!alloc(&p, 64) && !alloc(&p, 64));
	p = 7;
	NEED(alloc(&p, 64) == 2 && p == 7);
	NEED(!alloc(&p, 64));
	NEED(drv_launch(f, NULL) == 700 && drv_launch(f, NULL) == 700);
}

static void body_memory(void)
{
	CUdeviceptr p, q = 0;
	size_t left, total;
	NEED(!D(cuMemGetInfo)(&left, &total) && total == 1 << 20 && left == total);
	NEED(!D(cuMemAlloc)(&p, 1 << 19));
	NEED(D(cuMemAlloc)(&q, (1 << 19) + 1) == CUDA_ERROR_OUT_OF_MEMORY && !q);
	NEED(!D(cuMemFree)(p) && !D(cuMemAlloc)(&q, 1 << 20));
}

static void body_never(void)
{
	CUdeviceptr first, p;
	NEED(!D(cuMemAlloc)(&first, 4096) && !D(cuMemFree)(first));
	for (int i = 0; i < 2000; i++)
		NEED(!D(cuMemAlloc)(&p, 4096) && p != first && !D(cuMemFree)(p));
}

static void body_lifo(void)
{
	CUdeviceptr a, b, c;
	NEED(!D(cuMemAlloc)(&a, 4096) && !D(cuMemAlloc)(&b, 4096));
	NEED(!D(cuMemFree)(a) && !D(cuMemFree)(b));
	NEED(!D(cuMemAlloc)(&c, 4096) && c == b);
	NEED(!D(cuMemAlloc)(&c, 4096) && c == a);
}

static volatile int freed;
static CUdeviceptr taken;

static void *taker(void *ctx)
{
	NEED(!D(cuCtxSetCurrent)(ctx));
	usleep(50000);
	NEED(!freed); /* the other thread is still in its free */
	NEED(!D(cuMemAlloc)(&taken, 4096));
	return NULL;
}

static void body_handshake(void)
{
	CUdeviceptr p;
	CUcontext ctx;
	pthread_t thread;
	NEED(!D(cuMemAlloc)(&p, 4096) && !D(cuCtxGetCurrent)(&ctx));
	NEED(!pthread_create(&thread, NULL, taker, ctx));
	NEED(!D(cuMemFree)(p));
	freed = 1;
	NEED(!pthread_join(thread, NULL) && taken == p);
}

static void faults(void **state)
{
	(void)state;
	in_child("TSTRACE_SIM_FAIL", "cuMemAlloc_v2:3=2,cuLaunchKernel:*=700", body_faults);
}

static void memory(void **state)
{
	(void)state;
	in_child("TSTRACE_SIM_MEMORY", "1M", body_memory);
}

static void reuse(void **state)
{
	(void)state;
	in_child("TSTRACE_SIM_REUSE", "never", body_never);
	in_child("TSTRACE_SIM_REUSE", "lifo", body_lifo);
	in_child("TSTRACE_SIM_REUSE", "handshake", body_handshake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(faults), cmocka_unit_test(memory),
					   cmocka_unit_test(reuse)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
