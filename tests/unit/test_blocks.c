/* What is live at which address: lives of an address, handle spaces, captured allocations, and a
 * table that forgets what was freed without mixing up lives. */
#include "tests/unit/record_test.h"

#include "core/record/writer.h"

#define A UINT64_C(0x7f0000001000)

/* --- the table by itself --- */

static void count_live(struct ts_block *block, void *user)
{
	*(size_t *)user += block->state == TS_BLOCK_LIVE;
}

static size_t live(void)
{
	size_t count = 0;

	ts_block_each(count_live, &count);
	return count;
}

static void test_handles_are_not_addresses(void **state)
{
	struct ts_block *pointer = ts_block_add(A, TS_MEM_DEVICE);

	(void)state;
	assert_non_null(pointer);
	pointer->state = TS_BLOCK_LIVE;
	/* A pointer may be freed by a call of another kind, a handle of equal value is no pointer.
	 */
	assert_ptr_equal(ts_block_find(A, TS_MEM_POOL), pointer);
	assert_null(ts_block_find(A, TS_MEM_ARRAY));
	ts_block_add(A, TS_MEM_ARRAY)->state = TS_BLOCK_LIVE;
	ts_block_add(A, TS_MEM_MIPMAP)->state = TS_BLOCK_LIVE;
	ts_block_add(A, TS_MEM_VMM)->state = TS_BLOCK_LIVE;
	assert_int_equal(live(), 4);
	assert_null(ts_block_find(0, TS_MEM_DEVICE));
	assert_null(ts_block_add(0, TS_MEM_DEVICE));
	ts_block_child();
	assert_null(ts_block_find(A, TS_MEM_DEVICE));
}

#define MANY 300000u
#define KEPT 100u

/* Far more addresses than are live at a time: what is live or captured is found, and an address
 * that was forgotten begins a life that none of the trace had before. */
static void test_forgetting(void **state)
{
	uint32_t generation = 0;
	struct ts_block *block;

	(void)state;
	for (uint64_t i = 1; i <= MANY; i++) {
		block = ts_block_add(A + i * 256, TS_MEM_DEVICE);
		assert_non_null(block);
		block->generation++;
		if (i == 1)
			generation = block->generation;
		block->bytes = i;
		block->state = i <= KEPT       ? TS_BLOCK_LIVE
			       : i <= 2 * KEPT ? TS_BLOCK_CAPTURED
					       : TS_BLOCK_FREED;
	}
	assert_int_equal(live(), KEPT);
	for (uint64_t i = 1; i <= 2 * KEPT; i++) {
		block = ts_block_find(A + i * 256, TS_MEM_DEVICE);
		assert_non_null(block);
		assert_int_equal(block->bytes, i);
	}
	/* This one is gone, as the table would else have to grow for ever. */
	assert_null(ts_block_find(A + (2 * KEPT + 1) * 256, TS_MEM_DEVICE));
	assert_true(ts_block_add(A + (2 * KEPT + 1) * 256, TS_MEM_DEVICE)->generation >=
		    generation);
	ts_block_child();
}

/* --- in a trace --- */

static void put_captured(enum ts_rec_kind kind, uint64_t address)
{
	struct ts_ring *ring = ts_enter();
	unsigned char *slot = ts_reserve(ring, 1);
	const struct ts_rec head = {.kind = (uint8_t)kind,
				    .slots = 1,
				    .flags = TS_F_CAPTURED,
				    .span = 1,
				    .t = ts_stamp(ring)};

	if (kind == TS_REC_ALLOC)
		*(struct ts_rec_alloc *)(void *)slot = (struct ts_rec_alloc){
		    .h = head, .address = address, .bytes = 64, .memory_kind = TS_MEM_GRAPH};
	else
		*(struct ts_rec_free *)(void *)slot =
		    (struct ts_rec_free){.h = head, .address = address};
	ts_commit(ring, 1);
	ts_leave();
}

/* Field case 3.08: what a capture recorded is not memory that the process has. */
static void capture(void)
{
	put_captured(TS_REC_ALLOC, A);
	put_captured(TS_REC_FREE, A);
	put_captured(TS_REC_ALLOC, A + 4096);
	put_free(A + 4096, 0); /* the graph's result, freed by hand */
	put_alloc(A, 32, 0, 0);
	put_captured(TS_REC_ALLOC, A); /* the same address while it is in use */
	put_free(A, 0);
}

