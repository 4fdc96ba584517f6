/* The event backend on the simulated driver: times, contexts that end, captures that go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda.h>
#include <dlfcn.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/record/device.h"
#include "core/record/record.h"
#include "cupti/event.h"
#include "tests/unit/child.h"

#define GOOD(call) CHECK((call) == CUDA_SUCCESS)
#define BYTES (1 << 16)

/* The form of a function that cuda.h declares: its macros expand before the name is made. */
#define D(name) D_(name)
#define D_(name) ((__typeof__(&name))real_driver(#name))

static char trace[64];
static void *driver;

static void *real_driver(const char *symbol)
{
	return dlsym(driver, symbol);
}

static CUcontext new_context(CUdevice device)
{
	CUresult (*create)(CUcontext *, unsigned, CUdevice);
	CUcontext context;

	GOOD(D(cuInit)(0));
	create = (CUresult(*)(CUcontext *, unsigned, CUdevice))real_driver("cuCtxCreate_v2");
	GOOD(create(&context, 0, device));
	return context;
}

/* A set on `stream`, as a hook brackets it. */
static void traced_set(CUdeviceptr memory, CUstream stream)
{
	struct ts_rec_op op = { .h = { .kind = TS_REC_OP, .slots = 2, .span = 1 },
				.stream = (uint64_t)(uintptr_t)stream,
				.bytes = BYTES };
	struct ts_ring *ring = ts_enter();
	void *token, *record;

	CHECK(ring);
	token = ts_device_before(op.stream, false);
	op.h.t = ts_clock_now();
	GOOD(D(cuMemsetD8Async)(memory, 1, BYTES, stream));
	op.t_end = ts_clock_now();
	CHECK(token);
	ts_device_after(token, &op);
	record = ts_reserve(ring, 2);
	CHECK(record);
	memcpy(record, &op, sizeof(op));
	ts_commit(ring, 2);
	ts_leave();
}

static void open_session(void)
{
	CHECK(!ts_record_open());
	CHECK(ts_device_kind == TS_BACKEND_EVENT);
}

