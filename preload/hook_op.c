/* Operations: launches, copies, sets, graph launches, mappings. */
#include <errno.h>
#include <string.h>

#include "core/record/device.h"
#include "core/record/stack.h"
#include "preload/context.h"
#include "preload/hook.h"
#include "preload/names.h"

static bool is_device_work(unsigned class)
{
	return class == TS_CLASS_LAUNCH || class == TS_CLASS_COPY || class == TS_CLASS_COPY_BATCH ||
	       class == TS_CLASS_SET || class == TS_CLASS_GRAPH;
}

void *ts_hook_op_begin(const struct ts_hook *hook, struct ts_rec_op *op)
{
	const struct ts_fn_facts *facts = &ts_fn_facts[hook->fn];
	void *token = NULL;
	int saved;

	op->h.kind = TS_REC_OP;
	op->h.slots = 2;
	op->h.route = hook->route;
	op->h.flags = hook->per_thread ? TS_F_PER_THREAD : 0;
	op->h.fn = hook->fn;
	op->h.span = ts_self.span ? ts_self.span : 1;
	ts_self.correlation[0] = ts_self.correlation[1] = 0;
	if (facts->class == TS_CLASS_LAUNCH)
		op->name = ts_name_of(op->handle, facts->lib == TS_LIB_DRV);
	if (ts_is_capturing(op->stream, hook->per_thread))
		op->h.flags |= TS_F_CAPTURED;
	else if (ts_unlikely(ts_device_before != NULL) && is_device_work(facts->class)) {
		saved = errno;
		token = ts_device_before(op->stream, hook->per_thread);
		errno = saved;
	}
	ts_self.outer = &op->h;
	op->h.t = ts_clock_now();
	return token;
}

void ts_hook_op_end(struct ts_ring *ring, const struct ts_hook *hook, struct ts_rec_op *op, int error,
		    void *token)
{
	int saved = errno;
	struct ts_where where;
	void *rec;

	op->t_end = ts_clock_now();
	ts_self.outer = NULL;
	where = ts_where();
	op->h.device = where.device;
	op->context = where.context;
	op->error = error;
	op->correlation = ts_self.correlation[0];
	op->correlation2 = ts_self.correlation[1];
	if (ts_unlikely(error))
		op->h.stack = ts_stack_take(hook->frame);
	if (ts_unlikely(token != NULL) && ts_device_after)
		ts_device_after(token, op);
	rec = ts_reserve(ring, 2);
	if (rec) {
		memcpy(rec, op, sizeof(*op));
		ts_commit(ring, 2);
	}
	ts_memory_check(ring, op->t_end);
	errno = saved;
}

void ts_hook_op_nested(const struct ts_hook *hook, const struct ts_rec_op *op)
{
	struct ts_rec_op *outer = (struct ts_rec_op *)(void *)ts_self.outer;
	unsigned class = ts_fn_facts[hook->fn].class, outer_class;

	if (outer->h.kind != TS_REC_OP)
		return;
	outer_class = ts_fn_facts[outer->h.fn].class;
	if (class != outer_class)
		return;
	if (!outer->stream)
		outer->stream = op->stream;
	/* The runtime's extent counts elements when an array takes part, the driver's bytes. */
	if (outer->bytes < op->bytes)
		outer->bytes = op->bytes;
	if (class != TS_CLASS_LAUNCH)
		return;
	if (!outer->name)
		outer->name = ts_name_of(op->handle, ts_fn_facts[hook->fn].lib == TS_LIB_DRV);
	if (!outer->grid[0]) {
		memcpy(outer->grid, op->grid, sizeof(outer->grid));
		memcpy(outer->block, op->block, sizeof(outer->block));
		outer->shared_bytes = op->shared_bytes;
	}
	if (!outer->handle)
		outer->handle = op->handle;
}
