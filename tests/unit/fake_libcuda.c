/* A driver that owns nothing but an observer: the test of the stand-in CUPTI plays its part. */
#include <stddef.h>

#include "tests/sim/observer.h"

#define EXPORT __attribute__((visibility("default")))

/* Read by the test to report work; NULL while nobody observes. */
EXPORT const struct sim_observer *fake_observer;

EXPORT int tstrace_sim_observe(const struct sim_observer *observer)
{
	if (observer && observer->version != SIM_OBSERVER_VERSION)
		return -1;
	fake_observer = observer;
	return 0;
}

/* Handles stand for themselves, but for those below 16, which are of nothing. */
EXPORT int tstrace_sim_id(enum sim_handle what, const void *handle, uint64_t *id)
{
	(void)what;
	if ((uintptr_t)handle < 16)
		return -1;
	*id = (uintptr_t)handle;
	return 0;
}
