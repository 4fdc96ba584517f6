/* The CUPTI backend: subscribing, the kinds, and the thread that flushes.
 *
 * Flushing is done by a thread of our own: CUPTI may complete buffers on the thread that flushes, and that must
 * not be the writer, who empties the rings that the records go to; and it may hang, which then holds up
 * nobody. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/env.h"
#include "core/record/device.h"
#include "cupti/cupti.h"
#include "cupti/device.h"
#include "cupti/library.h"

static CUpti_SubscriberHandle subscriber;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked_cond, done_cond;
static uint64_t asked, done;
static bool asked_forced, thread_runs;
static _Atomic bool stopped;

/* CUPTI converts device times to this clock. Signal-safe and cheap: any thread, any moment. */
static uint64_t CUPTIAPI timestamp(void)
{
	return ts_clock_to_ns(ts_clock_now());
}

/* --- starting ----------------------------------------------------------------------- */

static CUptiResult subscribe(char *other, size_t bytes)
{
	CUpti_SubscriberParams params = {
		.structSize = sizeof(params),
		.subscriberName = "tstrace",
		.oldSubscriberName = other,
		.oldSubscriberSize = bytes,
	};

	*other = '\0';
	if (cupti_api.cuptiSubscribe_v2)
		return cupti_api.cuptiSubscribe_v2(&subscriber, cupti_callback, NULL, &params);
	return cupti_api.cuptiSubscribe(&subscriber, cupti_callback, NULL);
}

static int enable_kinds(bool on, char *why, size_t bytes)
{
	char text[96];

	for (unsigned k = 0; k < cupti_kind_count; k++) {
		const struct cupti_kind *kind = &cupti_kinds[k];
		CUptiResult result;

		if (kind->when == CUPTI_GRAPH_MODE && ts_env.graphs != 1)
			continue;
		result = on ? cupti_api.cuptiActivityEnable(kind->kind) : cupti_api.cuptiActivityDisable(kind->kind);
		if (on && result != CUPTI_SUCCESS && kind->when == CUPTI_NEEDED) {
			snprintf(why, bytes, "CUPTI refused %s records: %s", kind->name,
				 cupti_result_text(result, text, sizeof(text)));
			return -EPERM;
		}
	}
	return 0;
}

static void describe(void)
{
	char text[64];
	uint32_t version = 0;

	if (cupti_api.cuptiGetVersion && cupti_api.cuptiGetVersion(&version) == CUPTI_SUCCESS) {
		snprintf(text, sizeof(text), "%u", version);
		ts_device_describe("cupti", text);
	}
	ts_device_describe("cupti_path", cupti_library_path());
	/* 28 is 12.9 update 1; from 13.0 on the number is that of the toolkit. */
	cupti_buffers_may_refuse(version >= 27);
}

/* How far CUPTI's clock is from ours: the time between two readings around one of CUPTI's. */
static void measure_clock(void)
{
	uint64_t before, theirs = 0, after, middle, apart;

	if (!cupti_api.cuptiGetTimestamp)
		return;
	before = timestamp();
	if (cupti_api.cuptiGetTimestamp(&theirs) != CUPTI_SUCCESS)
		return;
	after = timestamp();
	middle = before + (after - before) / 2;
	apart = (theirs > middle ? theirs - middle : middle - theirs) + (after - before) / 2;
	cupti_clock_error_ns = apart > UINT32_MAX ? UINT32_MAX : (uint32_t)apart;
}

static void *flusher(void *arg);

