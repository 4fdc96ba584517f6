/* Numbers and facts of the intercepted functions: one of each for every row of hooks_rt.def,
 * hooks_drv.def and hooks_drv_ops.def, per-thread forms included. */
#ifndef TSTRACE_PRELOAD_FN_H
#define TSTRACE_PRELOAD_FN_H

#include "core/base.h"

/* 0 is none.  The order is that of the tables, so a number means something in one build only; a
 * trace carries names. */
enum ts_fn {
	TS_FN_none,
#define TS_EACH(lib, symbol, class, per_thread, base, version) TS_FN_##symbol,
#include "preload/each.inc"
#undef TS_EACH
	TS_FN_COUNT
};

/* What a hook does; each is a TS_DO_ macro of wrap.h, which also has ranges of these (ts_keeps). */
enum ts_class {
	TS_CLASS_NONE, TS_CLASS_ALLOC, TS_CLASS_ALLOC_AT, TS_CLASS_ALLOC_STREAM,
	TS_CLASS_ALLOC_IMPORT, TS_CLASS_ALLOC_ON, TS_CLASS_ALLOC_NODE, TS_CLASS_ALLOC_NODE_OF,
	TS_CLASS_FREE, TS_CLASS_FREE_STREAM, TS_CLASS_VMM_RETAIN, TS_CLASS_VMM_RELEASE,
	TS_CLASS_VMM_MAP, TS_CLASS_RESET_DEVICE, TS_CLASS_RESET_PRIMARY,
	TS_CLASS_RESET_CONTEXT, TS_CLASS_LAUNCH, TS_CLASS_HOST_FUNC, TS_CLASS_GRAPH,
	TS_CLASS_COPY, TS_CLASS_COPY_BATCH, TS_CLASS_COPY_WORDS, TS_CLASS_SET, TS_CLASS_OP,
	TS_CLASS_CALL, TS_CLASS_CAPTURE_BEGIN, TS_CLASS_CAPTURE_END, TS_CLASS_CONTEXT,
	TS_CLASS_CONTEXT_NEW, TS_CLASS_KERNEL_NAME, TS_CLASS_KERNEL_OF, TS_CLASS_KERNEL_SAME,
	TS_CLASS_UNLOAD, TS_CLASS_PROC, TS_CLASS_PROFILER_START, TS_CLASS_PROFILER_STOP,
	TS_CLASS_SPECIAL
};

enum ts_lib { TS_LIB_RT, TS_LIB_DRV, TS_LIBS };

struct ts_fn_facts {
	const char *name;       /* the exported symbol */
	const char *base;       /* name for cuGetProcAddress; "" in the runtime */
	int version;            /* CUDA version of this ABI, as cuGetProcAddress counts */
	uint8_t lib;            /* enum ts_lib */
	uint8_t class;          /* enum ts_class */
	uint8_t per_thread;     /* the per-thread default stream form */
};

extern const struct ts_fn_facts ts_fn_facts[TS_FN_COUNT];

/* The hook of a function for a route; NULL when the row has none for it. */
extern void *const ts_hook_dlsym[TS_FN_COUNT];
extern void *const ts_hook_proc[TS_FN_COUNT];

/* The row of an exact exported name, TS_FN_none when there is none.  Any thread, no allocation. */
enum ts_fn ts_fn_find(const char *name);

/* The next row after `from` (TS_FN_none: the first) whose base is `base`, in the order of their
 * versions; TS_FN_none at the end. */
enum ts_fn ts_fn_next_of_base(const char *base, enum ts_fn from);

#endif
