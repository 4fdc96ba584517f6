#include "core/record/clock.h"

#include <stdatomic.h>

#include "core/record/layout.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define NS_PER_S UINT64_C(1000000000)
/* The rate is first measured over this long: a reading is good to some 50 ns, so to 2.5 in a
 * million. */
#define FIRST_SPAN_NS (20 * 1000 * 1000)
/* A new piece begins this long after it is made; see clock.h.  It meets the true clock after
 * HORIZON. */
#define MARGIN_NS NS_PER_S
#define HORIZON_NS (10 * NS_PER_S)
#define CHECK_NS (NS_PER_S / 4)
#define BASE_NS (30 * NS_PER_S)

bool ts_clock_is_raw;

struct anchor {
	uint64_t raw, ns;
};

/* The rate is measured from `base`, which follows half a minute to a minute behind; `next` is the
 * base to be. */
static struct anchor first, base, next;
static struct ts_file *shared;
/* Pieces before a file is attached, and for processes without one. */
static struct ts_clock_segment own_segments[TS_CLOCK_SEGMENTS];
static struct ts_clock_segment *segments = own_segments;
static _Atomic uint32_t segment_count;
static _Atomic int calibrating;
static uint64_t checked_ns;

static uint64_t counter(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return ts_monotonic_ns();
#endif
}

/* Both clocks at one moment: the reading with the shortest bracket of a few. */
static struct anchor take_anchor(void)
{
	struct anchor best = { 0 };
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t before = counter(), ns = ts_monotonic_ns(), after = counter();

		if (after - before < shortest) {
			shortest = after - before;
			best = (struct anchor){ before + (after - before) / 2, ns };
		}
	}
	return best;
}

static bool counter_is_invariant(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
#else
	return false;
#endif
}

void ts_clock_init(int mode)
{
	bool raw = mode == 1 ? counter_is_invariant() : mode == 0 && counter_is_invariant();

	if (first.ns && raw == ts_clock_is_raw)
		return;
	ts_clock_is_raw = raw;
	first = base = next = take_anchor();
}

static uint64_t map(const struct ts_clock_segment *s, uint64_t raw)
{
	/* Before the first piece (a value read before the first anchor) the line goes on backwards.
	 */
	if (raw < s->start)
		return s->base_ns -
		       (uint64_t)(((unsigned __int128)(s->start - raw) * s->mult) >> 32);
	return s->base_ns + (uint64_t)(((unsigned __int128)(raw - s->start) * s->mult) >> 32);
}

static void append(struct ts_clock_segment piece)
{
	uint32_t count = atomic_load_explicit(&segment_count, memory_order_relaxed);

	/* The table is full after days: the last pieces' rate then stays, some ns a second off. */
	if (count == TS_CLOCK_SEGMENTS)
		return;
	segments[count] = piece;
	atomic_store_explicit(&segment_count, count + 1, memory_order_release);
	if (shared)
		atomic_store_explicit(&shared->clock_segments, count + 1, memory_order_release);
}

/* Fixed-point rate of `ns` per `raw` ticks. */
static uint64_t rate(uint64_t ns, uint64_t raw)
{
	return (uint64_t)(((unsigned __int128)ns << 32) / raw);
}

/* Measure the counter's rate once; whoever comes first, the others wait. */
static void calibrate(void)
{
	struct anchor now;

	if (atomic_exchange(&calibrating, 1)) {
		while (!atomic_load_explicit(&segment_count, memory_order_acquire))
			nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
		return;
	}
	for (;;) {
		uint64_t passed = ts_monotonic_ns() - first.ns;

		if (passed >= FIRST_SPAN_NS)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = (long)(FIRST_SPAN_NS - passed) }, NULL);
	}
	now = take_anchor();
	append((struct ts_clock_segment){ first.raw, first.ns,
					  rate(now.ns - first.ns, now.raw - first.raw) });
}

uint64_t ts_clock_to_ns(uint64_t raw)
{
	uint32_t count, i;

	if (!ts_clock_is_raw)
		return raw;
	count = atomic_load_explicit(&segment_count, memory_order_acquire);
	if (ts_unlikely(!count)) {
		calibrate();
		count = atomic_load_explicit(&segment_count, memory_order_acquire);
	}
	for (i = count - 1; i > 0 && raw < segments[i].start; i--)
		;
	return map(&segments[i], raw);
}

/* The error that is let be: less than matters, and growing while the table fills, so that it lasts
 * for days whatever the clock does. */
static uint64_t tolerance(uint32_t count)
{
	return UINT64_C(500) << count / (TS_CLOCK_SEGMENTS / 8);
}

void ts_clock_maintain(void)
{
	struct anchor now;
	uint64_t raw_rate, start, at_start, truth, target, mult, error;
	const struct ts_clock_segment *last;
	uint32_t count;

	if (!ts_clock_is_raw)
		return;
	if (!atomic_load(&segment_count))
		calibrate();
	count = atomic_load(&segment_count);
	last = &segments[count - 1];
	/* Not before the piece made last has begun: pieces are in order. */
	if (counter() < last->start || ts_monotonic_ns() - checked_ns < CHECK_NS)
		return;
	now = take_anchor();
	checked_ns = now.ns;
	raw_rate = rate(now.ns - base.ns, now.raw - base.raw);
	if (now.ns - next.ns > BASE_NS) {
		base = next;
		next = now;
	}
	start = now.raw + (uint64_t)(((unsigned __int128)MARGIN_NS << 32) / raw_rate);
	at_start = map(last, start);
	truth = now.ns + MARGIN_NS;
	error = at_start > truth ? at_start - truth : truth - at_start;
	if (error < tolerance(count))
		return;
	target = truth + HORIZON_NS;
	mult = target > at_start
		   ? (uint64_t)((unsigned __int128)(target - at_start) * raw_rate / HORIZON_NS)
		   : 0;
	/* Off by more than one in a thousand is a clock that was stopped or set (suspend): keep the
	 * measured rate and leave the offset; order matters more than the wall. */
	if (mult > raw_rate + raw_rate / 1000 || mult < raw_rate - raw_rate / 1000)
		mult = raw_rate;
	/* Held up since the reading: another thread may soon map what lies in the piece. */
	if (counter() - now.raw > (start - now.raw) / 2)
		return;
	append((struct ts_clock_segment){ start, at_start, mult });
}

void ts_clock_attach(struct ts_file *file)
{
	uint32_t count = atomic_load(&segment_count);

	for (uint32_t i = 0; i < count; i++)
		file->clock[i] = segments[i];
	file->clock_is_raw = ts_clock_is_raw;
	atomic_store(&file->clock_segments, count);
	segments = file->clock;
	shared = file;
}

void ts_clock_detach(void)
{
	uint32_t count = atomic_load(&segment_count);

	for (uint32_t i = 0; i < count && segments != own_segments; i++)
		own_segments[i] = segments[i];
	segments = own_segments;
	shared = NULL;
	/* In a child: the thread that was measuring is not here. */
	if (!count)
		atomic_store(&calibrating, 0);
}

static _Atomic uint64_t session_start_ns;

void ts_clock_session_begin(uint64_t start_ns)
{
	atomic_store(&session_start_ns, start_ns);
}

uint64_t ts_clock_session_ns(uint64_t raw)
{
	uint64_t ns = ts_clock_to_ns(raw),
		 start = atomic_load_explicit(&session_start_ns, memory_order_relaxed);

	return ns > start ? ns - start : 0;
}

uint64_t ts_clock_elapsed_ns(void)
{
	return ts_clock_session_ns(ts_clock_now());
}
