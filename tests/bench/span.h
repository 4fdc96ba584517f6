/* Spans of the public API, bound at run time to the preloaded library. */
#ifndef TSTRACE_BENCH_SPAN_H
#define TSTRACE_BENCH_SPAN_H

#include "core/tstrace.h"

#pragma weak tstrace_begin_span
#pragma weak tstrace_end_span

#define HAVE_SPANS (tstrace_begin_span != NULL)

static _Thread_local tstrace_span bench_spans[64];
static _Thread_local unsigned bench_depth;

static inline void span_begin(const char *name)
{
	bench_spans[bench_depth++] = tstrace_begin_span(NULL, name, TSTRACE_FUNCTION);
}

static inline void span_end(void)
{
	tstrace_end_span(NULL, bench_spans[--bench_depth]);
}

#endif
