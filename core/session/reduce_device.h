/* What the kernels of reduce.cu and their launcher agree on. */
#ifndef TSTRACE_CORE_SESSION_REDUCE_DEVICE_H
#define TSTRACE_CORE_SESSION_REDUCE_DEVICE_H

#include "core/session/reduce.h"

#define TS_REDUCE_THREADS 256u
#define TS_REDUCE_BLOCKS 512u /* at most */
#define TS_REDUCE_SLOTS 8u    /* tensors at once, of a device */

/* Results of the blocks. */
struct ts_parts {
	struct ts_range range[TS_REDUCE_BLOCKS];
	struct ts_spread spread[TS_REDUCE_BLOCKS];
};

/* The kernels take a view by value and the address of a slot. */
#define TS_REDUCE_RANGE "tstrace_stats_range"
#define TS_REDUCE_SPREAD "tstrace_stats_spread"
#define TS_REDUCE_PARTS "tstrace_stats_parts"

/* PTX; "" when the library was built without nvcc. */
extern const char ts_reduce_ptx[];

#endif
