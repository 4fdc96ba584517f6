/* tstrace: explicit spans beside the events that tstrace records by itself.
 *
 * A NULL session is the ambient one: the session that the preloaded library keeps, opened from the
 * TSTRACE_ variables at the first event.  Every call may be made from any thread; none may be made
 * from a signal handler unless it says so.  Times are nanoseconds since the session opened.  Calls
 * that return int give 0 or a negative errno; none ever ends the program. */
#ifndef TSTRACE_H
#define TSTRACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tstrace_session tstrace_session;

/* A span: its number, 0 when none was begun (tracing is off, or the event was lost). */
typedef uint64_t tstrace_span;

enum tstrace_span_kind { TSTRACE_FUNCTION, TSTRACE_OP, TSTRACE_MODULE };
enum tstrace_step { TSTRACE_STEP_NONE, TSTRACE_FORWARD, TSTRACE_BACKWARD, TSTRACE_OPTIMIZER };

/* Begin a span on this thread, inside its innermost open one.  `name` is copied; NULL is
 * "(unnamed)". */
tstrace_span tstrace_begin_span(tstrace_session *session, const char *name,
				enum tstrace_span_kind kind);

/* The same, as a step of training: memory allocated inside is categorised by it. */
tstrace_span tstrace_begin_step_span(tstrace_session *session, const char *name,
				     enum tstrace_step step, enum tstrace_span_kind kind);

/* The measured region; exactly one a session, a second one is refused (0). */
tstrace_span tstrace_begin_measurement(tstrace_session *session, const char *name);

/* End the innermost open span of this thread; -EINVAL when `span` is another one (nothing changes
 * then), -ENOBUFS when its record was lost.  0 is accepted and does nothing. */
int tstrace_end_span(tstrace_session *session, tstrace_span span);

/* Nanoseconds since the session opened. */
uint64_t tstrace_elapsed_ns(tstrace_session *session);

/* Write all that is recorded to disk; waits at most 10 s (-ETIMEDOUT), or gives the sticky write
 * error. */
int tstrace_flush(tstrace_session *session);

/* End the session.  *path, when not NULL, is the trace's path (valid for the process's life).
 * finish refuses with -EBUSY while spans of this thread are open.  finish_failed wants a reason.
 * Later calls do nothing. */
int tstrace_finish(tstrace_session *session, const char **path);
int tstrace_finish_failed(tstrace_session *session, const char *reason, const char **path);

/* Path of the trace, or NULL before it is open. */
const char *tstrace_path(tstrace_session *session);

#ifdef __cplusplus
}
#endif

#endif
