/* Ranges that are begun and ended anywhere (NVTX start/end): kept until their end, and written then
 * as completed spans, so that the order of two threads' rings does not matter. */
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "core/record/writer.h"
#include "core/session/session.h"
#include "core/session/span.h"

#define RANGES 16384u /* under way at a time; a power of two */
#define TRIES 64      /* yields for a slot that the writer is reading */

enum { FREE, BUSY }; /* else the range's number, which is above */

struct range {
	_Atomic uint64_t state;
	uint64_t t; /* raw */
	uint32_t span, thread;
	struct ts_span_spec spec;
};

static _Atomic(struct range *) ranges;
static _Atomic uint64_t started;

static struct range *table(void)
{
	struct range *made, *none = NULL, *there = atomic_load(&ranges);

	if (there)
		return there;
	made = mmap(NULL, RANGES * sizeof(*made), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (made == MAP_FAILED)
		return NULL;
	if (atomic_compare_exchange_strong(&ranges, &none, made))
		return made;
	munmap(made, RANGES * sizeof(*made));
	return none;
}

/* The number is the slot's index and how many ranges there were before. */
static struct range *take(uint64_t *number)
{
	struct range *all = table();

	for (unsigned i = 0; all && i < RANGES; i++) {
		uint64_t n = atomic_fetch_add_explicit(&started, 1, memory_order_relaxed) + RANGES;
		struct range *range = &all[n % RANGES];
		uint64_t state = FREE;

		if (atomic_compare_exchange_strong(&range->state, &state, BUSY)) {
			*number = n;
			return range;
		}
	}
	ts_lost(TS_LOST_spans, 1);
	return NULL;
}

uint64_t ts_range_start(const struct ts_span_spec *spec)
{
	struct ts_api_thread *thread = ts_api_thread();
	struct range *range;
	uint64_t number = 0;

	range = thread ? take(&number) : NULL;
	if (!range)
		return 0;
	range->spec = *spec;
	range->thread = ts_self.number;
	range->span = ts_span_next_id(thread);
	range->t = ts_clock_now();
	atomic_store_explicit(&range->state, number, memory_order_release);
	return number;
}

static void fill(struct ts_rec_span_done *rec, const struct range *range, uint64_t end_ns)
{
	uint64_t start = ts_clock_session_ns(range->t);

	*rec = (struct ts_rec_span_done){
	    .h = {.kind = TS_REC_SPAN_DONE,
		  .slots = 2,
		  .route = TS_ROUTE_API,
		  .device = TS_DEVICE_NONE,
		  .span = range->span},
	    .start_ns = start,
	    .duration_ns = end_ns > start ? end_ns - start : 0,
	    .t_start = range->t,
	    .name = range->spec.name,
	    .span_kind = range->spec.kind,
	    .step = range->spec.step,
	    .source = range->spec.source,
	    .began = range->thread,
	    .note = range->spec.note,
	};
}

/* Get hold of a range that is under way. */
static bool claim(struct range *range, uint64_t number)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t state = number;

		if (atomic_compare_exchange_strong(&range->state, &state, BUSY))
			return true;
		if (state != BUSY)
			return false;
		sched_yield();
	}
	return false;
}

bool ts_range_end(uint64_t number, bool *iteration)
{
	struct range *all = atomic_load(&ranges), *range = all ? &all[number % RANGES] : NULL;
	struct ts_rec_span_done *rec;
	struct ts_ring *ring;
	uint64_t t;

	if (number < RANGES || !range || !claim(range, number))
		return false;
	*iteration = range->spec.iteration;
	t = ts_clock_now();
	/* Outside the window too, where a thread may have none yet. */
	ring = ts_is_open(atomic_load(&ts_recording)) ? ts_own_ring() : NULL;
	rec = ring ? ts_reserve(ring, 2) : NULL;
	if (rec) {
		fill(rec, range, ts_clock_session_ns(t));
		rec->h.t = t;
		ts_commit(ring, 2);
	} else if (!ring) {
		ts_lost(TS_LOST_no_ring, 1);
	}
	atomic_store_explicit(&range->state, FREE, memory_order_release);
	return true;
}

void ts_range_print_open(uint64_t end_ns)
{
	struct range *all = atomic_load(&ranges);

	for (unsigned i = 0; all && i < RANGES; i++) {
		uint64_t number = atomic_load(&all[i].state);
		struct ts_rec_span_done rec;

		if (number <= BUSY || !claim(&all[i], number))
			continue;
		fill(&rec, &all[i], end_ns);
		atomic_store_explicit(&all[i].state, number, memory_order_release);
		rec.open = 1;
		ts_print_done(&rec, rec.began);
	}
}

void ts_range_child(void)
{
	struct range *all = atomic_load(&ranges);

	for (unsigned i = 0; all && i < RANGES; i++)
		atomic_store(&all[i].state, FREE);
}
