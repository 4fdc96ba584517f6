/* From records to a valid trace: memory in time order, spans, device records, threads, fork, end.
 */
#include "tests/unit/record_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "core/tstrace.h"

#define A UINT64_C(0x7f0000001000)
#define B UINT64_C(0x7f0000002000)

/* --- memory: a block's life across threads (field case 3.01) --- */

static _Atomic int turn;

/* Frees A the way a hook does: published before the real call, which returns after the other thread
 * got A. */
static void *freeing_thread(void *arg)
{
	put_free(A, 0);
	atomic_store(&turn, 1);
	while (atomic_load(&turn) != 2)
		sched_yield();
	put_launch("later", 0);
	return arg;
}

static void reuse(void)
{
	pthread_t thread;

	for (int i = 0; i < 200; i++) {
		atomic_store(&turn, 0);
		put_alloc(A, 100 + (uint64_t)i, 0, 0);
		pthread_create(&thread, NULL, freeing_thread, NULL);
		while (atomic_load(&turn) != 1)
			sched_yield();
		put_alloc(A, 1000, 0, 0);
		atomic_store(&turn, 2);
		pthread_join(thread, NULL);
		put_free(A, 0);
	}
}

static void test_address_reuse_between_threads(void **state)
{
	const char *path = test_path("reuse.jsonl");
	json_t *lines, *event;

	(void)state;
	assert_int_equal(run_session(reuse, path, NULL), 0);
	assert_string_equal(said, "");
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "memory"), 800);
	for (size_t i = 0; (event = event_at(lines, "memory", i)); i++) {
		char storage[64];

		assert_string_equal(text_of(event, "action"), i % 2 ? "free" : "alloc");
		snprintf(storage, sizeof(storage), "cuda:0:0x7f0000001000#%zu", i / 2 + 1);
		assert_string_equal(text_of(event, "storage_id"), storage);
		assert_null(json_object_get(event, "inferred"));
	}
	event = event_at(lines, "terminal", 0);
	assert_int_equal(number_of(event, "live_bytes"), 0);
	assert_int_equal(number_of(event, "peak_live_bytes"), 1000);
	json_decref(lines);
}

/* --- memory: frees that do not match --- */

/* A call stack of two frames in code that no file has; n tells it from others. */
static uint32_t stack(uint64_t n)
{
	const uint64_t words[] = { TS_FRAME_RAW, 0x1000 + n, TS_FRAME_RAW, 0x2000 };

	return ts_arena_put(TS_ENTRY_STACK, TS_STACK_TRUNCATED, words, sizeof(words));
}

/* Innermost frame of the stack that `id` names, as the first event that used it tells. */
static const char *innermost(json_t *lines, json_int_t id)
{
	json_t *event;
	size_t i;

	json_array_foreach(lines, i, event) if (
	    number_of(event, "stack") == id &&
	    json_object_get(
		event,
		"frames")) return json_string_value(json_array_get(json_object_get(event, "frames"),
								   0));
	return "";
}

static void odd_frees(void)
{
	ts_record_open();
	put_free(0x1234, 0);                    /* allocated before us */
	put_alloc(A, 64, 0, 0);
	put_free(A, stack(7));
	put_free(A, stack(8));                  /* a double free, refused */
	put_free_failed(A, 1, stack(8));
	put_alloc(B, 32, 0, 0);
	put_free(B, 0);                         /* refused: B lives on */
	put_free_failed(B, 700, 0);
	put_free(B, 0);
	put_alloc(A, 16, 0, 0);
	put_alloc(A, 8, 0, 0);                  /* the free of the first was not seen */
	put_alloc(0, 1 << 20, 2, 0);            /* out of memory */
}

