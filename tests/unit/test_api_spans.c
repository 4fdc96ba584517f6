/* The rules of spans: where they hang, what may end, what is measured; and what may be said of a
 * span later. */
#include "tests/unit/record_test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

#include "core/tstrace.h"
#include "tests/unit/child.h"

#define SAYS(text) (strstr(tstrace_error(), text) != NULL)

/* --- kinds, steps, parents --- */

static void all_kinds(void)
{
	static const enum tstrace_step steps[] = {TSTRACE_STEP_NONE, TSTRACE_FORWARD,
						  TSTRACE_BACKWARD, TSTRACE_OPTIMIZER};
	tstrace_span spans[4];

	for (unsigned i = 0; i < 4; i++)
		spans[i] = tstrace_begin_step_span(NULL, i ? "step" : "none", steps[i],
						   (enum tstrace_span_kind)(i % 3));
	for (unsigned i = 4; i-- > 0;)
		CHECK(!tstrace_end_span(NULL, spans[i]));
	spans[0] = tstrace_begin_measurement(NULL, "measured");
	spans[1] = tstrace_begin_span(NULL, NULL, TSTRACE_MODULE);
	spans[2] = tstrace_begin_span(NULL, "", TSTRACE_OP);
	CHECK(!tstrace_begin_span(NULL, "x", (enum tstrace_span_kind)3) && SAYS("kind"));
	CHECK(!tstrace_begin_step_span(NULL, "x", (enum tstrace_step)4, TSTRACE_OP) &&
	      SAYS("step"));
	for (unsigned i = 3; i-- > 0;)
		CHECK(!tstrace_end_span(NULL, spans[i]));
}

static void test_kinds(void **state)
{
	static const struct {
		const char *name, *id, *parent, *kind, *step;
		bool measured;
	} rows[] = {
	    {"test_api_spans", "s1", "", "function", "", false},
	    {"none", "s2", "s1", "function", "", false},
	    {"step", "s3", "s2", "op", "forward", false},
	    {"step", "s4", "s3", "module", "backward", false},
	    {"step", "s5", "s4", "function", "optimizer", false},
	    {"measured", "s6", "s1", "function", "", true},
	    {"(unnamed)", "s7", "s6", "module", "", false},
	    {"", "s8", "s7", "op", "", false},
	};
	json_t *lines = trace_of(all_kinds, "kinds.jsonl"), *e;
	const size_t count = sizeof(rows) / sizeof(rows[0]);

	(void)state;
	assert_int_equal(event_count(lines, "span_start"), count);
	for (size_t i = 0; i < count; i++) {
		e = event_at(lines, "span_start", i);
		assert_string_equal(text_of(e, "name"), rows[i].name);
		assert_string_equal(text_of(e, "id"), rows[i].id);
		assert_string_equal(text_of(e, "parent_id"), rows[i].parent);
		assert_string_equal(text_of(e, "span_kind"), rows[i].kind);
		assert_string_equal(text_of(e, "step"), rows[i].step);
		assert_int_equal(json_is_true(json_object_get(e, "measured")), rows[i].measured);
	}
	assert_int_equal(number_of(event_at(lines, "span_start", 0), "start_ns"), 0);
	json_decref(lines);
}

/* --- last in, first out --- */

static void wrong_order(void)
{
	tstrace_span outer = tstrace_begin_span(NULL, "outer one", TSTRACE_OP), inner;

	inner = tstrace_begin_span(NULL, "inner one", TSTRACE_OP);
	CHECK(tstrace_end_span(NULL, outer) == -EINVAL && SAYS("innermost"));
	CHECK(tstrace_end_span(NULL, inner + 1) == -EINVAL);
	CHECK(tstrace_finish(NULL, NULL) == -EBUSY && SAYS("outer one") && SAYS("inner one"));
	CHECK(!tstrace_record_scalar(NULL, 0, "still inside", 1));
	CHECK(!tstrace_end_span(NULL, inner));
	CHECK(!tstrace_record_scalar(NULL, 0, "outside", 1));
	CHECK(!tstrace_end_span(NULL, outer));
	CHECK(tstrace_end_span(NULL, outer) == -EINVAL);
	CHECK(tstrace_end_span(NULL, TSTRACE_ROOT) == -EINVAL);
	CHECK(!tstrace_finish(NULL, NULL));
}

