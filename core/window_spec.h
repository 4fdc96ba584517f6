/* What TSTRACE_WINDOW says: which part of the run is recorded. */
#ifndef TSTRACE_CORE_WINDOW_SPEC_H
#define TSTRACE_CORE_WINDOW_SPEC_H

#include "core/base.h"

enum ts_window_kind {
	TS_WINDOW_RUN,          /* run: all of it */
	TS_WINDOW_PROFILER,     /* profiler: from cudaProfilerStart to cudaProfilerStop */
	TS_WINDOW_API,          /* api: from tstrace_resume to tstrace_pause */
	TS_WINDOW_ITERATIONS,   /* iterations=A..B: by the program's numbers, both included */
	TS_WINDOW_CYCLE,        /* iterations=WAIT,WARMUP,ACTIVE[,REPEAT]: by their count */
	TS_WINDOW_TIME,         /* after=DELAY[,DURATION] */
	TS_WINDOW_SIGNAL,       /* signal=NAME: each one opens or closes */
};

struct ts_window_spec {
	enum ts_window_kind kind;
	uint64_t first, last;                   /* ITERATIONS */
	uint64_t wait, warm_up, active;         /* CYCLE, in iterations */
	uint64_t repeat;                        /* cycles; 0: without end */
	uint64_t delay_ns, duration_ns;         /* TIME; duration 0: to the end of the run */
	int signal;
};

/* Not allocating, not locking.  0; or -EINVAL, *spec is then the whole run and *right says what the
 * text should be (it lives for ever). */
int ts_window_parse(const char *text, struct ts_window_spec *spec, const char **right);

#endif
