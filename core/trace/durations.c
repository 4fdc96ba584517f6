#include "core/trace/durations.h"

#include "core/trace/pool.h"

#include <stdlib.h>
#include <string.h>

/* Buckets: one for each value below 64, then 32 for each power of two, so that the middle of a
 * bucket is at most 1/64 away from what fell into it. */
#define EXACT 64u
#define PARTS_LOG 5u
#define PARTS (1u << PARTS_LOG)

static unsigned bucket_of(uint64_t ns)
{
	unsigned power;

	if (ns < EXACT)
		return (unsigned)ns;
	power = 63u - (unsigned)__builtin_clzll(ns);
	return EXACT + (power - 6) * PARTS + ((unsigned)(ns >> (power - PARTS_LOG)) & (PARTS - 1));
}

static uint64_t middle_of(unsigned bucket)
{
	unsigned power, part;

	if (bucket < EXACT)
		return bucket;
	power = (bucket - EXACT) / PARTS + 6;
	part = (bucket - EXACT) % PARTS;
	return ((UINT64_C(1) << PARTS_LOG | part) << (power - PARTS_LOG)) +
	       (UINT64_C(1) << (power - PARTS_LOG)) / 2;
}

/* Room for `bucket`: most things take about the same time again and again, so only the buckets
 * between the shortest and the longest are kept. */
static void make_room(struct ts_durations *sum, unsigned bucket)
{
	unsigned first = sum->first, end = sum->first + sum->bucket_count;
	uint64_t *grown;

	if (!sum->bucket_count)
		first = end = bucket;
	if (bucket < first)
		first = bucket > PARTS ? bucket - PARTS / 4 : 0;
	if (bucket >= end)
		end = bucket + 1 + (sum->bucket_count ? PARTS / 4 : 0);
	grown = ts_grow(NULL, (end - first) * sizeof(*grown));
	memset(grown, 0, (end - first) * sizeof(*grown));
	if (sum->bucket_count)
		memcpy(grown + (sum->first - first), sum->buckets,
		       sum->bucket_count * sizeof(*grown));
	free(sum->buckets);
	sum->buckets = grown;
	sum->first = first;
	sum->bucket_count = end - first;
}

void ts_durations_add(struct ts_durations *sum, uint64_t ns)
{
	unsigned bucket = bucket_of(ns);

	if (!sum->count || ns < sum->shortest_ns)
		sum->shortest_ns = ns;
	if (ns > sum->longest_ns)
		sum->longest_ns = ns;
	sum->count++;
	if (__builtin_add_overflow(sum->total_ns, ns, &sum->total_ns))
		sum->total_ns = UINT64_MAX;
	if (bucket < sum->first || bucket - sum->first >= sum->bucket_count)
		make_room(sum, bucket);
	sum->buckets[bucket - sum->first]++;
}

uint64_t ts_durations_quantile(const struct ts_durations *sum, unsigned permille)
{
	uint64_t rank = sum->count / 1000 * permille + (sum->count % 1000 * permille + 999) / 1000;
	uint64_t seen = 0, ns = 0;

	if (rank >= sum->count)
		return sum->longest_ns;
	for (unsigned i = 0; i < sum->bucket_count; i++) {
		seen += sum->buckets[i];
		if (seen >= rank && seen) {
			ns = middle_of(sum->first + i);
			break;
		}
	}
	if (ns < sum->shortest_ns)
		return sum->shortest_ns;
	return ns > sum->longest_ns ? sum->longest_ns : ns;
}

uint64_t ts_durations_mean(const struct ts_durations *sum)
{
	return sum->count ? sum->total_ns / sum->count : 0;
}

void ts_durations_free(struct ts_durations *sum)
{
	free(sum->buckets);
	*sum = (struct ts_durations){0};
}
