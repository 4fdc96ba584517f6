/* Iterations of a training loop: when each began. */
#ifndef TSTRACE_CORE_SESSION_STEP_H
#define TSTRACE_CORE_SESSION_STEP_H

#include "core/base.h"

/* Writer thread: ,"iteration":<n> of an event at this raw time; nothing outside iterations. */
void ts_print_iteration(uint64_t raw);

/* At depth 1: an iteration begins (inside), or the one under way ends.  `ring` NULL: outside the
 * window. */
struct ts_ring;
void ts_step_boundary(struct ts_ring *ring, uint64_t iteration, bool inside);

void ts_step_child(void);

/* Registered by preload: a checkpoint of the device's memory, by the calling thread at depth 1. */
extern void (*const ts_step_checkpoint)(struct ts_ring *ring);

#endif
