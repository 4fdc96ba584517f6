/* What the probes of the bench share.  A probe prints lines "key nanoseconds", one each round;
 * bench.c takes the median of a key over all rounds.  All figures of one key and those it is
 * compared with come from the same run, since only ratios inside one run are safe. */
#ifndef TSTRACE_BENCH_H
#define TSTRACE_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 5        /* of a probe process, at least; bench.c runs some more than once */
#define BURSTS 15       /* in a round; its figure is the median of them */
#define EVENTS 1500     /* in a burst: fits every recorder's buffer */
#define PAUSE_US 12000  /* between bursts, so that every recorder's drain keeps up */

static inline double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double median(double *values, size_t count)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), compare_doubles);
	return count & 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* libfloor.so: the least that any recorder does, a 64-byte record in a single-producer ring. */
typedef void (*floor_event_fn)(uint64_t a, uint64_t b, uint64_t c);
/* ... and what a plain recorder of stacks does: unw_backtrace, interning, the record. */
typedef void (*floor_stack_fn)(uint64_t a);

#endif
