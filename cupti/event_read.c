/* The thread that reads events.
 *
 * Not the program's threads: an interval needs a ring, and theirs may be in use by a hook.  Not the
 * writer: it must never wait for room in a ring.  The thread is in the relaxed capture mode:
 * elsewhere a question about an event would break a capture that the program has under way. */
#include <errno.h>
#include <stdatomic.h>

#include "core/env.h"
#include "core/lock.h"
#include "core/record/alone.h"
#include "cupti/device.h"
#include "cupti/event.h"

#define POLL_MS 2                       /* between two looks at work that has not passed */
#define NOT_READY_MAX 256 /* streams pass in order: after so many, the rest waits too */
#define REBASE_NS UINT64_C(1000000000)
#define LAST_MS 200                     /* for giving out what did not finish */
#define ENDS_MS 1000                    /* longest that the end of a context is held up */

pthread_mutex_t event_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t event_driver_lock = PTHREAD_MUTEX_INITIALIZER;
struct event_context event_contexts[EVENT_CONTEXTS];
_Atomic unsigned event_pending;
uint32_t event_epoch;
unsigned event_old;

static pthread_cond_t wake_cond, idle_cond;
static bool give_up;                    /* under event_lock */
static _Atomic bool stopped;
static unsigned ending;                 /* contexts to be forgotten; under event_lock */

/* On an idle stream the first event passes before the call that it precedes has begun: the work
 * did not.  It may end so soon after that the clocks, within their error, say before.  A time from
 * before the event was recorded is the clock's fault, and stays. */
static void not_before_launch(const struct event_work *work, struct ts_rec_interval *i)
{
	uint64_t submitted = ts_clock_to_ns(work->submitted);
	uint64_t launched = ts_clock_to_ns(work->launched);

	if (i->start_ns >= launched || i->start_ns + i->clock_error_ns < submitted ||
	    i->end_ns + i->clock_error_ns <= launched)
		return;
	i->start_ns = launched;
	if (i->end_ns <= launched)
		i->end_ns = launched + 1;
}

static void give_out(struct event_work *work, bool passed)
{
	struct ts_rec_interval *i = &work->interval;
	uint32_t start_error = 0, end_error = 0;

	if (stopped)
		return;         /* counted already */
	if (passed && event_place(work->context, work->begin, &i->start_ns, &start_error) &&
	    event_place(work->context, work->end, &i->end_ns, &end_error)) {
		i->clock_error_ns = start_error > end_error ? start_error : end_error;
		not_before_launch(work, i);
	} else {
		i->untimed = 1;
		ts_lost(passed ? TS_LOST_device_untimed : TS_LOST_device_unfinished, 1);
	}
	device_emit(i);
}

/* The context's work that was submitted so far is taken off the list. */
static struct event_work *take_all(struct event_context *context)
{
	struct event_work *work;

	pthread_mutex_lock(&event_lock);
	work = context->first;
	context->first = NULL;
	context->last = &context->first;
	pthread_mutex_unlock(&event_lock);
	return work;
}

/* `count` works of the list from `work` are no longer pending.  Under event_lock. */
static void no_longer_pending(const struct event_work *work, unsigned count)
{
	event_pending -= count;
	for (; count; count--, work = work->next)
		event_old -= work->epoch != event_epoch;
	if (!event_old)
		pthread_cond_broadcast(&idle_cond);
}

/* Put back what has not passed, before what was submitted meanwhile; keep what is read for later
 * use. */
static void settle(struct event_context *context, struct event_work *waiting,
		   struct event_work **waiting_last, struct event_work *read,
		   struct event_work **read_last, unsigned count)
{
	pthread_mutex_lock(&event_lock);
	if (waiting) {
		*waiting_last = context->first;
		if (!context->first)
			context->last = waiting_last;
		context->first = waiting;
	}
	no_longer_pending(read, count);
	if (read) {
		*read_last = context->unused;
		context->unused = read;
	}
	pthread_mutex_unlock(&event_lock);
}

/* With the context current and event_driver_lock held.  `last`: nothing waits any longer. */
static void read_context(struct event_context *context, bool last)
{
	struct event_work *work = take_all(context), *next;
	struct event_work *waiting = NULL, **waiting_last = &waiting;
	struct event_work *read = NULL, **read_last = &read;
	unsigned not_ready = 0, count = 0;

	for (; work; work = next) {
		CUresult result = CUDA_ERROR_NOT_READY;

		next = work->next;
		work->next = NULL;
		if (not_ready < NOT_READY_MAX || last)
			result = device_driver.event_query(work->end);
		if (result == CUDA_ERROR_NOT_READY && !last) {
			not_ready++;
			*waiting_last = work;
			waiting_last = &work->next;
			continue;
		}
		give_out(work, result == CUDA_SUCCESS);
		*read_last = work;
		read_last = &work->next;
		count++;
	}
	settle(context, waiting, waiting_last, read, read_last, count);
}

