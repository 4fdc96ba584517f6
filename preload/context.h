/* What the driver knows about the calling thread, asked through real driver functions only: the
 * runtime's own queries would change the program's last error. */
#ifndef TSTRACE_PRELOAD_CONTEXT_H
#define TSTRACE_PRELOAD_CONTEXT_H

#include "core/record/record.h"
#include "preload/cuda_api.h"

struct ts_where {
	int16_t device;         /* ordinal, or TS_DEVICE_NONE */
	uint16_t context;       /* dense number from 1; 0 unknown */
};

/* Device and context of the calling thread.  Remembered until ts_where_changed(). */
struct ts_where ts_where(void);

/* The thread's current context may have changed. */
void ts_where_changed(void);

/* Dense number of a context that ts_where has met, else 0. */
unsigned ts_context_number(CUcontext context);

/* Streams that are being captured: counted by the capture hooks, so that no query is made while there
 * is none. */
void ts_capture_begun(int error);
void ts_capture_ended(int error);
bool ts_is_capturing(uint64_t stream, bool per_thread);

/* Whether the device's primary context is active; true when it cannot be told. */
bool ts_primary_is_active(int device);

/* Size of the allocation that `address` lies in; 0 unknown. */
uint64_t ts_allocation_bytes(uint64_t address);

/* Raw name of a kernel by the driver's handle, NULL unknown. */
const char *ts_driver_kernel_name(uint64_t handle);

/* Device memory checkpoints: `now` is a raw clock value.  Depth 1, own ring. */
void ts_memory_check(struct ts_ring *ring, uint64_t now);
void ts_memory_record(struct ts_ring *ring, uint8_t reason);

/* The process forked: none of it is true in the child. */
void ts_context_child(void);

#endif
