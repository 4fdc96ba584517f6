/* The LTTng-UST peer, in a shared object of its own so that the probes run without it too. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/bench/lttng_tp.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void peer_event(uint64_t a, uint64_t b, uint64_t c)
{
	lttng_ust_tracepoint(tstrace_bench, event, a, b, c);
}

/* Whether a session records it: else the figure would be that of a branch. */
EXPORT int peer_recording(void)
{
	return lttng_ust_tracepoint_enabled(tstrace_bench, event);
}
