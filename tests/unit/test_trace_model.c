/* Unions of intervals, live memory against a plain model, digests, nearest words. */
#include "core/cli/verb.h"
#include "core/sha256.h"
#include "core/trace/intervals.h"
#include "core/trace/live.h"
#include "core/trace/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After the headers that it relies on. */
#include <cmocka.h>

static uint32_t random_state = 7;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % limit;
}

/* Against a bit for every nanosecond. */
static void test_union(void **state)
{
	enum { LENGTH = 3000 };

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct ts_intervals set = {0};
		char covered[LENGTH + 100] = {0};
		uint64_t expected = 0;

		for (uint32_t i = random_below(200); i; i--) {
			uint32_t start = random_below(LENGTH), length = random_below(100);

			ts_intervals_add(&set, start, start + length);
			memset(covered + start, 1, length);
		}
		for (size_t i = 0; i < sizeof(covered); i++)
			expected += (uint64_t)covered[i];
		assert_int_equal(ts_intervals_union(&set), expected);
		assert_int_equal(ts_intervals_union(&set), expected);
		ts_intervals_free(&set);
	}
}

/* More intervals than are kept: older ones are folded, nothing is lost, memory stays bounded. */
static void test_union_folds(void **state)
{
	struct ts_intervals set = {0};
	const uint64_t count = 3u << 20;

	(void)state;
	for (uint64_t i = 0; i < count; i++)
		ts_intervals_add(&set, 10 * (i ^ 1), 10 * (i ^ 1) + 3); /* neighbours swapped */
	assert_int_equal(ts_intervals_union(&set), 3 * count);
	assert_int_equal(set.late, 0);
	assert_true(set.capacity <= 1u << 20);
	ts_intervals_add(&set, 5, 6);
	assert_int_equal(set.late, 1);
	ts_intervals_free(&set);
}

static struct ts_event memory_event(uint64_t time, int action, const char *id, uint64_t bytes)
{
	return (struct ts_event){
	    .kind = TS_TABLE_memory,
	    .memory =
		{
		    .timestamp_ns = time,
		    .action = (uint8_t)action,
		    .storage_id = {id, strlen(id)},
		    .device = {"cuda:0", 6},
		    .memory_kind = {"device", 6},
		    .bytes = bytes,
		},
	};
}

/* Random allocations and frees in a shuffled order of lines, against a sum over time. */
static void test_live_in_any_order(void **state)
{
	enum { STORAGES = 300 };
	struct ts_event events[2 * STORAGES];
	char ids[STORAGES][16];
	int64_t change[4 * STORAGES] = {0}, live_now = 0, peak = 0;
	struct ts_live live = {0};
	uint64_t left = 0;
	size_t count = 0;

	(void)state;
	for (uint32_t i = 0; i < STORAGES; i++) {
		uint64_t bytes = 1 + random_below(1000), from = i,
			 to = from + 1 + random_below(STORAGES);

		snprintf(ids[i], sizeof(ids[i]), "s#%u", i);
		events[count++] = memory_event(from, TS_ACTION_ALLOC, ids[i], bytes);
		change[from] += (int64_t)bytes;
		if (random_below(10)) {
			events[count++] = memory_event(to, TS_ACTION_FREE, ids[i], bytes);
			/* Strictly between two allocations, so that ties do not matter to the
			 * model. */
			events[count - 1].memory.timestamp_ns = to;
			change[to] -= (int64_t)bytes;
		} else {
			left += bytes;
		}
	}
	for (size_t i = 0; i < 4 * STORAGES; i++) {
		live_now += change[i];
		peak = live_now > peak ? live_now : peak;
	}
	for (size_t i = count - 1; i; i--) {
		size_t other = random_below((uint32_t)i + 1);
		struct ts_event swap = events[i];

		events[i] = events[other];
		events[other] = swap;
	}
	for (size_t i = 0; i < count; i++)
		ts_live_add(&live, &events[i], i & 3 ? (uint32_t)(i % 7) : TS_MAP_NONE);
	ts_live_finish(&live);
	assert_int_equal(live.all.sum.live_bytes, left);
	/* Frees and allocations of one instant may be met in either order. */
	assert_true(live.all.sum.peak_bytes >= (uint64_t)peak &&
		    live.all.sum.peak_bytes <= (uint64_t)peak + 2000);
	assert_int_equal(live.unpaired_frees, 0);
	assert_int_equal(live.disordered, 0);
	uint64_t by_stack = live.all.no_stack.live_bytes, at_peak = live.all.no_stack.peak_bytes;
	for (size_t i = 0; i < live.all.stack_count; i++) {
		by_stack += live.all.by_stack[i].live_bytes;
		at_peak += live.all.by_stack[i].peak_bytes;
	}
	assert_int_equal(by_stack, left);
	assert_int_equal(at_peak, live.all.sum.peak_bytes);
	/* One device and one kind: they are all there is. */
	assert_int_equal(live.by_device[0].sum.peak_bytes, live.all.sum.peak_bytes);
	assert_int_equal(live.by_device[0].by_kind[0].peak_bytes, live.all.sum.peak_bytes);
	ts_live_free(&live);
}

