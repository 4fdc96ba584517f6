/* What the backends' threads share: waiting, and the way of an interval into a ring. */
#include <string.h>

#include "cupti/device.h"

void device_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

struct timespec device_deadline(unsigned ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

void device_emit(const struct ts_rec_interval *interval)
{
	/* The window closed, its work ends later: still its own. */
	struct ts_ring *ring = ts_enter_tracked();
	void *rec;

	if (!ring) {
		ts_lost(ts_recording == TS_REC_FINISHED ? TS_LOST_late : TS_LOST_no_ring, 1);
	} else if ((rec = ts_reserve(ring, 2))) {
		memcpy(rec, interval, sizeof(*interval));
		ts_commit(ring, 2);
	}
	ts_leave();
}
