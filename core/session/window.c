/* Windows: when events are recorded. */
#include <errno.h>
#include <pthread.h>

#include "core/record/device.h"
#include "core/record/record.h"
#include "core/tstrace.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned pauses;

static void switch_to(bool on)
{
	int from = on ? TS_REC_OFF : TS_REC_ON;

	if (!atomic_compare_exchange_strong(&ts_recording, &from, on ? TS_REC_ON : TS_REC_OFF))
		return;
	if (ts_device && ts_device->pause)
		ts_device->pause(!on);
}

TS_EXPORT int tstrace_pause(tstrace_session *session)
{
	int error;

	(void)session;
	if (ts_self.depth++) {
		ts_self.depth--;
		return -EBUSY;
	}
	error = ts_record_open();
	if (!error) {
		pthread_mutex_lock(&lock);
		if (!pauses++)
			switch_to(false);
		pthread_mutex_unlock(&lock);
	}
	ts_self.depth--;
	return error;
}

TS_EXPORT int tstrace_resume(tstrace_session *session)
{
	int error = 0;

	(void)session;
	if (ts_self.depth++) {
		ts_self.depth--;
		return -EBUSY;
	}
	pthread_mutex_lock(&lock);
	if (!pauses)
		error = -EINVAL;
	else if (!--pauses)
		switch_to(true);
	pthread_mutex_unlock(&lock);
	ts_self.depth--;
	return error;
}
