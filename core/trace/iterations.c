#include "core/trace/iterations.h"

#include "core/trace/pool.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MAX 8192u

static void see_number(struct ts_iterations *set, uint64_t number)
{
	if (!set->any || number < set->lowest)
		set->lowest = number;
	if (!set->any || number > set->highest)
		set->highest = number;
	set->any = true;
}

/* Sums the first `count` up and forgets them. */
static void fold(struct ts_iterations *set, size_t count)
{
	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct ts_iteration *item = &set->items[i];
		const struct ts_iteration *next = i + 1 < set->count ? item + 1 : NULL;
		uint64_t end = item->last;

		/* What began in it may end later than it does. */
		if (next && end > next->first)
			end = next->first;
		ts_durations_add(&set->extents, end - item->first);
		if (next && next->number == item->number + 1)
			ts_durations_add(&set->periods, next->first - item->first);
	}
	set->folded += count;
	set->count -= count;
	memmove(set->items, set->items + count, set->count * sizeof(*set->items));
}

/* How many of them begin at `start` or before. */
static size_t begun(const struct ts_iterations *set, uint64_t start)
{
	size_t low = 0, high = set->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->items[middle].first <= start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The one that an event of this number and start belongs to, or NULL; `at`: where a new one would
 * stand. */
static struct ts_iteration *find(struct ts_iterations *set, uint64_t number, uint64_t start,
				 size_t at)
{
	struct ts_iteration *before = at ? &set->items[at - 1] : NULL;
	struct ts_iteration *behind = at < set->count ? &set->items[at] : NULL;

	if (before && before->number == number)
		return before;
	/* At the very moment when the next one begins. */
	if (at > 1 && before->first == start && before[-1].number == number)
		return before - 1;
	if (!behind || behind->number != number)
		return NULL;
	/* An event that comes late, or one that was told of in this iteration and began in the one
	 * before. */
	if (!before || start > before->last_start)
		behind->first = start;
	return behind;
}

void ts_iterations_add(struct ts_iterations *set, uint64_t number, uint64_t start, uint64_t end)
{
	size_t at = begun(set, start);
	struct ts_iteration *item;

	see_number(set, number);
	if (!at && set->folded) {
		set->late++;
		return;
	}
	item = find(set, number, start, at);
	if (!item) {
		if (set->count == KEPT_MAX) {
			fold(set, KEPT_MAX / 2);
			if (at < KEPT_MAX / 2) {
				set->late++;
				return;
			}
			at -= KEPT_MAX / 2;
		}
		set->items =
		    ts_array_room(set->items, set->count, &set->capacity, sizeof(*set->items));
		item = &set->items[at];
		memmove(item + 1, item, (set->count - at) * sizeof(*item));
		set->count++;
		*item = (struct ts_iteration){number, start, start, end};
	}
	if (start > item->last_start)
		item->last_start = start;
	if (end > item->last)
		item->last = end;
}

void ts_iterations_see(struct ts_iterations *set, uint64_t number)
{
	see_number(set, number);
	set->untimed++;
}

void ts_iterations_finish(struct ts_iterations *set)
{
	fold(set, set->count);
}

void ts_iterations_free(struct ts_iterations *set)
{
	ts_durations_free(&set->extents);
	ts_durations_free(&set->periods);
	free(set->items);
	*set = (struct ts_iterations){0};
}
