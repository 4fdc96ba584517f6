/* A map from 64-bit keys to 64-bit values for data that is written rarely and read by every launch:
 * readers take no lock and write nothing; writers take a spin lock.  Keys are not 0; value 0 means
 * absent.  Memory comes from mmap; tables that were outgrown stay, since a reader may be in one
 * (together they are smaller than the last). */
#ifndef TSTRACE_PRELOAD_MAP_H
#define TSTRACE_PRELOAD_MAP_H

#include <stdatomic.h>

#include "core/base.h"

struct ts_map_table;

struct ts_map {
	_Atomic(struct ts_map_table *) table;
	_Atomic int lock;
};

/* 0 when absent.  Any thread, signal-safe. */
uint64_t ts_map_get(const struct ts_map *map, uint64_t key);

/* 0 or -ENOMEM.  Value 0 takes the key out. */
int ts_map_put(struct ts_map *map, uint64_t key, uint64_t value);

/* Take out all that `drop` says true to; NULL: everything. */
void ts_map_drop(struct ts_map *map, bool (*drop)(uint64_t key, uint64_t value));

/* In the child of a fork: a lock held by a thread that is gone. */
void ts_map_child(struct ts_map *map);

#endif