static void test_frees_that_do_not_match(void **state)
{
	static const struct {
		const char *action, *storage, *note;
		int bytes;
	} expected[] = {
		{ "alloc", "cuda:0:0x7f0000001000#1", NULL, 64 },
		{ "free", "cuda:0:0x7f0000001000#1", NULL, 64 },
		{ "alloc", "cuda:0:0x7f0000002000#1", NULL, 32 },
		{ "free", "cuda:0:0x7f0000002000#1", NULL, 32 },
		{ "alloc", "cuda:0:0x7f0000002000#2", "restored", 32 },
		{ "free", "cuda:0:0x7f0000002000#2", NULL, 32 },
		{ "alloc", "cuda:0:0x7f0000001000#2", NULL, 16 },
		{ "free", "cuda:0:0x7f0000001000#2", "inferred", 16 },
		{ "alloc", "cuda:0:0x7f0000001000#3", NULL, 8 },
	};
	const char *path = test_path("odd.jsonl");
	json_t *lines, *event;

	(void)state;
	assert_int_equal(run_session(odd_frees, path, NULL), 0);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "memory"), TS_ARRAY_SIZE(expected));
	for (size_t i = 0; i < TS_ARRAY_SIZE(expected); i++) {
		event = event_at(lines, "memory", i);
		assert_string_equal(text_of(event, "action"), expected[i].action);
		assert_string_equal(text_of(event, "storage_id"), expected[i].storage);
		assert_int_equal(number_of(event, "bytes"), expected[i].bytes);
		if (expected[i].note)
			assert_true(json_is_true(json_object_get(event, expected[i].note)));
	}
	assert_int_equal(event_count(lines, "op"), 3);
	event = event_at(lines, "op", 0);
	assert_int_equal(number_of(event, "error"), 1);
	assert_string_equal(innermost(lines, number_of(event, "stack")), "0+0x1008");
	assert_string_equal(innermost(lines, number_of(event, "first_free_stack")), "0+0x1007");
	assert_string_equal(text_of(event, "frames_end"), "truncated");
	assert_int_equal(number_of(event_at(lines, "op", 1), "error"), 700);
	event = event_at(lines, "op", 2);
	assert_int_equal(number_of(event, "error"), 2);
	assert_int_equal(number_of(event, "bytes"), 1 << 20);
	assert_int_equal(number_of(event, "live_bytes"), 8);
	event = event_at(lines, "terminal", 0);
	assert_int_equal(number_of(event, "unmatched_frees"), 1);
	assert_int_equal(number_of(event, "live_bytes"), 8);
	json_decref(lines);
}

static void put_reset(int device, uint64_t context)
{
	struct ts_ring *ring = ts_enter();
	struct ts_rec_reset *rec = ts_reserve(ring, 1);

	*rec = (struct ts_rec_reset){
		.h = { .kind = TS_REC_RESET, .slots = 1, .device = (int16_t)device, .span = 1 },
		.context = context
	};
	rec->h.t = ts_stamp(ring);
	ts_commit(ring, 1);
	ts_leave();
}

static void reset(void)
{
	for (uint64_t i = 0; i < 10; i++)
		put_alloc(A + i * 256, 256, 0, 0);
	put_reset(1, 0);        /* another device */
	put_reset(0, 99);       /* a context that holds none of them */
	put_reset(0, 0);
	put_alloc(A, 512, 0, 0);
}

static void test_reset_ends_all_of_a_device(void **state)
{
	const char *path = test_path("reset.jsonl");
	json_t *lines, *event;
	int resets = 0;

	(void)state;
	assert_int_equal(run_session(reset, path, NULL), 0);
	lines = valid_trace(path);
	for (size_t i = 0; (event = event_at(lines, "memory", i)); i++)
		resets += json_is_true(json_object_get(event, "reset"));
	assert_int_equal(resets, 10);
	assert_int_equal(number_of(event_at(lines, "terminal", 0), "live_bytes"), 512);
	json_decref(lines);
}

/* --- a failed allocation names the largest live stacks --- */

static void largest(void)
{
	ts_record_open();
	for (uint64_t i = 0; i < 60; i++)
		put_alloc(A + i * 4096, i % 6 == 3 ? 1000 : 10, 0, stack(i % 6));
	put_alloc(0, UINT64_C(1) << 40, 2, stack(50));
}

