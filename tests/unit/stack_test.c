#include "tests/unit/stack_test.h"

_Thread_local struct taken taken;

NOINLINE void hook(void)
{
	void *buffer[FRAMES + 2];
	int n, mine = 0;

	ts_self.depth++;
	taken.id = ts_stack_take(__builtin_frame_address(0));
	ts_self.depth--;
	n = backtrace(buffer, FRAMES + 2);
	/* It begins in here, or in a sanitizer's own backtrace(). */
	while (mine < n && buffer[mine] != __builtin_return_address(0))
		mine++;
	taken.backtrace_count = n - mine;
	memcpy(taken.backtrace, buffer + mine, (size_t)taken.backtrace_count * sizeof(*buffer));
}

unsigned frames_of(uint32_t id, uint64_t *addresses, unsigned *end)
{
	const struct ts_entry *stack = ts_arena_get(id);
	const uint64_t *words = (const void *)stack->data;
	unsigned n = 0;

	assert_int_equal(stack->kind, TS_ENTRY_STACK);
	*end = stack->extra;
	for (uint32_t i = 0; i < stack->bytes / 8; i++) {
		const struct ts_entry *entry;

		if (words[i] == TS_FRAME_RAW) {
			addresses[n++] = words[++i];
			continue;
		}
		entry = ts_arena_get((uint32_t)(words[i] >> TS_FRAME_OFFSET_BITS));
		assert_int_equal(entry->kind, TS_ENTRY_MODULE);
		addresses[n++] = ((const struct ts_module *)(const void *)entry->data)->base +
				 (words[i] & ((UINT64_C(1) << TS_FRAME_OFFSET_BITS) - 1));
	}
	return n;
}

void assert_like_backtrace(void)
{
	uint64_t frames[FRAMES];
	unsigned end, n;

	assert_int_not_equal(taken.id, 0);
	n = frames_of(taken.id, frames, &end);
	assert_int_equal(end, TS_STACK_WHOLE);
	assert_int_equal(n, taken.backtrace_count);
	for (unsigned i = 0; i < n; i++) {
		uint64_t address = (uintptr_t)taken.backtrace[i];

		/* ours is in the call; an interrupted frame's is exact in both */
		if (frames[i] + 1 != address)
			assert_int_equal(frames[i], address);
	}
}

int stack_setup(void **state)
{
	bool recoverable;

	(void)state;
	if (ts_file_make("/tmp", "/tmp/test_stack.jsonl", 1 << 16, &recoverable))
		return -1;
	ts_stack_set_depth(64);
	return 0;
}

int stack_teardown(void **state)
{
	(void)state;
	ts_file_unlink();
	return 0;
}
