/* The end of a session, and errors that stay: of writing, not of what was refused. */
#include "tests/unit/record_test.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "core/tstrace.h"
#include "tests/unit/child.h"

#define SAYS(text) (strstr(tstrace_error(), text) != NULL)

static size_t closed(json_t *lines, const char *id)
{
	size_t i, count = 0;
	json_t *event;

	json_array_foreach(lines, i, event)
	{
		count += !strcmp(text_of(event, "kind"), "span_end") &&
			 !strcmp(text_of(event, "id"), id);
	}
	return count;
}

/* --- complete --- */

static void finish_well(void)
{
	const char *path = NULL, *again = NULL;

	/* What is refused is no error of the session's. */
	CHECK(tstrace_record_scalar(NULL, 0, "", 1) == -EINVAL);
	CHECK(!tstrace_record_scalar(NULL, 0, "s", 1));
	CHECK(!tstrace_flush(NULL));
	CHECK(!tstrace_finish(NULL, &path));
	CHECK(path && !strcmp(path, test_path("complete.jsonl")) && path == tstrace_path(NULL));
	/* Once it is over, all of them do nothing. */
	CHECK(!tstrace_finish(NULL, &again) && again == path);
	CHECK(!tstrace_finish_failed(NULL, "too late", NULL));
	CHECK(!tstrace_begin_span(NULL, "late", TSTRACE_OP));
	CHECK(!tstrace_begin_measurement(NULL, "late"));
	CHECK(!tstrace_end_span(NULL, 12345));
	CHECK(!tstrace_record_scalar(NULL, 0, "late", 1));
	CHECK(!tstrace_record_completed_host_span(NULL, "late", TSTRACE_OP, 0, 1, NULL));
	CHECK(!tstrace_record_gradient(NULL, "r", "k", TSTRACE_MISSING, 7));
	CHECK(!tstrace_step(NULL, 1) && !tstrace_step_end(NULL));
	CHECK(!tstrace_elapsed_ns(NULL) && !tstrace_flush(NULL));
}

static void test_complete(void **state)
{
	json_t *lines = trace_of(finish_well, "complete.jsonl"), *terminal, *root;

	(void)state;
	terminal = json_array_get(lines, json_array_size(lines) - 1);
	root = json_array_get(lines, json_array_size(lines) - 2);
	assert_string_equal(text_of(terminal, "kind"), "terminal");
	assert_string_equal(text_of(terminal, "outcome"), "complete");
	assert_null(json_object_get(terminal, "reason"));
	assert_string_equal(text_of(root, "id"), "s1");
	assert_int_equal(number_of(root, "duration_ns"), number_of(terminal, "timestamp_ns"));
	assert_int_equal(event_count(lines, "tensor_stats"), 1);
	json_decref(lines);
}

/* --- failed --- */

static void finish_badly(void)
{
	const char *path = NULL;

	tstrace_begin_span(NULL, "open", TSTRACE_OP);
	CHECK(tstrace_finish(NULL, &path) == -EBUSY && path && SAYS("open"));
	CHECK(tstrace_finish_failed(NULL, NULL, &path) == -EINVAL && SAYS("reason"));
	CHECK(tstrace_finish_failed(NULL, "", NULL) == -EINVAL);
	CHECK(tstrace_finish_failed(NULL, " \t\n", NULL) == -EINVAL);
	CHECK(!tstrace_record_scalar(NULL, 0, "it went on", 1));
	path = NULL;
	CHECK(!tstrace_finish_failed(NULL, "loss \"diverged\"", &path));
	CHECK(path && !strcmp(path, test_path("failed.jsonl")));
	CHECK(!tstrace_finish_failed(NULL, "again", NULL) && !tstrace_finish(NULL, NULL));
}

static void test_failed(void **state)
{
	json_t *lines = trace_of(finish_badly, "failed.jsonl"), *terminal;

	(void)state;
	terminal = event_at(lines, "terminal", 0);
	assert_int_equal(event_count(lines, "terminal"), 1);
	assert_string_equal(text_of(terminal, "outcome"), "failed");
	assert_string_equal(text_of(terminal, "reason"), "loss \"diverged\"");
	assert_int_equal(event_count(lines, "tensor_stats"), 1);
	assert_int_equal(closed(lines, "s1") + closed(lines, "s2"), 0);
	json_decref(lines);
}

/* --- neither --- */

static void just_exit(void)
{
	tstrace_begin_span(NULL, "open", TSTRACE_OP);
	exit(0);
}

static void test_exit(void **state)
{
	json_t *lines = trace_of(just_exit, "exit.jsonl"), *end;

	(void)state;
	assert_string_equal(text_of(event_at(lines, "terminal", 0), "outcome"), "complete");
	end = event_at(lines, "span_end", 0);
	assert_string_equal(text_of(end, "id"), "s2");
	assert_true(json_is_true(json_object_get(end, "open_at_end")));
	json_decref(lines);
}

/* --- an error of writing --- */

