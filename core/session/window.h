/* Windows: which part of the run is recorded (TSTRACE_WINDOW, tstrace_pause, tstrace_resume).
 *
 * Events are recorded while the variable's gate is open and no pause is under way.  Outside, hooks
 * only call through, but those of memory: they go on telling the writer, without stacks, so that it
 * knows what is alive when a window opens and whose free is met inside.  What was written as
 * allocated is also written as freed, whenever that is. */
#ifndef TSTRACE_CORE_SESSION_WINDOW_H
#define TSTRACE_CORE_SESSION_WINDOW_H

#include "core/record/device.h"
#include "core/window_spec.h"

/* Why a window opened or closed; in TS_REC_WINDOW. */
enum ts_window_cause {
	TS_CAUSE_PROFILER,
	TS_CAUSE_API,
	TS_CAUSE_ITERATION,
	TS_CAUSE_TIME,
	TS_CAUSE_SIGNAL,
};

/* As the session opens: reads the variable.  Returns whether events are recorded from now on. */
bool ts_window_begin(void);
/* After that, by the same thread outside the session's lock: the backend runs; threads and signal
 * handlers that the window needs are started. */
void ts_window_device_started(void);

/* All below: the calling thread is at depth 1, may be a program's, and is in no signal handler that
 * interrupted us.  errno is kept. */

void ts_window_profiler(bool start);
/* An iteration begins (inside), or the one under way ends. */
void ts_window_iteration(uint64_t iteration, bool inside);
/* By the thread of window_wait.c. */
void ts_window_gate(bool open, enum ts_window_cause cause);
void ts_window_toggle(void);

/* window_wait.c: a thread that waits for the time or the signal of the window. */
void ts_window_wait_start(const struct ts_window_spec *spec);
void ts_window_wait_child(void);

/* Writer: the line of a window that opens or closes. */
void ts_print_window(const struct ts_rec *rec);
/* Windows opened so far; whole: all of the run was recorded. */
uint64_t ts_window_count(bool *whole);

void ts_window_child(void);

#endif
