#include "core/session/past.h"

#include <sys/mman.h>

#include "core/record/clock.h"
#include "core/session/session.h"

#define BLOCKS ((UINT64_C(1) << 32) / TS_IDS_AT_ONCE)
#define FIRST 2u /* 1 is the root */
#define LINE 64u

/* One byte a block: how many of its ids were given.  Room for all there are; a page is there once
 * one of its 262144 spans is. */
static _Atomic(_Atomic uint8_t *) counts;
static _Atomic uint8_t nowhere;

static _Atomic uint8_t *make_counts(void)
{
	_Atomic uint8_t *made, *none = NULL;

	made = mmap(NULL, BLOCKS, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (made == MAP_FAILED)
		return NULL;
	if (!atomic_compare_exchange_strong(&counts, &none, made)) {
		munmap((void *)made, BLOCKS);
		return none;
	}
	return made;
}

/* Blocks that follow each other are of several threads: their bytes are in different lines. */
static _Atomic uint8_t *count_of(_Atomic uint8_t *all, uint32_t span)
{
	uint32_t block = (span - FIRST) / TS_IDS_AT_ONCE, in_page = block % (LINE * LINE);

	return all + (block - in_page) + in_page % LINE * LINE + in_page / LINE;
}

uint32_t ts_past_take(_Atomic uint8_t **begun)
{
	uint32_t first = ts_session_take_spans(TS_IDS_AT_ONCE);
	_Atomic uint8_t *all = atomic_load(&counts);

	if (!all)
		all = make_counts();
	*begun = all ? count_of(all, first) : &nowhere;
	return first;
}

bool ts_past_is_span(uint64_t span)
{
	_Atomic uint8_t *all = atomic_load(&counts);

	if (span < FIRST || span > ts_session_last_span())
		return span == 1;
	/* Without the bytes what cannot be excluded is taken. */
	return !all ||
	       (span - FIRST) % TS_IDS_AT_ONCE <
		   atomic_load_explicit(count_of(all, (uint32_t)span), memory_order_relaxed);
}

static uint64_t session_ns(uint64_t t)
{
	return t & TS_PAST_NS ? t & ~TS_PAST_NS : ts_clock_session_ns(t);
}

bool ts_past_find(const struct ts_api_thread *thread, uint64_t span, struct ts_past *past)
{
	for (uint32_t i = 0; i < TS_ENDED; i++) {
		const struct ts_ended *ended =
		    &thread->ended[(thread->ended_count - 1 - i) % TS_ENDED];

		if (!ended->ids || ended->ids >> 32 != span)
			continue;
		*past = (struct ts_past){ ended->ids & UINT32_MAX, session_ns(ended->start),
					  session_ns(ended->end) };
		return true;
	}
	return false;
}

void ts_past_child(void)
{
	_Atomic uint8_t *all = atomic_load(&counts);

	if (!all)
		return;
	madvise((void *)all, BLOCKS, MADV_DONTNEED);
}
