/* What was allocated when: peak, what lives at the end, by kind, by device and by call stack.
 * Memory is bounded by what lives at once, not by the number of events. */
#ifndef TS_TRACE_LIVE_H
#define TS_TRACE_LIVE_H

#include "core/trace/event.h"
#include "core/trace/map.h"

struct ts_live_group {
	uint64_t live_bytes, live_count; /* at the end */
	uint64_t peak_bytes, peak_ns;
	uint64_t allocations, allocated_bytes, frees;
};

/* What one stack or one kind has a share in. */
struct ts_live_share {
	uint64_t live_bytes, live_count; /* at the end */
	uint64_t peak_bytes, peak_count; /* at the peak of the scope that it belongs to */
	uint64_t epoch;			 /* of the peak that peak_* belong to; private */
};

/* All memory together, or that of one device. */
struct ts_live_scope {
	struct ts_live_group sum;
	struct ts_live_share *by_stack; /* by number of the stack */
	struct ts_live_share *by_kind;	/* by number of the kind */
	size_t stack_count, kind_count;
	struct ts_live_share no_stack;
	uint64_t epoch;
};

struct ts_live_entry;
struct ts_live_change;

struct ts_live {
	struct ts_live_scope all;
	struct ts_map kinds, devices;
	struct ts_live_group *by_kind; /* by number in the maps */
	struct ts_live_scope *by_device;
	size_t kind_capacity, device_capacity;
	uint64_t reset_count, reset_bytes; /* ended by a reset of device or context */
	uint64_t inferred_frees, restored; /* not seen as a call; the free before it failed */
	uint64_t unpaired_frees;	   /* frees whose allocation the trace does not have */
	uint64_t
	    disordered; /* changes that came too late to be put in order: the peak is inexact */

	struct ts_live_entry **buckets;
	size_t bucket_count, entry_count;
	struct ts_live_entry *spare; /* for the event at hand */
	size_t spare_room;
	struct ts_live_change *run; /* a ring of changes that came in order */
	size_t run_first, run_count;
	struct ts_live_change *heap; /* those that came late */
	size_t heap_count;
	uint64_t sequence, last_ns;
};

/* Takes in a memory event; `stack` is its number or TS_MAP_NONE. */
void ts_live_add(struct ts_live *live, const struct ts_event *event, uint32_t stack);

/* After the last event: everything above is final then. */
void ts_live_finish(struct ts_live *live);

void ts_live_free(struct ts_live *live);

#endif
