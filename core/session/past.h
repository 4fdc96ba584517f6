/* Spans by number, from any thread: which were begun, and when those that ended lately were.  What
 * a call that names a span is checked against. */
#ifndef TSTRACE_CORE_SESSION_PAST_H
#define TSTRACE_CORE_SESSION_PAST_H

#include <stdatomic.h>

#include "core/base.h"

#define TS_IDS_AT_ONCE 64u /* the shared counter is touched once for so many spans of a thread */
#define TS_PAST 1024u      /* spans that are over and still known; a power of two */

struct ts_past {
	uint64_t parent, start_ns, end_ns;
};

/* Take ids that follow each other.  *begun counts those that were given to a span: the taker's to
 * keep up. */
uint32_t ts_past_take(_Atomic uint8_t **begun);

/* Whether a span has this number.  The root has. */
bool ts_past_is_span(uint64_t span);

/* False: the span is open, or ended too long ago, or its end was lost. */
bool ts_past_find(uint64_t span, struct ts_past *past);

/* Written by the thread that ends the span, without a lock or an order: the last word tells whether
 * all four are of the same span. */
struct ts_past_slot {
	_Atomic uint64_t ids, start, end, check;
};
extern struct ts_past_slot ts_past_slots[TS_PAST];

/* Of times: nanoseconds since the session opened; else it is raw. */
#define TS_PAST_NS (UINT64_C(1) << 63)

static inline void ts_past_put(uint32_t span, uint32_t parent, uint64_t start, uint64_t end)
{
	struct ts_past_slot *slot = &ts_past_slots[span % TS_PAST];
	uint64_t ids = (uint64_t)span << 32 | parent;

	atomic_store_explicit(&slot->ids, ids, memory_order_relaxed);
	atomic_store_explicit(&slot->start, start, memory_order_relaxed);
	atomic_store_explicit(&slot->end, end, memory_order_relaxed);
	atomic_store_explicit(&slot->check, ids ^ start ^ end, memory_order_relaxed);
}

/* In the child of a fork: no span was begun. */
void ts_past_child(void);

#endif
