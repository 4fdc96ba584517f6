/* Marks of NVTX: moments in a span, with or without a number. */
#include "core/record/arena.h"
#include "core/record/writer.h"
#include "core/session/event.h"
#include "core/session/span.h"
#include "core/session/step.h"

void ts_mark(struct ts_ring *ring, const struct ts_span_spec *spec)
{
	struct ts_rec_mark *rec = ts_reserve(ring, 1);

	if (!rec)
		return;
	*rec = (struct ts_rec_mark){
	    .h = {.kind = TS_REC_MARK,
		  .slots = 1,
		  .route = TS_ROUTE_API,
		  .device = TS_DEVICE_NONE,
		  .t = ts_clock_now(),
		  .span = ts_self.span},
	    .name = spec->name,
	    .source = spec->source,
	    .note = spec->note,
	};
	ts_commit(ring, 1);
}

/* --- writer --- */

static double payload(const struct ts_span_note *note)
{
	union ts_payload_value is = ts_payload_of(note);

	return note->payload_type == TS_PAYLOAD_F64   ? is.f64
	       : note->payload_type == TS_PAYLOAD_I64 ? (double)is.i64
						      : (double)is.u64;
}

/* A scalar needs a label. */
void ts_print_mark(const struct ts_rec_mark *rec, uint32_t thread)
{
	const struct ts_entry *entry = ts_arena_get(rec->name);
	uint32_t name = entry && !ts_text_is_blank((const char *)entry->data) ? rec->name : 0;
	bool is_scalar = name && rec->note.payload_type != TS_PAYLOAD_NONE;
	uint64_t ns = ts_clock_session_ns(rec->h.t);

	ts_line_begin(&ts_lines, is_scalar ? "tensor_stats" : "op");
	ts_print_span_id(rec->h.span);
	ts_print_arena_text(is_scalar ? "label" : "op_name", name, "(unnamed)");
	if (is_scalar)
		ts_line_scalar(&ts_lines, payload(&rec->note));
	else
		ts_line_raw(&ts_lines, ",\"inputs\":[],\"shape\":[],\"dtype\":\"none\""
				       ",\"device\":\"cpu\",\"duration_ns\":0"
				       ",\"input_dense_bytes\":0,\"mark\":true");
	ts_line_u64(&ts_lines, "timestamp_ns", ns);
	ts_print_note(rec->source, &rec->note);
	ts_line_u64(&ts_lines, "thread", thread);
	ts_print_iteration(rec->h.t);
	ts_line_end(&ts_lines);
	ts_saw_time(ns);
}
