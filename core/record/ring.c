/* A ring that is full. */
#include "core/record/record.h"

#include <time.h>

#include "core/env.h"
#include "core/record/file.h"
#include "core/record/quiet.h"
#include "core/record/writer.h"

/* Half a ring is used without another look at the writer's line, then the slow path comes again:
 * the writer is woken when it has half a ring to do, long before anybody has to wait, and not when
 * it keeps up by itself. */
static bool has_room(struct ts_ring *ring, uint64_t head, unsigned slots, bool *wake)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	uint64_t half = ring->mask / 2 + 1, used = head - tail;

	*wake = used >= half;
	if (used + slots > ring->mask)
		return false;
	/* tail_seen is never later than the true tail. */
	ring->tail_seen = *wake ? tail : tail - half;
	return true;
}

static bool wait_for_room(struct ts_ring *ring, uint64_t head, unsigned slots)
{
	const struct timespec step = { .tv_nsec = 50000 };
	uint64_t begin;
	bool wake;

	ts_writer_wake();
	if (ts_env.on_full == 1 || ring->stalled)
		return false;
	atomic_fetch_add_explicit(&ring->waits, 1, memory_order_relaxed);
	begin = ts_monotonic_ns();
	do {
		nanosleep(&step, NULL);
		if (has_room(ring, head, slots, &wake))
			return true;
		ts_writer_wake();
	} while (ts_monotonic_ns() - begin < ts_env.wait_ms * 1000000);
	/* The writer is stuck: lose events from now on instead of holding the program up at each
	 * one. */
	ring->stalled = 1;
	return false;
}

void *ts_reserve_slow(struct ts_ring *ring, unsigned slots)
{
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint32_t at = (uint32_t)head & ring->mask, size = ring->mask + 1;
	unsigned pad = at + slots > size ? size - at : 0;
	struct quiet quiet = quiet_begin();
	struct ts_rec *filler;
	bool wake;

	if (!has_room(ring, head, pad + slots, &wake) && !wait_for_room(ring, head, pad + slots)) {
		atomic_fetch_add_explicit(&ring->lost, 1, memory_order_relaxed);
		ts_lost(TS_LOST_ring_full, 1);
		atomic_store_explicit(&ring->busy, 0, memory_order_relaxed);
		quiet_end(quiet);
		return NULL;
	}
	ring->stalled = 0;
	if (wake)
		ts_writer_wake();
	if (pad) {
		filler = (struct ts_rec *)(void *)(ring->slots + (size_t)at * TS_SLOT);
		filler->kind = TS_REC_PAD;
		filler->slots = (uint8_t)pad;
		atomic_store_explicit(&ring->head, head + pad, memory_order_release);
		at = 0;
	}
	quiet_end(quiet);
	return ring->slots + (size_t)at * TS_SLOT;
}
