/* The parts of the event backend: work between two CUDA events, the contexts it runs in, its clock.
 */
#ifndef TSTRACE_CUPTI_EVENT_H
#define TSTRACE_CUPTI_EVENT_H

#include <cuda.h>
#include <pthread.h>

#include "core/base.h"
#include "core/record/events.h"

#define EVENT_CONTEXTS 64
#define EVENT_BASES 16          /* a second apart: work that ran longer is placed from the oldest */

/* One launch, copy or set.  Its events belong to a context and are used again there. */
struct event_work {
	struct event_work *next;
	struct event_context *context;
	uint32_t generation;            /* of the context, when taken */
	CUevent begin, end;
	CUstream stream;
	uint64_t submitted, launched;   /* raw clock: before `begin` was recorded; the call began */
	uint32_t epoch;                 /* event_epoch at its submission */
	struct ts_rec_interval interval;
};

/* An event of ours whose time on CLOCK_MONOTONIC is known: `ns`, give or take `error_ns`. */
struct event_base {
	CUevent event;
	uint64_t ns;
	uint32_t error_ns;
	uint64_t deviation_ns;          /* of the session's clock from CLOCK_MONOTONIC */
	/* host nanoseconds per device nanosecond since the base before */
	double rate;
	double rate_error;
};

struct event_context {
	CUcontext handle;               /* NULL: the entry is unused */
	uint32_t generation;
	uint32_t number;                /* of the context in the trace, from 1 */
	int16_t device;
	CUstream stream;                /* ours: never waits for the program's work */
	unsigned base_count;            /* the newest is bases[(base_count - 1) % EVENT_BASES] */
	struct event_base bases[EVENT_BASES];
	/* under event_lock */
	bool ending;                    /* to be read for the last time, then forgotten */
	struct event_work *unused;
	/* submitted, not yet read, in order of submission */
	struct event_work *first, **last;
};

/* Guards the lists; never held while the driver is called. */
extern pthread_mutex_t event_lock;

/* Held while our thread asks the driver, and while a context gets its place on the clock. */
extern pthread_mutex_t event_driver_lock;

extern struct event_context event_contexts[EVENT_CONTEXTS];
extern _Atomic unsigned event_pending;  /* works submitted and not read */
/* Counts flushes; each waits for the works of earlier epochs, of which event_old are pending.
 * Under event_lock. */
extern uint32_t event_epoch;
extern unsigned event_old;

/* event_clock.c: both with the context current, by our thread or, the first time, inside a hook. */

/* Record a base on our idle stream and see it pass.  False when it did not within 2 ms. */
bool event_anchor(struct event_context *context);

/* When an event that has passed did so; false when the driver does not tell. */
bool event_place(const struct event_context *context, CUevent event, uint64_t *ns,
		 uint32_t *error_ns);

/* event_read.c: the thread that reads what has passed. */
int event_reader_start(void);
void event_reader_wake(void);
/* Read until all that was pending at the call is read or the time is over; `forced`: then give the
 * rest out as unfinished. */
void event_reader_flush(unsigned timeout_ms, bool forced);
/* Contexts of `device` (-1: all) are about to end: have them read and forgotten, and wait for it, a
 * second at most.  Not on our thread. */
void event_reader_ends(int device);
/* Nothing is given out any longer; what is pending is counted. */
void event_reader_stop(void);

#endif