static void test_failed_allocation_tells_what_is_live(void **state)
{
	const char *path = test_path("largest.jsonl");
	json_t *lines, *event, *top;

	(void)state;
	assert_int_equal(run_session(largest, path, NULL), 0);
	lines = valid_trace(path);
	event = event_at(lines, "op", 0);
	assert_int_equal(number_of(event, "live_bytes"), 10 * 1000 + 50 * 10);
	top = json_object_get(event, "largest_live");
	assert_int_equal(json_array_size(top), 5);
	assert_string_equal(innermost(lines, number_of(json_array_get(top, 0), "stack")),
			    "0+0x1003");
	assert_int_equal(number_of(json_array_get(top, 0), "bytes"), 10000);
	assert_int_equal(number_of(json_array_get(top, 0), "count"), 10);
	json_decref(lines);
}

/* --- spans --- */

static void spans(void)
{
	tstrace_span run = tstrace_begin_measurement(NULL, "run"), step, inner;

	assert_true(run != 0);
	assert_int_equal(tstrace_begin_measurement(NULL, "again"), 0);
	step = tstrace_begin_step_span(NULL, "forward", TSTRACE_FORWARD, TSTRACE_MODULE);
	inner = tstrace_begin_span(NULL, NULL, TSTRACE_OP);
	put_alloc(A, 10, 0, 0);
	put_launch("k", 0);
	assert_int_equal(tstrace_end_span(NULL, step), -EINVAL);        /* not the innermost */
	assert_int_equal(tstrace_end_span(NULL, inner), 0);
	assert_int_equal(tstrace_end_span(NULL, step), 0);
	put_alloc(B, 10, 0, 0);
	tstrace_begin_span(NULL, "left open", TSTRACE_FUNCTION);
}

static void test_spans(void **state)
{
	const char *path = test_path("spans.jsonl");
	json_t *lines, *inner, *event;
	int open_at_end = 0;

	(void)state;
	assert_int_equal(run_session(spans, path, NULL), 0);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "span_start"), 5);
	assert_int_equal(event_count(lines, "span_end"), 5);
	inner = event_at(lines, "span_start", 3);
	assert_string_equal(text_of(inner, "name"), "(unnamed)");
	assert_string_equal(text_of(event_at(lines, "op", 0), "span_id"), text_of(inner, "id"));
	assert_string_equal(text_of(event_at(lines, "memory", 0), "span_id"), text_of(inner, "id"));
	for (size_t i = 0; (event = event_at(lines, "span_end", i)); i++)
		open_at_end += json_is_true(json_object_get(event, "open_at_end"));
	assert_int_equal(open_at_end, 2);
	json_decref(lines);
}

static void failed_run(void)
{
	tstrace_begin_span(NULL, "open", TSTRACE_FUNCTION);
	put_launch("k", 0);
	assert_int_equal(tstrace_finish_failed(NULL, "", NULL), -EINVAL);
	assert_int_equal(tstrace_finish_failed(NULL, "loss diverged", NULL), 0);
	put_launch("late", 0);
}

static void test_failed_run(void **state)
{
	const char *path = test_path("failed.jsonl");
	json_t *lines;

	(void)state;
	assert_int_equal(run_session(failed_run, path, NULL), 0);
	lines = valid_trace(path);
	assert_string_equal(text_of(event_at(lines, "terminal", 0), "outcome"), "failed");
	assert_string_equal(text_of(event_at(lines, "terminal", 0), "reason"), "loss diverged");
	assert_int_equal(event_count(lines, "op"), 1);
	json_decref(lines);
}

/* --- device records --- */

static void put_interval(uint32_t correlation, uint64_t start_ns, uint64_t ns, bool untimed)
{
	struct ts_ring *ring = ts_enter();
	struct ts_rec_interval *rec = ts_reserve(ring, 2);

	*rec = (struct ts_rec_interval){ .h = { .kind = TS_REC_INTERVAL, .slots = 2, .span = 1 },
					 .start_ns = start_ns,
					 .end_ns = start_ns + ns,
					 .correlation = correlation,
					 .untimed = untimed,
					 .backend = TS_BACKEND_CUPTI,
					 .name = ts_arena_text("k"),
					 .stream = 7 };
	ts_commit(ring, 2);
	ts_leave();
}

