/* The fallback: CUDA events before and after each piece of work, on its own stream, by the real
 * driver's functions.  The program is never synchronised: a thread of ours reads the events when
 * they have passed. The hooks do not come here during a capture: an event would become a part of
 * the program's graph. */
#include "cupti/event.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "core/record/device.h"
#include "cupti/device.h"

#define PENDING_MAX                                                                                \
	65536u /* pieces of work not yet read; the driver has room for that many events */
#define CHUNK 64                /* works made at once, so that a system call is rare */

static uint32_t last_correlation;
static unsigned contexts_seen;
static _Atomic bool paused_now;

/* Making events and streams, and what is asked of them, must not break a capture that this thread
 * has under way on another stream. */
static CUstreamCaptureMode relax(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	if (device_driver.capture_mode && device_driver.capture_mode(&mode) != CUDA_SUCCESS)
		mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	return mode;
}

static void unrelax(CUstreamCaptureMode mode)
{
	if (device_driver.capture_mode)
		device_driver.capture_mode(&mode);
}

/* --- contexts ------------------------------------------------------------------- */

/* The entry of a context, under event_lock. */
static struct event_context *find(CUcontext handle)
{
	for (unsigned i = 0; i < EVENT_CONTEXTS; i++)
		if (event_contexts[i].handle == handle)
			return &event_contexts[i];
	return NULL;
}

/* A context's first work: a place on the clock, before it is seen by our thread. */
static struct event_context *adopt(CUcontext handle)
{
	struct event_context *context;
	CUdevice device = -1;

	pthread_mutex_lock(&event_driver_lock);
	pthread_mutex_lock(&event_lock);
	context = find(handle);
	if (!context && (context = find(NULL))) {
		context->number = ++contexts_seen;
		context->unused = context->first = NULL;
		context->ending = false;
		context->last = &context->first;
		context->stream = NULL;
		context->base_count = 0;
		for (unsigned i = 0; i < EVENT_BASES; i++)
			context->bases[i] = (struct event_base){ 0 };
		pthread_mutex_unlock(&event_lock);
		if (device_driver.context_device &&
		    device_driver.context_device(&device) != CUDA_SUCCESS)
			device = -1;
		context->device = (int16_t)device;
		event_anchor(context);          /* if it fails, our thread tries again */
		pthread_mutex_lock(&event_lock);
		context->handle = handle;
	}
	pthread_mutex_unlock(&event_lock);
	pthread_mutex_unlock(&event_driver_lock);
	return context;
}

static struct event_context *current(void)
{
	struct event_context *context;
	CUstreamCaptureMode mode;
	CUcontext handle = NULL;

	if (device_driver.context_current(&handle) != CUDA_SUCCESS || !handle)
		return NULL;
	pthread_mutex_lock(&event_lock);
	context = find(handle);
	pthread_mutex_unlock(&event_lock);
	if (context)
		return context;
	mode = relax();
	context = adopt(handle);
	unrelax(mode);
	return context;
}

/* --- work ----------------------------------------------------------------------- */

