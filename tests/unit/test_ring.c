/* A ring by itself: order, wrapping, records that do not fit before the end, a full ring, its next
 * owner. */
#include "tests/unit/record_test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/env.h"
#include "core/record/file.h"

#define SLOTS 256u

static int begin(void **state)
{
	bool recoverable;

	(void)state;
	assert_int_equal(
	    ts_file_make(test_path(""), test_path("x.jsonl"), SLOTS * TS_SLOT, &recoverable), 0);
	assert_true(recoverable);
	return 0;
}

static int end(void **state)
{
	ts_file_unlink();
	return record_test_clean(state);
}

/* This thread's ring, new or used before, empty. */
static struct ts_ring *make(void)
{
	struct ts_ring *ring = ts_file_ring((int)syscall(SYS_gettid));

	assert_non_null(ring);
	atomic_store(&ring->tail, atomic_load(&ring->head));
	atomic_store(&ring->lost, 0);
	atomic_store(&ring->waits, 0);
	return ring;
}

/* One record of `slots`, numbered; false when it was lost. */
static bool put(struct ts_ring *ring, unsigned slots, uint64_t number)
{
	struct ts_rec *rec = ts_reserve(ring, slots);

	if (!rec)
		return false;
	*rec = (struct ts_rec){
	    .kind = slots == 1 ? TS_REC_CALL : TS_REC_OP, .slots = (uint8_t)slots, .t = number};
	ts_commit(ring, slots);
	return true;
}

/* The next record's number; UINT64_MAX when there is none. */
static uint64_t get(struct ts_ring *ring)
{
	uint64_t tail = atomic_load(&ring->tail);
	const unsigned char *slot;
	struct ts_rec rec;

	do {
		if (tail == atomic_load_explicit(&ring->head, memory_order_acquire))
			return UINT64_MAX;
		/* A pad has only its first word. */
		slot = ring->slots + (size_t)(tail & ring->mask) * TS_SLOT;
		memcpy(&rec, slot, offsetof(struct ts_rec, t));
		if (rec.kind != TS_REC_PAD)
			memcpy(&rec, slot, sizeof(rec));
		assert_true((tail & ring->mask) + rec.slots <= SLOTS);
		tail += rec.slots;
		atomic_store_explicit(&ring->tail, tail, memory_order_release);
	} while (rec.kind == TS_REC_PAD);
	return rec.t;
}

static void test_order_over_many_rounds(void **state)
{
	struct ts_ring *ring = make();
	uint64_t written = 0, read = 0;

	(void)state;
	while (read < 20000) {
		for (unsigned i = 0; i < 1 + written % 61; i++)
			assert_true(put(ring, 1 + (unsigned)(written % 3 == 0), written)),
			    written++;
		while (read < written)
			assert_int_equal(get(ring), read++);
		assert_true(get(ring) == UINT64_MAX);
	}
	assert_int_equal(atomic_load(&ring->lost), 0);
}

static void test_full_ring_drops_and_counts(void **state)
{
	struct ts_ring *ring = make();
	uint64_t before = ts_lost_count(TS_LOST_ring_full), fits = 0;
	int saved = errno;

	(void)state;
	ts_env.on_full = 1;
	errno = 77;
	while (put(ring, 1, fits))
		fits++;
	assert_int_equal(errno, 77);
	errno = saved;
	/* One slot stays empty at most. */
	assert_true(fits >= SLOTS - 1);
	for (int i = 0; i < 10; i++)
		assert_false(put(ring, 2, 0));
	assert_int_equal(ts_lost_count(TS_LOST_ring_full) - before, 11);
	assert_int_equal(atomic_load(&ring->lost), 11);
	assert_int_equal(atomic_load(&ring->busy), 0);
	/* What was there is untouched, and there is room again after one is read. */
	assert_int_equal(get(ring), 0);
	assert_true(put(ring, 1, fits));
	for (uint64_t i = 1; i <= fits; i++)
		assert_int_equal(get(ring), i);
}

static void test_stamp_marks_busy(void **state)
{
	struct ts_ring *ring = make();
	uint64_t first = ts_stamp(ring), second;

	(void)state;
	assert_int_equal(atomic_load(&ring->busy), 1);
	assert_true(put(ring, 1, 0));
	assert_int_equal(atomic_load(&ring->busy), 0);
	second = ts_stamp(ring);
	assert_true(second >= first);
	assert_true(put(ring, 1, 0));
}

