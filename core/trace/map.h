/* Texts as dense numbers: the first text is 0, the next new one 1, and so on.  Not for several
 * threads. */
#ifndef TS_TRACE_MAP_H
#define TS_TRACE_MAP_H

#include "core/trace/pool.h"

#include <stdbool.h>

struct ts_map {
	struct ts_str *texts; /* by number; the text lives in the map */
	uint32_t *hashes;
	uint32_t *slots; /* number + 1, 0 = empty; a power of two of them */
	size_t count, capacity, slot_count;
	struct ts_pool pool;
};

#define TS_MAP_NONE UINT32_MAX

/* The number of `text`, which is added when it is new. */
uint32_t ts_map_add(struct ts_map *map, struct ts_str text);

/* The number of `text`, or TS_MAP_NONE. */
uint32_t ts_map_find(const struct ts_map *map, struct ts_str text);

/* The hash that the map uses. */
uint32_t ts_map_hash(struct ts_str text);

/* One text of two, that no other two make: for maps whose key is a pair. */
struct ts_str ts_pair_text(struct ts_pool *pool, struct ts_str first, struct ts_str second);

void ts_map_free(struct ts_map *map);

#endif
