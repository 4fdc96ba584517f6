/* Memory events and calls: the halves of a hook around the real call. */
#include "preload/hook.h"

#include "core/record/device.h"
#include "core/record/stack.h"
#include "preload/context.h"
#include "preload/map.h"
#include "preload/told.h"

static inline struct ts_rec head(const struct ts_hook *hook, enum ts_rec_kind kind, int16_t device)
{
	return (struct ts_rec){
		.kind = (uint8_t)kind,
		.slots = 1,
		.route = hook->route,
		.flags = (uint8_t)((hook->per_thread ? TS_F_PER_THREAD : 0) |
				   (ts_outside() ? TS_F_OUTSIDE : 0)),
		.fn = hook->fn,
		.device = device,
		.span = ts_self.span ? ts_self.span : 1,
	};
}

void ts_hook_alloc(struct ts_ring *ring, const struct ts_hook *hook, const struct ts_hook_alloc *a)
{
	struct ts_where where = ts_where();
	struct ts_rec h = head(hook, TS_REC_ALLOC, a->elsewhere ? a->device : where.device);
	struct ts_rec_alloc *rec;

	if (ts_unlikely(where.own))
		h.flags |= TS_F_OWN_CONTEXT;
	if (a->node || (a->ordered && ts_is_capturing(a->stream, hook->per_thread)))
		h.flags |= TS_F_CAPTURED;
	/* The pool's device, or the stream's. */
	else if (a->kind == TS_MEM_POOL && !a->error)
		h.device = ts_device_of(a->address, h.device);
	if (ts_likely(!(h.flags & TS_F_OUTSIDE)))
		h.stack = ts_stack_take(hook->frame);
	else if (a->error)
		return;
	rec = ts_reserve(ring, 1);
	if (rec) {
		h.t = ts_stamp(ring);
		*rec = (struct ts_rec_alloc){
			.h = h,
			.address = a->address,
			.bytes = a->bytes,
			.stream = a->stream,
			.pool = a->pool,
			.error = a->error,
			.memory_kind = a->kind,
			.step = (uint8_t)ts_self.step,
			.context = where.context,
		};
		ts_commit(ring, 1);
	}
	if (ts_unlikely(a->error))
		ts_memory_record(ring, 1);
	else if (ts_likely(!(h.flags & TS_F_OUTSIDE)))
		ts_memory_check(ring, h.t);
}

/* With the time that h has, or now. */
static inline void put_free(struct ts_ring *ring, struct ts_rec h, uint8_t kind, uint64_t address,
			    uint64_t stream, int error)
{
	struct ts_rec_free *rec = ts_reserve(ring, 1);

	if (!rec)
		return;
	if (!h.t)
		h.t = ts_stamp(ring);
	*rec = (struct ts_rec_free){
		.h = h,
		.address = address,
		.stream = stream,
		.error = error,
		.memory_kind = kind,
	};
	ts_commit(ring, 1);
}

/* At `t`, or now when that is 0. */
static inline void record_free(struct ts_ring *ring, const struct ts_hook *hook, uint64_t t,
			       uint8_t kind, uint64_t address, bool ordered, uint64_t stream)
{
	struct ts_rec h;

	if (!address)
		return;
	h = head(hook, TS_REC_FREE, ts_memory_is_host(kind) ? TS_DEVICE_NONE : ts_where().device);
	h.t = t;
	if (ordered && ts_is_capturing(stream, hook->per_thread))
		h.flags |= TS_F_CAPTURED;
	if (ts_likely(!(h.flags & TS_F_OUTSIDE)))
		h.stack = ts_stack_take(hook->frame);
	put_free(ring, h, kind, address, stream, 0);
}

/* Before the real call: once that runs, another thread can be given the same address. */
void ts_hook_free(struct ts_ring *ring, const struct ts_hook *hook, uint8_t kind, uint64_t address,
		  bool ordered, uint64_t stream)
{
	record_free(ring, hook, 0, kind, address, ordered, stream);
}

