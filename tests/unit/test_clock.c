/* The clock: right, monotonic, and never another answer for the same value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* After the headers that it relies on. */
#include <cmocka.h>
#include <pthread.h>

#include "core/record/clock.h"
#include "core/record/layout.h"

static uint64_t monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* How far the mapped clock lies outside a bracket of true readings, at best of some: a preempted
 * reading says nothing. */
static uint64_t error_ns(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 50; i++) {
		uint64_t before = monotonic(), raw = ts_clock_now(), after = monotonic(),
			 ns = ts_clock_to_ns(raw);
		uint64_t error = ns < before ? before - ns : ns > after ? ns - after : 0;

		if (error < best)
			best = error;
	}
	return best;
}

static void test_close_to_the_true_clock(void **state)
{
	(void)state;
	ts_clock_init(0);
	for (int i = 0; i < 15; i++) {
		assert_in_range(error_ns(), 0, 10000);
		ts_clock_maintain();
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	}
}

#define KEPT 4096

/* Values are mapped while pieces are added, and again at the end. */
static void test_an_answer_never_changes(void **state)
{
	static uint64_t raw[KEPT], ns[KEPT];
	struct ts_file *file = calloc(1, sizeof(*file));
	uint64_t last = 0;

	(void)state;
	for (int i = 0; i < KEPT; i++) {
		if (i == KEPT / 4)
			ts_clock_attach(file);
		if (i == KEPT / 2)
			ts_clock_detach();
		raw[i] = ts_clock_now();
		ns[i] = ts_clock_to_ns(raw[i]);
		assert_true(ns[i] >= last);
		last = ns[i];
		if (i % 16 == 0) {
			ts_clock_maintain();
			nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
		}
	}
	for (int i = 0; i < KEPT; i++)
		assert_int_equal(ts_clock_to_ns(raw[i]), ns[i]);
	if (ts_clock_is_raw)
		assert_true(file->clock_segments >= 1);
	free(file);
}

/* Pieces meet: no step between neighbours, whatever their rates, and every piece increases. */
static void test_pieces_meet(void **state)
{
	struct ts_file *file = calloc(1, sizeof(*file));

	(void)state;
	ts_clock_attach(file);
	for (uint32_t i = 1; i < file->clock_segments; i++) {
		const struct ts_clock_segment *a = &file->clock[i - 1], *b = &file->clock[i];
		uint64_t at_end =
		    a->base_ns +
		    (uint64_t)(((unsigned __int128)(b->start - a->start) * a->mult) >> 32);

		assert_true(b->start > a->start);
		assert_int_equal(b->base_ns, at_end);
		assert_true(b->mult > 0);
	}
	ts_clock_detach();
	free(file);
}

static void *read_often(void *arg)
{
	uint64_t last = 0;

	for (int i = 0; i < 200000; i++) {
		uint64_t ns = ts_clock_to_ns(ts_clock_now());

		if (ns < last)
			return arg;
		last = ns;
	}
	return NULL;
}

static void test_monotonic_in_every_thread(void **state)
{
	pthread_t threads[3];
	void *result;

	(void)state;
	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, read_often, (void *)(i + 1));
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &result);
		assert_null(result);
	}
}

static void test_session_time(void **state)
{
	uint64_t before = ts_clock_now(), now;

	(void)state;
	now = ts_clock_to_ns(ts_clock_now());
	ts_clock_session_begin(now);
	assert_int_equal(ts_clock_session_ns(before), 0);
	assert_in_range(ts_clock_elapsed_ns(), 0, 1000000000);
}

static void test_plain_clock(void **state)
{
	(void)state;
	ts_clock_init(2);
	assert_false(ts_clock_is_raw);
	assert_int_equal(ts_clock_to_ns(123456789), 123456789);
	assert_int_equal(error_ns(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_close_to_the_true_clock),
	    cmocka_unit_test(test_an_answer_never_changes),
	    cmocka_unit_test(test_pieces_meet),
	    cmocka_unit_test(test_monotonic_in_every_thread),
	    cmocka_unit_test(test_session_time),
	    cmocka_unit_test(test_plain_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