/* What each kind held when its device held most, which is not when it held most itself. */
static void test_live_by_device(void **state)
{
	struct ts_event events[] = {
	    memory_event(1, TS_ACTION_ALLOC, "a", 100), memory_event(2, TS_ACTION_ALLOC, "p", 70),
	    memory_event(3, TS_ACTION_FREE, "p", 70),	memory_event(4, TS_ACTION_ALLOC, "q", 90),
	    memory_event(5, TS_ACTION_ALLOC, "h", 500), memory_event(6, TS_ACTION_FREE, "a", 100),
	    memory_event(7, TS_ACTION_ALLOC, "r", 60),
	};
	struct ts_live live = {0};

	(void)state;
	for (size_t i = 1; i < 7; i++)
		if (i == 1 || i == 2 || i == 3 || i == 6)
			events[i].memory.memory_kind = (struct ts_str){"pool", 4};
	events[4].memory.memory_kind = (struct ts_str){"pinned", 6};
	events[4].memory.device = (struct ts_str){"cpu", 3};
	for (size_t i = 0; i < 7; i++)
		ts_live_add(&live, &events[i], (uint32_t)i % 2);
	ts_live_finish(&live);
	assert_int_equal(live.devices.count, 2);
	assert_int_equal(live.all.sum.peak_bytes, 690);
	assert_int_equal(live.by_device[0].sum.peak_bytes, 190);
	assert_int_equal(live.by_device[0].sum.peak_ns, 4);
	assert_int_equal(live.by_device[0].by_kind[0].peak_bytes, 100);
	assert_int_equal(live.by_device[0].by_kind[1].peak_bytes, 90);
	assert_int_equal(live.by_kind[1].peak_bytes, 150);
	assert_int_equal(live.by_device[0].by_stack[0].peak_bytes, 100);
	assert_int_equal(live.by_device[0].by_stack[1].peak_bytes, 90);
	assert_int_equal(live.by_device[1].sum.live_bytes, 500);
	assert_int_equal(live.all.by_kind[2].peak_bytes, 500);
	ts_live_free(&live);
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Quantiles against a sorted list, over many orders of magnitude. */
static void test_durations(void **state)
{
	static const unsigned permilles[] = {1, 10, 250, 500, 900, 990, 999, 1000};
	enum { COUNT = 5000 };
	static uint64_t values[COUNT];

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct ts_durations sum = {0};
		uint64_t total = 0;

		for (int i = 0; i < COUNT; i++) {
			values[i] = (uint64_t)random_below(1u << 30) << random_below(31) >>
				    random_below(61);
			total += values[i];
			ts_durations_add(&sum, values[i]);
		}
		qsort(values, COUNT, sizeof(values[0]), compare_u64);
		assert_int_equal(sum.total_ns, total);
		assert_int_equal(sum.shortest_ns, values[0]);
		assert_int_equal(sum.longest_ns, values[COUNT - 1]);
		for (size_t i = 0; i < sizeof(permilles) / sizeof(permilles[0]); i++) {
			uint64_t exact = values[COUNT * permilles[i] / 1000 - 1];
			uint64_t found = ts_durations_quantile(&sum, permilles[i]);

			assert_true((found > exact ? found - exact : exact - found) <= exact / 64);
		}
		ts_durations_free(&sum);
	}
}

