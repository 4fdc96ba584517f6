/* The way of an event from a hook to the writer.
 *
 *	struct ts_ring *ring = ts_enter();              NULL: only call through
 *	uint64_t t = ring ? ts_stamp(ring) : 0;
 *	...
 *	if (ring && (rec = ts_reserve(ring, 1))) { fill; ts_commit(ring, 1); }
 *	ts_leave();
 *
 * One ring a thread, one writer thread for all.  On this path there is no lock, no allocation, no
 * formatting and no system call, except in the cold functions: a thread's first event, a full ring.
*/
#ifndef TSTRACE_CORE_RECORD_RECORD_H
#define TSTRACE_CORE_RECORD_RECORD_H

#include "core/base.h"
#include "core/record/clock.h"
#include "core/record/events.h"

struct ts_stack_cache;
struct ts_thread_device;

/* All that tstrace keeps for a thread.  initial-exec: a dynamic TLS access can allocate, and an
 * allocation can come back to us.  Small, since static TLS space is scarce: what is big hangs off
 * it. */
struct ts_thread {
	struct ts_ring *ring;           /* NULL before the first event and after the thread's end */
	uint32_t depth;                 /* hooks and API calls under way; only depth 1 records */
	uint32_t span;                  /* innermost open span, 1 is the root */
	/* set by the device backend during the real call, see device.h */
	uint32_t correlation[2];
	/* record that the outermost hook is filling, for nested hooks */
	struct ts_rec *outer;
	struct ts_stack_cache *stacks;
	void *spans;                    /* span stack of the session */
	void *names;                    /* kernel handle -> arena text, of preload */
	/* step of the innermost step span: 0, 1 forward .. 3 optimizer */
	uint32_t step;
	uint32_t ended;                 /* the thread's destructor ran */
	uint32_t number;                /* of the thread in the trace, from 1; 0 not yet given */
	/* backend: id of a runtime call under way that no hook saw */
	uint32_t unhooked;
	uint32_t unhooked_inside;       /* backend: calls recorded inside it */
	/* backend: its parameters cannot be read: 1 + the number of its name's row, else 0 */
	uint32_t unhooked_opaque;
	uint32_t unhooked_turn;         /* backend: how often callbacks had gone off before it */
	uint64_t unhooked_bytes;        /* preload: most that the driver copied in a call inside */
	uint32_t own;                   /* backend: calls of ours to the driver are under way, whose
					 * device work is not recorded */
};

extern _Thread_local struct ts_thread ts_self __attribute__((tls_model("initial-exec")));

/* Whether events are recorded.  From TS_REC_OFF on, hooks only call through: one comparison tells.
 */
enum ts_recording {
	TS_REC_UNOPENED,
	TS_REC_ON,
	TS_REC_FINISHED,        /* later events are counted as lost */
	TS_REC_OFF,             /* outside the window, see ts_enter_tracked */
	TS_REC_REFUSED,         /* the session could not be opened, and said so */
};
extern _Atomic int ts_recording;

static inline bool ts_is_open(int state)
{
	return state == TS_REC_ON || state == TS_REC_OFF;
}

/* The slow half of ts_enter: opens the session at the first event of the process (exactly once;
 * other threads wait), makes the thread's ring.  NULL: do not record.  Keeps errno. */
TS_COLD struct ts_ring *ts_enter_slow(bool tracked);

static inline struct ts_ring *ts_enter_as(bool tracked)
{
	struct ts_thread *self = &ts_self;
	int state = atomic_load_explicit(&ts_recording, memory_order_relaxed);

	if (ts_unlikely(self->depth++ != 0))
		return NULL;
	if (ts_likely((tracked ? ts_is_open(state) : state == TS_REC_ON) && self->ring))
		return self->ring;
	return state >= (tracked ? TS_REC_REFUSED : TS_REC_OFF) ? NULL
								: ts_enter_slow(tracked);
}

/* Begin a hook or an API call.  Pair with ts_leave() whatever it returns. */
static inline struct ts_ring *ts_enter(void)
{
	return ts_enter_as(false);
}

/* The same for events that are told outside the window too (ts_outside): of memory, so that the
 * writer knows what is alive. */
static inline struct ts_ring *ts_enter_tracked(void)
{
	return ts_enter_as(true);
}