static bool fails_with_the_file(int error)
{
	return error == -EFBIG && SAYS("written");
}

static void fill(void)
{
	const struct rlimit limit = {20000, RLIM_INFINITY};
	static char label[10000];
	int error = 0;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	memset(label, 'x', sizeof(label) - 1);
	for (int i = 0; i < 10 && !error; i++) {
		tstrace_record_tensor(NULL, 0, &(struct tstrace_tensor){.tensor_id = label});
		error = tstrace_flush(NULL);
	}
	CHECK(error == -EFBIG && SAYS("large"));
}

static void without_room(void)
{
	tstrace_span span = tstrace_begin_span(NULL, "open", TSTRACE_OP);

	CHECK(!tstrace_record_tensor(NULL, 0, &(struct tstrace_tensor){.tensor_id = "t"}));
	fill();
	CHECK(fails_with_the_file(
	    tstrace_record_tensor(NULL, 0, &(struct tstrace_tensor){.tensor_id = "u"})));
	CHECK(fails_with_the_file(tstrace_record_op(NULL, 0, &(struct tstrace_op){.name = "op"})));
	CHECK(fails_with_the_file(tstrace_record_scalar(NULL, 0, "s", 1)));
	CHECK(fails_with_the_file(
	    tstrace_record_tensor_stats(NULL, 0, "s", &(struct tstrace_data){.data = "x"})));
	CHECK(fails_with_the_file(tstrace_record_memory_alloc(
	    NULL, 0, &(struct tstrace_memory){.storage_id = "s", .bytes = 1})));
	CHECK(fails_with_the_file(
	    tstrace_record_device_memory(NULL, &(struct tstrace_device_memory){0})));
	CHECK(fails_with_the_file(tstrace_record_device_interval(
	    NULL, 0, &(struct tstrace_device_interval){"d", "s", "c", "b", 1, 1})));
	CHECK(fails_with_the_file(tstrace_record_data_edge(NULL, "t", "t")));
	CHECK(fails_with_the_file(tstrace_record_gradient(NULL, "r", "k", TSTRACE_ZERO, 0)));
	CHECK(fails_with_the_file(
	    tstrace_record_completed_host_span(NULL, "x", TSTRACE_OP, 0, 1, NULL)));
	/* What is wrong anyway is told first. */
	CHECK(tstrace_record_scalar(NULL, 0, "", 1) == -EINVAL);
	tstrace_end_span(NULL, span);
	CHECK(tstrace_flush(NULL) == -EFBIG);
	CHECK(tstrace_finish(NULL, NULL) == -EFBIG && SAYS("large"));
}

static void test_sticky(void **state)
{
	json_t *lines = trace_of(without_room, "sticky.jsonl"), *terminal;

	(void)state;
	terminal = event_at(lines, "terminal", 0);
	assert_string_equal(text_of(terminal, "outcome"), "failed");
	assert_int_equal(event_count(lines, "gradient"), 0);
	json_decref(lines);
}

/* A failure of the program's own can be told all the same. */
static void failed_without_room(void)
{
	fill();
	CHECK(!tstrace_finish_failed(NULL, "loss diverged", NULL));
}

static void test_failed_and_sticky(void **state)
{
	json_t *lines = trace_of(failed_without_room, "both.jsonl"), *terminal;

	(void)state;
	terminal = event_at(lines, "terminal", 0);
	assert_string_equal(text_of(terminal, "reason"),
			    "loss diverged; the trace could not be written: File too large");
	json_decref(lines);
}

/* --- every refusal says why, and the text stays until the next --- */

static void texts(void)
{
	char digest[72];

	CHECK(!strcmp(tstrace_error(), ""));
	CHECK(tstrace_resume(NULL) == -EINVAL);
	CHECK(tstrace_record_scalar(NULL, 0, " ", 1) == -EINVAL && SAYS("blank"));
	CHECK(!tstrace_record_scalar(NULL, 0, "s", 1) && SAYS("blank"));
	CHECK(tstrace_end_span(NULL, 9) == -EINVAL && SAYS("span 9"));
	CHECK(tstrace_host_timestamp_ns(NULL, NULL, NULL) == -EINVAL && SAYS("time"));
	CHECK(tstrace_gradient_manifest(NULL, 1, digest) == -EINVAL && SAYS("manifest"));
	CHECK(tstrace_finish_failed(NULL, NULL, NULL) == -EINVAL && SAYS("reason"));
	CHECK(tstrace_open(NULL, "x", NULL) == -EALREADY && SAYS("open already"));
	CHECK(tstrace_open(NULL, "", NULL) == -EINVAL && !SAYS("already"));
}

static void test_texts(void **state)
{
	(void)state;
	json_decref(trace_of(texts, "texts.jsonl"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_complete),
	    cmocka_unit_test(test_failed),
	    cmocka_unit_test(test_exit),
	    cmocka_unit_test(test_sticky),
	    cmocka_unit_test(test_failed_and_sticky),
	    cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