static void test_durations_few(void **state)
{
	struct ts_durations sum = {0};

	(void)state;
	assert_int_equal(ts_durations_quantile(&sum, 500), 0);
	ts_durations_add(&sum, UINT64_MAX);
	assert_int_equal(ts_durations_quantile(&sum, 500), UINT64_MAX);
	ts_durations_add(&sum, 0);
	ts_durations_add(&sum, 0);
	assert_int_equal(ts_durations_quantile(&sum, 500), 0);
	assert_int_equal(ts_durations_quantile(&sum, 990), UINT64_MAX);
	assert_int_equal(sum.total_ns, UINT64_MAX);
	ts_durations_free(&sum);
}

/* Gaps are those of the sorted union, also when most of it was folded away on the way. */
static void test_gaps(void **state)
{
	struct ts_intervals set = {0};
	const uint64_t count = 3u << 20;

	(void)state;
	for (uint64_t i = 0; i < count; i++)
		ts_intervals_add(&set, 10 * (i ^ 1), 10 * (i ^ 1) + 3 + (i ^ 1) % 2);
	ts_intervals_add(&set, 10 * count + 50, 10 * count + 51);
	ts_intervals_finish(&set);
	assert_int_equal(set.folded, 3 * count + count / 2 + 1);
	assert_int_equal(set.gaps.count, count);
	assert_int_equal(set.gaps.total_ns + set.folded, 10 * count + 51);
	assert_int_equal(set.gaps.longest_ns, 56);
	assert_int_equal(set.longest_gap_from, 10 * count - 6);
	assert_int_equal(set.gaps.shortest_ns, 6);
	assert_int_equal(set.late, 0);
	assert_true(set.capacity <= 1u << 20);
	ts_intervals_free(&set);
}

static void test_map(void **state)
{
	struct ts_map map = {0};
	char text[32];

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		int size = snprintf(text, sizeof(text), "name-%u", i);

		assert_int_equal(ts_map_find(&map, (struct ts_str){text, (size_t)size}),
				 TS_MAP_NONE);
		assert_int_equal(ts_map_add(&map, (struct ts_str){text, (size_t)size}), i);
		assert_int_equal(ts_map_add(&map, (struct ts_str){text, (size_t)size}), i);
	}
	assert_int_equal(ts_map_find(&map, (struct ts_str){"name-4321", 9}), 4321);
	ts_map_free(&map);
}

static void digest(const char *text, size_t repeat, char hex[65])
{
	struct ts_sha256 sha;

	ts_sha256_begin(&sha);
	while (repeat--)
		ts_sha256_add(&sha, text, strlen(text));
	ts_sha256_end(&sha, hex);
}

/* The examples of FIPS 180-4's publisher: none, one, two blocks, and a million letters. */
static void test_sha256(void **state)
{
	char hex[65];

	(void)state;
	digest("", 1, hex);
	assert_string_equal(hex,
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	digest("abc", 1, hex);
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, hex);
	assert_string_equal(hex,
			    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	digest("aaaaaaaaaa", 100000, hex);
	assert_string_equal(hex,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_nearest_word(void **state)
{
	static const char *const words[] = {"run", "summary", "check", "env", NULL};

	(void)state;
	assert_string_equal(ts_nearest_word("chekc", words), "check");
	assert_string_equal(ts_nearest_word("sum", words), "summary");
	assert_string_equal(ts_nearest_word("rum", words), "run");
	assert_null(ts_nearest_word("elephant", words));
	assert_null(ts_nearest_word("", words));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_union),
	    cmocka_unit_test(test_union_folds),
	    cmocka_unit_test(test_live_in_any_order),
	    cmocka_unit_test(test_live_by_device),
	    cmocka_unit_test(test_durations),
	    cmocka_unit_test(test_durations_few),
	    cmocka_unit_test(test_gaps),
	    cmocka_unit_test(test_map),
	    cmocka_unit_test(test_sha256),
	    cmocka_unit_test(test_nearest_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
