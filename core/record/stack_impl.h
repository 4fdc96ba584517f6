/* The parts of the stack walker, for each other and for their tests only.
 *
 *	stack.c         a thread's cache, memos of whole stacks, interning
 *	stack_walk.c    the walk
 *	stack_rule.c    rules: cache of the process, the lock, what runs on the scratch stack
 *	stack_unwind.c  libunwind: opened at run time, asked about one address
 *	stack_bounds.c  which memory is the thread's stack
 *	module.c        which file an address comes from */
#ifndef TSTRACE_CORE_RECORD_STACK_IMPL_H
#define TSTRACE_CORE_RECORD_STACK_IMPL_H

#include <stdint.h>

#include "core/base.h"

/* The walker reads its own thread's stack by address: nothing there is the sanitizers' business. */
#define TS_RAW_MEMORY __attribute__((no_sanitize("address", "thread", "undefined")))

/* How to find the caller of the code at `pc`: all of a frame's unwinding that a call stack needs.
 * `pc` is the last byte of the call instruction (return address - 1), which lies in the calling
 * function even when the call never returns; in a frame that a signal interrupted it is the exact
 * address. */
struct ts_rule {
	uint64_t pc;
	int32_t cfa; /* bytes from the base to the caller's frame */
	int16_t bp;  /* words from the CFA to the saved frame pointer */
	uint8_t ip;  /* TS_RULE_CONTEXT: words from the stack pointer to the saved pc */
	uint8_t flags;
};
_Static_assert(sizeof(struct ts_rule) == 16, "four rules a cache line");

#define TS_RULE_CFA_BP 1   /* the base is the frame pointer, else the stack pointer */
#define TS_RULE_BP_SAVED 2 /* the caller's frame pointer is in memory, else unchanged */
/* A rule with any flag from here on is not the usual kind. */
#define TS_RULE_CFA_LOAD 4  /* the CFA is the word at base + cfa (realigned stacks) */
#define TS_RULE_BP_AT_SP 8  /* `bp` counts from the stack pointer */
#define TS_RULE_BP_AT_BP 16 /* `bp` counts from the frame pointer */
#define TS_RULE_END 32	    /* the outermost frame */
#define TS_RULE_NO_INFO 64  /* nothing is known about the caller */
#define TS_RULE_CONTEXT 128 /* a signal's frame: the caller was interrupted, not calling */
#define TS_RULE_USUAL(flags) (!((flags) & ~(TS_RULE_CFA_BP | TS_RULE_BP_SAVED)))

/* One lock for all that is learned and shared: rules, modules, libunwind itself.  Never taken on a
 * warm walk.  Waits a bounded time, since its holder may wait for the loader's lock, which we may
 * hold: false means that this stack cannot be taken.  Signal handlers never get here (depth). */
bool ts_stack_lock(void);
void ts_stack_unlock(void);
void ts_stack_lock_before_fork(void);
void ts_stack_lock_after_fork(bool in_child);

/* With the lock: the rule of `pc`, learned if need be.  `in_module`: false where no loaded file
 * has that address; the answer must not be kept then, since a file may be loaded there later. */
struct ts_rule ts_rule_get(uint64_t pc, bool *in_module);
void ts_rule_forget_all(void);

/* Run fn(arg) with all signals blocked on a stack of our own, for callees whose need of stack is
 * not ours to bound (libunwind, dlopen) in threads of 16 KiB.  With the lock.  0 or -errno. */
int ts_stack_run_aside(void (*fn)(void *), void *arg);

/* libunwind.  open: with the lock; problem text or NULL.  learn: on the aside stack, with the lock.
 */
const char *ts_unwind_open(void);
struct ts_dso;
struct ts_rule ts_unwind_learn(uint64_t pc, const struct ts_dso *object);

/* Memory that is this thread's stack: [lo, hi) can be read; nothing below `floor` belongs to it. */
struct ts_bounds {
	uint64_t lo, hi, floor;
};

void ts_bounds_init(struct ts_bounds *bounds, uint64_t sp);
TS_COLD bool ts_bounds_extend(struct ts_bounds *bounds, uint64_t sp);

static inline bool ts_bounds_contain(struct ts_bounds *bounds, uint64_t sp)
{
	if (ts_likely(sp >= bounds->lo && sp < bounds->hi))
		return true;
	return ts_bounds_extend(bounds, sp);
}

/* Whether the page of `address` can be read; one system call, changes nothing. */
bool ts_page_readable(uint64_t address);

#endif