static void test_captured_allocations(void **state)
{
	const char *path = test_path("captured.jsonl");
	json_t *lines, *event;

	(void)state;
	assert_int_equal(run_session(capture, path, NULL), 0);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "memory"), 2);
	assert_int_equal(event_count(lines, "op"), 4);
	for (size_t i = 0; (event = event_at(lines, "op", i)); i++)
		assert_true(json_is_true(json_object_get(event, "captured")));
	event = event_at(lines, "terminal", 0);
	assert_int_equal(number_of(event, "live_bytes"), 0);
	assert_int_equal(number_of(event, "peak_live_bytes"), 32);
	assert_null(json_object_get(event, "unmatched_frees"));
	json_decref(lines);
}

static void put_opened(uint64_t address)
{
	struct ts_ring *ring = ts_enter();
	struct ts_rec_alloc *rec = ts_reserve(ring, 1);

	*rec = (struct ts_rec_alloc){
	    .h = {.kind = TS_REC_ALLOC, .slots = 1, .span = 1, .t = ts_stamp(ring)},
	    .address = address,
	    .bytes = 64,
	    .memory_kind = TS_MEM_IPC};
	ts_commit(ring, 1);
	ts_leave();
}

/* Memory of another process that is opened three times lives until it is closed as often. */
static void opened(void)
{
	for (int i = 0; i < 3; i++)
		put_opened(A);
	put_free(A, 0);
	put_free(A, 0);
	put_free_failed(A, 201, 0);
	put_free(A, 0);
	put_free(A, 0);
	put_free(A, 0); /* once too often */
	put_opened(A);
}

static void test_opened_again(void **state)
{
	json_t *lines = trace_of(opened, "opened.jsonl"), *event;

	(void)state;
	assert_int_equal(event_count(lines, "memory"), 3);
	event = event_at(lines, "terminal", 0);
	assert_int_equal(number_of(event, "live_bytes"), 64);
	assert_int_equal(number_of(event, "peak_live_bytes"), 64);
	assert_int_equal(number_of(event, "unmatched_frees"), 1);
	json_decref(lines);
}

#define LIVES 70000u

/* More addresses than the table keeps: every storage is still told from every other. */
static void many_addresses(void)
{
	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < LIVES; i++) {
			put_alloc(A + i * 256, 16, 0, 0);
			put_free(A + i * 256, 0);
		}
	}
	put_alloc(A, UINT64_C(0x20000000000001), 0, 0); /* field case 5.05 */
}

#define STORAGE_ID "\"storage_id\":\""

static void test_many_lives(void **state)
{
	const char *path = test_path("lives.jsonl");
	json_t *ids = json_object();
	char *line = NULL, *id;
	bool ended = false;
	size_t size = 0;
	FILE *file;

	(void)state;
	assert_int_equal(run_session(many_addresses, path, PATIENT, NULL), 0);
	expect_valid(path);
	/* Line by line: the whole trace as JSON would take gigabytes. */
	file = fopen(path, "r");
	assert_non_null(file);
	while (getline(&line, &size, file) > 0) {
		/* To the byte: as a floating-point number it would be even. */
		if (strstr(line, "\"kind\":\"terminal\""))
			ended = strstr(line, "\"live_bytes\":9007199254740993,") != NULL;
		if (!strstr(line, "\"action\":\"alloc\""))
			continue;
		id = strstr(line, STORAGE_ID);
		assert_non_null(id);
		id += strlen(STORAGE_ID);
		id[strcspn(id, "\"")] = '\0';
		assert_null(json_object_get(ids, id));
		json_object_set_new(ids, id, json_true());
	}
	assert_int_equal(json_object_size(ids), 2 * LIVES + 1);
	assert_true(ended);
	fclose(file);
	free(line);
	json_decref(ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_handles_are_not_addresses),
	    cmocka_unit_test(test_forgetting),
	    cmocka_unit_test(test_captured_allocations),
	    cmocka_unit_test(test_opened_again),
	    cmocka_unit_test(test_many_lives),
	};

	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