int cupti_start(char *why, size_t bytes)
{
	char other[128], text[96];
	CUptiResult result;
	int error = cupti_library_open(why, bytes);

	if (error)
		return error;
	stopped = false;
	if (cupti_api.cuptiActivityRegisterTimestampCallback)
		cupti_api.cuptiActivityRegisterTimestampCallback(timestamp);
	result = subscribe(other, sizeof(other));
	if (result != CUPTI_SUCCESS) {
		snprintf(why, bytes, "CUPTI refused: %s%s%.100s", cupti_result_text(result, text, sizeof(text)),
			 *other ? ", it is used by " : "", other);
		return -EBUSY;
	}
	describe();
	if (cupti_api.cuptiSetThreadIdType)
		cupti_api.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	result = cupti_api.cuptiActivityRegisterCallbacks(cupti_buffer_requested, cupti_buffer_completed);
	if (result != CUPTI_SUCCESS) {
		snprintf(why, bytes, "CUPTI took no buffers: %s", cupti_result_text(result, text, sizeof(text)));
		error = -EBUSY;
	}
	if (!error)
		error = enable_kinds(true, why, bytes);
	if (!error && !thread_runs) {
		device_cond_init(&asked_cond);
		device_cond_init(&done_cond);
		error = device_thread_start("tstrace-cupti", flusher);
		thread_runs = !error;
		if (error)
			snprintf(why, bytes, "no thread for CUPTI's records");
	}
	if (error) {
		enable_kinds(false, text, sizeof(text));
		cupti_api.cuptiUnsubscribe(subscriber);
		return error;
	}
	cupti_callbacks_enable(subscriber, true);
	measure_clock();
	return 0;
}

/* --- flushing ----------------------------------------------------------------------- */

static void flush_now(bool forced)
{
	size_t dropped = 0;

	if (forced)
		cupti_api.cuptiActivityFlushAll(0);
	atomic_store(&cupti_forced, forced);
	cupti_api.cuptiActivityFlushAll(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
	if (cupti_api.cuptiActivityGetNumDroppedRecords &&
	    cupti_api.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS && dropped)
		ts_lost(TS_LOST_device_dropped, dropped);
}

static void *flusher(void *arg)
{
	(void)arg;
	ts_self.depth = 1;      /* what CUPTI calls here is not the program's */
	pthread_mutex_lock(&lock);
	for (;;) {
		uint64_t ticket;
		bool forced;

		while (asked == done)
			pthread_cond_wait(&asked_cond, &lock);
		ticket = asked;
		forced = asked_forced;
		asked_forced = false;
		pthread_mutex_unlock(&lock);
		if (!stopped)
			flush_now(forced);
		pthread_mutex_lock(&lock);
		done = ticket;
		pthread_cond_broadcast(&done_cond);
	}
	return NULL;
}

void cupti_flush(unsigned timeout_ms, bool forced)
{
	struct timespec deadline = device_deadline(timeout_ms);
	uint64_t ticket;

	pthread_mutex_lock(&lock);
	/* One that nobody has begun serves as well. */
	ticket = timeout_ms || asked == done ? ++asked : asked;
	asked_forced |= forced;
	pthread_cond_signal(&asked_cond);
	while (timeout_ms && done < ticket)
		if (pthread_cond_timedwait(&done_cond, &lock, &deadline) == ETIMEDOUT)
			break;
	pthread_mutex_unlock(&lock);
}

void cupti_context_ends(void)
{
	cupti_flush(100, false);
}

/* --- the end ------------------------------------------------------------------------- */

/* Never cuptiFinalize: it races with the program's threads.  Kinds and callbacks off cost nothing. */
void cupti_stop(void)
{
	char text[96];

	if (atomic_exchange(&stopped, true))
		return;
	pthread_mutex_lock(&lock);
	bool hangs = asked != done;
	pthread_mutex_unlock(&lock);
	if (hangs)
		return;         /* CUPTI did not come back from a flush: leave it alone */
	cupti_callbacks_enable(subscriber, false);
	enable_kinds(false, text, sizeof(text));
	cupti_api.cuptiUnsubscribe(subscriber);
}

void cupti_pause(bool paused)
{
	char text[96];

	cupti_callbacks_enable(subscriber, !paused);
	enable_kinds(!paused, text, sizeof(text));
}

void cupti_child(void)
{
	pthread_mutex_init(&lock, NULL);
	asked = done = 0;
	asked_forced = thread_runs = false;
	stopped = true;
	cupti_buffers_child();
}
