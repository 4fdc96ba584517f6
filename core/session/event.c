/* Publishing the events of tstrace.h; see event.h. */
#include "core/session/event.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "core/log.h"
#include "core/record/output.h"
#include "core/session/past.h"
#include "core/session/run.h"

#define FIRST_ROOM 4096u        /* of a thread's line */

static bool make_room(struct ts_lines *line)
{
	void *memory;

	if (line->text)
		return true;
	memory = mmap(NULL, FIRST_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	line->text = memory;
	line->room = FIRST_ROOM;
	return true;
}

static bool begin(struct ts_event *event, const char *kind, bool tracked)
{
	event->ring = ts_enter_call(tracked);
	event->thread = event->ring ? ts_api_thread() : NULL;
	if (!event->thread || !make_room(&event->thread->body)) {
		if (event->ring)
			ts_lost(TS_LOST_names, 1);
		ts_leave();
		return false;
	}
	event->line = &event->thread->body;
	event->line->used = event->line->whole = 0;
	event->t = ts_clock_now();
	ts_line_begin(event->line, kind);
	return true;
}

bool ts_event_begin(struct ts_event *event, const char *kind)
{
	return begin(event, kind, false);
}

bool ts_event_begin_tracked(struct ts_event *event, const char *kind)
{
	return begin(event, kind, true);
}

int ts_event_refuse(struct ts_event *event, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(event->thread->error, sizeof(event->thread->error), format, args);
	va_end(args);
	ts_leave();
	return error;
}

int ts_refuse(int error, const char *text)
{
	struct ts_api_thread *thread;

	ts_self.depth++;
	thread = ts_api_thread();
	if (thread)
		snprintf(thread->error, sizeof(thread->error), "%s", text);
	ts_self.depth--;
	return error;
}

int ts_event_drop(struct ts_event *event)
{
	(void)event;
	ts_leave();
	return 0;
}

int ts_event_room(struct ts_event *event, size_t bytes)
{
	unsigned slots;

	bytes += event->line->used;
	slots = (unsigned)((sizeof(struct ts_rec_line) + bytes + TS_SLOT - 1) / TS_SLOT);
	if (!event->line->broken && bytes <= TS_LINE_MAX && slots <= event->ring->mask / 2)
		return 0;
	return ts_event_refuse(event, -E2BIG,
			       "an event of %zu bytes is too long; %zu fit at most", bytes,
			       (size_t)TS_LINE_MAX);
}

int ts_event_written(struct ts_event *event)
{
	int error = ts_output_error();

	return error ? ts_event_refuse(event, error, "the trace could not be written before: %s",
				       ts_errno_text(error))
		     : 0;
}

int ts_event_put(struct ts_event *event)
{
	size_t bytes = event->line->used;
	unsigned slots = (unsigned)((sizeof(struct ts_rec_line) + bytes + TS_SLOT - 1) / TS_SLOT);
	struct ts_rec_line *rec;
	int error = ts_event_written(event);

	if (!error)
		error = ts_event_room(event, 0);
	if (error)
		return error;
	rec = ts_reserve(event->ring, slots);
	if (!rec)
		return ts_event_refuse(event, -ENOBUFS, "no room was made in time (TSTRACE_BUFFER, "
							"TSTRACE_ON_FULL)");
	rec->h = (struct ts_rec){ .kind = TS_REC_LINE,
				  .slots = (uint8_t)slots,
				  .route = TS_ROUTE_API,
				  .device = TS_DEVICE_NONE,
				  .t = event->t };
	rec->bytes = (uint32_t)bytes;
	memcpy(rec->text, event->line->text, bytes);
	ts_commit(event->ring, slots);
	ts_leave();
	return 0;
}

uint64_t ts_event_now(const struct ts_event *event)
{
	return ts_clock_session_ns(event->t);
}

bool ts_event_span(struct ts_event *event, tstrace_span span)
{
	if (!span)
		span = ts_self.span ? ts_self.span : 1;
	if (!ts_past_is_span(span))
		return false;
	ts_line_raw(event->line, ",\"span_id\":\"s");
	ts_line_number(event->line, span);
	ts_line_raw(event->line, "\"");
	return true;
}

/* --- parts of lines --- */

bool ts_text_is_blank(const char *text)
{
	return !text || text[strspn(text, " \t\r\n\v\f")] == '\0';
}

void ts_line_string(struct ts_lines *line, const char *key, const char *text)
{
	ts_line_text(line, key, text, strlen(text));
}

void ts_line_shape(struct ts_lines *line, struct tstrace_shape shape)
{
	ts_line_raw(line, ",\"shape\":[");
	for (size_t i = 0; i < shape.count; i++) {
		ts_line_raw(line, i ? "," : "");
		ts_line_number(line, shape.sizes[i]);
	}
	ts_line_raw(line, "]");
}

/* Bytes of an element by the schema's table; 0 for what it does not know. */
static uint64_t element_bytes(const char *dtype)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} sizes[] = { { "u8", 1 },  { "i8", 1 },  { "bool", 1 }, { "f8", 1 },  { "u16", 2 },
		      { "i16", 2 }, { "f16", 2 }, { "bf16", 2 }, { "u32", 4 }, { "i32", 4 },
		      { "f32", 4 }, { "u64", 8 }, { "i64", 8 },  { "f64", 8 } };
	size_t length;

	while (isspace((unsigned char)*dtype))
		dtype++;
	for (length = strlen(dtype); length && isspace((unsigned char)dtype[length - 1]);)
		length--;
	for (size_t i = 0; i < TS_ARRAY_SIZE(sizes); i++)
		if (strlen(sizes[i].name) == length && !strncasecmp(sizes[i].name, dtype, length))
			return sizes[i].bytes;
	return 0;
}

void ts_line_dense(struct ts_lines *line, const char *key, uint64_t given,
		   struct tstrace_shape shape, const char *dtype)
{
	uint64_t bytes = dtype ? element_bytes(dtype) : 0;

	if (!given && !bytes)
		return;
	for (size_t i = 0; i < shape.count && !given; i++)
		if (__builtin_mul_overflow(bytes, shape.sizes[i], &bytes))
			bytes = UINT64_MAX;
	ts_line_u64(line, key, given ? given : bytes);
}

const char *ts_not_finite(double value)
{
	return isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

void ts_line_scalar(struct ts_lines *line, double value)
{
	double kept = isfinite(value) ? value : 0;

	ts_line_raw(line, ",\"shape\":[],\"dtype\":\"f64\",\"elements\":1");
	ts_line_u64(line, "non_finite", !isfinite(value));
	ts_line_f64(line, "rms", fabs(kept));
	ts_line_f64(line, "abs_max", fabs(kept));
	ts_line_f64(line, "mean", kept);
}

const char *ts_device_or(const char *device)
{
	return device ? device : ts_run_device();
}

const char *ts_category_name(enum tstrace_category category)
{
	static const char *const names[] = { "other", "parameter", "activation", "gradient",
					     "optimizer" };

	return (size_t)category < TS_ARRAY_SIZE(names) ? names[category] : NULL;
}