static void in_child(void (*scenario)(void))
{
	int status;
	pid_t child;

	snprintf(trace, sizeof(trace), "/tmp/tstrace-event.%d.jsonl", (int)getpid());
	unlink(trace);
	setenv("TSTRACE_OUTPUT", trace, 1);
	setenv("TSTRACE_DEVICE", "event", 1);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		alarm(20);
		ts_driver_function = real_driver;
		scenario();
		CHECK(ts_record_finish(NULL) == 0);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Calls `each` for every device interval; returns their number, and what was lost in all. */
static int intervals(void (*each)(json_t *event), int *lost)
{
	char line[65536];
	int found = 0;
	FILE *file = fopen(trace, "r");

	assert_non_null(file);
	*lost = -1;
	while (fgets(line, sizeof(line), file)) {
		json_t *event = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		const char *kind = json_string_value(json_object_get(event, "kind"));

		if (!strcmp(kind, "device_interval")) {
			found++;
			each(event);
		} else if (!strcmp(kind, "terminal")) {
			*lost = (int)json_object_size(json_object_get(event, "lost"));
		}
		json_decref(event);
	}
	fclose(file);
	unlink(trace);
	return found;
}

static int64_t number(json_t *event, const char *key)
{
	return json_integer_value(json_object_get(event, key));
}

/* --- order and clock ---------------------------------------------------------- */

static void sets(void)
{
	CUdeviceptr memory;
	CUstream stream;

	new_context(0);
	GOOD(D(cuMemAlloc)(&memory, BYTES));
	GOOD(D(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
	open_session();
	for (int i = 0; i < 500; i++)
		traced_set(memory, stream);
	GOOD(D(cuStreamSynchronize)(stream));
}

static int64_t last_end;

/* One stream: each begins after the one before it ended, as far as the clock is known. */
static void check_order(json_t *event)
{
	int64_t start = number(event, "start_ns"), error = number(event, "clock_error_ns");

	assert_true(error > 0 && error < 1000000);
	assert_true(number(event, "duration_ns") > 0);
	assert_true(start + 2 * error >= last_end);
	/* never before its launch by more than the error that is told */
	assert_true(number(event, "before_launch_ns") <= error);
	last_end = start + number(event, "duration_ns");
}

static void test_order_and_clock(void **state)
{
	int lost;

	(void)state;
	last_end = 0;
	in_child(sets);
	assert_int_equal(intervals(check_order, &lost), 500);
	assert_int_equal(lost, 0);
}

/* --- contexts that end --------------------------------------------------------- */

static void contexts(void)
{
	open_session();
	for (int i = 0; i < 100; i++) {
		CUcontext context = new_context(0);
		CUdeviceptr memory;

		GOOD(D(cuMemAlloc)(&memory, BYTES));
		traced_set(memory, NULL);
		GOOD(D(cuCtxSynchronize)());
		/* The hook of cuCtxDestroy does this. */
		ts_device_context_ends(-1);
		GOOD(D(cuCtxDestroy)(context));
	}
}

static void ignore(json_t *event)
{
	(void)event;
}

/* More contexts than are known at a time, most at an address that was another's. */
static void test_contexts_end(void **state)
{
	int lost;

	(void)state;
	in_child(contexts);
	assert_int_equal(intervals(ignore, &lost), 100);
	assert_int_equal(lost, 0);
}

/* Nobody told that the context ended: what was not read is counted, no dead event is asked. */
static void surprise(void)
{
	CUcontext context;
	CUdeviceptr memory;

	open_session();
	context = new_context(0);
	GOOD(D(cuMemAlloc)(&memory, BYTES));
	for (int i = 0; i < 50; i++)
		traced_set(memory, NULL);
	GOOD(D(cuCtxDestroy)(context));
	usleep(20000);
	context = new_context(0);
	GOOD(D(cuMemAlloc)(&memory, BYTES));
	traced_set(memory, NULL);
	GOOD(D(cuCtxSynchronize)());
}

static void test_context_gone(void **state)
{
	int lost;

	(void)state;
	in_child(surprise);
	assert_in_range(intervals(ignore, &lost), 1, 51);
}

/* --- captures ------------------------------------------------------------------- */

/* A capture that forbids unsafe calls to all threads goes on while events are read. */
static void capture(void)
{
	CUdeviceptr memory;
	CUstream busy, stream;
	CUgraph graph = NULL;
	size_t nodes = 0;

	new_context(0);
	GOOD(D(cuMemAlloc)(&memory, BYTES));
	GOOD(D(cuStreamCreate)(&busy, CU_STREAM_NON_BLOCKING));
	GOOD(D(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
	open_session();
	traced_set(memory, busy);
	GOOD(D(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	GOOD(D(cuMemsetD8Async)(memory, 1, BYTES, stream));
	for (int i = 0; i < 300; i++)   /* more than were made at once: new events are needed */
		traced_set(memory, busy);
	usleep(20000);
	GOOD(D(cuMemsetD8Async)(memory, 2, BYTES, stream));
	GOOD(D(cuStreamEndCapture)(stream, &graph));
	GOOD(D(cuGraphGetNodes)(graph, NULL, &nodes));
	CHECK(nodes == 2);
	GOOD(D(cuStreamSynchronize)(busy));
}

static void test_capture_goes_on(void **state)
{
	int lost;

	(void)state;
	in_child(capture);
	assert_int_equal(intervals(ignore, &lost), 301);
	assert_int_equal(lost, 0);
}

/* --- a call that fails, and a closed window ---------------------------------------- */

static void failed_and_paused(void)
{
	struct ts_rec_op op = { .h = { .span = 1 }, .error = CUDA_ERROR_INVALID_VALUE };
	CUdeviceptr memory;

	new_context(0);
	GOOD(D(cuMemAlloc)(&memory, BYTES));
	open_session();
	CHECK(ts_enter());
	ts_device_after(ts_device_before(0, false), &op);
	ts_device->gate(TS_GATE_CLOSED);
	CHECK(!ts_device_before(0, false));
	ts_device->gate(TS_GATE_OPEN);
	ts_leave();
	CHECK(!op.correlation);
	traced_set(memory, NULL);
	GOOD(D(cuCtxSynchronize)());
}

static void test_failed_and_paused(void **state)
{
	int lost;

	(void)state;
	in_child(failed_and_paused);
	assert_int_equal(intervals(ignore, &lost), 1);
	assert_int_equal(lost, 0);
}

static _Atomic int gate;        /* streams may go on up to this number */

static void CUDA_CB wait_at_gate(void *number)
{
	while (gate < (int)(intptr_t)number)
		usleep(1000);
}

static void *flush_long(void *result)
{
	*(int *)result = ts_record_flush(3600000, false);
	return NULL;
}

/* Work that comes during a flush is not waited for: of a program that goes on there is no end. */
static void flush_has_an_end(void)
{
	CUcontext context = new_context(0);
	CUdeviceptr memory = 0;
	CUstream streams[2];
	pthread_t flusher;
	uint32_t epoch;
	int result = -1;

	CHECK(context);
	GOOD(((CUresult(*)(CUdeviceptr *, size_t))real_driver("cuMemAlloc_v2"))(&memory, BYTES));
	open_session();
	for (int i = 0; i < 2; i++) {
		GOOD(D(cuStreamCreate)(&streams[i], CU_STREAM_NON_BLOCKING));
		GOOD(D(cuLaunchHostFunc)(streams[i], wait_at_gate, (void *)(intptr_t)(i + 1)));
	}
	traced_set(memory, streams[0]);
	CHECK(!pthread_create(&flusher, NULL, flush_long, &result));
	do {
		usleep(1000);
		pthread_mutex_lock(&event_lock);
		epoch = event_epoch;
		pthread_mutex_unlock(&event_lock);
	} while (!epoch);
	traced_set(memory, streams[1]);
	gate = 1;
	CHECK(!pthread_join(flusher, NULL) && !result);
	gate = 2;
	GOOD(D(cuCtxSynchronize)());
}

static void test_flush_has_an_end(void **state)
{
	int lost;

	(void)state;
	in_child(flush_has_an_end);
	assert_int_equal(intervals(ignore, &lost), 2);
	assert_int_equal(lost, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_and_clock),
		cmocka_unit_test(test_contexts_end),
		cmocka_unit_test(test_context_gone),
		cmocka_unit_test(test_capture_goes_on),
		cmocka_unit_test(test_failed_and_paused),
		cmocka_unit_test(test_flush_has_an_end),
	};

	driver = child_driver();
	if (!driver)
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