static void device_records(void)
{
	uint64_t now;
	tstrace_span span = tstrace_begin_span(NULL, "launching", TSTRACE_OP);

	now = ts_clock_to_ns(ts_clock_now());
	put_interval(5, now + 1000, 2000, false);       /* told before its launch is */
	put_launch("k", 5);
	put_launch("k", 6);
	/* began before its launch: a doubtful clock */
	put_interval(6, now, 10, false);
	put_interval(6, now, 0, false);                 /* no duration */
	put_interval(6, 0, 0, true);
	put_interval(4711, now, 50, false);             /* a launch that nobody saw */
	tstrace_end_span(NULL, span);
}

static void test_device_records(void **state)
{
	const char *path = test_path("device.jsonl");
	json_t *lines, *event, *lost;
	int untimed = 0;

	(void)state;
	assert_int_equal(run_session(device_records, path, NULL), 0);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "device_interval"), 3);
	for (size_t i = 0; (event = event_at(lines, "device_interval", i)); i++) {
		bool is_known = number_of(event, "correlation") != 4711;

		assert_string_equal(text_of(event, "span_id"), is_known ?
				    text_of(event_at(lines, "span_start", 1), "id") : "s1");
		assert_string_equal(text_of(event, "launch"), is_known ? "" : "unknown");
		assert_string_equal(text_of(event, "stream_id"), "7");
		if (number_of(event, "correlation") == 6)
			assert_true(number_of(event, "before_launch_ns") > 0);
	}
	for (size_t i = 0; (event = event_at(lines, "op", i)); i++)
		untimed += json_is_true(json_object_get(event, "untimed"));
	assert_int_equal(untimed, 2);
	lost = json_object_get(event_at(lines, "terminal", 0), "lost");
	assert_int_equal(number_of(lost, "device_unknown_launch"), 1);
	json_decref(lines);
}

/* --- device records that come long after their launches --- */

#define LATE 70000

static void late_records(void)
{
	for (uint32_t id = 1; id <= LATE; id++)
		put_launch("k", id);
	for (uint32_t id = 1; id <= LATE; id += 1000)
		put_interval(id, ts_clock_to_ns(ts_clock_now()), 10, false);
}

static void test_late_device_records(void **state)
{
	const char *path = test_path("late.jsonl");
	json_t *lines;

	(void)state;
	assert_int_equal(run_session(late_records, path, PATIENT, NULL), 0);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "device_interval"), LATE / 1000);
	for (size_t i = 0; i < LATE / 1000; i++)
		assert_null(json_object_get(event_at(lines, "device_interval", i), "launch"));
	json_decref(lines);
}

/* --- an end that is asked for while the writer decides that it is too early to begin --- */

bool __real_ts_record_device_started(void);
bool __wrap_ts_record_device_started(void); /* the writer's look, see tests.mk */

static _Atomic bool ends_meanwhile;

bool __wrap_ts_record_device_started(void)
{
	/* Long enough for the program to leave main() and to ask. */
	if (atomic_exchange(&ends_meanwhile, false))
		nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
	return __real_ts_record_device_started();
}

static void over_at_once(void)
{
	put_launch("only", 0);
	atomic_store(&ends_meanwhile, true);
	while (atomic_load(&ends_meanwhile))
		sched_yield();
}

static void test_end_before_the_beginning(void **state)
{
	json_t *lines = trace_of(over_at_once, "at_once.jsonl");

	(void)state;
	assert_int_equal(event_count(lines, "meta"), 1);
	assert_int_equal(event_count(lines, "op"), 1);
	json_decref(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_address_reuse_between_threads),
		cmocka_unit_test(test_frees_that_do_not_match),
		cmocka_unit_test(test_reset_ends_all_of_a_device),
		cmocka_unit_test(test_failed_allocation_tells_what_is_live),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_failed_run),
		cmocka_unit_test(test_device_records),
		cmocka_unit_test(test_late_device_records),
		cmocka_unit_test(test_end_before_the_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
