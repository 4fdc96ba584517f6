#include "core/trace/intervals.h"

#include "core/trace/pool.h"

#include <stdlib.h>
#include <string.h>

/* 16 MiB a set.  Device records arrive in order up to the few thousand of a buffer, so by the time
 * that the older half is folded away nothing that belongs to it is to come; if something does, it
 * is counted in `late`. */
#define KEPT_MAX (1u << 20)

static int compare(const void *a, const void *b)
{
	const struct ts_interval *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Sorts, and joins what overlaps or touches. */
static void normalise(struct ts_intervals *set)
{
	size_t out = 0;

	if (set->sorted == set->count)
		return;
	qsort(set->items, set->count, sizeof(*set->items), compare);
	for (size_t i = 1; i < set->count; i++) {
		if (set->items[i].start > set->items[out].end)
			set->items[++out] = set->items[i];
		else if (set->items[i].end > set->items[out].end)
			set->items[out].end = set->items[i].end;
	}
	set->count = set->sorted = out + 1;
}

static void note_gap(struct ts_intervals *set, uint64_t from, uint64_t to)
{
	if (from >= to)
		return;
	if (to - from > set->gaps.longest_ns)
		set->longest_gap_from = from;
	ts_durations_add(&set->gaps, to - from);
}

/* Sums the first `count` intervals up and forgets them; they are sorted and apart. */
static void fold(struct ts_intervals *set, size_t count)
{
	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		if (set->has_folded)
			note_gap(set, set->horizon, set->items[i].start);
		set->has_folded = true;
		set->folded += set->items[i].end - set->items[i].start;
		set->horizon = set->items[i].end;
	}
	set->count -= count;
	set->sorted = set->count;
	memmove(set->items, set->items + count, set->count * sizeof(*set->items));
}

void ts_intervals_add(struct ts_intervals *set, uint64_t start, uint64_t end)
{
	size_t limit = set->limit ? set->limit : KEPT_MAX;
	struct ts_interval *last;

	if (start < set->horizon) {
		set->late++;
		start = set->horizon;
	}
	if (end <= start)
		return;
	last = set->count ? &set->items[set->count - 1] : NULL;
	if (last && start >= last->start && start <= last->end) {
		if (end > last->end)
			last->end = end;
		return;
	}
	if (set->count == limit) {
		normalise(set);
		if (set->count > limit / 2)
			fold(set, set->count / 2);
		last = &set->items[set->count - 1];
	}
	if (set->sorted == set->count && (!last || start > last->end))
		set->sorted++;
	set->items = ts_array_room(set->items, set->count, &set->capacity, sizeof(*set->items));
	set->items[set->count++] = (struct ts_interval){start, end};
}

uint64_t ts_intervals_union(struct ts_intervals *set)
{
	uint64_t length = set->folded;

	normalise(set);
	for (size_t i = 0; i < set->count; i++)
		length += set->items[i].end - set->items[i].start;
	return length;
}

void ts_intervals_finish(struct ts_intervals *set)
{
	normalise(set);
	fold(set, set->count);
}

void ts_intervals_free(struct ts_intervals *set)
{
	ts_durations_free(&set->gaps);
	free(set->items);
	*set = (struct ts_intervals){0};
}
