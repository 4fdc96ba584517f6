/* The one clock of a trace.
 *
 * A hook stores a raw value: the time-stamp counter where it is invariant (rdtsc is nearly the
 * whole cost of an event), CLOCK_MONOTONIC elsewhere.  Raw values become nanoseconds by one
 * continuous, increasing, piecewise linear function anchored to CLOCK_MONOTONIC.  A piece never
 * changes once a value was mapped with it: a new piece begins a second in the future, and values
 * are read before they are mapped, so no mapped value can lie there. */
#ifndef TSTRACE_CORE_RECORD_CLOCK_H
#define TSTRACE_CORE_RECORD_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "core/base.h"
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

extern bool ts_clock_is_raw;    /* set once by ts_clock_init, before any thread records */

/* CLOCK_MONOTONIC now, in nanoseconds.  Any thread, any context; signal-safe. */
static inline uint64_t ts_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Now, raw.  Any thread, any context; signal-safe. */
static inline uint64_t ts_clock_now(void)
{
#if defined(__x86_64__)
	if (ts_likely(ts_clock_is_raw))
		return __rdtsc();
#endif
	return ts_monotonic_ns();
}

struct ts_file;

/* First anchor; cheap; called by the library's constructor and again (harmless) when the session
 * opens.  `mode`: 0 auto, 1 counter, 2 CLOCK_MONOTONIC. */
void ts_clock_init(int mode);

/* Keep the pieces in `file` (shared mapping) from now on. */
void ts_clock_attach(struct ts_file *file);

/* CLOCK_MONOTONIC nanoseconds of a raw value.  Any thread; waits up to 20 ms while the counter's
 * rate is not yet known (the first 20 ms of a process), signal-safe after that. */
uint64_t ts_clock_to_ns(uint64_t raw);

/* In the child of a fork: the file is the parent's, go on with the pieces in private memory. */
void ts_clock_detach(void);

/* Time 0 of the session, CLOCK_MONOTONIC ns. */
void ts_clock_session_begin(uint64_t start_ns);

/* Writer thread, a few times a second: measure, append a piece that begins a second from now. */
void ts_clock_maintain(void);

/* Nanoseconds since the session opened: of a raw value, of now.  0 for a value before. */
uint64_t ts_clock_session_ns(uint64_t raw);
uint64_t ts_clock_elapsed_ns(void);

#endif
