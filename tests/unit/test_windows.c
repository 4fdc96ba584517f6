/* Memory calls that were under way when a window closed, or failed outside; and the end. */
#include "tests/unit/record_test.h"

#include "core/tstrace.h"

#define A UINT64_C(0x7f0000001000)
#define B UINT64_C(0x7f0000002000)

/* Of one moment: outside, or a call that began inside and took its time after the border. */
enum when { OUTSIDE, LATE };

static void put(enum ts_rec_kind kind, uint64_t address, enum when when)
{
	struct ts_ring *ring = ts_enter_tracked();
	struct ts_rec head = { .kind = (uint8_t)kind, .slots = 1, .span = 1 };
	void *room = ts_reserve(ring, 1);

	assert_non_null(room);
	head.flags = when == OUTSIDE ? TS_F_OUTSIDE : 0;
	head.t = ts_stamp(ring);
	if (kind == TS_REC_ALLOC)
		*(struct ts_rec_alloc *)room =
		    (struct ts_rec_alloc){ .h = head, .address = address, .bytes = 64 };
	else
		*(struct ts_rec_free *)room = (struct ts_rec_free){
			.h = head, .address = address, .error = kind == TS_REC_FREE_FAILED
		};
	ts_commit(ring, 1);
	ts_leave();
}

/* Of one thread the order is known: what came last has failed. */
static void refused_at_a_border(void)
{
	ts_record_open();
	put_alloc(B, 32, 0, 0);
	tstrace_pause(NULL);
	put(TS_REC_FREE, B, LATE);
	put(TS_REC_FREE_FAILED, B, OUTSIDE);
	put(TS_REC_FREE, 0x1234, LATE);
	put(TS_REC_FREE_FAILED, 0x1234, OUTSIDE);
}

static void test_free_refused_at_a_border(void **state)
{
	const char *path = test_path("refused_at.jsonl");
	json_t *lines, *event;

	(void)state;
	assert_int_equal(run_session(refused_at_a_border, path, PATIENT, NULL), 0);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "memory"), 3);
	assert_true(json_is_true(json_object_get(event_at(lines, "memory", 2), "restored")));
	event = event_at(lines, "terminal", 0);
	assert_null(json_object_get(event, "unmatched_frees"));
	assert_int_equal(number_of(event, "live_bytes"), 32);
	json_decref(lines);
}

/* A double free outside that is refused takes nothing from the address's next life, nor from the
 * count of frees inside that match nothing. */
static void refused_outside(void)
{
	ts_record_open();
	put_free(0x1234, 0);
	tstrace_pause(NULL);
	put(TS_REC_FREE, A, OUTSIDE);
	put(TS_REC_FREE_FAILED, A, OUTSIDE);
	put(TS_REC_ALLOC, A, OUTSIDE);
	tstrace_resume(NULL);
	put_free(A, 0);
}

static void test_frees_refused_outside(void **state)
{
	const char *path = test_path("refused.jsonl");
	json_t *lines, *event;

	(void)state;
	assert_int_equal(run_session(refused_outside, path, PATIENT, NULL), 0);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "memory"), 0);
	event = event_at(lines, "terminal", 0);
	assert_int_equal(number_of(event, "unmatched_frees"), 1);
	assert_int_equal(number_of(event, "earlier_frees"), 1);
	assert_int_equal(number_of(event, "live_bytes"), 0);
	json_decref(lines);
}

/* After the end nothing opens a window any more. */
static void after_the_end(void)
{
	ts_record_open();
	tstrace_pause(NULL);
	tstrace_finish(NULL, NULL);
	tstrace_resume(NULL);
	tstrace_step(NULL, 4);
	put_alloc(A, 64, 0, 0);
}

static void test_after_the_end(void **state)
{
	const char *path = test_path("after.jsonl");
	json_t *lines;

	(void)state;
	assert_int_equal(run_session(after_the_end, path, PATIENT, NULL), 0);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "memory"), 0);
	assert_int_equal(number_of(event_at(lines, "terminal", 0), "windows"), 1);
	json_decref(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_free_refused_at_a_border),
		cmocka_unit_test(test_frees_refused_outside),
		cmocka_unit_test(test_after_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
