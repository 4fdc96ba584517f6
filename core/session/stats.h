/* Statistics of a tensor: what lies where, and the host's reduction. */
#ifndef TSTRACE_CORE_SESSION_STATS_H
#define TSTRACE_CORE_SESSION_STATS_H

#include "core/session/reduce.h"

/* Of a whole tensor.  Not finite elements count in none but the counts. */
struct ts_stats {
	uint64_t finite, nan, inf;
	double rms, abs_max, mean, min, max, std;
};

/* The order of elements changes no statistic: dimensions are sorted, joined where they follow each
 * other without a gap, turned where they run backward, and left out where every index is the same
 * memory.  *repeat is how often each element in memory counts; count * *repeat is `elements`.
 * 0, or -EINVAL: no such dtype; -EOVERFLOW: more than 2^64 - 1 elements, or addresses that no
 * memory has. */
int ts_view_of(const struct tstrace_data *tensor, struct ts_view *view, uint64_t *repeat,
	       uint64_t *elements);

/* Bytes from view->data to the end of its last element. */
uint64_t ts_view_bytes(const struct ts_view *view);

/* The passes over a part of host memory. */
void ts_view_range(const struct ts_view *view, struct ts_range *range);
void ts_view_spread(const struct ts_view *view, const struct ts_center *center,
		    struct ts_spread *spread);

void ts_stats_finish(struct ts_stats *stats, const struct ts_range *range,
		     const struct ts_spread *spread);

/* All of it, in host memory. */
void ts_stats_host(const struct ts_view *view, struct ts_stats *stats);

/* In device memory of the current context, in the order of `stream`, for which it waits.  Nothing
 * of it is recorded, and the program's context stays current.  0, or -errno and what was wrong.
 * Defined by cupti/, which knows the driver. */
extern int (*const ts_stats_device)(const struct ts_view *view, void *stream,
				    struct ts_stats *stats, char *why, size_t room);

const char *ts_dtype_name(enum tstrace_dtype dtype); /* NULL: no such dtype */

#endif
