/* Spans of the public API, where this build has it. */
#ifndef TSTRACE_BENCH_SPAN_H
#define TSTRACE_BENCH_SPAN_H

#ifdef TSTRACE_H
#define HAVE_SPANS 1
#else
#define HAVE_SPANS 0
static inline void span_begin(const char *name)
{
	(void)name;
}

static inline void span_end(void)
{
}
#endif

#endif