static void test_order(void **state)
{
	json_t *lines = trace_of(wrong_order, "order.jsonl");

	(void)state;
	/* With the root and the measured one; nothing was written for what was refused. */
	assert_int_equal(event_count(lines, "span_end"), 4);
	assert_string_equal(text_of(event_at(lines, "span_end", 0), "id"), "s3");
	assert_string_equal(text_of(event_at(lines, "span_end", 1), "id"), "s2");
	assert_string_equal(text_of(event_at(lines, "tensor_stats", 0), "span_id"), "s3");
	assert_string_equal(text_of(event_at(lines, "tensor_stats", 1), "span_id"), "s2");
	json_decref(lines);
}

/* --- the measured region --- */

#define DEEPEST 4096

/* A region that could not be begun is none: the next one is the measured one. */
static void measured_once(void)
{
	static tstrace_span spans[DEEPEST];
	tstrace_span region;

	for (int i = 0; i < DEEPEST; i++)
		CHECK((spans[i] = tstrace_begin_span(NULL, "deep", TSTRACE_OP)));
	CHECK(!tstrace_begin_measurement(NULL, "too deep") && SAYS("4096"));
	CHECK(!tstrace_pause(NULL));
	CHECK(!tstrace_begin_measurement(NULL, "in a pause"));
	CHECK(!tstrace_resume(NULL));
	for (int i = DEEPEST; i-- > 0;)
		CHECK(!tstrace_end_span(NULL, spans[i]));
	CHECK((region = tstrace_begin_measurement(NULL, "the one")));
	CHECK(!tstrace_begin_measurement(NULL, "inside") && SAYS("exactly one"));
	CHECK(!tstrace_end_span(NULL, region));
	CHECK(!tstrace_begin_measurement(NULL, "after") && SAYS("exactly one"));
	CHECK(!tstrace_finish(NULL, NULL));
}

static void test_measured(void **state)
{
	json_t *lines = trace_of(measured_once, "measured.jsonl"), *event;
	size_t i, measured = 0;

	(void)state;
	json_array_foreach(lines, i, event)
	{
		if (json_is_true(json_object_get(event, "measured"))) {
			measured++;
			assert_string_equal(text_of(event, "name"), "the one");
		}
	}
	assert_int_equal(measured, 1);
	json_decref(lines);
}

/* --- completed spans --- */

static void completed(void)
{
	tstrace_span inside = tstrace_begin_step_span(NULL, "inside", TSTRACE_FORWARD, TSTRACE_OP);
	tstrace_span done = 77, other;

	while (tstrace_elapsed_ns(NULL) < 1000)
		;
	CHECK(!tstrace_record_completed_host_span(NULL, "io", TSTRACE_MODULE, 100, 50, &done));
	CHECK(!tstrace_record_completed_host_span(NULL, "overlaps", TSTRACE_OP, 120, 500, &other));
	CHECK(done > 1 && other == done + 1);
	CHECK(tstrace_record_completed_host_span(NULL, "x", TSTRACE_OP, 1, 0, &done) == -EINVAL);
	CHECK(!done);
	CHECK(tstrace_record_completed_host_span(NULL, "x", TSTRACE_OP, UINT64_MAX, 2, NULL) ==
	      -ERANGE);
	CHECK(tstrace_record_completed_host_span(NULL, "x", TSTRACE_OP, tstrace_elapsed_ns(NULL),
						 10000000000, NULL) == -ERANGE);
	CHECK(tstrace_record_completed_host_span(NULL, "x", (enum tstrace_span_kind)3, 1, 1,
						 NULL) == -EINVAL);
	/* The stack is untouched. */
	CHECK(!tstrace_end_span(NULL, inside));
}

