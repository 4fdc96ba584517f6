/* The ambient session of the process: who runs, when it began, and the first and last lines of its
 * trace. */
#ifndef TSTRACE_CORE_SESSION_SESSION_H
#define TSTRACE_CORE_SESSION_SESSION_H

#include "core/base.h"

/* Set at open: time 0, on CLOCK_MONOTONIC.  Any thread. */
void ts_session_begin(uint64_t start_ns);
uint64_t ts_session_start_ns(void);

/* Span ids: one counter, 1 is the root.  Takes `count` ids that follow each other, returns the
 * first. */
uint32_t ts_session_take_spans(uint32_t count);
uint64_t ts_session_last_span(void);    /* no id is above it */

/* True once: exactly one measured region a session (begin_measurement).  Disclaimed when it could
 * not be begun after all. */
bool ts_session_claim_measured(void);
void ts_session_disclaim_measured(void);
void ts_session_saw_measured(void);     /* writer: a measured span was printed */

void ts_session_thread_end(void);       /* frees the thread's span stack */
void ts_session_child(void);

#endif
