/* The fallback: CUDA events before and after each piece of work, on its own stream, by the real driver's
 * functions.  The program is never synchronised: events are read when they have passed.
 *
 * A context has a base event whose time on the session's clock is known within a bound; work is placed by its
 * distance from the base.  The distance is a float of milliseconds, so the base moves on before that gets
 * coarse. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "core/env.h"
#include "core/record/device.h"
#include "cupti/device.h"

#define MAX_CONTEXTS 64
#define MAX_PENDING 65536u              /* pieces of work whose events were not read yet */
#define REBASE_MS 500.0f                /* a float of 500 ms is good to 30 ns */
#define ANCHOR_NS 2000000               /* longest wait for the first base event */

struct work {
	struct work *next;
	struct context *context;
	CUevent begin, end;
	uint32_t correlation, name, span;
	int16_t device;
	uint8_t activity, copy_kind;
	uint64_t bytes, stream;
};

struct context {
	CUcontext handle;
	CUevent base;
	uint64_t base_ns;
	uint32_t error_ns;              /* the base is within this */
	struct work *first, **last;     /* in order of submission */
	bool gone;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context contexts[MAX_CONTEXTS];
static unsigned context_count;
static struct work *unused;
static unsigned pending;
static uint32_t last_correlation;
static bool paused_now;

static uint64_t now_ns(void)
{
	return ts_clock_to_ns(ts_clock_now());
}

/* Record the base on a stream of its own, which is idle, and see when it has passed. */
static bool anchor(struct context *context)
{
	uint64_t before, after;
	CUstream stream;

	if (device_driver.event_create(&context->base, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
		return false;
	if (device_driver.stream_create(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
		return false;
	before = now_ns();
	if (device_driver.event_record(context->base, stream) != CUDA_SUCCESS)
		return false;
	do {
		after = now_ns();
		if (device_driver.event_query(context->base) == CUDA_SUCCESS)
			break;
	} while (after - before < ANCHOR_NS);
	context->base_ns = before + (after - before) / 2;
	context->error_ns = (uint32_t)(after - before) / 2 + 1;
	return true;
}

static struct context *current(void)
{
	CUcontext handle = NULL;
	struct context *context;

	if (device_driver.context_current(&handle) != CUDA_SUCCESS || !handle)
		return NULL;
	for (unsigned i = 0; i < context_count; i++)
		if (contexts[i].handle == handle)
			return contexts[i].gone ? NULL : &contexts[i];
	if (context_count == MAX_CONTEXTS)
		return NULL;
	context = &contexts[context_count];
	*context = (struct context){ .handle = handle, .last = &context->first };
	context_count++;
	if (!anchor(context))
		context->gone = true;
	return context->gone ? NULL : context;
}

static struct work *take(struct context *context)
{
	struct work *work = unused;

	if (work && work->context == context) {
		unused = work->next;
		return work;
	}
	if (pending >= MAX_PENDING)
		return NULL;
	work = mmap(NULL, sizeof(*work), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (work == MAP_FAILED)
		return NULL;
	if (device_driver.event_create(&work->begin, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
	    device_driver.event_create(&work->end, CU_EVENT_DEFAULT) != CUDA_SUCCESS) {
		munmap(work, sizeof(*work));
		return NULL;
	}
	work->context = context;
	return work;
}

static void put_back(struct work *work)
{
	work->next = unused;
	unused = work;
}

/* The stream of a per-thread default form is another one than the same argument's legacy meaning. */
static CUstream stream_of(uint64_t stream, bool per_thread)
{
	return stream || !per_thread ? (CUstream)(uintptr_t)stream : CU_STREAM_PER_THREAD;
}

static void *before(uint64_t stream, bool per_thread)
{
	struct context *context;
	struct work *work = NULL;

	if (paused_now)
		return NULL;
	pthread_mutex_lock(&lock);
	context = current();
	if (context)
		work = take(context);
	if (!work)
		ts_lost(TS_LOST_device_dropped, 1);
	pthread_mutex_unlock(&lock);
	if (!work)
		return NULL;
	work->stream = stream_of(stream, per_thread) == CU_STREAM_PER_THREAD ? 2 : stream;
	if (device_driver.event_record(work->begin, stream_of(stream, per_thread)) == CUDA_SUCCESS)
		return work;
	pthread_mutex_lock(&lock);
	put_back(work);
	pthread_mutex_unlock(&lock);
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

static void after(void *token, struct ts_rec_op *op)
{
	struct work *work = token;
	CUstream stream = stream_of(op->stream, op->h.flags & TS_F_PER_THREAD);
	bool recorded = !op->error && device_driver.event_record(work->end, stream) == CUDA_SUCCESS;

	pthread_mutex_lock(&lock);
	if (!recorded) {
		put_back(work);
		pthread_mutex_unlock(&lock);
		return;
	}
	work->correlation = op->correlation = ++last_correlation;
	work->name = op->name;
	work->span = op->h.span;
	work->device = op->h.device;
	work->activity = activity_of(op);
	work->copy_kind = op->copy_kind;
	work->bytes = op->bytes;
	work->next = NULL;
	*work->context->last = work;
	work->context->last = &work->next;
	pending++;
	pthread_mutex_unlock(&lock);
}

static void emit(const struct work *work, float start_ms, float end_ms)
{
	const struct context *context = work->context;
	struct ts_rec_interval interval = {
		.h = { .kind = TS_REC_INTERVAL, .slots = 2, .device = work->device, .span = work->span },
		.start_ns = context->base_ns + (int64_t)((double)start_ms * 1e6),
		.end_ns = context->base_ns + (int64_t)((double)end_ms * 1e6),
		.bytes = work->bytes,
		.correlation = work->correlation,
		.context = (uint32_t)(context - contexts) + 1,
		.stream = (uint32_t)work->stream,
		.name = work->name,
		.clock_error_ns = context->error_ns,
		.activity = work->activity,
		.backend = TS_BACKEND_EVENT,
		.launch_span = work->span,
	};

	device_emit(&interval);
}

static void emit_unfinished(const struct work *work)
{
	struct ts_rec_interval interval = {
		.h = { .kind = TS_REC_INTERVAL, .slots = 2, .device = work->device, .span = work->span },
		.bytes = work->bytes,
		.correlation = work->correlation,
		.stream = (uint32_t)work->stream,
		.name = work->name,
		.activity = work->activity,
		.backend = TS_BACKEND_EVENT,
		.untimed = 1,
		.launch_span = work->span,
	};

	ts_lost(TS_LOST_device_unfinished, 1);
	device_emit(&interval);
}

/* Read what has passed.  Work of different streams ends out of order: all of the list is asked, up to a number
 * that keeps a call short. */
static void harvest(struct context *context, bool last)
{
	struct work **link = &context->first, *work;
	float start = 0, end = 0;
	unsigned asked = 0;

	while ((work = *link) && (last || asked++ < 4096)) {
		CUresult result = device_driver.event_query(work->end);

		if (result == CUDA_ERROR_NOT_READY && !last) {
			link = &work->next;
			continue;
		}
		if (result == CUDA_SUCCESS &&
		    device_driver.event_elapsed(&start, context->base, work->begin) == CUDA_SUCCESS &&
		    device_driver.event_elapsed(&end, context->base, work->end) == CUDA_SUCCESS)
			emit(work, start, end);
		else
			emit_unfinished(work);
		*link = work->next;
		if (!*link)
			context->last = link;
		pending--;
		if (result == CUDA_SUCCESS && end > REBASE_MS) {
			CUevent old = context->base;

			context->base_ns += (int64_t)((double)end * 1e6);
			context->base = work->end;
			work->end = old;
		}
		put_back(work);
	}
}

static bool driver_is_complete(void)
{
	return device_driver.context_current && device_driver.context_push && device_driver.context_pop &&
	       device_driver.stream_create && device_driver.event_create && device_driver.event_record &&
	       device_driver.event_query && device_driver.event_elapsed;
}

int event_start(char *why, size_t bytes)
{
	if (!driver_is_complete()) {
		snprintf(why, bytes, "the driver lacks functions for CUDA events");
		return -ENOSYS;
	}
	ts_device_after = after;
	ts_device_before = before;
	return 0;
}

void event_flush(unsigned timeout_ms, bool forced)
{
	uint32_t depth = ts_self.depth++;

	(void)timeout_ms;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < context_count; i++) {
		CUcontext popped;

		if (contexts[i].gone || !contexts[i].first)
			continue;
		if (device_driver.context_push(contexts[i].handle) != CUDA_SUCCESS) {
			contexts[i].gone = true;
			continue;
		}
		harvest(&contexts[i], forced);
		device_driver.context_pop(&popped);
	}
	pthread_mutex_unlock(&lock);
	ts_self.depth = depth;
}

void event_stop(void)
{
	ts_device_before = NULL;
}

void event_pause(bool paused)
{
	paused_now = paused;
}

bool event_child(void)
{
	bool was_unused = context_count == 0;

	pthread_mutex_init(&lock, NULL);
	context_count = 0;
	unused = NULL;
	pending = 0;
	return was_unused;
}