static void test_completed(void **state)
{
	json_t *lines = trace_of(completed, "completed.jsonl"), *e;

	(void)state;
	assert_int_equal(event_count(lines, "span_start"), 5);
	e = event_at(lines, "span_start", 2);
	assert_string_equal(text_of(e, "name"), "io");
	assert_string_equal(text_of(e, "parent_id"), "s1");
	assert_string_equal(text_of(e, "span_kind"), "module");
	assert_string_equal(text_of(e, "step"), "");
	assert_false(json_is_true(json_object_get(e, "measured")));
	assert_int_equal(number_of(e, "start_ns"), 100);
	assert_int_equal(number_of(event_at(lines, "span_end", 0), "duration_ns"), 50);
	json_decref(lines);
}

/* --- times --- */

static void times(void)
{
	const struct timespec before = {0, 1}, bad[] = {{1, -1}, {1, 1000000000}, {-1, 0}};
	struct timespec now;
	uint64_t first = tstrace_elapsed_ns(NULL), ns = 5, again;

	CHECK(!clock_gettime(CLOCK_MONOTONIC, &now));
	CHECK(!tstrace_host_timestamp_ns(NULL, &now, &ns));
	again = tstrace_elapsed_ns(NULL);
	/* The two clocks are the same to some microseconds, whatever the machine does meanwhile. */
	CHECK(ns + 5000000 > first && ns < again + 5000000);
	CHECK(tstrace_host_timestamp_ns(NULL, &before, &ns) == -ERANGE && SAYS("before") && !ns);
	for (size_t i = 0; i < 3; i++)
		CHECK(tstrace_host_timestamp_ns(NULL, &bad[i], &ns) == -EINVAL && SAYS("time"));
	CHECK(tstrace_host_timestamp_ns(NULL, NULL, &ns) == -EINVAL);
	CHECK(tstrace_host_timestamp_ns(NULL, &now, NULL) == -EINVAL);
}

static void test_times(void **state)
{
	(void)state;
	json_decref(trace_of(times, "times.jsonl"));
}

/* --- what names a span --- */

static int op_at(tstrace_span span, uint64_t start, uint64_t duration)
{
	return tstrace_record_op(
	    NULL, span,
	    &(struct tstrace_op){.name = "op", .timestamp_ns = start, .duration_ns = duration});
}

static tstrace_span of_main, of_before;

static void *from_another_thread(void *arg)
{
	/* An op may not outlive a span that its thread may end this very moment. */
	CHECK(op_at(of_main, 0, 0) == -ENOENT && SAYS("open on this thread"));
	CHECK(tstrace_record_call_edge(NULL, TSTRACE_ROOT, of_before, 0) == -ENOENT);
	CHECK(!tstrace_record_scalar(NULL, of_main, "from the side", 1));
	CHECK(!op_at(TSTRACE_ROOT, 0, 0));
	return arg;
}

static void ops_in_spans(void)
{
	tstrace_span span, inner, done;
	uint64_t before, within, after;
	pthread_t thread;

	of_before = tstrace_begin_span(NULL, "opens the session", TSTRACE_OP);
	CHECK(!tstrace_end_span(NULL, of_before));
	before = tstrace_elapsed_ns(NULL);
	while (tstrace_elapsed_ns(NULL) <= before)
		;
	of_main = span = tstrace_begin_span(NULL, "span", TSTRACE_OP);
	within = tstrace_elapsed_ns(NULL);
	inner = tstrace_begin_span(NULL, "inner", TSTRACE_OP);
	CHECK(!op_at(span, within, 0));
	CHECK(!op_at(0, 0, 0));
	CHECK(op_at(span, before, 0) == -ERANGE && SAYS("within its span"));
	CHECK(op_at(inner, within - 1, 1) == -ERANGE);
	CHECK(op_at(0, 0, UINT64_MAX) == -ERANGE);
	CHECK(op_at(0, UINT64_MAX, 2) == -ERANGE && SAYS("by now"));
	CHECK(!pthread_create(&thread, NULL, from_another_thread, NULL));
	CHECK(!pthread_join(thread, NULL));
	CHECK(!tstrace_end_span(NULL, inner) && !tstrace_end_span(NULL, span));
	after = tstrace_elapsed_ns(NULL);
	while (tstrace_elapsed_ns(NULL) <= after)
		;
	/* It is over: by default an op would lie behind it. */
	CHECK(!op_at(span, within, 0));
	CHECK(op_at(span, 0, 0) == -ERANGE && SAYS("within its span"));
	CHECK(op_at(span, within, after - within + 1) == -ERANGE);
	CHECK(!tstrace_record_completed_host_span(NULL, "done", TSTRACE_OP, within, 10, &done));
	CHECK(!op_at(done, within, 10) && !op_at(done, within + 10, 0));
	CHECK(op_at(done, within, 11) == -ERANGE && op_at(done, within - 1, 5) == -ERANGE);
	/* Another 256 later it is not known any more when it was. */
	for (int i = 0; i < 255; i++)
		tstrace_end_span(NULL, tstrace_begin_span(NULL, "later", TSTRACE_OP));
	CHECK(!op_at(done, within, 10));
	tstrace_end_span(NULL, tstrace_begin_span(NULL, "last", TSTRACE_OP));
	CHECK(op_at(done, within, 10) == -ENOENT && SAYS("last 256"));
	CHECK(!tstrace_record_scalar(NULL, done, "but that it was", 1));
}

