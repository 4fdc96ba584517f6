/* The name store: each thing once, by any thread, of any size, until it is full. */
#include "tests/unit/record_test.h"

#include <pthread.h>

#include "core/record/file.h"

static int begin(void **state)
{
	bool recoverable;

	(void)state;
	assert_int_equal(ts_file_make(test_path(""), test_path("x.jsonl"), 16384, &recoverable), 0);
	return 0;
}

static int end(void **state)
{
	ts_file_unlink();
	return record_test_clean(state);
}

static void test_none(void **state)
{
	(void)state;
	assert_int_equal(ts_arena_text(NULL), 0);
	assert_null(ts_arena_get(0));
	assert_null(ts_arena_get(UINT32_MAX));
	assert_true(ts_arena_text("") != 0);
	assert_int_equal(ts_arena_get(ts_arena_text(""))->bytes, 0);
}

static void test_once(void **state)
{
	uint32_t id = ts_arena_text("kernel"), other = ts_arena_text("kernel2");

	(void)state;
	assert_true(id && other && id != other);
	assert_int_equal(ts_arena_text("kernel"), id);
	assert_string_equal((const char *)ts_arena_get(id)->data, "kernel");
	/* Kind and extra belong to what it is. */
	assert_int_not_equal(ts_arena_put(TS_ENTRY_STACK, 0, "kernel", 6), id);
	assert_int_not_equal(ts_arena_put(TS_ENTRY_STACK, 1, "kernel", 6),
			     ts_arena_put(TS_ENTRY_STACK, 0, "kernel", 6));
	/* Bytes are kept as they are, zeros too. */
	id = ts_arena_put(TS_ENTRY_TEXT, 0, "a\0b", 3);
	assert_int_not_equal(id, ts_arena_put(TS_ENTRY_TEXT, 0, "a\0c", 3));
	assert_memory_equal(ts_arena_get(id)->data, "a\0b", 3);
}

/* Longer than a piece of the arena: pieces follow each other in memory. */
static void test_long_texts(void **state)
{
	size_t bytes = 3 * TS_ARENA_CHUNK + 17;
	char *text = malloc(bytes + 1);
	uint32_t first, second;

	(void)state;
	memset(text, 'x', bytes);
	text[bytes] = '\0';
	first = ts_arena_text(text);
	text[bytes - 1] = 'y';
	second = ts_arena_text(text);
	assert_true(first && second && first != second);
	assert_memory_equal(ts_arena_get(second)->data, text, bytes + 1);
	text[bytes - 1] = 'x';
	assert_memory_equal(ts_arena_get(first)->data, text, bytes + 1);
	free(text);
}

#define THREADS 4
#define NAMES 3000

static uint32_t ids[THREADS][NAMES];

static void *put_all(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	for (uint32_t i = 0; i < NAMES; i++) {
		uint32_t n = me % 2 ? NAMES - 1 - i : i;
		char text[32];

		snprintf(text, sizeof(text), "name %u", n);
		ids[me][n] = ts_arena_text(text);
	}
	return NULL;
}

static void test_threads_agree(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, put_all, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t n = 0; n < NAMES; n++) {
		char text[32];

		snprintf(text, sizeof(text), "name %u", n);
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(ids[i][n], ids[0][n]);
		assert_string_equal((const char *)ts_arena_get(ids[0][n])->data, text);
	}
}

static void test_full_store(void **state)
{
	uint32_t known = ts_arena_text("kernel"), id = 1;
	uint64_t before = ts_lost_count(TS_LOST_names);
	char text[32];

	(void)state;
	for (uint32_t i = 0; id && i < 2 * TS_INDEX_SLOTS; i++) {
		snprintf(text, sizeof(text), "filler %u", i);
		id = ts_arena_text(text);
	}
	assert_int_equal(id, 0);
	assert_int_equal(ts_lost_count(TS_LOST_names), before + 1);
	/* What is known is still found. */
	assert_int_equal(ts_arena_text("kernel"), known);
	assert_int_equal(ts_lost_count(TS_LOST_names), before + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_none),       cmocka_unit_test(test_once),
	    cmocka_unit_test(test_long_texts), cmocka_unit_test(test_threads_agree),
	    cmocka_unit_test(test_full_store),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
