/* Spans: depth, names that change under their address, threads, what is open or lost at the end. */
#include "tests/unit/record_test.h"

#include <errno.h>
#include <pthread.h>

#include "core/tstrace.h"
#include "tests/unit/child.h"

static json_t *run(void (*scenario)(void), const char *name, const char *setting)
{
	const char *path = test_path(name);

	if (run_session(scenario, path, setting, NULL))
		fail_msg("%s", said);
	return valid_trace(path);
}

/* --- depth --- */

#define DEEPEST 4096

static void deep(void)
{
	static tstrace_span spans[DEEPEST + 10];

	for (int i = 0; i < DEEPEST + 10; i++) {
		spans[i] = tstrace_begin_span(NULL, "deep", TSTRACE_FUNCTION);
		CHECK(!spans[i] == (i >= DEEPEST));
	}
	for (int i = DEEPEST + 9; i >= 0; i--)
		CHECK(!tstrace_end_span(NULL, spans[i]));   /* 0 does nothing */
	CHECK(tstrace_end_span(NULL, spans[0]) == -EINVAL); /* a second time */
	CHECK(!tstrace_finish(NULL, NULL));
}

static void test_depth(void **state)
{
	json_t *lines = run(deep, "deep.jsonl", NULL);

	(void)state;
	/* With the root and the measured one that every run has. */
	assert_int_equal(event_count(lines, "span_start"), DEEPEST + 2);
	assert_int_equal(event_count(lines, "span_end"), DEEPEST + 2);
	json_decref(lines);
}

/* --- names --- */

#define NAMES 200

/* The same buffer with ever another name, as programs do that number their steps. */
static void changing_names(void)
{
	char name[32];

	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "step %d", i / 2);
		tstrace_end_span(NULL, tstrace_begin_span(NULL, name, TSTRACE_OP));
	}
}

static void test_names_change_under_their_address(void **state)
{
	json_t *lines = run(changing_names, "names.jsonl", NULL);
	char name[32];

	(void)state;
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "step %d", i / 2);
		assert_string_equal(text_of(event_at(lines, "span_start", (size_t)i + 1), "name"),
				    name);
	}
	json_decref(lines);
}

/* --- threads --- */

static tstrace_span of_main;

static void *another_thread(void *arg)
{
	CHECK(tstrace_end_span(NULL, of_main) == -EINVAL); /* not of this thread */
	tstrace_begin_step_span(NULL, "left open", TSTRACE_BACKWARD, TSTRACE_MODULE);
	put_launch("inside", 0);
	return arg;
}

static void threads(void)
{
	pthread_t thread;

	of_main = tstrace_begin_measurement(NULL, "run");
	pthread_create(&thread, NULL, another_thread, NULL);
	pthread_join(thread, NULL);
	CHECK(tstrace_finish(NULL, NULL) == -EBUSY);
	CHECK(!tstrace_end_span(NULL, of_main));
	CHECK(!tstrace_finish(NULL, NULL));
}

static void test_threads_have_their_own_stack(void **state)
{
	json_t *lines = run(threads, "threads.jsonl", NULL), *open;

	(void)state;
	assert_non_null(strstr(said, "spans of this thread are still open: "));
	assert_int_equal(event_count(lines, "span_start"), 3);
	open = event_at(lines, "span_start", 2);
	assert_string_equal(text_of(open, "parent_id"), "s1");
	assert_string_equal(text_of(open, "step"), "backward");
	assert_true(number_of(open, "thread") !=
		    number_of(event_at(lines, "span_start", 1), "thread"));
	assert_string_equal(text_of(event_at(lines, "op", 0), "span_id"), text_of(open, "id"));
	assert_true(json_is_true(json_object_get(event_at(lines, "span_end", 1), "open_at_end")));
	json_decref(lines);
}

/* --- steps decide the category of memory, also after an inner span has ended --- */

static void steps(void)
{
	tstrace_span step, inner;

	step = tstrace_begin_step_span(NULL, "optimize", TSTRACE_OPTIMIZER, TSTRACE_MODULE);
	inner = tstrace_begin_step_span(NULL, "backward", TSTRACE_BACKWARD, TSTRACE_MODULE);
	CHECK(ts_self.step == TSTRACE_BACKWARD);
	tstrace_end_span(NULL, inner);
	inner = tstrace_begin_span(NULL, "plain", TSTRACE_OP);
	CHECK(ts_self.step == TSTRACE_OPTIMIZER); /* inherited */
	tstrace_end_span(NULL, inner);
	tstrace_end_span(NULL, step);
	CHECK(ts_self.step == TSTRACE_STEP_NONE && ts_self.span == 1);
}

static void test_steps(void **state)
{
	(void)state;
	json_decref(run(steps, "steps.jsonl", NULL));
}

/* --- ends that were lost --- */

/* With the smallest ring and no waiting, starts and ends are lost by the thousand: what is written
 * still nests. */
static void losing(void)
{
	tstrace_span outer, inner, innermost;

	for (int i = 0; i < 20000; i++) {
		outer = tstrace_begin_span(NULL, "outer", TSTRACE_FUNCTION);
		inner = tstrace_begin_span(NULL, "inner", TSTRACE_FUNCTION);
		innermost = tstrace_begin_span(NULL, "innermost", TSTRACE_FUNCTION);
		tstrace_end_span(NULL, innermost);
		tstrace_end_span(NULL, inner);
		tstrace_end_span(NULL, outer);
	}
	CHECK(ts_self.span == 1);
	CHECK(ts_lost_count(TS_LOST_ring_full) > 0);
}

static void test_lost_ends(void **state)
{
	const char *path = test_path("lost.jsonl");
	json_t *lines, *event;
	size_t marked = 0, i;

	(void)state;
	if (run_session(losing, path, "TSTRACE_BUFFER=16K", "TSTRACE_ON_FULL=drop", NULL))
		fail_msg("%s", said);
	lines = valid_trace(path);
	json_array_foreach(lines, i, event) marked +=
	    json_object_get(event, "end_lost") || json_object_get(event, "open_at_end");
	assert_true(marked > 0);
	assert_int_equal(event_count(lines, "span_start"), event_count(lines, "span_end"));
	json_decref(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_depth),
	    cmocka_unit_test(test_names_change_under_their_address),
	    cmocka_unit_test(test_threads_have_their_own_stack),
	    cmocka_unit_test(test_steps),
	    cmocka_unit_test(test_lost_ends),
	};

	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
