/* Call stacks of ordinary code, against glibc's backtrace(). */
#include "tests/unit/stack_test.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/wait.h>

/* --- kinds of frames --- */

static NOINLINE void plain(void (*next)(void))
{
	next();
	KEEP_FRAME();
}

static NOINLINE void with_vla(void (*next)(void), volatile int n)
{
	volatile char room[n];

	room[0] = 1;
	plain(next);
	(void)room[0];
}

static NOINLINE void with_big_frame(void (*next)(void))
{
	volatile char room[100000];

	room[0] = 1;
	with_vla(next, 700);
	(void)room[0];
}

/* The compiler realigns the stack: with a VLA too, the CFA is found through memory. */
static NOINLINE void realigned(void (*next)(void), volatile int n)
{
	volatile char aligned[128] __attribute__((aligned(64)));
	volatile char room[n];

	room[0] = 1;
	aligned[0] = room[0];
	with_big_frame(next);
	room[0] = aligned[0];
}

static NOINLINE void seven_arguments(int a, int b, int c, int d, int e, int f, int g,
				     void (*next)(void))
{
	realigned(next, a + b + c + d + e + f + g);
	KEEP_FRAME();
}

static void like_backtrace(void **state)
{
	(void)state;
	hook();
	assert_like_backtrace();
	for (int i = 0; i < 5; i++) { /* learned, known, memo recorded, memo */
		seven_arguments(10, 20, 30, 40, 50, 60, 70 + i % 2, hook);
		assert_like_backtrace();
	}
}

static int compare(const void *a, const void *b)
{
	plain(hook);
	return *(const int *)a - *(const int *)b;
}

static void through_libc(void **state)
{
	int numbers[] = {3, 1, 2};

	(void)state;
	for (int i = 0; i < 4; i++) {
		qsort(numbers, 3, sizeof(int), compare);
		assert_like_backtrace();
	}
}

/* --- the same place, other callers: a memo must notice --- */

static NOINLINE void path(unsigned bits, int level);

static NOINLINE void path_left(unsigned bits, int level)
{
	path(bits >> 1, level - 1);
	KEEP_FRAME();
}

static NOINLINE void path_right(unsigned bits, int level)
{
	path(bits >> 1, level - 1);
	KEEP_FRAME();
}

static NOINLINE void path(unsigned bits, int level)
{
	if (!level)
		hook();
	else if (bits & 1)
		path_left(bits, level);
	else
		path_right(bits, level);
	KEEP_FRAME();
}

#define PATHS 1000

static NOINLINE void check_path(uint32_t *id)
{
	assert_like_backtrace();
	if (*id)
		assert_int_equal(taken.id, *id);
	*id = taken.id;
}

static void distinct_paths(void **state)
{
	static uint32_t ids[PATHS], order[3 * PATHS * 2];
	unsigned n = 0;

	(void)state;
	/* once to three times in a row, so that memos are made and then met in another's place */
	for (unsigned i = 0; i < 3 * PATHS; i++)
		for (unsigned again = 0; again <= i % 3 && n < TS_ARRAY_SIZE(order); again++)
			order[n++] = i % PATHS;
	for (unsigned i = 0; i < n; i++) {
		path(order[i], 10);
		check_path(&ids[order[i]]);
	}
	for (unsigned i = 1; i < PATHS; i++)
		assert_int_not_equal(ids[i], ids[i - 1]);
}

/* --- depth --- */

static NOINLINE void recurse(int n)
{
	if (n)
		recurse(n - 1);
	else
		hook();
	KEEP_FRAME();
}

#ifdef __SANITIZE_THREAD__ /* its own shadow of the stack is small */
#define DEEP 10000
#else
#define DEEP 100000
#endif

static void deep(void **state)
{
	uint64_t frames[FRAMES];
	unsigned end;

	(void)state;
	for (int i = 0; i < 4; i++) {
		recurse(DEEP);
		assert_int_equal(frames_of(taken.id, frames, &end), 64);
		assert_int_equal(end, TS_STACK_TRUNCATED);
		for (int f = 0; f < 64; f++)
			assert_int_equal(frames[f] + 1, taken.backtrace[f]);
	}
	ts_stack_set_depth(TS_STACK_MAX + 1);
	recurse(DEEP);
	assert_int_equal(frames_of(taken.id, frames, &end), TS_STACK_MAX);
	ts_stack_set_depth(0);
	hook();
	assert_int_equal(taken.id, 0);
	ts_stack_set_depth(1);
	hook();
	assert_int_equal(frames_of(taken.id, frames, &end), 1);
	ts_stack_set_depth(64);
	hook();
	assert_like_backtrace();
}