static void test_ops_in_spans(void **state)
{
	json_t *lines = trace_of(ops_in_spans, "ops.jsonl");

	(void)state;
	assert_int_equal(event_count(lines, "op"), 7);
	assert_int_equal(event_count(lines, "tensor_stats"), 2);
	json_decref(lines);
}

static int tensor_of(tstrace_span span)
{
	return tstrace_record_tensor(NULL, span, &(struct tstrace_tensor){.tensor_id = "t"});
}

static int scalar_of(tstrace_span span)
{
	return tstrace_record_scalar(NULL, span, "s", 1);
}

static int stats_of(tstrace_span span)
{
	return tstrace_record_tensor_stats(
	    NULL, span, "s", &(struct tstrace_data){.data = &(float){1}, .dtype = TSTRACE_F32});
}

static int op_of(tstrace_span span)
{
	return op_at(span, 1, 0);
}

static int alloc_of(tstrace_span span)
{
	return tstrace_record_memory_alloc(NULL, span,
					   &(struct tstrace_memory){.storage_id = "s", .bytes = 1});
}

static int free_of(tstrace_span span)
{
	return tstrace_record_memory_free(NULL, span,
					  &(struct tstrace_memory){.storage_id = "s", .bytes = 1});
}

static int interval_of(tstrace_span span)
{
	return tstrace_record_device_interval(
	    NULL, span, &(struct tstrace_device_interval){"d", "s", "c", "b", 1, 1});
}

static int (*const of_span[])(tstrace_span span) = {tensor_of, scalar_of, stats_of,   op_of,
						    alloc_of,  free_of,	  interval_of};
#define CALLS (sizeof(of_span) / sizeof(of_span[0]))

/* Numbers are given to threads in blocks: the next ones are of no span yet. */
static void no_such_span(void)
{
	tstrace_span last = tstrace_begin_span(NULL, "last", TSTRACE_OP);
	const tstrace_span none[] = {last + 1, last + 62,	  last + 63,
				     1000000,  UINT32_MAX + 2ull, UINT64_MAX};

	for (size_t i = 0; i < CALLS; i++) {
		for (size_t k = 0; k < sizeof(none) / sizeof(none[0]); k++) {
			int error = of_span[i](none[k]);

			if (error != (of_span[i] == op_of ? -ENOENT : -EINVAL) &&
			    error != -EINVAL) {
				fprintf(stderr, "call %zu of span %llu: %d\n", i,
					(unsigned long long)none[k], error);
				_exit(1);
			}
		}
		CHECK(of_span[i] == op_of || !of_span[i](last));
		CHECK(of_span[i] == alloc_of || of_span[i] == free_of || !of_span[i](1));
	}
}

static void test_no_such_span(void **state)
{
	json_t *lines = trace_of(no_such_span, "none.jsonl");

	(void)state;
	assert_int_equal(event_count(lines, "memory"), 2);
	assert_int_equal(event_count(lines, "tensor"), 2);
	json_decref(lines);
}

/* --- call edges --- */

static int call_edge(tstrace_span from, tstrace_span to, uint64_t duration)
{
	return tstrace_record_call_edge(NULL, from, to, duration);
}

