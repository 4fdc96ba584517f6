/* Of a failed allocation: the stacks that hold most where it was asked for. */
#include "core/record/writer.h"

#include <string.h>

unsigned ts_memory_place(int device, uint8_t kind)
{
	if (ts_memory_is_host(kind))
		return 0;
	return device < 0 || device >= (int)TS_PLACES - 2 ? 1 : (unsigned)device + 2;
}

#define TOP 5
#define STACK_ROWS 4096u

struct stack_row {
	uint64_t bytes, count;
	uint32_t stack;
};

static struct stack_row rows[STACK_ROWS];

static void add_row(struct ts_block *block, void *user)
{
	uint32_t slot = block->stack * 2654435761u >> 20;

	if (block->state != TS_BLOCK_LIVE || !block->stack ||
	    ts_memory_place(block->device, block->kind) != *(const unsigned *)user)
		return;
	for (uint32_t i = 0; i < 64; i++, slot++) {
		struct stack_row *row = &rows[slot & (STACK_ROWS - 1)];

		if (row->stack && row->stack != block->stack)
			continue;
		row->stack = block->stack;
		row->bytes += block->bytes;
		row->count++;
		return;
	}
}

void ts_print_largest(unsigned place)
{
	static uint64_t last_ns_at[TS_PLACES];
	uint64_t *last_ns = &last_ns_at[place];
	uint64_t now = ts_clock_elapsed_ns();
	bool first = true;

	/* A program may ask for ever less until it is given some: one look at all blocks is enough
	 * then. */
	if (*last_ns && now - *last_ns < 10000000)
		return;
	*last_ns = now;
	memset(rows, 0, sizeof(rows));
	ts_block_each(add_row, &place);
	for (int n = 0; n < TOP; n++) {
		struct stack_row *best = &rows[0];

		for (uint32_t i = 1; i < STACK_ROWS; i++)
			if (rows[i].bytes > best->bytes)
				best = &rows[i];
		if (!best->bytes)
			break;
		ts_line_raw(&ts_lines, first ? ",\"largest_live\":[{\"stack\":" : ",{\"stack\":");
		ts_line_number(&ts_lines, best->stack);
		ts_line_u64(&ts_lines, "bytes", best->bytes);
		ts_line_u64(&ts_lines, "count", best->count);
		ts_line_raw(&ts_lines, "}");
		best->bytes = 0;
		first = false;
	}
	if (!first)
		ts_line_raw(&ts_lines, "]");
}
