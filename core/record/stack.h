/* Call stacks of the calling thread, as arena ids.
 *
 * The walker steps by rules, one for each return address: where the caller's frame begins (an
 * offset from the stack or frame pointer) and where the frame pointer was saved.  A rule is learned
 * once, from libunwind, and kept in a per-thread cache; a warm walk makes no system call, takes no
 * lock and allocates nothing.  libunwind is opened at the first stack with RTLD_LOCAL, so that its
 * _Unwind_* and backtrace never take the place of the program's own. */
#ifndef TSTRACE_CORE_RECORD_STACK_H
#define TSTRACE_CORE_RECORD_STACK_H

#include <stdint.h>

#include "core/base.h"

#define TS_STACK_MAX 256 /* frames, TSTRACE_STACKS at most */

/* The stack of the caller, at most TSTRACE_STACKS frames, innermost first, beginning with the code
 * that called into tstrace.  `frame` is __builtin_frame_address(0) of the hook: the walk begins
 * with its return address.  Returns an arena id; 0 when stacks are off, cannot be taken (counted),
 * or the store is full.  Only at depth 1, on the thread itself; keeps errno. */
uint32_t ts_stack_take(void *frame);

/* NULL when stacks can be taken or none was asked for yet, else why not (lives for ever).  Said
 * once on stderr by the first stack; the trace's end should say it too. */
const char *ts_stack_problem(void);

/* Right after a dlclose, on its thread: when it unloaded code, all that is known about code is
 * dropped, by each thread at its next stack.  Takes the loader's lock. */
void ts_stack_code_changed(void);

/* The thread ends: give back its cache.  Later stacks of the thread are 0. */
void ts_stack_thread_end(void);

/* Around fork, in the parent before it and in both after it: the child must not inherit a lock that
 * a thread it does not have holds. */
void ts_stack_before_fork(void);
void ts_stack_after_fork(bool in_child);

/* Set the number of frames (0 = off, the state before the first call), at most TS_STACK_MAX; called
 * when the session opens, before any thread takes a stack. */
void ts_stack_set_depth(unsigned frames);

#endif
