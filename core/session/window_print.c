/* The border of a window as a line: what is alive there, by device and kind. */
#include <string.h>

#include "core/record/writer.h"
#include "core/session/window.h"

#define GROUPS 64u

struct group {
	int16_t device;
	uint8_t kind;
	uint64_t bytes, count;
};

struct groups {
	struct group rows[GROUPS];
	unsigned used;
};

/* What finds no row is in the sums all the same. */
static void add_block(struct ts_block *block, void *user)
{
	struct groups *groups = user;
	int16_t device = ts_memory_is_host(block->kind) ? TS_DEVICE_NONE : block->device;
	unsigned i = 0;

	if (block->state != TS_BLOCK_LIVE)
		return;
	while (i < groups->used &&
	       (groups->rows[i].device != device || groups->rows[i].kind != block->kind))
		i++;
	if (i == GROUPS)
		return;
	if (i == groups->used)
		groups->rows[groups->used++] = (struct group){ device, block->kind, 0, 0 };
	groups->rows[i].bytes += block->bytes;
	groups->rows[i].count++;
}

static void print_live(void)
{
	static struct groups groups;

	groups.used = 0;
	ts_block_each(add_block, &groups);
	ts_line_raw(&ts_lines, ",\"live\":[");
	for (unsigned i = 0; i < groups.used; i++) {
		const struct group *g = &groups.rows[i];

		ts_line_raw(&ts_lines, i ? ",{\"memory_kind\":\"" : "{\"memory_kind\":\"");
		ts_line_raw(&ts_lines, ts_memory_kind_name(g->kind));
		ts_line_raw(&ts_lines, "\"");
		ts_print_device("device", g->device, ts_memory_is_host(g->kind));
		ts_line_u64(&ts_lines, "bytes", g->bytes);
		ts_line_u64(&ts_lines, "count", g->count);
		ts_line_raw(&ts_lines, "}");
	}
	ts_line_raw(&ts_lines, "]");
}

void ts_print_window(const struct ts_rec *rec)
{
	static const char *const causes[] = { "profiler", "api", "iteration", "time", "signal" };
	const struct ts_rec_window *window = (const void *)rec;
	struct ts_memory_totals totals = ts_memory_totals();
	uint64_t ns = ts_clock_session_ns(rec->t);

	ts_line_begin(&ts_lines, "op");
	ts_print_span_id(rec->span);
	ts_line_raw(&ts_lines, ",\"op_name\":\"tstrace.window\",\"inputs\":[],\"shape\":[]"
			       ",\"dtype\":\"none\",\"device\":\"cpu\",\"duration_ns\":0"
			       ",\"input_dense_bytes\":0,\"mark\":true");
	ts_line_u64(&ts_lines, "timestamp_ns", ns);
	ts_line_u64(&ts_lines, "window", window->number);
	ts_line_word(&ts_lines, "action", window->open ? "open" : "close");
	ts_line_word(&ts_lines, "cause", causes[window->cause % TS_ARRAY_SIZE(causes)]);
	ts_line_u64(&ts_lines, "live_blocks", totals.live_count);
	ts_line_u64(&ts_lines, "live_bytes", totals.live_bytes);
	print_live();
	ts_line_end(&ts_lines);
	ts_saw_time(ns);
}
