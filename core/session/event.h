/* Events of tstrace.h that are written as one line each.
 *
 *	struct ts_event event;
 *
 *	if (!ts_event_begin(&event, "edge"))
 *		return 0;                                       nothing is recorded
 *	if (!name)
 *		return ts_event_refuse(&event, -EINVAL, "...");
 *	ts_line_word(event.line, "edge_kind", "data");
 *	return ts_event_put(&event);
 *
 * The line is formatted by the calling thread and travels through its ring as it is: these calls
 * are made a few times a step, not for each kernel. */
#ifndef TSTRACE_CORE_SESSION_EVENT_H
#define TSTRACE_CORE_SESSION_EVENT_H

#include "core/record/record.h"
#include "core/session/thread.h"
#include "core/tstrace.h"

struct ts_event {
	struct ts_ring *ring;
	struct ts_api_thread *thread;
	struct ts_lines *line;
	uint64_t t;             /* raw time of the call */
};

/* False: do nothing (no session, a handler that interrupted us).  Else end it by put or refuse. */
bool ts_event_begin(struct ts_event *event, const char *kind);
/* The same for what is told outside the window too, see ts_enter_tracked. */
bool ts_event_begin_tracked(struct ts_event *event, const char *kind);

/* Publish.  0, -E2BIG, -ENOBUFS when it was lost (counted), or the trace's write error. */
int ts_event_put(struct ts_event *event);

/* 0, or the trace's sticky write error, and it is given up. */
int ts_event_written(struct ts_event *event);

/* 0 when `bytes` more fit into the line; else -E2BIG, and it is given up. */
int ts_event_room(struct ts_event *event, size_t bytes);

/* Give it up: `error` with a text for tstrace_error().  Returns `error`. */
int ts_event_refuse(struct ts_event *event, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same of a call that began no event, and not inside another one. */
int ts_refuse(int error, const char *text);

/* End without an event and without an error. */
int ts_event_drop(struct ts_event *event);

/* ,"span_id":"s7"; 0 is the thread's innermost.  False: no span has that number. */
bool ts_event_span(struct ts_event *event, tstrace_span span);

/* Nanoseconds since the session opened, of the call. */
uint64_t ts_event_now(const struct ts_event *event);

/* --- parts of lines --- */
void ts_line_string(struct ts_lines *line, const char *key, const char *text);
void ts_line_shape(struct ts_lines *line, struct tstrace_shape shape);
/* ,"<key>":<bytes>: what is given, else by shape and type, else nothing. */
void ts_line_dense(struct ts_lines *line, const char *key, uint64_t given,
		   struct tstrace_shape shape, const char *dtype);
/* ,"shape":[] to "mean": one number as the schema has it.  One that is not finite counts as such;
 * its statistics are 0. */
void ts_line_scalar(struct ts_lines *line, double value);
const char *ts_not_finite(double value);        /* "nan", "inf" or "-inf" */
const char *ts_device_or(const char *device);   /* NULL: the run's */
bool ts_text_is_blank(const char *text);             /* NULL too */
const char *ts_category_name(enum tstrace_category category);

#endif
