/* The length of the union of many intervals, in bounded memory. */
#ifndef TS_TRACE_INTERVALS_H
#define TS_TRACE_INTERVALS_H

#include "core/trace/durations.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_interval {
	uint64_t start, end;
};

struct ts_intervals {
	struct ts_interval *items; /* sorted and apart, as far as `sorted` */
	size_t count, capacity, sorted;
	uint64_t folded; /* length of what lies before `horizon` and is no longer kept */
	uint64_t horizon;
	uint64_t late; /* intervals that began before the horizon: the union is then inexact */
	bool has_folded;
	struct ts_durations gaps;  /* between what was folded, all of them after ..._finish */
	uint64_t longest_gap_from; /* where the longest of them begins */
	size_t limit; /* how many are kept at most, a power of two; 0: as many as for a stream */
};

/* Adds [start, end); order does not matter. */
void ts_intervals_add(struct ts_intervals *set, uint64_t start, uint64_t end);

/* The length covered by at least one interval. */
uint64_t ts_intervals_union(struct ts_intervals *set);

/* After the last interval: `folded` is then the union, `gaps` is complete. */
void ts_intervals_finish(struct ts_intervals *set);

void ts_intervals_free(struct ts_intervals *set);

#endif