/* --- threads --- */

/* Not glibc's backtrace() here: it needs more stack than there is. */
static NOINLINE void small_hook(void)
{
	ts_self.depth++;
	taken.id = ts_stack_take(__builtin_frame_address(0));
	ts_self.depth--;
}

static void *small(void *arg)
{
	for (int i = 0; i < 4; i++) {
		plain(small_hook);
		*(uint32_t *)arg = taken.id;
	}
	ts_self.depth++;
	ts_stack_thread_end();
	ts_self.depth--;
	return NULL;
}

/* The first test: also libunwind is opened on 16 KiB. */
static void small_stack(void **state)
{
	uint64_t frames[FRAMES];
	uint32_t id = 0;
	unsigned end, n;
	pthread_attr_t attr;
	pthread_t thread;

	(void)state;
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN), 0);
	assert_int_equal(pthread_create(&thread, &attr, small, &id), 0);
	pthread_join(thread, NULL);
	assert_null(ts_stack_problem());
	assert_int_not_equal(id, 0);
	n = frames_of(id, frames, &end);
	assert_int_equal(end, TS_STACK_WHOLE);
	assert_in_range(n, 4, 5); /* plain, small, start_thread, clone */
	assert_in_range(frames[0], (uintptr_t)plain, (uintptr_t)plain + 100);
	assert_in_range(frames[1], (uintptr_t)small, (uintptr_t)small + 200);
}

static void *thread_main(void *arg)
{
	for (int i = 0; i < 300; i++) {
		path((unsigned)i, 10);
		assert_like_backtrace();
		((uint32_t *)arg)[i] = taken.id;
	}
	return NULL;
}

/* One id for one stack, whichever thread took it. */
static void two_threads(void **state)
{
	static uint32_t ids[2][300];
	pthread_t threads[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thread_main, ids[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_memory_equal(ids[0], ids[1], sizeof(ids[0]));
}

/* --- the program does not notice --- */

static void errno_kept(void **state)
{
	(void)state;
	errno = 4711;
	for (int i = 0; i < 4; i++) {
		if (i % 2) /* cold again */
			ts_stack_set_depth(64);
		plain(small_hook);
		assert_int_equal(errno, 4711);
	}
}

static void unwinder_not_visible(void **state)
{
	static const char *const names[] = {"backtrace", "_Unwind_Backtrace",
					    "_Unwind_RaiseException", "_Unwind_Resume"};

	(void)state;
	hook();
	assert_non_null(dlopen("libunwind-x86_64.so.8", RTLD_NOW | RTLD_NOLOAD));
	for (size_t i = 0; i < TS_ARRAY_SIZE(names); i++) {
		void *function = dlsym(RTLD_DEFAULT, names[i]);
		Dl_info info;

		if (!function)
			continue;
		assert_int_not_equal(dladdr(function, &info), 0);
		assert_null(strstr(info.dli_fname, "libunwind"));
	}
	assert_null(dlsym(RTLD_DEFAULT, "unw_backtrace"));
}

static void after_fork(void **state)
{
	int status;
	pid_t child;

	(void)state;
	hook();
	child = fork();
	if (!child) {
		bool recoverable;
		int failed =
		    ts_file_make("/tmp", "/tmp/test_stack_child.jsonl", 1 << 16, &recoverable);

		/* ids are of the child's own, empty arena */
		for (int i = 0; i < 3; i++) {
			like_backtrace(NULL);
			through_libc(NULL);
		}
		ts_file_unlink();
		_exit(failed ? 1 : 42);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
	hook();
	assert_like_backtrace();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(small_stack),  cmocka_unit_test(like_backtrace),
	    cmocka_unit_test(through_libc), cmocka_unit_test(distinct_paths),
	    cmocka_unit_test(deep),	    cmocka_unit_test(two_threads),
	    cmocka_unit_test(errno_kept),   cmocka_unit_test(unwinder_not_visible),
	    cmocka_unit_test(after_fork),
	};

	return cmocka_run_group_tests(tests, stack_setup, stack_teardown);
}
