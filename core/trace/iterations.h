/* The iterations of a program, from the events that carry their number, in bounded memory.
 *
 * The trace has no event where an iteration begins: it holds the numbers that events carry and the
 * times of those events.  An iteration is of one moment for all threads, so a number that comes
 * again behind another one, as in the next epoch, is another iteration. */
#ifndef TS_TRACE_ITERATIONS_H
#define TS_TRACE_ITERATIONS_H

#include "core/trace/durations.h"

#include <stdbool.h>
#include <stddef.h>

struct ts_iteration {
	uint64_t number;
	uint64_t first, last_start, last; /* of its events: starts, and the latest end */
};

struct ts_iterations {
	struct ts_iteration *items; /* by `first` */
	size_t count, capacity;
	uint64_t folded;	  /* older ones, of which only the sums are kept */
	uint64_t late;		  /* events of iterations that were no longer kept */
	uint64_t untimed;	  /* events with a number and no time */
	uint64_t lowest, highest; /* numbers */
	bool any;
	struct ts_durations extents; /* from the first event to the end of the last one */
	struct ts_durations periods; /* from the first event to that of the iteration behind it,
					when the numbers follow each other */
};

/* An event of iteration `number`. */
void ts_iterations_add(struct ts_iterations *set, uint64_t number, uint64_t start, uint64_t end);

/* One that has no time. */
void ts_iterations_see(struct ts_iterations *set, uint64_t number);

/* After the last event: `folded` counts all that have a time, the durations are complete. */
void ts_iterations_finish(struct ts_iterations *set);

void ts_iterations_free(struct ts_iterations *set);

#endif
