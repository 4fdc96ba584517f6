/* What the driver knows about the calling thread, asked through real driver functions only: the
 * runtime's own queries would change the program's last error. */
#ifndef TSTRACE_PRELOAD_CONTEXT_H
#define TSTRACE_PRELOAD_CONTEXT_H

#include <stdatomic.h>

#include "core/record/record.h"
#include "preload/cuda_api.h"

struct ts_where {
	int16_t device;         /* ordinal, or TS_DEVICE_NONE */
	uint16_t context;       /* dense number from 1; 0 unknown */
	bool own;               /* the program made it: not the device's primary one */
};

/* What the thread knows of where it is; see ts_where. */
struct ts_where_known {
	struct ts_where where;
	bool known;
};
extern _Thread_local struct ts_where_known ts_where_here __attribute__((tls_model("initial-exec")));

TS_COLD struct ts_where ts_where_ask(void);

/* Device and context of the calling thread.  The driver is asked once, until ts_where_changed();
 * keeps errno. */
static inline struct ts_where ts_where(void)
{
	return ts_likely(ts_where_here.known) ? ts_where_here.where : ts_where_ask();
}

/* The thread's current context may have changed. */
static inline void ts_where_changed(void)
{
	ts_where_here.known = false;
}

/* Dense number of a context that ts_where has met, else 0. */
unsigned ts_context_number(CUcontext context);

/* The program made this one, or destroyed it: its address may come again as a primary one's. */
void ts_context_made(CUcontext context);
void ts_context_destroyed(CUcontext context);

/* Streams that are being captured: counted by the capture hooks, so that no query is made while
 * there is none. */
void ts_capture_begun(int error);
void ts_capture_ended(int error);
extern _Atomic int ts_captures;
TS_COLD bool ts_is_capturing_asked(uint64_t stream, bool per_thread);   /* keeps errno */

static inline bool ts_is_capturing(uint64_t stream, bool per_thread)
{
	return ts_unlikely(atomic_load_explicit(&ts_captures, memory_order_relaxed)) &&
	       ts_is_capturing_asked(stream, per_thread);
}

/* Whether the device's primary context is active; true when it cannot be told. */
bool ts_primary_is_active(int device);

/* Size of the allocation that `address` lies in; 0 unknown. */
uint64_t ts_allocation_bytes(uint64_t address);

/* The device that `address` lies on, where there are several; keeps errno. */
TS_COLD int16_t ts_device_of(uint64_t address, int16_t otherwise);

/* Raw name of a kernel by the driver's handle, NULL unknown. */
const char *ts_driver_kernel_name(uint64_t handle);

/* Device memory checkpoints: the next is due at this raw time.  Depth 1, own ring; both keep errno.
 */
extern _Atomic uint64_t ts_memory_due;
TS_COLD void ts_memory_checkpoint(struct ts_ring *ring, uint64_t now);
TS_COLD void ts_memory_record(struct ts_ring *ring, uint8_t reason);

static inline void ts_memory_check(struct ts_ring *ring, uint64_t now)
{
	if (ts_unlikely(now >= atomic_load_explicit(&ts_memory_due, memory_order_relaxed)))
		ts_memory_checkpoint(ring, now);
}

/* Something was unmapped: forget the driver's functions if it was the driver. */
void ts_context_unloaded(void);

/* The process forked: none of it is true in the child. */
void ts_context_child(void);

#endif
