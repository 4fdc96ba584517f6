/* The gate of the window; see window.h. */
#include "core/session/window.h"

#include <errno.h>
#include <pthread.h>

#include "core/env.h"
#include "core/record/device.h"
#include "core/record/record.h"
#include "core/tstrace.h"

/* Taken by whoever switches; CUPTI is called under it, which never calls back into here. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ts_window_spec spec;
static enum ts_gate gate;               /* what the variable says */
static _Atomic enum ts_gate now;        /* what is in force; the writer reads it as well */
static unsigned pauses;
static bool device_started;
static uint64_t begun, current;         /* iterations: how many, the number of the last */
static _Atomic uint64_t windows;        /* opened so far */

bool ts_window_begin(void)
{
	const char *right;

	/* A bad value was told when the variables were read. */
	ts_window_parse(ts_env.window, &spec, &right);
	gate = spec.kind == TS_WINDOW_RUN ? TS_GATE_OPEN : TS_GATE_CLOSED;
	if (spec.kind == TS_WINDOW_API) {
		gate = TS_GATE_OPEN;
		pauses = 1;
	}
	if (spec.kind == TS_WINDOW_TIME && !spec.delay_ns)
		gate = TS_GATE_OPEN;
	if (spec.kind == TS_WINDOW_CYCLE && !spec.wait && spec.warm_up)
		gate = TS_GATE_WARM;
	now = pauses ? TS_GATE_CLOSED : gate;
	windows = now == TS_GATE_OPEN;
	return now == TS_GATE_OPEN;
}

uint64_t ts_window_count(bool *whole)
{
	*whole = spec.kind == TS_WINDOW_RUN && windows == 1 && now == TS_GATE_OPEN;
	return windows;
}

static void set_device(void)
{
	if (device_started && ts_device)
		ts_device->gate(now);
}

void ts_window_device_started(void)
{
	pthread_mutex_lock(&lock);
	device_started = true;
	if (now != TS_GATE_OPEN)
		set_device();
	pthread_mutex_unlock(&lock);
	if (spec.kind == TS_WINDOW_TIME || spec.kind == TS_WINDOW_SIGNAL)
		ts_window_wait_start(&spec);
}

/* The border in the trace, in time order with the memory events around it. */
static void mark(bool open, enum ts_window_cause cause)
{
	struct ts_ring *ring = ts_own_ring();
	struct ts_rec_window *rec = ring ? ts_reserve(ring, 1) : NULL;

	if (!rec)
		return;
	*rec = (struct ts_rec_window){
		.h = { .kind = TS_REC_WINDOW,
		       .slots = 1,
		       .device = TS_DEVICE_NONE,
		       .t = ts_stamp(ring),
		       .span = ts_self.span },
		.number = windows,
		.open = open,
		.cause = (uint8_t)cause,
	};
	ts_commit(ring, 1);
}

/* Under the lock.  The backend is on before the first launch that is recorded, and off after the
 * last. */
static void apply(enum ts_window_cause cause)
{
	enum ts_gate wanted = pauses ? TS_GATE_CLOSED : gate;
	int from = wanted == TS_GATE_OPEN ? TS_REC_OFF : TS_REC_ON;
	int to = wanted == TS_GATE_OPEN ? TS_REC_ON : TS_REC_OFF;
	int error = errno;

	/* After the end the backend stays off. */
	if (wanted == now || !ts_is_open(atomic_load(&ts_recording)))
		return;
	if (now == TS_GATE_OPEN) {
		mark(false, cause);
		atomic_compare_exchange_strong(&ts_recording, &from, to);
		now = wanted;
		set_device();
	} else {
		now = wanted;
		set_device();
		if (now == TS_GATE_OPEN) {
			windows++;
			mark(true, cause);
			atomic_compare_exchange_strong(&ts_recording, &from, to);
		}
	}
	errno = error;
}

void ts_window_gate(bool open, enum ts_window_cause cause)
{
	pthread_mutex_lock(&lock);
	gate = open ? TS_GATE_OPEN : TS_GATE_CLOSED;
	apply(cause);
	pthread_mutex_unlock(&lock);
}

void ts_window_toggle(void)
{
	pthread_mutex_lock(&lock);
	gate = gate == TS_GATE_OPEN ? TS_GATE_CLOSED : TS_GATE_OPEN;
	apply(TS_CAUSE_SIGNAL);
	pthread_mutex_unlock(&lock);
}

void ts_window_profiler(bool start)
{
	if (spec.kind == TS_WINDOW_PROFILER)
		ts_window_gate(start, TS_CAUSE_PROFILER);
}

/* What iteration number `k` from 0 is for. */
static enum ts_gate gate_in_cycle(uint64_t k)
{
	uint64_t length = spec.wait + spec.warm_up + spec.active, at = k % length;

	if (spec.repeat && k / length >= spec.repeat)
		return TS_GATE_CLOSED;
	return at < spec.wait		       ? TS_GATE_CLOSED
	       : at < spec.wait + spec.warm_up ? TS_GATE_WARM
					       : TS_GATE_OPEN;
}

/* Between iterations a window closes but none opens. */
static enum ts_gate gate_of_iteration(uint64_t iteration, bool inside)
{
	enum ts_gate wanted;

	if (spec.kind == TS_WINDOW_ITERATIONS) {
		if (inside)
			current = iteration;
		wanted = current >= spec.first && (inside ? current <= spec.last :
							    current < spec.last)
			     ? TS_GATE_OPEN
			     : TS_GATE_CLOSED;
	} else {
		wanted = gate_in_cycle(begun);
		begun += inside;
	}
	return inside || wanted != TS_GATE_OPEN ? wanted : gate;
}

void ts_window_iteration(uint64_t iteration, bool inside)
{
	if (spec.kind != TS_WINDOW_CYCLE && spec.kind != TS_WINDOW_ITERATIONS)
		return;
	pthread_mutex_lock(&lock);
	gate = gate_of_iteration(iteration, inside);
	apply(TS_CAUSE_ITERATION);
	pthread_mutex_unlock(&lock);
}

/* --- tstrace.h --- */

static int change_pauses(int by)
{
	int error;

	if (ts_self.depth++) {
		ts_self.depth--;
		return -EBUSY;
	}
	/* With TSTRACE_WINDOW=api a resume is what begins. */
	error = ts_record_open();
	if (!error) {
		pthread_mutex_lock(&lock);
		if (by < 0 && !pauses) {
			error = -EINVAL;
		} else {
			pauses += (unsigned)by;
			apply(TS_CAUSE_API);
		}
		pthread_mutex_unlock(&lock);
	}
	ts_self.depth--;
	return error;
}

TS_EXPORT int tstrace_pause(tstrace_session *session)
{
	(void)session;
	return change_pauses(1);
}

TS_EXPORT int tstrace_resume(tstrace_session *session)
{
	(void)session;
	return change_pauses(-1);
}

void ts_window_child(void)
{
	ts_window_wait_child();
	pthread_mutex_init(&lock, NULL);
	spec = (struct ts_window_spec){ .kind = TS_WINDOW_RUN };
	gate = TS_GATE_CLOSED;
	now = TS_GATE_CLOSED;
	pauses = 0;
	device_started = false;
	begun = 0;
	current = 0;
	windows = 0;
}
