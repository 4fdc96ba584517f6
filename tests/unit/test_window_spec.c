/* TSTRACE_WINDOW: what it may say, and what is said about what it may not. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* After the headers that it relies on. */
#include <cmocka.h>

#include "core/window_spec.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)

static void test_good(void **state)
{
	static const struct {
		const char *text;
		struct ts_window_spec spec;
	} rows[] = {
		{ "run", { .kind = TS_WINDOW_RUN } },
		{ "profiler", { .kind = TS_WINDOW_PROFILER } },
		{ "api", { .kind = TS_WINDOW_API } },
		{ "iterations=0..0", { .kind = TS_WINDOW_ITERATIONS } },
		{ "iterations=7..12", { .kind = TS_WINDOW_ITERATIONS, .first = 7, .last = 12 } },
		{ "iterations=0..18446744073709551615",
		  { .kind = TS_WINDOW_ITERATIONS, .last = UINT64_MAX } },
		{ "iterations=5,2,3",
		  { .kind = TS_WINDOW_CYCLE, .wait = 5, .warm_up = 2, .active = 3 } },
		{ "iterations=0,0,1,4", { .kind = TS_WINDOW_CYCLE, .active = 1, .repeat = 4 } },
		{ "after=0", { .kind = TS_WINDOW_TIME } },
		{ "after=30", { .kind = TS_WINDOW_TIME, .delay_ns = 30 * S } },
		{ "after=2m,500ms",
		  { .kind = TS_WINDOW_TIME, .delay_ns = 120 * S, .duration_ns = 500 * MS } },
		{ "after=1s,2s",
		  { .kind = TS_WINDOW_TIME, .delay_ns = S, .duration_ns = 2 * S } },
		{ "signal=USR1", { .kind = TS_WINDOW_SIGNAL, .signal = SIGUSR1 } },
		{ "signal=SIGUSR2", { .kind = TS_WINDOW_SIGNAL, .signal = SIGUSR2 } },
		{ "signal=HUP", { .kind = TS_WINDOW_SIGNAL, .signal = SIGHUP } },
	};

	(void)state;
	for (size_t i = 0; i < TS_ARRAY_SIZE(rows); i++) {
		struct ts_window_spec spec;
		const char *right;

		assert_int_equal(ts_window_parse(rows[i].text, &spec, &right), 0);
		assert_memory_equal(&spec, &rows[i].spec, sizeof(spec));
	}
}

static void test_real_time_signals(void **state)
{
	struct ts_window_spec spec;
	const char *right;

	(void)state;
	assert_int_equal(ts_window_parse("signal=RTMIN", &spec, &right), 0);
	assert_int_equal(spec.signal, SIGRTMIN);
	assert_int_equal(ts_window_parse("signal=SIGRTMIN+3", &spec, &right), 0);
	assert_int_equal(spec.signal, SIGRTMIN + 3);
	assert_true(ts_window_parse("signal=RTMIN+60", &spec, &right) < 0);
}

/* All of these are the whole run, with a word of the part that is wrong. */
static void test_bad(void **state)
{
	static const struct {
		const char *text, *word;
	} rows[] = {
		{ "", "it wants run, profiler" },
		{ "Run", "it wants run, profiler" },
		{ "run ", "it wants run, profiler" },
		{ "steps=1..2", "it wants run, profiler" },
		{ "iterations=", "A..B" },
		{ "iterations=4", "A..B" },
		{ "iterations=5..4", "A..B" },
		{ "iterations=1..2x", "A..B" },
		{ "iterations=-1..2", "A..B" },
		{ "iterations=1,2", "ACTIVE" },
		{ "iterations=1,2,0", "ACTIVE from 1" },
		{ "iterations=1,2,3,4,5", "ACTIVE" },
		{ "iterations=4294967296,1,1", "ACTIVE" },
		{ "iterations=18446744073709551616..2", "A..B" },
		{ "after=", "DELAY" },
		{ "after=1h", "DELAY" },
		{ "after=1.5s", "whole number" },
		{ "after=1s,", "DURATION" },
		{ "after=1s,0", "DURATION" },
		{ "after=18446744073709551615s", "DELAY" },
		{ "signal=", "USR1" },
		{ "signal=KILL", "USR1" },
		{ "signal=SEGV", "USR1" },
		{ "signal=10", "USR1" },
		{ "signal=USR11", "USR1" },
	};

	(void)state;
	for (size_t i = 0; i < TS_ARRAY_SIZE(rows); i++) {
		struct ts_window_spec spec;
		const char *right = NULL;

		assert_true(ts_window_parse(rows[i].text, &spec, &right) < 0);
		assert_int_equal(spec.kind, TS_WINDOW_RUN);
		assert_non_null(strstr(right, rows[i].word));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_real_time_signals),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
