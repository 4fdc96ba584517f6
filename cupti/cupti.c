/* The CUPTI backend: subscribing, the kinds, and the thread that flushes.
 *
 * Two threads of our own.  One calls CUPTI's flush, which may hang, and then holds up nobody.  The
 * other reads the buffers that come back, on whatever thread they come: a thread of the program may
 * be inside a hook, and the writer must not wait for room in the rings that it empties. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "core/env.h"
#include "core/record/alone.h"
#include "core/record/device.h"
#include "cupti/buffers.h"
#include "cupti/cupti.h"
#include "cupti/device.h"
#include "cupti/library.h"

/* Longest wait for a flush before a window opens, and before a context ends. */
#define FLUSH_MS 100

static CUpti_SubscriberHandle subscriber;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t asked_cond, done_cond;
static uint64_t asked, done;
static bool asked_forced;
static bool own_clock;          /* CUPTI took ours */
static _Atomic bool managed;    /* the counters of managed memory are on */
_Atomic bool cupti_off = true;

/* CUPTI converts device times to this clock. Signal-safe and cheap: any thread, any moment. */
static uint64_t CUPTIAPI timestamp(void)
{
	return ts_clock_to_ns(ts_clock_now());
}

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = cupti_buffers_lend();
	*size = *buffer ? CUPTI_BUFFER_BYTES : 0;
	*max_records = 0;
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer,
				      size_t size, size_t valid)
{
	(void)context;
	(void)stream;
	(void)size;
	cupti_buffers_return(buffer, valid);
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

		if ((kind->when == CUPTI_GRAPH_MODE && ts_env.graphs != 1) ||
		    (kind->when == CUPTI_MANAGED && !managed))
			continue;
		result = on ? cupti_api.cuptiActivityEnable(kind->kind)
			    : cupti_api.cuptiActivityDisable(kind->kind);
		if (on && result != CUPTI_SUCCESS && kind->when == CUPTI_NEEDED) {
			snprintf(why, bytes, "CUPTI refused %s records: %s", kind->name,
				 cupti_result_text(result, text, sizeof(text)));
			return -EPERM;
		}
	}
	return 0;
}

static uint32_t describe(void)
{
	char text[64];
	uint32_t version = 0;

	if (cupti_api.cuptiGetVersion && cupti_api.cuptiGetVersion(&version) == CUPTI_SUCCESS) {
		snprintf(text, sizeof(text), "%u", version);
		ts_device_describe("cupti", text);
	}
	ts_device_describe("cupti_path", cupti_library_path());
	return version;
}

/* What a clock of CUPTI's own is apart from ours, and how well that is known: one of its readings
 * between two of ours.  When CUPTI took our clock, only the error is of interest. */
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
	apart = (after - before) / 2 + 1;
	if (own_clock)
		apart += theirs > middle ? theirs - middle : middle - theirs;
	else
		cupti_clock_offset_ns = (int64_t)(middle - theirs);
	cupti_clock_error_ns = apart > UINT32_MAX ? UINT32_MAX : (uint32_t)apart;
}

static void *flusher(void *arg);
static void *reader(void *arg);

static int start_threads(char *why, size_t bytes)
{
	int error;

	device_cond_init(&asked_cond);
	device_cond_init(&done_cond);
	error = ts_helper_start(TS_THREAD_READ, reader);
	if (!error)
		error = ts_helper_start(TS_THREAD_FLUSH, flusher);
	if (error)
		snprintf(why, bytes, "no thread for CUPTI's records");
	return error;
}

/* After the subscription: as long as CUPTI may be another tool's, nothing of it is changed. */
static int configure(char *why, size_t bytes)
{
	char text[96];
	CUptiResult result;

	/* 27 is 12.9, the first that takes NULL for a buffer; from 13.0 on it is the toolkit's
	 * number. */
	if (cupti_buffers_init(describe() >= 27)) {
		snprintf(why, bytes, "no memory for CUPTI's buffers");
		return -ENOMEM;
	}
	own_clock = cupti_api.cuptiActivityRegisterTimestampCallback &&
		    cupti_api.cuptiActivityRegisterTimestampCallback(timestamp) == CUPTI_SUCCESS;
	if (!own_clock && !cupti_api.cuptiGetTimestamp) {
		snprintf(why, bytes, "this CUPTI's clock cannot be told");
		return -ENOSYS;
	}
	if (cupti_api.cuptiSetThreadIdType)
		cupti_api.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	result = cupti_api.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
	if (result != CUPTI_SUCCESS) {
		snprintf(why, bytes, "CUPTI took no buffers: %s",
			 cupti_result_text(result, text, sizeof(text)));
		return -EBUSY;
	}
	return enable_kinds(true, why, bytes);
}

static int start(char *why, size_t bytes)
{
	char other[128], text[96];
	CUptiResult result;
	int error = cupti_library_open(why, bytes);

	if (error)
		return error;
	result = subscribe(other, sizeof(other));
	if (result != CUPTI_SUCCESS) {
		snprintf(why, bytes, "CUPTI refused: %s%s%.100s",
			 cupti_result_text(result, text, sizeof(text)),
			 *other ? ", it is used by " : "", other);
		return -EBUSY;
	}
	error = configure(why, bytes);
	if (!error)
		error = start_threads(why, bytes);
	if (error) {
		enable_kinds(false, text, sizeof(text));
		cupti_api.cuptiUnsubscribe(subscriber);
		return error;
	}
	cupti_off = false;
	cupti_callbacks_enable(subscriber, CUPTI_CALLBACKS_ALL);
	measure_clock();
	return 0;
}

