/* Records of spans and API calls, as lines of the trace; and the parts that all lines share. */
#include "core/record/writer.h"

#include <string.h>
#include <sys/mman.h>

#include "core/record/arena.h"
#include "core/session/session.h"
#include "core/session/span.h"
#include "core/session/step.h"

/* A longer kernel name is written whole once and shortened, but still told apart by its id, after
 * that. */
#define NAME_WHOLE 1024u
#define NAME_SHORT 240u

/* One bit for each arena id: already written with its frames (stacks), its path (modules), its
 * name. */
#define ID_BITS ((size_t)TS_ARENA_CHUNKS * TS_ARENA_CHUNK / 8)

static unsigned char *seen;

static struct open_span {
	uint32_t id, parent;
	uint64_t start_ns;
} *open_spans;
static size_t open_count, open_room;
static uint64_t latest_ns;

void ts_saw_time(uint64_t session_ns)
{
	if (session_ns > latest_ns)
		latest_ns = session_ns;
}

uint64_t ts_latest_time(void)
{
	return latest_ns;
}

/* True at the first call for an id. */
static bool is_new(uint32_t id)
{
	bool is_set;

	if (!seen) {
		void *bits = mmap(NULL, ID_BITS / 8, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (bits == MAP_FAILED)
			return true;
		seen = bits;
	}
	is_set = seen[id / 8] & 1u << id % 8;
	seen[id / 8] |= (unsigned char)(1u << id % 8);
	return !is_set;
}

void ts_print_span_id(uint32_t span)
{
	ts_line_raw(&ts_lines, ",\"span_id\":\"s");
	ts_line_number(&ts_lines, span ? span : 1);
	ts_line_raw(&ts_lines, "\"");
}

void ts_print_device(const char *key, int device, bool is_host)
{
	ts_line_raw(&ts_lines, ",\"");
	ts_line_raw(&ts_lines, key);
	if (is_host) {
		ts_line_raw(&ts_lines, "\":\"cpu\"");
	} else if (device < 0) {
		ts_line_raw(&ts_lines, "\":\"cuda:unknown\"");
	} else {
		ts_line_raw(&ts_lines, "\":\"cuda:");
		ts_line_number(&ts_lines, (uint64_t)device);
		ts_line_raw(&ts_lines, "\"");
	}
}

static size_t cut_at_character(const char *text, size_t bytes)
{
	while (bytes && ((unsigned char)text[bytes] & 0xc0) == 0x80)
		bytes--;
	return bytes;
}

void ts_print_arena_text(const char *key, uint32_t text, const char *otherwise)
{
	if (!ts_print_text_if_any(key, "full_name", text))
		ts_line_text(&ts_lines, key, otherwise, strlen(otherwise));
}

bool ts_print_text_if_any(const char *key, const char *full_key, uint32_t text)
{
	const struct ts_entry *entry = ts_arena_get(text);

	if (!entry) {
		return false;
	} else if (entry->bytes <= NAME_WHOLE) {
		ts_line_text(&ts_lines, key, (const char *)entry->data, entry->bytes);
	} else {
		char name[NAME_SHORT + 32];
		size_t length = cut_at_character((const char *)entry->data, NAME_SHORT),
		       at = sizeof(name);
		uint32_t id = text;

		memcpy(name, entry->data, length);
		do {
			name[--at] = (char)('0' + id % 10);
		} while (id /= 10);
		memcpy(name + length, "...#", 4);
		memmove(name + length + 4, name + at, sizeof(name) - at);
		ts_line_text(&ts_lines, key, name, length + 4 + sizeof(name) - at);
		if (is_new(text))
			ts_line_text(&ts_lines, full_key, (const char *)entry->data, entry->bytes);
	}
	return true;
}

/* --- stacks --- */

static void print_module(uint32_t id, bool first)
{
	const struct ts_entry *entry = ts_arena_get(id);
	const struct ts_module *module = (const void *)entry->data;

	ts_line_raw(&ts_lines, first ? ",\"modules\":[{\"id\":" : ",{\"id\":");
	ts_line_number(&ts_lines, id);
	ts_line_text(&ts_lines, "path", module->path, strlen(module->path));
	ts_line_raw(&ts_lines, ",\"build_id\":\"");
	ts_line_hex_bytes(&ts_lines, module->build_id, module->build_id_bytes);
	ts_line_raw(&ts_lines, "\"}");
}

static void print_frame(uint64_t frame, uint64_t next, bool first)
{
	ts_line_raw(&ts_lines, first ? ",\"frames\":[\"" : ",\"");
	ts_line_number(&ts_lines, frame == TS_FRAME_RAW ? 0 : frame >> TS_FRAME_OFFSET_BITS);
	ts_line_raw(&ts_lines, "+");
	ts_line_hex_number(&ts_lines, frame == TS_FRAME_RAW ? next :
					frame & ((UINT64_C(1) << TS_FRAME_OFFSET_BITS) - 1));
	ts_line_raw(&ts_lines, "\"");
}

static void print_frames(const struct ts_entry *entry)
{
	static const char *const ends[] = { NULL, "truncated", "no_unwind_info" };
	size_t words = entry->bytes / sizeof(uint64_t);
	bool first = true;

	for (size_t i = 0; i < words; i++) {
		uint64_t word[2] = { 0, 0 };

		memcpy(word, entry->data + i * sizeof(uint64_t),
		       i + 1 < words ? sizeof(word) : sizeof(word[0]));
		print_frame(word[0], word[1], first);
		first = false;
		i += word[0] == TS_FRAME_RAW;
	}
	ts_line_raw(&ts_lines, first ? ",\"frames\":[]" : "]");
	if (entry->extra < TS_ARRAY_SIZE(ends) && ends[entry->extra])
		ts_line_word(&ts_lines, "frames_end", ends[entry->extra]);
	first = true;
	for (size_t i = 0; i < words; i++) {
		uint64_t word;

		memcpy(&word, entry->data + i * sizeof(uint64_t), sizeof(word));
		if (word == TS_FRAME_RAW) {
			i++;
		} else if (word >> TS_FRAME_OFFSET_BITS &&
			   is_new((uint32_t)(word >> TS_FRAME_OFFSET_BITS))) {
			print_module((uint32_t)(word >> TS_FRAME_OFFSET_BITS), first);
			first = false;
		}
	}
	if (!first)
		ts_line_raw(&ts_lines, "]");
}

void ts_print_stack(const char *key, uint32_t stack)
{
	const struct ts_entry *entry = ts_arena_get(stack);

	ts_line_u64(&ts_lines, key, stack);
	if (entry && entry->kind == TS_ENTRY_STACK && !strcmp(key, "stack") && is_new(stack))
		print_frames(entry);
}

void ts_print_common(const struct ts_rec *rec, uint32_t thread)
{
	static const char *const routes[] = { "symbol", "dlsym", "proc", "cupti", "api" };

	if (rec->fn)
		ts_line_word(&ts_lines, "api", ts_fn_name(rec->fn));
	ts_line_u64(&ts_lines, "thread", thread);
	ts_print_iteration(rec->t);
	if (rec->route < TS_ARRAY_SIZE(routes))
		ts_line_word(&ts_lines, "route", routes[rec->route]);
	if (rec->stack)
		ts_print_stack("stack", rec->stack);
	else if (rec->flags & TS_F_NO_STACK)
		ts_line_bool(&ts_lines, "stack_unsafe", true);
}

/* --- spans --- */

void ts_print_step(uint8_t step)
{
	static const char *const steps[] = { NULL, "forward", "backward", "optimizer" };

	if (step && step < TS_ARRAY_SIZE(steps))
		ts_line_word(&ts_lines, "step", steps[step]);
}

static void print_span_start(const struct ts_rec_span_start *rec, uint32_t thread)
{
	static const char *const kinds[] = { "function", "op", "module" };
	struct open_span *grown =
	    ts_writer_grow(open_spans, &open_room, open_count + 1, sizeof(*open_spans));
	uint64_t ns = ts_clock_session_ns(rec->h.t);

	if (grown) {
		open_spans = grown;
		open_spans[open_count++] = (struct open_span){ rec->h.span, rec->parent, ns };
	}
	ts_line_begin(&ts_lines, "span_start");
	ts_line_raw(&ts_lines, ",\"id\":\"s");
	ts_line_number(&ts_lines, rec->h.span);
	ts_line_raw(&ts_lines, "\",\"parent_id\":\"s");
	ts_line_number(&ts_lines, rec->parent);
	ts_line_raw(&ts_lines, "\"");
	ts_print_arena_text("name", rec->name, "(unnamed)");
	ts_line_u64(&ts_lines, "start_ns", ns);
	ts_line_word(&ts_lines, "span_kind", kinds[rec->span_kind % 3]);
	ts_line_bool(&ts_lines, "measured", rec->measured);
	ts_print_step(rec->step);
	ts_line_u64(&ts_lines, "thread", thread);
	ts_print_iteration(rec->h.t);
	ts_print_note(rec->source, &rec->note);
	ts_line_end(&ts_lines);
	ts_saw_time(ns);
	if (rec->measured)
		ts_session_saw_measured();
}

static void print_span_close(uint32_t id, uint64_t start_ns, uint64_t end_ns, const char *note)
{
	ts_line_begin(&ts_lines, "span_end");
	ts_line_raw(&ts_lines, ",\"id\":\"s");
	ts_line_number(&ts_lines, id);
	ts_line_raw(&ts_lines, "\"");
	ts_line_u64(&ts_lines, "duration_ns", end_ns > start_ns ? end_ns - start_ns : 0);
	if (note)
		ts_line_bool(&ts_lines, note, true);
	ts_line_end(&ts_lines);
	ts_saw_time(end_ns);
}

static void close_at(size_t i, uint64_t end_ns, const char *note)
{
	struct open_span span = open_spans[i];

	memmove(&open_spans[i], &open_spans[i + 1], (open_count - i - 1) * sizeof(*open_spans));
	open_count--;
	print_span_close(span.id, span.start_ns, end_ns, note);
}

/* A span still open inside the one at `i`, innermost; `i` itself when there is none.  A child
 * stands behind its parent. */
static size_t innermost(size_t i)
{
	for (size_t j = open_count; j-- > i + 1;) {
		if (open_spans[j].parent == open_spans[i].id) {
			i = j;
			j = open_count;
		}
	}
	return i;
}

/* What is still open inside is closed first: the record of its end was lost. */
static void close_span(uint32_t id, uint64_t end_ns, const char *note)
{
	for (size_t i = open_count; i-- > 0;) {
		if (open_spans[i].id == id) {
			close_at(i, end_ns, note);
			return;
		}
		if (open_spans[i].parent == id) {
			close_at(innermost(i), end_ns, "end_lost");
			i = open_count;
		}
	}
}

void ts_print_open_spans(uint64_t end_ns)
{
	for (size_t i = open_count; i-- > 0;)
		print_span_close(open_spans[i].id, open_spans[i].start_ns, end_ns, "open_at_end");
}

/* --- API calls --- */

static void print_call_head(const struct ts_rec *rec, uint64_t t_end)
{
	uint64_t start = ts_clock_session_ns(rec->t), end = ts_clock_session_ns(t_end);

	if (end < start)
		end = start;
	ts_line_raw(&ts_lines, ",\"shape\":[],\"dtype\":\"none\"");
	ts_print_device("device", rec->device, false);
	ts_line_u64(&ts_lines, "duration_ns", end - start);
	ts_line_u64(&ts_lines, "timestamp_ns", start);
	ts_line_raw(&ts_lines, ",\"input_dense_bytes\":0");
	ts_saw_time(end);
}

static void print_correlation(uint32_t first, uint32_t second, uint32_t context)
{
	if (first)
		ts_line_u64(&ts_lines, "correlation", first);
	if (second)
		ts_line_u64(&ts_lines, "correlation2", second);
	if (context)
		ts_line_u64(&ts_lines, "context", context);
}

static void print_call(const struct ts_rec_call *rec, uint32_t thread)
{
	ts_line_begin(&ts_lines, "op");
	ts_print_span_id(rec->h.span);
	ts_line_word(&ts_lines, "op_name", ts_fn_name(rec->h.fn));
	print_call_head(&rec->h, rec->t_end);
	print_correlation(rec->correlation, rec->correlation2, rec->context);
	if (rec->stream)
		ts_line_hex(&ts_lines, "stream", rec->stream);
	if (rec->object)
		ts_line_hex(&ts_lines, "object", rec->object);
	if (rec->error)
		ts_line_i64(&ts_lines, "error", rec->error);
	ts_print_common(&rec->h, thread);
	ts_line_end(&ts_lines);
	for (int i = 0; i < 2; i++)
		ts_interval_launch(i ? rec->correlation2 : rec->correlation, rec->h.span,
				   ts_clock_session_ns(rec->h.t));
}

static void print_op(const struct ts_rec_op *rec, uint32_t thread)
{
	ts_line_begin(&ts_lines, "op");
	ts_print_span_id(rec->h.span);
	ts_print_arena_text("op_name", rec->name, ts_fn_name(rec->h.fn));
	print_call_head(&rec->h, rec->t_end);
	print_correlation(rec->correlation, rec->correlation2, rec->context);
	ts_line_hex(&ts_lines, "stream", rec->stream);
	if (rec->grid[0]) {
		ts_line_u32s(&ts_lines, "grid", rec->grid, 3);
		/* The launches of CUDA 3 take it from an earlier call. */
		if (rec->block[0])
			ts_line_u32s(&ts_lines, "block", rec->block, 3);
		if (rec->shared_bytes)
			ts_line_u64(&ts_lines, "shared_bytes", rec->shared_bytes);
	}
	if (rec->bytes)
		ts_line_u64(&ts_lines, "bytes", rec->bytes);
	if (rec->dst)
		ts_line_hex(&ts_lines, "dst", rec->dst);
	if (rec->src)
		ts_line_hex(&ts_lines, "src", rec->src);
	if (rec->copy_kind)
		ts_line_u64(&ts_lines, "copy_kind", rec->copy_kind - 1u);
	if (rec->count)
		ts_line_u64(&ts_lines, "count", rec->count);
	if (rec->error)
		ts_line_i64(&ts_lines, "error", rec->error);
	if (rec->h.flags & TS_F_CAPTURED)
		ts_line_bool(&ts_lines, "captured", true);
	ts_print_common(&rec->h, thread);
	ts_line_end(&ts_lines);
	for (int i = 0; i < 2; i++)
		ts_interval_launch(i ? rec->correlation2 : rec->correlation, rec->h.span,
				   ts_clock_session_ns(rec->h.t));
}

static void print_device_memory(const struct ts_rec_device_memory *rec)
{
	static const char *const reasons[] = { "interval", "failed_allocation", "end", "step" };
	uint64_t ns = ts_clock_session_ns(rec->h.t);

	ts_line_begin(&ts_lines, "device_memory");
	ts_line_u64(&ts_lines, "timestamp_ns", ns);
	ts_print_device("device", rec->h.device, false);
	ts_line_u64(&ts_lines, "used_bytes", rec->total_bytes - rec->free_bytes);
	ts_line_u64(&ts_lines, "free_bytes", rec->free_bytes);
	ts_line_u64(&ts_lines, "capacity_bytes", rec->total_bytes);
	ts_line_word(&ts_lines, "reason", reasons[rec->reason % TS_ARRAY_SIZE(reasons)]);
	ts_line_end(&ts_lines);
	ts_saw_time(ns);
}

void ts_print_record(const struct ts_rec *rec, const struct ts_source *from)
{
	switch (rec->kind) {
	case TS_REC_SPAN_START:
		print_span_start((const void *)rec, from->thread);
		break;
	case TS_REC_SPAN_END:
		close_span(rec->span, ts_clock_session_ns(rec->t),
			   ((const struct ts_rec_span_end *)rec)->late ? "closed_late" : NULL);
		break;
	case TS_REC_ALLOC:
	case TS_REC_FREE:
	case TS_REC_FREE_FAILED:
	case TS_REC_RESET:
	case TS_REC_WINDOW:
	case TS_REC_MAP:
		ts_memory_queue(rec, from);
		break;
	case TS_REC_CALL:
		print_call((const void *)rec, from->thread);
		break;
	case TS_REC_OP:
		print_op((const void *)rec, from->thread);
		break;
	case TS_REC_INTERVAL:
		ts_interval_queue((const void *)rec, from);
		break;
	case TS_REC_DEVICE_MEMORY:
		print_device_memory((const void *)rec);
		break;
	default:
		ts_print_api(rec, from);
		break;
	}
}

void ts_print_child(void)
{
	seen = NULL;
	open_spans = NULL;
	open_count = open_room = 0;
	latest_ns = 0;
}
