/* CUPTI's records as intervals. */
#include <stdatomic.h>
#include <string.h>

#include "core/record/arena.h"
#include "core/record/record.h"
#include "cupti/cupti.h"
#include "cupti/device.h"

/* A time of the session lies no further from now than this; beyond, it is garbage. */
#define FAR_NS UINT64_C(3600000000000)
#define NO_STREAM 0xffffffffu

_Atomic int cupti_forced;
_Atomic int64_t cupti_clock_offset_ns;
_Atomic uint32_t cupti_clock_error_ns;

/* context id -> device + 1; ids are small and dense */
static _Atomic uint16_t context_devices[256];

void cupti_context_device(uint32_t context, uint32_t device)
{
	if (device < INT16_MAX)
		atomic_store_explicit(&context_devices[context % TS_ARRAY_SIZE(context_devices)],
				      (uint16_t)(device + 1), memory_order_relaxed);
}

/* Calls of ours.  A flush brings their work in a while; so many are known by then. */
static _Atomic uint32_t own_calls[4096];

void cupti_own_call(uint32_t correlation)
{
	atomic_store_explicit(&own_calls[correlation % TS_ARRAY_SIZE(own_calls)], correlation,
			      memory_order_relaxed);
}

static bool is_own(uint32_t correlation)
{
	return correlation &&
	       atomic_load_explicit(&own_calls[correlation % TS_ARRAY_SIZE(own_calls)],
				    memory_order_relaxed) == correlation;
}

/* Calls of the last warm-ups, from first to last: ids grow.  A window's records may come long after
 * the next warm-up. */
#define WARM_UPS 64u

static struct warm_up {
	_Atomic uint32_t first, last;   /* 0: none yet */
} warm_ups[WARM_UPS];
static _Atomic uint32_t warm_count;
static _Atomic bool warming;

void cupti_warm_up(bool on)
{
	if (on && !warming) {
		struct warm_up *next = &warm_ups[(warm_count + 1) % WARM_UPS];

		next->first = next->last = 0;
		warm_count++;
	}
	warming = on;
}

void cupti_call_begins(uint32_t correlation)
{
	struct warm_up *now;
	uint32_t there = 0;

	if (ts_likely(!atomic_load_explicit(&warming, memory_order_relaxed)))
		return;
	now = &warm_ups[warm_count % WARM_UPS];
	while ((!there || (int32_t)(correlation - there) < 0) &&
	       !atomic_compare_exchange_weak(&now->first, &there, correlation))
		;
	there = now->last;
	while ((!there || (int32_t)(correlation - there) > 0) &&
	       !atomic_compare_exchange_weak(&now->last, &there, correlation))
		;
}

static bool is_warm_up(uint32_t correlation)
{
	uint32_t count = atomic_load_explicit(&warm_count, memory_order_relaxed);

	for (uint32_t i = 0; i < WARM_UPS && i < count; i++) {
		uint32_t first = warm_ups[(count - i) % WARM_UPS].first,
			 last = warm_ups[(count - i) % WARM_UPS].last;

		if (first && correlation && correlation - first <= last - first)
			return true;
	}
	return false;
}

static int16_t device_of(uint32_t context)
{
	uint16_t device = atomic_load_explicit(
		&context_devices[context % TS_ARRAY_SIZE(context_devices)], memory_order_relaxed);

	return device ? (int16_t)(device - 1) : 0;
}

/* What the records of all work on a device have in common, each in a type of its own. */
#define DEVICE_WORK(i, r)                                                                          \
	((i)->start_ns = (r)->start, (i)->end_ns = (r)->end, (i)->context = (r)->contextId, \
	 (i)->h.device = (int16_t)(r)->deviceId, (i)->stream = (r)->streamId, \
	 (i)->correlation = (r)->correlationId, (i)->graph = (r)->graphId, \
	 (i)->graph_node = (r)->graphNodeId)

static void decode_CONCURRENT_KERNEL(const CUpti_ActivityKernel9 *r, struct ts_rec_interval *i)
{
	DEVICE_WORK(i, r);
	i->name = ts_arena_text(r->name);
	cupti_context_device(r->contextId, r->deviceId);
}

static void decode_MEMCPY(const CUpti_ActivityMemcpy5 *r, struct ts_rec_interval *i)
{
	DEVICE_WORK(i, r);
	i->bytes = r->bytes;
	i->copy_kind = r->copyKind;
}

static void decode_MEMCPY2(const CUpti_ActivityMemcpyPtoP4 *r, struct ts_rec_interval *i)
{
	DEVICE_WORK(i, r);
	i->bytes = r->bytes;
	i->copy_kind = r->copyKind;
}

static void decode_MEMSET(const CUpti_ActivityMemset4 *r, struct ts_rec_interval *i)
{
	DEVICE_WORK(i, r);
	i->bytes = r->bytes;
}