/* The threads that CUPTI starts meanwhile take over the name: alone.c knows them by it. */
int cupti_start(char *why, size_t bytes)
{
	char name[16] = "";
	int error;

	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, TS_THREAD_LIBRARY);
	error = start(why, bytes);
	prctl(PR_SET_NAME, name);
	return error;
}

#define UVM_SCOPE(name) CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_##name
#define UVM_KIND(name) CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_##name

/* The first managed allocation returned.  Page faults are not counted: that makes each of them
 * slower. */
void cupti_managed_used(void)
{
	CUpti_ActivityUnifiedMemoryCounterConfig config[2 * 16];
	unsigned rows = 0;
	int devices = 0;

	if (!cupti_api.cuptiActivityConfigureUnifiedMemoryCounter ||
	    atomic_exchange(&managed, true))
		return;
	if (!device_driver.device_count || device_driver.device_count(&devices) != CUDA_SUCCESS)
		return;
	for (int device = 0; device < devices && device < 16; device++)
		for (int kind = 0; kind < 2; kind++)
			config[rows++] = (CUpti_ActivityUnifiedMemoryCounterConfig){
				.scope = UVM_SCOPE(PROCESS_SINGLE_DEVICE),
				.kind = kind ? UVM_KIND(BYTES_TRANSFER_DTOH) :
					       UVM_KIND(BYTES_TRANSFER_HTOD),
				.deviceId = (uint32_t)device,
				.enable = 1,
			};
	if (rows &&
	    cupti_api.cuptiActivityConfigureUnifiedMemoryCounter(config, rows) == CUPTI_SUCCESS)
		cupti_api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

/* --- flushing and reading ------------------------------------------------------------- */

static void flush_now(bool forced)
{
	size_t dropped = 0;

	if (!own_clock)
		measure_clock();
	cupti_api.cuptiActivityFlushAll(0);
	if (forced) {
		cupti_forced = 1;
		cupti_api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	}
	if (cupti_api.cuptiActivityGetNumDroppedRecords &&
	    cupti_api.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS &&
	    dropped)
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
		if (!cupti_off)
			flush_now(forced);
		pthread_mutex_lock(&lock);
		done = ticket;
		pthread_cond_broadcast(&done_cond);
	}
	return NULL;
}

static void *reader(void *arg)
{
	struct cupti_buffer *buffer;

	(void)arg;
	while ((buffer = cupti_buffers_take())) {
		CUpti_Activity *record = NULL;

		while (cupti_api.cuptiActivityGetNextRecord(buffer->data, buffer->valid, &record) ==
		       CUPTI_SUCCESS)
			cupti_decode(record);
		cupti_buffers_done(buffer);
	}
	return NULL;
}

void cupti_flush(unsigned timeout_ms, bool forced)
{
	struct timespec deadline = device_deadline(timeout_ms);
	bool flushed, read;
	uint64_t ticket;

	pthread_mutex_lock(&lock);
	/* One that nobody has begun serves as well. */
	ticket = timeout_ms || asked == done ? ++asked : asked;
	asked_forced |= forced;
	pthread_cond_signal(&asked_cond);
	while (timeout_ms && done < ticket)
		if (pthread_cond_timedwait(&done_cond, &lock, &deadline) == ETIMEDOUT)
			break;
	flushed = done >= ticket;
	pthread_mutex_unlock(&lock);
	if (!timeout_ms)
		return;
	/* A flush that hangs still leaves what came back before it. */
	read = cupti_buffers_wait_read(&deadline);
	if (forced && !(flushed && read))
		ts_lost(TS_LOST_device_unfinished, 1 + cupti_buffers_waiting());
}

void cupti_context_ends(void)
{
	cupti_flush(FLUSH_MS, false);
}

/* --- the end ------------------------------------------------------------------------- */

/* Never cuptiFinalize: it races with the program's threads.  Kinds and callbacks off cost nothing.
 */
void cupti_stop(void)
{
	char text[96];

	bool hangs;

	if (atomic_exchange(&cupti_off, true))
		return;
	cupti_buffers_close();
	pthread_mutex_lock(&lock);
	hangs = asked != done;
	pthread_mutex_unlock(&lock);
	if (hangs)
		return;         /* CUPTI did not come back from a flush: leave it alone */
	cupti_callbacks_enable(subscriber, CUPTI_CALLBACKS_NONE);
	enable_kinds(false, text, sizeof(text));
	cupti_api.cuptiUnsubscribe(subscriber);
}

/* By one thread at a time.  What the window launched is delivered though its kinds are off by then
 * (CUPTI keeps a record from the launch on).  But a record that no flush brought before the kinds
 * are on again has got the time of that for its end (github.com/pytorch/kineto pull request 1105).
 * The device is never waited for: work that runs on from window to window can have a wrong end. */
void cupti_gate(enum ts_gate gate)
{
	static bool enabled = true;
	bool wanted = gate != TS_GATE_CLOSED;
	char text[96];

	if (cupti_off)
		return;
	cupti_warm_up(gate == TS_GATE_WARM);
	if (wanted != enabled) {
		if (wanted)
			cupti_flush(FLUSH_MS, false);
		cupti_callbacks_enable(subscriber, wanted ? CUPTI_CALLBACKS_ALL
							   : CUPTI_CALLBACKS_OUTSIDE);
		enable_kinds(wanted, text, sizeof(text));
		enabled = wanted;
	}
	if (!wanted)
		cupti_flush(0, false);
}

/* The threads are not here, the buffers may be CUPTI's: all stays as it is, and nothing is started
 * again. */
void cupti_child(void)
{
	cupti_off = true;
}
