/* Spans by number: which were begun, on any thread, and when those that ended lately on this one
 * were.  What a call that names a span is checked against. */
#ifndef TSTRACE_CORE_SESSION_PAST_H
#define TSTRACE_CORE_SESSION_PAST_H

#include <stdatomic.h>

#include "core/session/thread.h"

#define TS_IDS_AT_ONCE 64u /* the shared counter is touched once for so many spans of a thread */
/* Take ids that follow each other.  *begun counts those that were given to a span: the taker's to
 * keep up. */
uint32_t ts_past_take(_Atomic uint8_t **begun);

/* Whether a span has this number.  The root has. */
bool ts_past_is_span(uint64_t span);

/* The parent and the times, of the session, of a span that is over.  False: it is open, or of
 * another thread, or more than TS_ENDED ended since, or its end was lost. */
struct ts_past {
	uint64_t parent, start_ns, end_ns;
};
bool ts_past_find(const struct ts_api_thread *thread, uint64_t span, struct ts_past *past);

/* Of times: nanoseconds since the session opened; else it is raw. */
#define TS_PAST_NS (UINT64_C(1) << 63)

static inline void ts_past_put(struct ts_api_thread *thread, uint32_t span, uint32_t parent,
			       uint64_t start, uint64_t end)
{
	thread->ended[thread->ended_count++ % TS_ENDED] =
	    (struct ts_ended){ (uint64_t)span << 32 | parent, start, end };
}

/* In the child of a fork: no span was begun. */
void ts_past_child(void);

#endif