static void call_edges(void)
{
	tstrace_span outer = tstrace_begin_span(NULL, "outer", TSTRACE_OP), middle, inner, done;

	middle = tstrace_begin_span(NULL, "middle", TSTRACE_OP);
	inner = tstrace_begin_span(NULL, "inner", TSTRACE_OP);
	CHECK(call_edge(middle, inner, 0) == -ENOENT && SAYS("ended"));
	CHECK(!tstrace_end_span(NULL, inner));
	CHECK(!call_edge(middle, inner, 0));
	CHECK(call_edge(outer, inner, 0) == -EINVAL && SAYS("was begun in"));
	CHECK(call_edge(inner, middle, 0) == -ENOENT);
	CHECK(call_edge(inner, inner, 0) == -EINVAL);
	CHECK(call_edge(middle, inner, UINT64_MAX) == -EINVAL && SAYS("took"));
	CHECK(call_edge(0, inner, 0) == -EINVAL && call_edge(middle, 0, 0) == -EINVAL);
	CHECK(call_edge(middle, inner + 1, 0) == -EINVAL && SAYS("two spans"));
	CHECK(call_edge(UINT64_MAX, inner, 0) == -EINVAL);
	CHECK(!tstrace_end_span(NULL, middle) && !tstrace_end_span(NULL, outer));
	CHECK(!call_edge(TSTRACE_ROOT, outer, 0));
	CHECK(!call_edge(outer, middle, 0));
	CHECK(call_edge(outer, TSTRACE_ROOT, 0) == -ENOENT);
	while (tstrace_elapsed_ns(NULL) < 100)
		;
	CHECK(!tstrace_record_completed_host_span(NULL, "done", TSTRACE_OP, 40, 30, &done));
	CHECK(call_edge(1, done, 29) == -EINVAL && SAYS("30 ns, not 29"));
	CHECK(!call_edge(1, done, 30));
}

static void test_call_edges(void **state)
{
	json_t *lines = trace_of(call_edges, "call.jsonl"), *edge;

	(void)state;
	/* That parents and durations are right is what the trace's check says. */
	assert_int_equal(event_count(lines, "edge"), 4);
	edge = event_at(lines, "edge", 0);
	assert_string_equal(text_of(edge, "edge_kind"), "call");
	assert_string_equal(text_of(edge, "from_span"), "s3");
	assert_string_equal(text_of(edge, "to_span"), "s4");
	assert_int_equal(number_of(event_at(lines, "edge", 3), "host_duration_ns"), 30);
	json_decref(lines);
}

/* --- the end --- */

static tstrace_span begun_by_child;

/* A child of fork has numbers, spans and a measured region of its own. */
static void forked(void)
{
	tstrace_span span = tstrace_begin_measurement(NULL, "parent's");
	pid_t child;
	int status;

	tstrace_end_span(NULL, tstrace_begin_span(NULL, "second", TSTRACE_OP));
	CHECK(span == 2);
	child = fork();
	if (!child) {
		setenv("TSTRACE_OUTPUT", test_path("child.jsonl"), 1);
		CHECK(scalar_of(2) == -EINVAL);
		begun_by_child = tstrace_begin_measurement(NULL, "child's");
		CHECK(begun_by_child == 2 && scalar_of(3) == -EINVAL);
		CHECK(call_edge(2, 3, 0) == -EINVAL);
		CHECK(!tstrace_end_span(NULL, 2) && !call_edge(1, 2, 0));
		exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	CHECK(!tstrace_end_span(NULL, span));
}

static void test_fork(void **state)
{
	json_t *lines;

	(void)state;
	json_decref(trace_of(forked, "parent.jsonl"));
	lines = valid_trace(test_path("child.jsonl"));
	assert_int_equal(event_count(lines, "edge"), 1);
	json_decref(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_kinds),	 cmocka_unit_test(test_order),
	    cmocka_unit_test(test_measured),	 cmocka_unit_test(test_completed),
	    cmocka_unit_test(test_times),	 cmocka_unit_test(test_ops_in_spans),
	    cmocka_unit_test(test_no_such_span), cmocka_unit_test(test_call_edges),
	    cmocka_unit_test(test_fork),
	};

	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
