/* The CUPTI backend with a scripted CUPTI: refused, slow, lying, late, and in the child of a fork.
 *
 * The library is put in place of the one that would be opened; a session belongs to a process, so
 * each case runs in a child, and what it left in its trace is looked at afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/record/device.h"
#include "core/record/record.h"
#include "tests/unit/fake_cupti.h"

/* The child of a fork begins a session, whose threads the thread sanitizer would forbid. */
TS_EXPORT const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}

static char trace[64];
static json_t *terminal;

/* --- running a case --------------------------------------------------------------- */

static int count(const char *kind, const char *key)
{
	char line[65536];
	int found = 0;
	FILE *file = fopen(trace, "r");

	json_decref(terminal);
	terminal = NULL;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		json_t *event = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		const char *name = json_string_value(json_object_get(event, "kind"));

		assert_non_null(name);
		if (!strcmp(name, "terminal"))
			terminal = json_incref(event);
		found += !strcmp(name, kind) && (!key || json_object_get(event, key));
		json_decref(event);
	}
	fclose(file);
	return found;
}

static int lost(const char *cause)
{
	return (int)json_integer_value(json_object_get(json_object_get(terminal, "lost"), cause));
}

static void in_child(void (*scenario)(void))
{
	int status;
	pid_t child;

	snprintf(trace, sizeof(trace), "/tmp/tstrace-cupti.%d.jsonl", (int)getpid());
	unlink(trace);
	setenv("TSTRACE_OUTPUT", trace, 1);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		alarm(20);
		cupti_library_open = open_fake;
		scenario();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void finish(void)
{
	CHECK(ts_record_finish(NULL) == 0);
}

/* --- cases ------------------------------------------------------------------------- */

/* Another tool owns CUPTI: nothing of it is touched, and events do the work. */
static void refused(void)
{
	fake.subscribe = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	CHECK(!ts_record_open());
	CHECK(ts_device_kind == TS_BACKEND_EVENT);
	CHECK(!fake.clock && !fake.kinds && !fake.request && fake.calls == 1);
	finish();
}

static void test_refused(void **state)
{
	const char *reason;

	(void)state;
	in_child(refused);
	assert_int_equal(count("terminal", "backend_reason"), 1);
	reason = json_string_value(json_object_get(terminal, "backend_reason"));
	assert_non_null(strstr(reason, "(39)"));
	assert_non_null(strstr(reason, "CUPTI for somebody"));
}

static void no_kernels(void)
{
	fake.enable_kernel = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	CHECK(!ts_record_open());
	CHECK(ts_device_kind == TS_BACKEND_EVENT && fake.unsubscribed == 1);
	finish();
}

static void test_no_kernels(void **state)
{
	(void)state;
	in_child(no_kernels);
	assert_int_equal(count("terminal", "backend_reason"), 1);
}

static void bad_times(void)
{
	uint64_t now;

	CHECK(!ts_record_open());
	CHECK(ts_device_kind == TS_BACKEND_CUPTI);
	now = host_ns();
	kernel(now - 2000, now - 1000, 1);
	kernel(0, 0, 2);
	kernel(now, now - 500, 3);
	kernel(UINT64_C(1) << 63, now, 4);
	kernel(now - 100, 0, 5);
	kernel(now + OTHER_CLOCK, now + OTHER_CLOCK + 5, 6);
	finish();
}

static void test_bad_times(void **state)
{
	(void)state;
	in_child(bad_times);
	assert_int_equal(count("device_interval", NULL), 1);
	assert_int_equal(count("op", "untimed"), 5);
	assert_int_equal(lost("device_untimed"), 4);
	assert_int_equal(lost("device_unfinished"), 1);
	assert_int_equal(lost("device_unknown_launch"), 6);
}

/* CUPTI does not take our clock and has one that is decades away. */
static void other_clock(void)
{
	uint64_t now;

	fake.timestamp = CUPTI_ERROR_INVALID_OPERATION;
	CHECK(!ts_record_open());
	now = host_ns() + OTHER_CLOCK;
	kernel(now, now + 1234, 1);
	usleep(1000);
	finish();
}

static void test_other_clock(void **state)
{
	FILE *file;
	char line[65536];
	json_t *event = NULL;

	(void)state;
	in_child(other_clock);
	assert_int_equal(count("device_interval", "clock_error_ns"), 1);
	file = fopen(trace, "r");
	while (fgets(line, sizeof(line), file))
		if (strstr(line, "device_interval"))
			event = json_loads(line, 0, NULL);
	fclose(file);
	assert_int_equal(json_integer_value(json_object_get(event, "duration_ns")), 1234);
	assert_true(json_integer_value(json_object_get(event, "start_ns")) < INT64_C(20000000000));
	json_decref(event);
}

/* A flush that never returns: what came before is there, the loss is told, the end is in time. */
static void hang(void)
{
	uint64_t now, begin;

	setenv("TSTRACE_EXIT_MS", "300", 1);
	setenv("TSTRACE_FLUSH_MS", "60000", 1);
	CHECK(!ts_record_open());
	now = host_ns();
	kernel(now - 2000, now - 1000, 1);
	deliver(1);
	fake.hang = true;
	begin = host_ns();
	finish();
	CHECK(host_ns() - begin < UINT64_C(2000000000));
	CHECK(!fake.disabled && !fake.unsubscribed);
}

static void test_hang(void **state)
{
	(void)state;
	in_child(hang);
	assert_int_equal(count("device_interval", NULL), 1);
	assert_true(lost("device_unfinished") >= 1);
}

/* Completions on a thread inside a hook, twice, and after the end. */
static void odd_completions(void)
{
	uint64_t now;

	fake.dropped = 1234;
	CHECK(!ts_record_open());
	now = host_ns();
	CHECK(ts_enter());
	kernel(now - 2000, now - 1000, 1);
	deliver(2);
	ts_leave();
	kernel(now - 900, now - 800, 1);        /* one id for a graph's kernels */
	deliver(1);
	finish();
	kernel(now - 700, now - 600, 2);
	deliver(2);
	finish();
}

static void test_odd_completions(void **state)
{
	(void)state;
	in_child(odd_completions);
	assert_int_equal(count("device_interval", NULL), 2);
	assert_int_equal(lost("device_dropped"), 1234);
}

static void call(CUpti_ApiCallbackSite site, uint32_t correlation, uint64_t *data)
{
	CUpti_CallbackData call_data = {
		.callbackSite = site,
		.functionName = "cuLaunchKernel",
		.correlationData = data,
		.correlationId = correlation,
	};

	fake.callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
		      &call_data);
}