static bool make_events(struct event_work *work)
{
	if (device_driver.event_create(&work->begin, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
		return false;
	if (device_driver.event_create(&work->end, CU_EVENT_DEFAULT) == CUDA_SUCCESS)
		return true;
	if (device_driver.event_destroy)
		device_driver.event_destroy(work->begin);
	return false;
}

/* More works for a context; the first is for the caller.  Never freed: events are used again. */
static struct event_work *make_works(struct event_context *context)
{
	struct event_work *works = mmap(NULL, CHUNK * sizeof(*works), PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CUstreamCaptureMode mode;
	unsigned made = 0;

	if (works == MAP_FAILED)
		return NULL;
	mode = relax();
	while (made < CHUNK && make_events(&works[made]))
		made++;
	unrelax(mode);
	pthread_mutex_lock(&event_lock);
	for (unsigned i = 1; i < made; i++) {
		works[i].next = context->unused;
		context->unused = &works[i];
	}
	pthread_mutex_unlock(&event_lock);
	return made ? works : NULL;
}

static struct event_work *take(struct event_context *context)
{
	struct event_work *work;
	uint32_t generation;

	pthread_mutex_lock(&event_lock);
	generation = context->generation;
	work = context->unused;
	if (work)
		context->unused = work->next;
	pthread_mutex_unlock(&event_lock);
	if (!work && event_pending < PENDING_MAX)
		work = make_works(context);
	if (work) {
		work->context = context;
		work->generation = generation;
	}
	return work;
}

/* Under event_lock.  Events of a context that ended meanwhile went with it. */
static void put_back(struct event_work *work)
{
	if (work->generation != work->context->generation)
		return;
	work->next = work->context->unused;
	work->context->unused = work;
}

/* A number for the trace.  The handle of a destroyed stream is given out again, its id is not. */
static uint32_t stream_number(CUstream stream)
{
	unsigned long long id;

	if (device_driver.stream_id && device_driver.stream_id(stream, &id) == CUDA_SUCCESS)
		return (uint32_t)id;
	return (uint32_t)(uintptr_t)stream;
}

static void *before(uint64_t stream, bool per_thread)
{
	struct event_context *context;
	struct event_work *work;

	if (paused_now)
		return NULL;
	context = current();
	work = context ? take(context) : NULL;
	if (!work) {
		/* No context yet (the call will make it), or no room for another event. */
		ts_lost(TS_LOST_device_untimed, 1);
		return NULL;
	}
	work->stream = stream || !per_thread ? (CUstream)(uintptr_t)stream : CU_STREAM_PER_THREAD;
	work->submitted = ts_clock_now();
	if (device_driver.event_record(work->begin, work->stream) == CUDA_SUCCESS)
		return work;
	/* A stream of another context, for one. */
	ts_lost(TS_LOST_device_untimed, 1);
	pthread_mutex_lock(&event_lock);
	put_back(work);
	pthread_mutex_unlock(&event_lock);
	return NULL;
}

static uint8_t activity_of(const struct ts_rec_op *op)
{
	if (op->grid[0])
		return TS_ACT_KERNEL;
	if (op->copy_kind)
		return TS_ACT_MEMCPY;
	return op->handle ? TS_ACT_GRAPH : TS_ACT_MEMSET;
}

static void describe(struct event_work *work, const struct ts_rec_op *op)
{
	work->launched = op->h.t;
	work->interval = (struct ts_rec_interval){
		.h = { .kind = TS_REC_INTERVAL,
		       .slots = 2,
		       .span = op->h.span,
		       .device =
			   work->context->device >= 0 ? work->context->device : op->h.device },
		.bytes = op->bytes,
		.correlation = op->correlation,
		.context = work->context->number,
		.stream = stream_number(work->stream),
		.name = op->name,
		.activity = activity_of(op),
		.backend = TS_BACKEND_EVENT,
		/* cudaMemcpyKind + 1 becomes CUpti_ActivityMemcpyKind: 1 to the device, 2 from it,
		   8 within */
		.copy_kind = op->copy_kind == 2	  ? 1
			     : op->copy_kind == 3 ? 2
			     : op->copy_kind == 4 ? 8
						  : 0,
		.launch_span = op->h.span,
	};
}

static void after(void *token, struct ts_rec_op *op)
{
	struct event_work *work = token;
	bool recorded =
	    !op->error && device_driver.event_record(work->end, work->stream) == CUDA_SUCCESS;

	if (!op->error && !recorded)
		ts_lost(TS_LOST_device_untimed, 1);
	if (recorded) {
		op->correlation = __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED);
		describe(work, op);
	}
	pthread_mutex_lock(&event_lock);
	if (recorded && work->generation == work->context->generation) {
		work->next = NULL;
		work->epoch = event_epoch;
		*work->context->last = work;
		work->context->last = &work->next;
		if (!event_pending++)
			event_reader_wake();
	} else {
		put_back(work);
	}
	pthread_mutex_unlock(&event_lock);
}

/* --- the backend ------------------------------------------------------------------ */

int event_start(char *why, size_t bytes)
{
	int error;

	if (!device_driver.context_current || !device_driver.context_push ||
	    !device_driver.context_pop || !device_driver.stream_create ||
	    !device_driver.event_create || !device_driver.event_record ||
	    !device_driver.event_query || !device_driver.event_elapsed) {
		snprintf(why, bytes, "the driver lacks functions for CUDA events");
		return -ENOSYS;
	}
	error = event_reader_start();
	if (error) {
		snprintf(why, bytes, "no thread to read CUDA events");
		return error;
	}
	ts_device_after = after;
	ts_device_context_ends = event_reader_ends;
	ts_device_before = before;
	return 0;
}

/* Our thread reads by itself; only a wait is left to do. */
void event_flush(unsigned timeout_ms, bool forced)
{
	if (timeout_ms || forced)
		event_reader_flush(timeout_ms, forced);
}

void event_stop(void)
{
	paused_now = true;
	event_reader_stop();
}

/* Nothing of it needs to be warm. */
void event_gate(enum ts_gate gate)
{
	paused_now = gate != TS_GATE_OPEN;
}

bool event_child(void)
{
	bool was_unused = !contexts_seen;

	pthread_mutex_init(&event_lock, NULL);
	pthread_mutex_init(&event_driver_lock, NULL);
	for (unsigned i = 0; i < EVENT_CONTEXTS; i++)
		event_contexts[i] =
		    (struct event_context){ .generation = event_contexts[i].generation + 1 };
	event_pending = event_old = 0;
	contexts_seen = 0;
	return was_unused;
}
