/* The halves of a hook around the real call.  The wrappers (wrap.h) are thin and many; what they do
 * is here, once. */
#ifndef TSTRACE_PRELOAD_HOOK_H
#define TSTRACE_PRELOAD_HOOK_H

#include "core/record/record.h"
#include "preload/fn.h"

/* Who was called, and how. */
struct ts_hook {
	uint16_t fn;            /* enum ts_fn */
	uint8_t route;          /* enum ts_route */
	uint8_t per_thread;
	void *frame;            /* of the wrapper: stacks begin with its return address */
};

/* cudaMemcpyKind + 1, the copy_kind of a record. */
enum ts_copy {
	TS_COPY_HTOH = 1, TS_COPY_HTOD, TS_COPY_DTOH, TS_COPY_DTOD, TS_COPY_DEFAULT
};

/* Without a session, or outside the window for what is not `tracked` there: nothing but one load
 * and the call. */
static inline bool ts_off(bool tracked)
{
	return ts_unlikely(atomic_load_explicit(&ts_recording, memory_order_relaxed) >=
			   (tracked ? TS_REC_REFUSED : TS_REC_OFF));
}

struct ts_hook_alloc {
	int error;
	uint8_t kind;           /* enum ts_memory_kind */
	bool ordered;           /* on a stream, which may be capturing */
	bool node;              /* a graph's node: allocated by no call */
	bool elsewhere;         /* on `device`, not the thread's */
	int16_t device;
	uint64_t address, bytes, stream, pool;
};

/* All of these: on the thread's own ring, at depth 1, errno kept (by what is cold in them: saving
 * it here would cost a call each time). */

/* After the real call of an allocation, failed or not. */
/* Outside the window these two tell the writer, without a stack, and failed calls nothing. */
void ts_hook_alloc(struct ts_ring *ring, const struct ts_hook *hook, const struct ts_hook_alloc *a);

/* Around the real call of a free.  `ordered`: on `stream`. */
void ts_hook_free(struct ts_ring *ring, const struct ts_hook *hook, uint8_t kind, uint64_t address,
		  bool ordered, uint64_t stream);
TS_COLD void ts_hook_free_failed(struct ts_ring *ring, const struct ts_hook *hook, uint8_t kind,
				 uint64_t address, int error);

static inline void ts_hook_freed(struct ts_ring *ring, const struct ts_hook *hook, uint8_t kind,
				 uint64_t address, int error)
{
	if (ts_unlikely(error))
		ts_hook_free_failed(ring, hook, kind, address, error);
}

/* After a mapping or, without a handle, an unmapping that went well; told outside the window too.
 */
void ts_hook_mapped(struct ts_ring *ring, const struct ts_hook *hook, uint64_t address,
		    uint64_t bytes, uint64_t handle);

/* All zero.  By words of 16 bytes: compilers make a string instruction of it otherwise, which takes
 * longer to start than this. */
static inline void ts_hook_op_clear(struct ts_rec_op *op)
{
	typedef uint64_t words __attribute__((vector_size(16), may_alias, aligned(8)));
	words *w = (words *)(void *)op;
	const words zero = { 0, 0 };

	_Static_assert(sizeof(*op) == 8 * sizeof(*w), "all of it");
	w[0] = w[1] = w[2] = w[3] = w[4] = w[5] = w[6] = w[7] = zero;
}

/* Around a launch, copy, set or mapping, whose record is built where it will be published: `op` is
 * room in the ring, cleared, with the fields that the wrapper knows.  begin fills its head and
 * returns the event backend's token; end publishes it. */
void *ts_hook_op_begin(const struct ts_hook *hook, struct ts_rec_op *op);
void ts_hook_op_end(struct ts_ring *ring, const struct ts_hook *hook, struct ts_rec_op *op,
		    int error, void *token);

/* Depth 2: the driver's call inside a runtime call tells what the outer one does not know.  With a
 * token, when the event backend had to wait for the stream, it is told of the end as well. */
void *ts_hook_op_nested(const struct ts_hook *hook, const struct ts_rec_op *op);
void ts_hook_op_nested_end(void *token, int error);

/* Any other call. */
uint64_t ts_hook_call_begin(void);
void ts_hook_call_end(struct ts_ring *ring, const struct ts_hook *hook, uint64_t begin,
		      uint64_t stream, uint64_t object, int error);

/* After a call that ended many allocations, or failed to: those of `context` (its dense number),
 * if not 0, else all of the primary context of `device`.  `begin`: before the real call. */
void ts_hook_reset(struct ts_ring *ring, const struct ts_hook *hook, uint64_t begin, int device,
		   unsigned context, int error);

/* VMM handles have a count in the driver: one record when the last reference goes. */
void ts_vmm_retained(uint64_t handle);
bool ts_vmm_release_is_last(uint64_t handle);

/* Sum of a batch's sizes; NULL gives 0. */
uint64_t ts_sum(const size_t *sizes, size_t count);

#endif
