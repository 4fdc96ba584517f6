/* Operations: launches, copies, sets, graph launches, mappings. */
#include <errno.h>
#include <string.h>

#include "core/record/arena.h"
#include "core/record/device.h"
#include "core/record/stack.h"
#include "preload/context.h"
#include "preload/hook.h"
#include "preload/names.h"
#include "preload/told.h"

static bool is_device_work(unsigned class)
{
	return class == TS_CLASS_LAUNCH || class == TS_CLASS_COPY || class == TS_CLASS_COPY_BATCH ||
	       class == TS_CLASS_SET || class == TS_CLASS_GRAPH;
}

/* The event backend's mark before the work. */
static TS_COLD void *before(const struct ts_hook *hook, const struct ts_rec_op *op)
{
	void *token = NULL;
	int saved = errno;

	if (is_device_work(ts_fn_facts[hook->fn].class))
		token = ts_device_before(op->stream, hook->per_thread);
	errno = saved;
	return token;
}

void *ts_hook_op_begin(const struct ts_hook *hook, struct ts_rec_op *op)
{
	const struct ts_fn_facts *facts = &ts_fn_facts[hook->fn];
	struct ts_thread *self = &ts_self;
	void *token = NULL;

	op->h = (struct ts_rec){
		.kind = TS_REC_OP,
		.slots = 2,
		.route = hook->route,
		.flags = hook->per_thread ? TS_F_PER_THREAD : 0,
		.fn = hook->fn,
		.span = self->span ? self->span : 1,
	};
	self->correlation[0] = self->correlation[1] = 0;
	if (facts->class == TS_CLASS_LAUNCH)
		op->name = ts_name_of(op->handle, facts->lib == TS_LIB_DRV);
	if (ts_is_capturing(op->stream, hook->per_thread))
		op->h.flags |= TS_F_CAPTURED;
	else if (ts_unlikely(ts_device_before != NULL))
		token = before(hook, op);
	self->outer = &op->h;
	op->h.t = ts_clock_now();
	return token;
}

static TS_COLD void after(void *token, struct ts_rec_op *op)
{
	int saved = errno;

	if (ts_device_after)
		ts_device_after(token, op);
	errno = saved;
}

void ts_hook_op_end(struct ts_ring *ring, const struct ts_hook *hook, struct ts_rec_op *op,
		    int error, void *token)
{
	uint64_t end = ts_clock_now();
	struct ts_where where = ts_where();

	ts_self.outer = NULL;
	if (ts_unlikely(error))
		op->h.stack = ts_stack_take(hook->frame);
	if (ts_unlikely(token != NULL)) {
		op->t_end = end;
		op->error = error;
		op->h.device = where.device;
		op->context = where.context;
		after(token, op);
		ts_self.correlation[0] = op->correlation;
	}
	op->t_end = end;
	op->h.device = where.device;
	op->context = where.context;
	op->error = error;
	op->correlation = ts_self.correlation[0];
	op->correlation2 = ts_self.correlation[1];
	ts_commit(ring, 2);
	ts_memory_check(ring, end);
}

void ts_hook_op_told(struct ts_ring *ring, const struct ts_hook *hook, struct ts_rec_op *op,
		     const struct ts_told *told)
{
	/* The runtime's extent counts elements when an array takes part, the driver's bytes. */
	if (told->is_inside) {
		if (ts_self.unhooked_bytes < op->bytes)
			ts_self.unhooked_bytes = op->bytes;
		return;
	}
	if (ts_fn_facts[hook->fn].class == TS_CLASS_COPY && op->bytes < ts_self.unhooked_bytes)
		op->bytes = ts_self.unhooked_bytes;
	/* The backend that tells is no event backend: there is no token. */
	ts_hook_op_begin(hook, op);
	op->h.t = told->begin;
	if (told->kernel && ts_fn_facts[hook->fn].class == TS_CLASS_LAUNCH)
		op->name = ts_arena_text(told->kernel);
	ts_self.correlation[0] = told->correlation;
	ts_self.correlation[1] = told->correlation2;
	ts_hook_op_end(ring, hook, op, told->result, NULL);
}

/* The stream of a runtime's call that could not read it: what its begin left out. */
static void *with_stream(const struct ts_hook *hook, struct ts_rec_op *outer)
{
	if (ts_is_capturing(outer->stream, hook->per_thread))
		outer->h.flags |= TS_F_CAPTURED;
	else if (ts_unlikely(ts_device_before != NULL))
		return before(hook, outer);
	return NULL;
}

void ts_hook_op_nested_end(void *token, int error)
{
	struct ts_rec_op *outer = (struct ts_rec_op *)(void *)ts_self.outer;
	struct ts_where where = ts_where();

	outer->t_end = ts_clock_now();
	outer->error = error;
	outer->h.device = where.device;
	outer->context = where.context;
	after(token, outer);
	ts_self.correlation[0] = outer->correlation;
}

void *ts_hook_op_nested(const struct ts_hook *hook, const struct ts_rec_op *op)
{
	struct ts_rec_op *outer = (struct ts_rec_op *)(void *)ts_self.outer;
	unsigned class = ts_fn_facts[hook->fn].class, outer_class;
	bool had_no_stream;

	if (outer->h.kind != TS_REC_OP)
		return NULL;
	outer_class = ts_fn_facts[outer->h.fn].class;
	had_no_stream = class == TS_CLASS_COPY_BATCH && outer_class == TS_CLASS_COPY_WORDS;
	if (class != outer_class && !had_no_stream)
		return NULL;
	if (!outer->stream)
		outer->stream = op->stream;
	/* The runtime's extent counts elements when an array takes part, the driver's bytes. */
	if (outer->bytes < op->bytes)
		outer->bytes = op->bytes;
	if (class != TS_CLASS_LAUNCH)
		return had_no_stream ? with_stream(hook, outer) : NULL;
	if (!outer->name)
		outer->name = ts_name_of(op->handle, ts_fn_facts[hook->fn].lib == TS_LIB_DRV);
	if (!outer->grid[0]) {
		memcpy(outer->grid, op->grid, sizeof(outer->grid));
		memcpy(outer->block, op->block, sizeof(outer->block));
		outer->shared_bytes = op->shared_bytes;
	}
	if (!outer->handle)
		outer->handle = op->handle;
	return NULL;
}
