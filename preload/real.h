/* Where the real functions are.
 *
 * Three routes, each with its own idea of "real": a call that the dynamic linker bound to our
 * symbol goes to what the calling object would have got without us; a pointer handed out by dlsym
 * or cuGetProcAddress goes to exactly the function that was found then. */
#ifndef TSTRACE_PRELOAD_REAL_H
#define TSTRACE_PRELOAD_REAL_H

#include <stdatomic.h>

#include "preload/fn.h"

/* Symbol route: calls that return into [low, low + size) go to `real`.  Never changed once
 * published: one load gives a whole answer.  Several when several runtimes are in the process. */
struct ts_binding {
	uintptr_t low, size;
	void *real;
	_Atomic(struct ts_binding *) next;
};
extern _Atomic(struct ts_binding *) ts_bindings[TS_FN_COUNT];

/* The slow half of ts_real_bound: resolves and remembers.  NULL: there is no real function. */
TS_COLD void *ts_bind(enum ts_fn fn, void *caller);

/* The real function for a call that returns to `caller`, if the first binding tells; else NULL. */
static inline void *ts_real_known(enum ts_fn fn, void *caller)
{
	struct ts_binding *b = atomic_load_explicit(&ts_bindings[fn], memory_order_acquire);

	return ts_likely(b && (uintptr_t)caller - b->low < b->size) ? b->real : NULL;
}

/* The same, found where it is not known. */
static inline void *ts_real_bound(enum ts_fn fn, void *caller)
{
	void *real = ts_real_known(fn, caller);

	return ts_likely(real) ? real : ts_bind(fn, caller);
}

/* dlsym and cuGetProcAddress route: one function a row, the first that was handed out. */
extern _Atomic(void *) ts_real_dlsym[TS_FN_COUNT];
extern _Atomic(void *) ts_real_proc[TS_FN_COUNT];

static inline void *ts_real_held(_Atomic(void *) *slot)
{
	return atomic_load_explicit(slot, memory_order_acquire);
}

/* Put `real` into a slot.  True when it is there now: the slot was free or held the same. */
bool ts_real_hold(_Atomic(void *) *slot, void *real);

/* The real driver's exported function, never a hook; NULL while no driver is loaded.  Not
 * cached; takes no lock of ours, allocates nothing. */
void *ts_real_driver(const char *symbol);

/* Something was unmapped: forget every pointer into it. */
void ts_real_unloaded(void);

/* Called once by the constructor: what is loaded now is in the global scope. */
void ts_real_start(void);

/* Whether the program can meet a hook: false where only the driver opened this library. */
bool ts_hooks_reachable(void);

/* The next definition of a libc function in search order after this library (another preloaded
 * tool's, or libc's): what RTLD_NEXT would give. */
void *ts_real_next(const char *symbol);

/* libc's own definition. */
void *ts_real_libc(const char *symbol);

/* What a wrapper returns where there is no real function. */
#define TS_MISSING_RT cudaErrorUnknown
#define TS_MISSING_DRV CUDA_ERROR_UNKNOWN

#endif
