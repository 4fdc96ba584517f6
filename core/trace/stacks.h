/* Call stacks and modules as the trace gives them: the first event that uses one carries it. */
#ifndef TS_TRACE_STACKS_H
#define TS_TRACE_STACKS_H

#include "core/trace/event.h"
#include "core/trace/map.h"

struct ts_module {
	uint64_t id;
	struct ts_str path, build_id; /* build-id in hex; empty: none known */
};

struct ts_frame {
	uint64_t module; /* 0: code that belongs to no module, offset is the address */
	uint64_t offset; /* of the code itself (the call), from the module's load base */
};

struct ts_stack {
	uint64_t id;
	const struct ts_frame *frames; /* innermost first; NULL: used but never given */
	size_t count;
	struct ts_str end; /* why it stops early: "truncated", "no_unwind_info"; else empty */
};

struct ts_stacks {
	struct ts_pool pool;
	struct ts_map ids;	 /* of stacks */
	struct ts_stack *stacks; /* by number in `ids` */
	size_t capacity;
	struct ts_module *modules;
	size_t module_count, module_capacity;
	uint64_t bad_frames; /* texts that are no frame */
};

/* Takes in what an op or memory event carries; returns the number of its stack, or TS_MAP_NONE. */
uint32_t ts_stacks_take(struct ts_stacks *stacks, const struct ts_event *event);

/* The number of the stack with that id, which may be given later, or never. */
uint32_t ts_stacks_number(struct ts_stacks *stacks, uint64_t id);

/* NULL for 0 and for ids that the trace does not explain. */
const struct ts_module *ts_stacks_module(const struct ts_stacks *stacks, uint64_t id);

void ts_stacks_free(struct ts_stacks *stacks);

#endif