void ts_hook_free_told(struct ts_ring *ring, const struct ts_hook *hook, uint64_t begin,
		       uint8_t kind, uint64_t address, bool ordered, uint64_t stream, int error)
{
	record_free(ring, hook, begin, kind, address, ordered, stream);
	ts_hook_freed(ring, hook, kind, address, error);
}

void ts_hook_free_failed(struct ts_ring *ring, const struct ts_hook *hook, uint8_t kind,
			 uint64_t address, int error)
{
	struct ts_rec h;

	if (address) {
		h = head(hook, TS_REC_FREE_FAILED, ts_where().device);
		if (!(h.flags & TS_F_OUTSIDE))
			h.stack = ts_stack_take(hook->frame);
		put_free(ring, h, kind, address, 0, error);
	} else if (!ts_outside()) {
		/* free(NULL) begins many programs; when it fails it says why nothing else works. */
		ts_hook_call_end(ring, hook, ts_clock_now(), 0, 0, error);
	}
}

void ts_hook_mapped(struct ts_ring *ring, const struct ts_hook *hook, uint64_t address,
		    uint64_t bytes, uint64_t handle)
{
	struct ts_rec h = head(hook, TS_REC_MAP, ts_where().device);
	struct ts_rec_map *rec;

	/* It may be what frees. */
	if (!handle && !(h.flags & TS_F_OUTSIDE))
		h.stack = ts_stack_take(hook->frame);
	rec = ts_reserve(ring, 1);
	if (!rec)
		return;
	h.t = ts_stamp(ring);
	*rec = (struct ts_rec_map){
		.h = h, .address = address, .bytes = bytes, .handle = handle
	};
	ts_commit(ring, 1);
}

uint64_t ts_hook_call_begin(void)
{
	ts_self.correlation[0] = ts_self.correlation[1] = 0;
	return ts_clock_now();
}

void ts_hook_call_end(struct ts_ring *ring, const struct ts_hook *hook, uint64_t begin,
		      uint64_t stream, uint64_t object, int error)
{
	uint64_t end = ts_clock_now();
	struct ts_where where = ts_where();
	struct ts_rec h = head(hook, TS_REC_CALL, where.device);
	struct ts_rec_call *rec;

	h.t = begin;
	if (ts_unlikely(error))
		h.stack = ts_stack_take(hook->frame);
	rec = ts_reserve(ring, 1);
	if (rec) {
		*rec = (struct ts_rec_call){
			.h = h,
			.t_end = end,
			.stream = stream,
			.object = object,
			.error = error,
			.correlation = ts_self.correlation[0],
			.correlation2 = ts_self.correlation[1],
			.context = where.context,
		};
		ts_commit(ring, 1);
	}
	ts_memory_check(ring, end);
}

void ts_hook_reset(struct ts_ring *ring, const struct ts_hook *hook, uint64_t begin, int device,
		   unsigned context, int error)
{
	struct ts_rec_reset *rec;

	ts_where_changed();
	if (error && ts_outside())
		return;
	if (error) {
		ts_hook_call_end(ring, hook, begin, 0, 0, error);
	} else if ((rec = ts_reserve(ring, 1))) {
		struct ts_rec h = head(hook, TS_REC_RESET, (int16_t)device);

		/* The time before the call: what is allocated from now on is not meant. */
		h.t = begin;
		*rec = (struct ts_rec_reset){ .h = h, .context = context };
		ts_commit(ring, 1);
	}
}

uint64_t ts_sum(const size_t *sizes, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; sizes && i < count; i++)
		sum += sizes[i];
	return sum;
}

/* --- references to VMM handles ----------------------------------------------------- */

static struct ts_map extra;     /* handle -> references beyond the one of its creation */

void ts_vmm_retained(uint64_t handle)
{
	ts_map_put(&extra, handle, ts_map_get(&extra, handle) + 1);
}

bool ts_vmm_release_is_last(uint64_t handle)
{
	uint64_t n = ts_map_get(&extra, handle);

	if (n)
		ts_map_put(&extra, handle, n - 1);
	return n == 0;
}
