/* Durations of one thing in memory that does not grow with their number: count, sum, ends, and
 * quantiles that are at most 1.6 % off. */
#ifndef TS_TRACE_DURATIONS_H
#define TS_TRACE_DURATIONS_H

#include <stdint.h>

struct ts_durations {
	uint64_t count, total_ns, shortest_ns, longest_ns;
	uint64_t *buckets; /* how many fell into bucket `first` and those behind it */
	unsigned first, bucket_count;
};

void ts_durations_add(struct ts_durations *sum, uint64_t ns);

/* The smallest duration that at least `permille` thousandths of all do not exceed; 0 of none. */
uint64_t ts_durations_quantile(const struct ts_durations *sum, unsigned permille);

uint64_t ts_durations_mean(const struct ts_durations *sum);

void ts_durations_free(struct ts_durations *sum);

#endif
