/* cuGetProcAddress: function pointers by name and ABI version. */
#ifndef TSTRACE_PRELOAD_PROC_H
#define TSTRACE_PRELOAD_PROC_H

#include <stdint.h>

#include "preload/fn.h"

/* The real look-up `real` (of row `via`: cuGetProcAddress or _v2) gave *pfn for these arguments.
 * Replaces it by our hook when the driver gives the same pointer for a row of the tables; else
 * leaves it, and counts a known name in an unknown ABI. */
void ts_proc_wrap(void *real, enum ts_fn via, const char *symbol, void **pfn, int version,
		  uint64_t flags);

/* Something was unmapped: what an unloaded driver gave is no longer what the driver gives. */
void ts_proc_unloaded(void);

#endif