/* Inside a hook a callback gives the id and nothing else; without one it is the only witness. */
static void callbacks(void)
{
	uint64_t data = 0xdead, inner = 0xdead; /* CUPTI does not clear them */

	CHECK(!ts_record_open());
	CHECK(ts_enter());
	ts_self.correlation[0] = ts_self.correlation[1] = 0;
	call(CUPTI_API_ENTER, 11, &data);
	call(CUPTI_API_EXIT, 11, &data);
	CHECK(ts_self.correlation[0] == 11);
	ts_leave();
	data = 0xdead;
	call(CUPTI_API_ENTER, 12, &data);
	call(CUPTI_API_ENTER, 14, &inner);      /* what the call does inside is not another one */
	call(CUPTI_API_EXIT, 14, &inner);
	call(CUPTI_API_EXIT, 12, &data);
	finish();
	call(CUPTI_API_ENTER, 13, &data);
	call(CUPTI_API_EXIT, 13, &data);
}

static void test_callbacks(void **state)
{
	(void)state;
	in_child(callbacks);
	assert_int_equal(count("op", "correlation"), 1);
}

/* The child of a fork never calls CUPTI, and says so. */
static void forked(void)
{
	int status, calls;
	uint64_t data = 0;
	pid_t child;

	CHECK(!ts_record_open());
	CHECK(ts_device_kind == TS_BACKEND_CUPTI);
	setenv("TSTRACE_OUTPUT", "/dev/null", 1);
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		calls = fake.calls;
		call(CUPTI_API_ENTER, 1, &data);
		call(CUPTI_API_EXIT, 1, &data);
		ts_record_open();
		CHECK(ts_device_kind == TS_BACKEND_OFF);
		ts_record_finish(NULL);
		CHECK(fake.calls == calls);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	finish();
}

static void test_forked(void **state)
{
	(void)state;
	in_child(forked);
	assert_int_equal(count("terminal", NULL), 1);
}

static int clean(void **state)
{
	(void)state;
	json_decref(terminal);
	terminal = NULL;
	return unlink(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_kernels),
		cmocka_unit_test(test_bad_times),
		cmocka_unit_test(test_other_clock),
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_odd_completions),
		cmocka_unit_test(test_callbacks),
		cmocka_unit_test(test_forked),
	};

	if (!child_driver())
		return 77;
	return cmocka_run_group_tests(tests, NULL, clean);
}