/* The same for a call that the program makes for its own sake, so that inside another one of ours
 * it is from a signal handler: lost, and counted. */
TS_COLD void ts_lost_reentrant(void);

static inline struct ts_ring *ts_enter_call(bool tracked)
{
	struct ts_ring *ring = ts_enter_as(tracked);

	if (ts_unlikely(!ring && ts_self.depth > 1))
		ts_lost_reentrant();
	return ring;
}

static inline bool ts_outside(void)
{
	return ts_unlikely(atomic_load_explicit(&ts_recording, memory_order_relaxed) == TS_REC_OFF);
}

/* The thread's ring, also outside the window; made if there is none.  At depth 1, in an open
 * session.  Or NULL. */
TS_COLD struct ts_ring *ts_own_ring(void);

static inline void ts_leave(void)
{
	ts_self.depth--;
}

/* Take the time of a memory event that will be published before this thread blocks or calls out.
 * Marks the ring busy first, so that the writer, which sorts memory events by time, waits for it.
 */
static inline uint64_t ts_stamp(struct ts_ring *ring)
{
	atomic_store_explicit(&ring->busy, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return ts_clock_now();
}

/* Room was not there: wait for the writer or give up, as TSTRACE_ON_FULL says; counts a loss. */
TS_COLD void *ts_reserve_slow(struct ts_ring *ring, unsigned slots);

/* Room for a record of `slots` contiguous slots, not zeroed; NULL when the event is lost (counted).
 * Only the ring's own thread, at depth 1. */
static inline void *ts_reserve(struct ts_ring *ring, unsigned slots)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint32_t at = (uint32_t)head & ring->mask;

	/* Also slow when the record would not be contiguous. */
	if (ts_unlikely(head + slots - ring->tail_seen > ring->mask || at + slots > ring->mask + 1))
		return ts_reserve_slow(ring, slots);
	return ring->slots + (size_t)at * TS_SLOT;
}

/* Publish what ts_reserve gave. */
static inline void ts_commit(struct ts_ring *ring, unsigned slots)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	atomic_store_explicit(&ring->head, head + slots, memory_order_release);
	atomic_store_explicit(&ring->busy, 0, memory_order_relaxed);
}

/* Count a loss; any thread, any context; signal-safe. */
enum ts_lost {
#define TS_LOST(name, ...) TS_LOST_##name,
#include "core/record/lost.def"
#undef TS_LOST
	TS_LOST_CAUSES
};
void ts_lost(enum ts_lost cause, uint64_t count);
uint64_t ts_lost_count(enum ts_lost cause);
void ts_lost_child(void);       /* in the child of a fork: nothing is lost yet */

/* Open the ambient session now if it is not open (first event of the process).  0 or -errno. */
int ts_record_open(void);

/* The same as the program asks for it: `path` is a template like TSTRACE_OUTPUT, or NULL; `prepare`
 * is called first, under the session's lock, and its error ends the attempt.  -EALREADY: the
 * session was open before.  After another error it can be tried again. */
struct ts_record_as {
	const char *path;
	int (*prepare)(void *user);
	void *user;
};
int ts_record_open_as(const struct ts_record_as *as);

/* Ask the writer to print all that is published and wait for it, at most `timeout_ms`; with
 * `to_disk` also fsync.  Not from a signal handler.  0, -ETIMEDOUT, or the sticky write error. */
int ts_record_flush(unsigned timeout_ms, bool to_disk);

/* End the session: stop the device backend (bounded), drain the rings, write the end records,
 * close. `reason` NULL: complete; else failed with that reason.  Idempotent; later calls pass
 * through.  0 or -errno. */
int ts_record_finish(const char *reason);

/* The process may become another program, or end, without another word (exec, daemon): bring what
 * is recorded into the file and end the trace there.  True: when it did not after all,
 * ts_record_goes_on takes the end back.  Keep errno. */
bool ts_record_may_end(void);
void ts_record_goes_on(void);

/* The device backend was started (or there is none): the first lines can be written. */
bool ts_record_device_started(void);

/* Path of the trace, or NULL before it is open; valid for the process's life. */
const char *ts_record_path(void);

/* Name of a hooked function by its number; defined by preload (core knows no hook), see above.c. */
extern const char *(*const ts_fn_name)(unsigned fn);

#endif