/* The context went without our being told, or cannot be asked: its work has no times. */
static void forget(struct event_context *context)
{
	struct event_work *first = take_all(context);
	unsigned count = 0;

	for (struct event_work *work = first; work; work = work->next, count++)
		give_out(work, false);
	pthread_mutex_lock(&event_lock);
	no_longer_pending(first, count);
	context->handle = NULL;
	ending -= context->ending;
	context->ending = false;
	context->generation++;
	context->unused = NULL;
	pthread_cond_broadcast(&idle_cond);
	pthread_mutex_unlock(&event_lock);
}

static void visit(struct event_context *context, bool last)
{
	const struct event_base *newest = &context->bases[(context->base_count - 1) % EVENT_BASES];
	CUcontext popped;

	if (device_driver.context_push(context->handle) != CUDA_SUCCESS) {
		forget(context);
		return;
	}
	if (!context->base_count || ts_monotonic_ns() - newest->ns > REBASE_NS)
		event_anchor(context);
	read_context(context, last);
	device_driver.context_pop(&popped);
}

static void pass(bool last)
{
	CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

	pthread_mutex_lock(&event_driver_lock);
	if (device_driver.capture_mode)
		device_driver.capture_mode(&relaxed);
	for (unsigned i = 0; i < EVENT_CONTEXTS; i++) {
		struct event_context *context = &event_contexts[i];
		bool has_work, ends;

		pthread_mutex_lock(&event_lock);
		has_work = context->handle && context->first;
		ends = context->handle && context->ending;
		pthread_mutex_unlock(&event_lock);
		if (has_work)
			visit(context, last || ends);
		if (ends)
			forget(context);
	}
	pthread_mutex_unlock(&event_driver_lock);
}

static void *reader(void *arg)
{
	(void)arg;
	for (;;) {
		const struct timespec poll = { .tv_nsec = POLL_MS * 1000000 };
		bool last;

		pthread_mutex_lock(&event_lock);
		while (!event_pending && !ending)
			pthread_cond_wait(&wake_cond, &event_lock);
		last = give_up;
		pthread_mutex_unlock(&event_lock);
		pass(last);
		if (!last)
			nanosleep(&poll, NULL);
	}
	return NULL;
}

int event_reader_start(void)
{
	device_cond_init(&wake_cond);
	device_cond_init(&idle_cond);
	stopped = false;
	return ts_helper_start(TS_THREAD_EVENT, reader);
}

void event_reader_wake(void)
{
	pthread_cond_signal(&wake_cond);
}

/* Wait for what is older than the last flush. */
static bool wait_idle(unsigned ms)
{
	struct timespec deadline = device_deadline(ms);

	while (event_old &&
	       pthread_cond_timedwait(&idle_cond, &event_lock, &deadline) != ETIMEDOUT)
		;
	return !event_old;
}

void event_reader_flush(unsigned timeout_ms, bool forced)
{
	pthread_mutex_lock(&event_lock);
	event_epoch++;
	event_old = event_pending;
	if (!wait_idle(timeout_ms) && forced) {
		give_up = true;
		wait_idle(LAST_MS);
		give_up = false;
	}
	pthread_mutex_unlock(&event_lock);
}

void event_reader_stop(void)
{
	/* What is being read is neither pending nor given out.  Our thread may hang in the driver:
	 * then some of it is told twice. */
	bool locked = ts_lock_within(&event_driver_lock, LAST_MS);

	pthread_mutex_lock(&event_lock);
	if (!atomic_exchange(&stopped, true) && event_pending)
		ts_lost(TS_LOST_device_unfinished, event_pending);
	pthread_mutex_unlock(&event_lock);
	if (locked)
		pthread_mutex_unlock(&event_driver_lock);
}

void event_reader_ends(int device)
{
	struct timespec deadline = device_deadline(ENDS_MS);

	pthread_mutex_lock(&event_lock);
	for (unsigned i = 0; i < EVENT_CONTEXTS; i++)
		if (event_contexts[i].handle && !event_contexts[i].ending &&
		    (device < 0 || event_contexts[i].device == device)) {
			event_contexts[i].ending = true;
			ending++;
		}
	pthread_cond_signal(&wake_cond);
	while (ending && pthread_cond_timedwait(&idle_cond, &event_lock, &deadline) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&event_lock);
}
