/* Memory events.  Records come ring by ring; an address can go from one thread to another, so they
 * are sorted by time first, up to a moment that every thread has passed, and only then paired. */
#include "core/record/writer.h"

#include <string.h>

#include "core/record/file.h"
#include "core/session/window.h"

struct pending {
	uint64_t t, order;
	struct ts_source from;
	unsigned char rec[TS_SLOT];
};

/* The last free of a ring, which may turn out to have failed. */
struct last_free {
	uint64_t address;
	bool was_live;
	bool unmatched, earlier;        /* it was counted as such */
	bool held;              /* the block had holds, and lives on */
	struct ts_block block;
	uint64_t t;
};

/* Of each ring, the records in the heap: they come, and as its thread stamps them in order also go,
 * by position.  Looking through the heap for the oldest would cost more the longer it is. */
static struct waiting {
	uint64_t oldest;        /* no record before this position waits */
	uint64_t count;
} waiting[TS_MAX_RINGS];

static struct pending *heap;
static size_t heap_used, heap_room;
static uint64_t arrivals;
static struct last_free last_frees[TS_MAX_RINGS];
static struct ts_memory_totals totals;

static const char *const kind_names[] = { "device",  "pinned", "registered", "managed",
					  "pitched", "array",  "mipmap",     "pool",
					  "vmm",     "graph",  "ipc",	     "external" };
_Static_assert(TS_ARRAY_SIZE(kind_names) == TS_MEM_KINDS, "a name for each kind of memory");

const char *ts_memory_kind_name(uint8_t kind)
{
	return kind < TS_MEM_KINDS ? kind_names[kind] : "unknown";
}

static bool before(const struct pending *a, const struct pending *b)
{
	return a->t < b->t || (a->t == b->t && a->order < b->order);
}