static void decode_SYNCHRONIZATION(const CUpti_ActivitySynchronization *r,
				   struct ts_rec_interval *i)
{
	i->start_ns = r->start;
	i->end_ns = r->end;
	i->context = r->contextId;
	i->stream = r->streamId == NO_STREAM ? 0 : r->streamId;
	i->correlation = r->correlationId;
	i->h.device = device_of(r->contextId);
}

static void decode_UNIFIED_MEMORY_COUNTER(const CUpti_ActivityUnifiedMemoryCounter2 *r,
					  struct ts_rec_interval *i)
{
	i->start_ns = r->start;
	i->end_ns = r->end;
	i->h.device = (int16_t)(r->dstId < 1024 ? r->dstId : r->srcId < 1024 ? r->srcId : 0);
	i->stream = r->streamId == NO_STREAM ? 0 : r->streamId;
	i->bytes = r->value;
	i->launch_span = 1;     /* the driver moves pages by itself: no call launched it */
}

static void decode_GRAPH_TRACE(const CUpti_ActivityGraphTrace *r, struct ts_rec_interval *i)
{
	i->start_ns = r->start;
	i->end_ns = r->end;
	i->h.device = (int16_t)r->deviceId;
	i->context = r->contextId;
	i->stream = r->streamId;
	i->correlation = r->correlationId;
	i->graph = r->graphId;
}

static void decode_MEMORY_POOL(const CUpti_ActivityMemoryPool2 *r, struct ts_rec_interval *i)
{
	static const char *const names[] = { "pool", "pool_created", "pool_destroyed",
					     "pool_trimmed" };

	i->start_ns = i->end_ns = r->timestamp;
	i->h.device = (int16_t)r->deviceId;
	i->correlation = r->correlationId;
	i->bytes = r->size;
	i->name = ts_arena_text(
	    names[(unsigned)r->memoryPoolOperationType < 4 ? r->memoryPoolOperationType : 0]);
}

static void decode_OVERHEAD(const CUpti_ActivityOverhead *r, struct ts_rec_interval *i)
{
	i->start_ns = r->start;
	i->end_ns = r->end;
}

#define TS_KIND(kind, record, activity, when)                                                      \
	static void decode_any_##kind(const void *any, struct ts_rec_interval *interval)           \
	{                                                                                          \
		const record *typed = any;                                                         \
                                                                                                   \
		decode_##kind(typed, interval);                                                    \
	}
#include "cupti/activities.def"
#undef TS_KIND

const struct cupti_kind cupti_kinds[] = {
#define TS_KIND(kind, record, activity, when)                                                      \
	{ CUPTI_ACTIVITY_KIND_##kind, #kind, TS_ACT_##activity, CUPTI_##when, decode_any_##kind },
#include "cupti/activities.def"
#undef TS_KIND
};
const unsigned cupti_kind_count = TS_ARRAY_SIZE(cupti_kinds);

/* Zero, reversed, sentinel and unfinished times are kept out of every sum, but the work is told. */
static void check_times(struct ts_rec_interval *i)
{
	uint64_t now = ts_clock_to_ns(ts_clock_now());

	if (i->start_ns && !i->end_ns && atomic_load(&cupti_forced)) {
		i->untimed = 1;
		ts_lost(TS_LOST_device_unfinished, 1);
		return;
	}
	if (i->start_ns && i->start_ns <= i->end_ns && i->end_ns < now + FAR_NS &&
	    i->start_ns + 24 * FAR_NS > now)
		return;
	i->untimed = 1;
	ts_lost(TS_LOST_device_untimed, 1);
}

/* Only when CUPTI did not take our clock; what is no time (0, 2^63) stays as it is. */
static void convert(struct ts_rec_interval *i)
{
	int64_t offset = atomic_load_explicit(&cupti_clock_offset_ns, memory_order_relaxed);

	if (!offset)
		return;
	if (i->start_ns && i->start_ns < INT64_MAX)
		i->start_ns += (uint64_t)offset;
	if (i->end_ns && i->end_ns < INT64_MAX)
		i->end_ns += (uint64_t)offset;
}

void cupti_decode(const CUpti_Activity *record)
{
	struct ts_rec_interval interval = {
		.h = { .kind = TS_REC_INTERVAL, .slots = 2, .route = TS_ROUTE_CUPTI, .span = 1 },
		.backend = TS_BACKEND_CUPTI,
		.clock_error_ns = atomic_load_explicit(&cupti_clock_error_ns, memory_order_relaxed),
	};

	for (unsigned k = 0; k < cupti_kind_count; k++) {
		if (cupti_kinds[k].kind != record->kind)
			continue;
		interval.activity = cupti_kinds[k].activity;
		cupti_kinds[k].decode(record, &interval);
		if (is_own(interval.correlation) || is_warm_up(interval.correlation))
			return;
		convert(&interval);
		if (interval.activity != TS_ACT_OVERHEAD)
			check_times(&interval);
		device_emit(&interval);
		return;
	}
}
