/* Events that are not in the trace, by cause. */
#include "core/record/record.h"

static _Atomic uint64_t lost[TS_LOST_CAUSES];

void ts_lost(enum ts_lost cause, uint64_t count)
{
	atomic_fetch_add_explicit(&lost[cause], count, memory_order_relaxed);
}

uint64_t ts_lost_count(enum ts_lost cause)
{
	return atomic_load_explicit(&lost[cause], memory_order_relaxed);
}

void ts_lost_child(void)
{
	for (int i = 0; i < TS_LOST_CAUSES; i++)
		atomic_store(&lost[i], 0);
}