void ts_memory_queue(const struct ts_rec *rec, const struct ts_source *from)
{
	struct pending *grown = ts_writer_grow(heap, &heap_room, heap_used + 1, sizeof(*heap)),
		       item;
	struct waiting *ring = &waiting[from->ring];
	size_t at = heap_used;

	if (!grown) {
		ts_lost(TS_LOST_no_memory, 1);
		return;
	}
	heap = grown;
	item = (struct pending){ .t = rec->t, .order = arrivals++, .from = *from };
	memcpy(item.rec, rec, TS_SLOT);
	heap_used++;
	if (!ring->count++)
		ring->oldest = from->at;
	for (; at > 0 && before(&item, &heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = item;
}

static struct pending pop(void)
{
	struct pending top = heap[0], last = heap[--heap_used];
	struct waiting *ring = &waiting[top.from.ring];
	size_t at = 0, child;

	ring->count--;
	if (ring->oldest <= top.from.at)
		ring->oldest = top.from.at + 1;

	while ((child = 2 * at + 1) < heap_used) {
		if (child + 1 < heap_used && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return top;
}

void ts_memory_oldest(uint64_t *oldest)
{
	uint32_t rings = atomic_load_explicit(&ts_file->rings, memory_order_acquire);

	for (uint32_t i = 0; i < rings && heap_used; i++)
		if (waiting[i].count && waiting[i].oldest < oldest[i])
			oldest[i] = waiting[i].oldest;
}

/* <device>:<address>#<generation> */
static void print_storage(const char *key, const struct ts_block *block)
{
	ts_line_raw(&ts_lines, ",\"");
	ts_line_raw(&ts_lines, key);
	ts_line_raw(&ts_lines, "\":\"");
	if (ts_memory_is_host(block->kind)) {
		ts_line_raw(&ts_lines, "cpu:");
	} else if (block->device < 0) {
		ts_line_raw(&ts_lines, "cuda:unknown:");
	} else {
		ts_line_raw(&ts_lines, "cuda:");
		ts_line_number(&ts_lines, (uint64_t)block->device);
		ts_line_raw(&ts_lines, ":");
	}
	ts_line_hex_number(&ts_lines, block->address);
	ts_line_raw(&ts_lines, "#");
	ts_line_number(&ts_lines, block->generation);
	ts_line_raw(&ts_lines, "\"");
}

static const char *category(uint8_t step)
{
	static const char *const names[] = { "other", "activation", "gradient", "optimizer" };

	return names[step < TS_ARRAY_SIZE(names) ? step : 0];
}

/* One memory line; `note` is an own key set to true, or NULL. */
static void print_memory(const struct ts_block *block, const struct ts_rec *rec, uint64_t t,
			 uint32_t thread, uint64_t stream, const char *action, const char *note)
{
	uint64_t ns = ts_clock_session_ns(t);

	ts_line_begin(&ts_lines, "memory");
	ts_line_u64(&ts_lines, "timestamp_ns", ns);
	print_storage("storage_id", block);
	print_storage("tensor_id", block);
	ts_print_span_id(rec->span);
	ts_print_device("device", block->device, ts_memory_is_host(block->kind));
	ts_line_u64(&ts_lines, "bytes", block->bytes);
	ts_line_word(&ts_lines, "action", action);
	ts_line_word(&ts_lines, "dtype", "u8");
	ts_line_word(&ts_lines, "category", category(block->step));
	ts_line_hex(&ts_lines, "address", block->address);
	ts_line_word(&ts_lines, "memory_kind", kind_names[block->kind]);
	if (block->pool)
		ts_line_hex(&ts_lines, "pool", block->pool);
	if (stream || block->kind == TS_MEM_POOL)
		ts_line_hex(&ts_lines, "stream", stream);
	ts_print_common(rec, thread);
	if (note)
		ts_line_bool(&ts_lines, note, true);
	if (rec->flags & TS_F_OUTSIDE)
		ts_line_bool(&ts_lines, "outside_window", true);
	ts_line_end(&ts_lines);
	ts_saw_time(ns);
}

static uint64_t live_at[TS_PLACES];

static void account(const struct ts_block *block, int64_t bytes, int count)
{
	live_at[ts_memory_place(block->device, block->kind)] += (uint64_t)bytes;
	totals.live_bytes += (uint64_t)bytes;
	totals.live_count += (uint64_t)count;
	if (totals.live_bytes > totals.peak_bytes)
		totals.peak_bytes = totals.live_bytes;
}

static void end_block(struct ts_block *block, const struct ts_rec *rec, uint64_t t,
		      const struct ts_source *from, uint64_t stream, const char *note)
{
	if (!block->unwritten) {
		/* Never before its own beginning, whatever the record says. */
		print_memory(block, rec, t > block->t ? t : block->t, from->thread, stream, "free",
			     note);
	} else if (!(rec->flags & TS_F_OUTSIDE)) {
		totals.earlier_frees++;
		totals.earlier_bytes += block->bytes;
	}
	account(block, -(int64_t)block->bytes, -1);
	block->state = TS_BLOCK_FREED;
	block->free_stack = rec->stack;
}

/* --- calls that changed nothing --- */

/* An op line for a memory call that changed nothing: failed, or captured into a graph. */
static void print_call(const struct ts_rec *rec, uint32_t thread, uint8_t kind, uint64_t address,
		       uint64_t bytes, int32_t error)
{
	uint64_t ns = ts_clock_session_ns(rec->t);

	ts_line_begin(&ts_lines, "op");
	ts_print_span_id(rec->span);
	ts_line_word(&ts_lines, "op_name", ts_fn_name(rec->fn));
	ts_line_raw(&ts_lines, ",\"shape\":[],\"dtype\":\"none\"");
	ts_print_device("device", rec->device, ts_memory_is_host(kind));
	ts_line_raw(&ts_lines, ",\"duration_ns\":0,\"input_dense_bytes\":0");
	ts_line_u64(&ts_lines, "timestamp_ns", ns);
	ts_line_word(&ts_lines, "memory_kind", kind_names[kind]);
	if (bytes)
		ts_line_u64(&ts_lines, "bytes", bytes);
	if (address)
		ts_line_hex(&ts_lines, "address", address);
	if (error)
		ts_line_i64(&ts_lines, "error", error);
	if (rec->flags & TS_F_CAPTURED)
		ts_line_bool(&ts_lines, "captured", true);
	ts_print_common(rec, thread);
	ts_saw_time(ns);
}

static void print_unallocated(const struct ts_rec_alloc *rec, uint32_t thread)
{
	unsigned place = ts_memory_place(rec->h.device, rec->memory_kind);

	print_call(&rec->h, thread, rec->memory_kind, rec->error ? 0 : rec->address, rec->bytes,
		   rec->error);
	if (rec->error) {
		ts_line_u64(&ts_lines, "live_bytes", totals.live_bytes);
		ts_line_u64(&ts_lines, "device_live_bytes", live_at[place]);
		ts_print_largest(place);
	}
	ts_line_end(&ts_lines);
}

/* --- blocks that a free need not end ---
 *
 * Physical memory that was released lives as long as it is mapped: each mapping is a hold.
 * Memory of another process that a context opens again is at the same address, and must be closed
 * as often: each opening beyond the first is one. */

static bool is_opened_again(const struct ts_block *block, const struct ts_rec_alloc *rec)
{
	return block->state == TS_BLOCK_LIVE && block->kind == TS_MEM_IPC &&
	       rec->memory_kind == TS_MEM_IPC && block->context == rec->context;
}

/* By a free, or by one that is taken back. */
static void unhold(struct ts_block *block, bool free)
{
	if (block->kind == TS_MEM_VMM)
		block->released = free;
	else
		block->holds += free ? -1u : 1u;
}

static void on_alloc(const struct ts_rec_alloc *rec, const struct ts_source *from)
{
	struct ts_block *block;

	if (rec->error || (rec->h.flags & TS_F_CAPTURED) || !rec->address) {
		if (!(rec->h.flags & TS_F_OUTSIDE))
			print_unallocated(rec, from->thread);
		if (rec->error || !(rec->h.flags & TS_F_CAPTURED))
			return;
		totals.captured++;
		block = ts_block_add(rec->address, rec->memory_kind);
		if (block && block->state != TS_BLOCK_LIVE)
			block->state = TS_BLOCK_CAPTURED;
		return;
	}
	block = ts_block_add(rec->address, rec->memory_kind);
	if (!block) {
		ts_lost(TS_LOST_no_memory, 1);
		return;
	}
	if (is_opened_again(block, rec)) {
		block->holds++;
		return;
	}
	if (block->state == TS_BLOCK_LIVE)
		end_block(block, &rec->h, rec->h.t, from, 0, "inferred");
	block->generation++;
	block->bytes = rec->bytes;
	block->t = rec->h.t;
	block->pool = rec->pool;
	block->stack = rec->h.stack;
	block->device = rec->h.device;
	block->context = rec->context;
	block->own_context = rec->h.flags & TS_F_OWN_CONTEXT;
	block->kind = rec->memory_kind;
	block->step = rec->step;
	block->state = TS_BLOCK_LIVE;
	block->unwritten = rec->h.flags & TS_F_OUTSIDE;
	block->holds = 0;
	block->released = false;
	account(block, (int64_t)block->bytes, 1);
	if (!block->unwritten)
		print_memory(block, &rec->h, rec->h.t, from->thread, rec->stream, "alloc", NULL);
}

static void on_free(const struct ts_rec_free *rec, const struct ts_source *from)
{
	struct ts_block *block = ts_block_find(rec->address, rec->memory_kind);
	struct last_free *last = &last_frees[from->ring];

	*last = (struct last_free){ .address = rec->address, .t = rec->h.t };
	if (rec->h.flags & TS_F_CAPTURED) {
		if (!(rec->h.flags & TS_F_OUTSIDE)) {
			print_call(&rec->h, from->thread, rec->memory_kind, rec->address, 0, 0);
			ts_line_end(&ts_lines);
		}
		return;
	}
	if (block && block->state == TS_BLOCK_LIVE && block->holds) {
		last->held = true;
		unhold(block, true);
	} else if (block && block->state == TS_BLOCK_LIVE) {
		last->was_live = true;
		last->block = *block;
		last->earlier = block->unwritten && !(rec->h.flags & TS_F_OUTSIDE);
		end_block(block, &rec->h, rec->h.t, from, rec->stream, NULL);
	} else if (!(rec->h.flags & TS_F_OUTSIDE) &&
		   (!block || block->state != TS_BLOCK_CAPTURED)) {
		last->unmatched = true;
		totals.unmatched_frees++;
	}
}

/* Take the thread's last free back: its block lives on, as a new storage since the old one has
 * ended. */
static void on_free_failed(const struct ts_rec_free *rec, const struct ts_source *from)
{
	struct ts_block *block = ts_block_find(rec->address, rec->memory_kind);
	struct last_free *last = &last_frees[from->ring];
	struct ts_rec head = rec->h;
	uint32_t first_free = 0;
	bool outside = rec->h.flags & TS_F_OUTSIDE;

	if (head.t < last->t)
		head.t = last->t;
	totals.failed_frees += !outside;
	if (last->address == rec->address && last->was_live && block &&
	    block->state == TS_BLOCK_FREED) {
		block->free_stack = last->block.free_stack;
		block->generation++;
		block->t = head.t;
		block->state = TS_BLOCK_LIVE;
		account(block, (int64_t)block->bytes, 1);
		if (!block->unwritten)
			print_memory(block, &head, head.t, from->thread, 0, "alloc", "restored");
		totals.earlier_frees -= last->earlier;
		totals.earlier_bytes -= last->earlier ? block->bytes : 0;
	} else {
		if (last->address == rec->address && last->unmatched)
			totals.unmatched_frees--;
		if (last->address == rec->address && last->held && block)
			unhold(block, false);
		if (block && block->state == TS_BLOCK_FREED)
			first_free = block->free_stack;
	}
	last->address = 0;
	if (outside)
		return;
	print_call(&head, from->thread, rec->memory_kind, rec->address, 0, rec->error);
	if (first_free)
		ts_print_stack("first_free_stack", first_free);
	ts_line_end(&ts_lines);
}

static void on_map(const struct ts_rec_map *rec, const struct ts_source *from)
{
	uint64_t at = rec->address, end = at + rec->bytes;
	struct ts_mapping m = { .address = at, .bytes = rec->bytes, .handle = rec->handle };
	struct ts_block *block = ts_block_find(rec->handle, TS_MEM_VMM);

	if (rec->handle) {
		m.generation = block ? block->generation : 0;
		if (block && block->state == TS_BLOCK_LIVE && ts_mapping_put(&m))
			block->holds++;
		return;
	}
	for (; at < end && ts_mapping_take(at, &m); at += m.bytes) {
		block = ts_block_find(m.handle, TS_MEM_VMM);
		if (!block || block->generation != m.generation || !block->holds)
			continue;
		if (!--block->holds && block->released && block->state == TS_BLOCK_LIVE)
			end_block(block, &rec->h, rec->h.t, from, 0, NULL);
	}
}

struct reset {
	const struct ts_rec_reset *rec;
	const struct ts_source *from;
};

static void end_if_reset(struct ts_block *block, void *user)
{
	const struct reset *reset = user;
	const struct ts_rec_reset *rec = reset->rec;

	/* Physical memory is no context's. */
	if (block->state != TS_BLOCK_LIVE || block->t > rec->h.t || block->kind == TS_MEM_VMM)
		return;
	/* With a device its primary context is meant. */
	if (rec->context ? block->context != rec->context :
			   block->device != rec->h.device || block->own_context)
		return;
	end_block(block, &rec->h, rec->h.t, reset->from, 0, "reset");
}

void ts_memory_settle(uint64_t until_raw)
{
	while (heap_used && heap[0].t <= until_raw) {
		struct pending item = pop();
		const struct ts_rec *rec = (const void *)item.rec;

		switch (rec->kind) {
		case TS_REC_ALLOC:
			on_alloc((const void *)rec, &item.from);
			break;
		case TS_REC_FREE:
			on_free((const void *)rec, &item.from);
			break;
		case TS_REC_FREE_FAILED:
			on_free_failed((const void *)rec, &item.from);
			break;
		case TS_REC_MAP:
			on_map((const void *)rec, &item.from);
			break;
		case TS_REC_WINDOW:
			ts_print_window(rec);
			break;
		case TS_REC_RESET:
			ts_block_each(end_if_reset,
				      &(struct reset){ (const void *)rec, &item.from });
			break;
		default:
			break;
		}
	}
}

struct ts_memory_totals ts_memory_totals(void)
{
	return totals;
}

void ts_memory_child(void)
{
	heap = NULL;
	heap_used = heap_room = 0;
	/* Untouched pages stay so: programs that never record fork as well. */
	if (!arrivals)
		return;
	arrivals = 0;
	memset(waiting, 0, sizeof(waiting));
	memset(&totals, 0, sizeof(totals));
	memset(live_at, 0, sizeof(live_at));
	memset(last_frees, 0, sizeof(last_frees));
	ts_block_child();
	ts_mapping_child();
}
