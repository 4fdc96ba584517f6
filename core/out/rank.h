/* Orders for the tables of a summary: indices of what is to be shown, largest first, ties by index.
 */
#ifndef TS_OUT_RANK_H
#define TS_OUT_RANK_H

#include <stddef.h>
#include <stdint.h>

/* `count` indices sorted by what `weigh` says; those that weigh 0 are left out when `skip_zero`.
 * For free(). */
size_t *ts_rank(size_t count, uint64_t (*weigh)(const void *context, size_t index),
		const void *context, int skip_zero, size_t *ranked);

#endif
