/* The hooks of each row by route. */
#include "preload/fn.h"

#define TS_EACH(lib, symbol, class, per_thread, base, version) void ts_dlsym_##symbol(void);
#include "preload/each.inc"
#undef TS_EACH

#define TS_PROC_RT(symbol)
#define TS_PROC_DRV(symbol) void ts_proc_##symbol(void);
#define TS_EACH(lib, symbol, class, per_thread, base, version) TS_PROC_##lib(symbol)
#include "preload/each.inc"
#undef TS_EACH
#undef TS_PROC_DRV

void *const ts_hook_dlsym[TS_FN_COUNT] = {
#define TS_EACH(lib, symbol, class, per_thread, base, version)                                     \
	[TS_FN_##symbol] = (void *)ts_dlsym_##symbol,
#include "preload/each.inc"
#undef TS_EACH
};

#define TS_PROC_DRV(symbol) [TS_FN_##symbol] = (void *)ts_proc_##symbol,
void *const ts_hook_proc[TS_FN_COUNT] = {
#define TS_EACH(lib, symbol, class, per_thread, base, version) TS_PROC_##lib(symbol)
#include "preload/each.inc"
#undef TS_EACH
};
