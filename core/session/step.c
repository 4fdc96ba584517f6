/* Iterations; see step.h.
 *
 * What belongs to an iteration is told by time, when it is printed: threads need not know of the
 * step that another one began, and an event costs nothing more.  The last boundaries are kept; the
 * writer is never thousands of iterations behind. */
#include "core/session/step.h"

#include <stdatomic.h>

#include "core/record/record.h"
#include "core/record/writer.h"
#include "core/session/window.h"
#include "core/tstrace.h"

#define BOUNDARIES 4096u        /* a power of two */

static struct boundary {
	_Atomic uint64_t number;        /* of the boundary, from 1; 0 while it is written */
	_Atomic uint64_t t, iteration;
	_Atomic bool inside;            /* false: an iteration ended and none began */
} boundaries[BOUNDARIES];
static _Atomic uint64_t count;

/* Any thread, also a signal handler. */
static void add(uint64_t iteration, bool inside)
{
	uint64_t number = atomic_fetch_add(&count, 1) + 1;
	struct boundary *b = &boundaries[number % BOUNDARIES];

	atomic_store(&b->number, 0);
	atomic_store(&b->t, ts_clock_now());
	atomic_store(&b->iteration, iteration);
	atomic_store(&b->inside, inside);
	atomic_store(&b->number, number);
}

static bool is_inside(void)
{
	uint64_t number = atomic_load(&count);

	return number && atomic_load(&boundaries[number % BOUNDARIES].inside);
}

/* Time of a boundary.  One that is written this moment is later than any event that is printed. */
static uint64_t time_of(uint64_t number)
{
	struct boundary *b = &boundaries[number % BOUNDARIES];
	bool is_whole = atomic_load(&b->number) == number;
	uint64_t t = atomic_load(&b->t);

	return is_whole && atomic_load(&b->number) == number ? t : UINT64_MAX;
}

/* The last boundary before an event, 0: none that is kept.  Events come nearly in order, so it is
 * looked for from where the last one was. */
static uint64_t boundary_before(uint64_t raw)
{
	static uint64_t at;
	uint64_t last = atomic_load_explicit(&count, memory_order_acquire);
	uint64_t oldest = last > BOUNDARIES ? last - BOUNDARIES + 1 : 1;

	if (at < oldest || at > last)
		at = last;
	while (at < last && time_of(at + 1) <= raw)
		at++;
	while (at >= oldest && time_of(at) > raw)
		at--;
	return at >= oldest ? at : 0;
}

void ts_print_iteration(uint64_t raw)
{
	uint64_t number = boundary_before(raw), iteration;
	struct boundary *b = &boundaries[number % BOUNDARIES];
	bool inside;

	if (!number)
		return;
	iteration = atomic_load(&b->iteration);
	inside = atomic_load(&b->inside);
	if (inside && atomic_load(&b->number) == number)
		ts_line_u64(&ts_lines, "iteration", iteration);
}

void ts_step_boundary(struct ts_ring *ring, uint64_t iteration, bool inside)
{
	if (ring && is_inside() && ts_step_checkpoint)
		ts_step_checkpoint(ring);
	if (ts_self.depth == 1)
		ts_window_iteration(iteration, inside);
	add(iteration, inside);
}

static int boundary(uint64_t iteration, bool inside)
{
	struct ts_ring *ring = ts_enter();

	if (ring || ts_is_open(atomic_load(&ts_recording)))
		ts_step_boundary(ring, iteration, inside);
	ts_leave();
	return 0;
}

TS_EXPORT int tstrace_step(tstrace_session *session, uint64_t n)
{
	(void)session;
	return boundary(n, true);
}

TS_EXPORT int tstrace_step_end(tstrace_session *session)
{
	(void)session;
	return boundary(0, false);
}

void ts_step_child(void)
{
	atomic_store(&count, 0);
}