/* --- waiting --- */

static void *reader(void *arg)
{
	struct ts_ring *ring = arg;

	nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
	get(ring);
	return NULL;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void test_full_ring_waits_for_the_reader(void **state)
{
	struct ts_ring *ring = make();
	pthread_t thread;

	(void)state;
	ts_env.on_full = 1;
	while (put(ring, 1, 1))
		;
	ts_env.on_full = 0;
	ts_env.wait_ms = 5000;
	pthread_create(&thread, NULL, reader, ring);
	assert_true(put(ring, 1, 2));
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&ring->waits), 1);
}

static void test_waiting_is_bounded(void **state)
{
	struct ts_ring *ring = make();
	uint64_t begin_ms;

	(void)state;
	ts_env.on_full = 1;
	while (put(ring, 1, 1))
		;
	ts_env.on_full = 0;
	ts_env.wait_ms = 50;
	begin_ms = now_ms();
	assert_false(put(ring, 1, 2));
	assert_in_range(now_ms() - begin_ms, 49, 2000);
	/* A reader that is stuck holds the program up once, not at each event. */
	begin_ms = now_ms();
	for (int i = 0; i < 1000; i++)
		assert_false(put(ring, 1, 2));
	assert_in_range(now_ms() - begin_ms, 0, 40);
	get(ring);
	assert_true(put(ring, 1, 3));
}

/* --- the next owner --- */

static _Atomic int tids[3];
static _Atomic int parked_enough;

static void *park(void *arg)
{
	*(_Atomic int *)arg = (int)syscall(SYS_gettid);
	while (!atomic_load(&parked_enough))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	return NULL;
}

static void test_a_ring_is_given_on(void **state)
{
	struct ts_ring *first, *second, *third, *fourth;
	pthread_t threads[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		pthread_create(&threads[i], NULL, park, &tids[i]);
		while (!atomic_load(&tids[i]))
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	first = ts_file_ring(tids[0]);
	second = ts_file_ring(tids[1]);
	assert_ptr_not_equal(first, second);
	put(first, 1, 1);
	atomic_store(&first->state, TS_RING_EXITED);
	third = ts_file_ring(tids[2]);
	assert_ptr_equal(third, first);
	/* What its first thread recorded is still there. */
	assert_true(put(third, 1, 2));
	assert_int_equal(get(third), 1);
	assert_int_equal(get(third), 2);
	/* Too full to be given on. */
	for (unsigned i = 0; i < SLOTS / 2; i++)
		put(third, 1, i);
	atomic_store(&third->state, TS_RING_EXITED);
	fourth = ts_file_ring((int)syscall(SYS_gettid));
	assert_ptr_not_equal(fourth, third);
	assert_ptr_not_equal(fourth, second);
	/* A thread that is gone without a word. */
	atomic_store(&parked_enough, 1);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	while (!syscall(SYS_tgkill, getpid(), tids[1], 0))
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	assert_ptr_equal(ts_file_ring(123456789), second);
}

static void *produce(void *arg)
{
	for (uint64_t i = 0; i < 200000; i++)
		assert_true(put(arg, 1 + (unsigned)(i % 5 == 0), i));
	return NULL;
}

static void test_two_threads(void **state)
{
	struct ts_ring *ring = make();
	pthread_t thread;

	(void)state;
	ts_env.on_full = 0;
	ts_env.wait_ms = 10000;
	pthread_create(&thread, NULL, produce, ring);
	for (uint64_t i = 0; i < 200000;) {
		uint64_t number = get(ring);

		if (number != UINT64_MAX)
			assert_true(number == i++);
	}
	pthread_join(thread, NULL);
	assert_int_equal(atomic_load(&ring->lost), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order_over_many_rounds),
	    cmocka_unit_test(test_full_ring_drops_and_counts),
	    cmocka_unit_test(test_stamp_marks_busy),
	    cmocka_unit_test(test_full_ring_waits_for_the_reader),
	    cmocka_unit_test(test_waiting_is_bounded),
	    cmocka_unit_test(test_two_threads),
	    cmocka_unit_test(test_a_ring_is_given_on),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
