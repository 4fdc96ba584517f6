/* Records of calls that are told of, not hooked: the halves of hook.h after the call. */
#ifndef TSTRACE_PRELOAD_TOLD_H
#define TSTRACE_PRELOAD_TOLD_H

#include "core/record/device.h"
#include "preload/hook.h"

/* A free at `begin`, or one that failed.  On the thread's own ring, at depth 1. */
void ts_hook_free_told(struct ts_ring *ring, const struct ts_hook *hook, uint64_t begin,
		       uint8_t kind, uint64_t address, bool ordered, uint64_t stream, int error);

/* A launch, copy, set or mapping; `op` is reserved in the ring, and filled as for
 * ts_hook_op_begin. */
void ts_hook_op_told(struct ts_ring *ring, const struct ts_hook *hook, struct ts_rec_op *op,
		     const struct ts_told *told);

#endif
