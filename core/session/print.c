/* Records of tstrace.h as lines. */
#include <math.h>
#include <string.h>

#include "core/record/writer.h"
#include "core/session/event.h"
#include "core/session/session.h"
#include "core/session/span.h"
#include "core/session/step.h"

static void print_span_id(const char *key, uint32_t id)
{
	ts_line_raw(&ts_lines, ",\"");
	ts_line_raw(&ts_lines, key);
	ts_line_raw(&ts_lines, "\":\"s");
	ts_line_number(&ts_lines, id);
	ts_line_raw(&ts_lines, "\"");
}

void ts_print_done(const struct ts_rec_span_done *rec, uint32_t thread)
{
	static const char *const kinds[] = { "function", "op", "module" };

	ts_line_begin(&ts_lines, "span_start");
	print_span_id("id", rec->h.span);
	print_span_id("parent_id", 1);
	ts_print_arena_text("name", rec->name, "(unnamed)");
	ts_line_u64(&ts_lines, "start_ns", rec->start_ns);
	ts_line_word(&ts_lines, "span_kind", kinds[rec->span_kind % TS_ARRAY_SIZE(kinds)]);
	ts_line_bool(&ts_lines, "measured", false);
	ts_print_step(rec->step);
	ts_line_u64(&ts_lines, "thread", rec->began ? rec->began : thread);
	if (rec->began && rec->began != thread && !rec->open)
		ts_line_u64(&ts_lines, "end_thread", thread);
	ts_print_iteration(rec->t_start);
	ts_print_note(rec->source, &rec->note);
	ts_line_end(&ts_lines);
	ts_line_begin(&ts_lines, "span_end");
	print_span_id("id", rec->h.span);
	ts_line_u64(&ts_lines, "duration_ns", rec->duration_ns);
	if (rec->open)
		ts_line_bool(&ts_lines, "open_at_end", true);
	ts_line_end(&ts_lines);
	ts_saw_time(rec->start_ns + rec->duration_ns);
}

static void print_scalar(const struct ts_rec_scalar *rec, uint32_t thread)
{
	uint64_t ns = ts_clock_session_ns(rec->h.t);

	ts_line_begin(&ts_lines, "tensor_stats");
	ts_print_span_id(rec->h.span);
	ts_print_arena_text("label", rec->label, "?");
	ts_line_scalar(&ts_lines, rec->value);
	/* The schema has no place for these. */
	if (!isfinite(rec->value))
		ts_line_word(&ts_lines, "value", ts_not_finite(rec->value));
	ts_line_u64(&ts_lines, "timestamp_ns", ns);
	ts_line_u64(&ts_lines, "thread", thread);
	ts_print_iteration(rec->h.t);
	ts_line_end(&ts_lines);
	ts_saw_time(ns);
}

/* The caller's line, and what only the writer knows. */
static void print_line(const struct ts_rec_line *rec, uint32_t thread)
{
	ts_lines.used = ts_lines.whole;
	ts_lines.broken = false;
	ts_line_bytes(&ts_lines, rec->text, rec->bytes);
	ts_line_u64(&ts_lines, "thread", thread);
	ts_print_iteration(rec->h.t);
	ts_line_end(&ts_lines);
	ts_saw_time(ts_clock_session_ns(rec->h.t));
}

void ts_print_api(const struct ts_rec *rec, const struct ts_source *from)
{
	switch (rec->kind) {
	case TS_REC_SPAN_DONE:
		ts_print_done((const void *)rec, from->thread);
		break;
	case TS_REC_SCALAR:
		print_scalar((const void *)rec, from->thread);
		break;
	case TS_REC_MARK:
		ts_print_mark((const void *)rec, from->thread);
		break;
	case TS_REC_LINE:
		print_line((const void *)rec, from->thread);
		break;
	default:
		break;
	}
}
