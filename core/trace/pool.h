/* Memory that is taken piece by piece and given back all at once.  Not for several threads. */
#ifndef TS_TRACE_POOL_H
#define TS_TRACE_POOL_H

#include <stddef.h>
#include <stdint.h>

struct ts_str {
	const char *at; /* not ended by a NUL; may hold NULs */
	size_t size;
};

struct ts_pool_chunk;

struct ts_pool {
	struct ts_pool_chunk *chunks;
	char *at;
	size_t left;
};

/* Memory aligned to 8 bytes.  The command cannot go on without memory: it says so and exits with
 * status 2. */
void *ts_pool_get(struct ts_pool *pool, size_t size);

/* A copy of `text` in the pool. */
struct ts_str ts_pool_copy(struct ts_pool *pool, struct ts_str text);

/* Gives everything back; the largest chunk is kept for the next round. */
void ts_pool_reset(struct ts_pool *pool);
void ts_pool_free(struct ts_pool *pool);

/* malloc family for the command: the same end when there is no memory. */
void *ts_grow(void *memory, size_t size);

/* Makes room for one more of `count` items in an array that doubles; returns the array. */
void *ts_array_room(void *array, size_t count, size_t *capacity, size_t item);

#endif
