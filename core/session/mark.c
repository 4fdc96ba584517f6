/* Marks of NVTX: moments in a span, with or without a number. */
#include "core/record/arena.h"
#include "core/session/event.h"
#include "core/session/span.h"

static double payload(const struct ts_span_note *note)
{
	union ts_payload_value is = ts_payload_of(note);

	return note->payload_type == TS_PAYLOAD_F64   ? is.f64
	       : note->payload_type == TS_PAYLOAD_I64 ? (double)is.i64
						      : (double)is.u64;
}

static void put_scalar(struct ts_event *event, const char *name, double value)
{
	ts_event_span(event, 0);
	ts_line_string(event->line, "label", name);
	ts_line_scalar(event->line, value);
}

static void put_op(struct ts_event *event, const char *name)
{
	ts_event_span(event, 0);
	ts_line_string(event->line, "op_name", name);
	ts_line_raw(event->line, ",\"inputs\":[],\"shape\":[],\"dtype\":\"none\",\"device\":\"cpu\""
				 ",\"duration_ns\":0,\"input_dense_bytes\":0,\"mark\":true");
}

void ts_mark(const char *name, const struct ts_span_spec *spec)
{
	bool is_scalar = spec->note.payload_type != TS_PAYLOAD_NONE && !ts_text_is_blank(name);
	struct ts_event event;

	if (!ts_event_begin(&event, is_scalar ? "tensor_stats" : "op"))
		return;
	if (is_scalar)
		put_scalar(&event, name, payload(&spec->note));
	else
		put_op(&event, ts_text_is_blank(name) ? "(unnamed)" : name);
	ts_line_u64(event.line, "timestamp_ns", ts_event_now(&event));
	ts_line_note(event.line, spec->source, &spec->note);
	ts_event_put(&event);
}
