/* When an event of the device happened, on CLOCK_MONOTONIC.
 *
 * A base is recorded on a stream of ours that is always idle, between two readings of the host's
 * clock: it passed between them.  Work is placed by its distance from the newest base before it.  A
 * base a second keeps the distance short: it is a float of milliseconds (1 s is good to 60 ns), and
 * the two clocks drift.
 *
 * The error that is told is: half the time between the two readings, half a microsecond for the
 * event itself (cuda.h), the float's last bit, and the drift over the distance: what two bases
 * prove of the rate, or, with one base only, the 100 ppm that a crystal may be off.  And calls are
 * placed by the session's clock, which follows CLOCK_MONOTONIC but, while its rate is corrected,
 * may be off: by as much as it was at the base or is now. */
#include "core/record/clock.h"
#include "cupti/device.h"
#include "cupti/event.h"

#define ANCHOR_NS 2000000       /* longest wait for a base */
#define EVENT_NS 500.0          /* resolution of an event */
#define DRIFT 100e-6
#define FLOAT_ULP 6e-8          /* half of a float's last bit, relative */

/* How far the session's clock is from CLOCK_MONOTONIC now. */
static uint64_t deviation_ns(void)
{
	uint64_t before = ts_monotonic_ns(), mapped = ts_clock_to_ns(ts_clock_now());
	uint64_t after = ts_monotonic_ns();

	if (mapped < before)
		return before - mapped;
	return mapped > after ? mapped - after : 0;
}

/* One try: the event's time is within [before, after]. */
static bool try_anchor(struct event_context *context, struct event_base *base)
{
	uint64_t before = ts_monotonic_ns(), after;
	CUresult result;

	if (device_driver.event_record(base->event, context->stream) != CUDA_SUCCESS)
		return false;
	do {
		result = device_driver.event_query(base->event);
		after = ts_monotonic_ns();
	} while (result == CUDA_ERROR_NOT_READY && after - before < ANCHOR_NS);
	if (result != CUDA_SUCCESS)
		return false;
	base->ns = before + (after - before) / 2;
	base->error_ns = (uint32_t)((after - before) / 2) + 1;
	base->deviation_ns = deviation_ns();
	return true;
}

/* What this base and the one before it say about the device's clock. */
static void learn_rate(struct event_base *base, const struct event_base *before)
{
	float apart_ms = 0;
	double host, device;

	base->rate = 1;
	base->rate_error = DRIFT;
	if (!before ||
	    device_driver.event_elapsed(&apart_ms, before->event, base->event) != CUDA_SUCCESS)
		return;
	host = (double)(int64_t)(base->ns - before->ns);
	device = (double)apart_ms * 1e6;
	if (device < 1e6)
		return;
	base->rate = host / device;
	base->rate_error = (base->error_ns + before->error_ns + 2 * EVENT_NS) / device;
	if (base->rate_error > DRIFT || base->rate < 1 - 2 * DRIFT || base->rate > 1 + 2 * DRIFT) {
		base->rate = 1;
		base->rate_error = DRIFT;
	}
}

bool event_anchor(struct event_context *context)
{
	struct event_base *base = &context->bases[context->base_count % EVENT_BASES];
	const struct event_base *before =
	    context->base_count ? &context->bases[(context->base_count - 1) % EVENT_BASES] : NULL;

	if (!context->stream &&
	    device_driver.stream_create(&context->stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
		return false;
	if (!base->event &&
	    device_driver.event_create(&base->event, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
		return false;
	/* A first try warms the stream up; a try in which the thread was preempted is worth
	 * another. */
	for (int i = 0; i < 3; i++)
		if (!try_anchor(context, base))
			return false;
		else if (i && base->error_ns < 20000)
			break;
	learn_rate(base, before);
	context->base_count++;
	return true;
}

bool event_place(const struct event_context *context, CUevent event, uint64_t *ns,
		 uint32_t *error_ns)
{
	unsigned kept = context->base_count < EVENT_BASES ? context->base_count : EVENT_BASES;
	const struct event_base *base = NULL;
	uint64_t deviation = deviation_ns();
	double distance, error;
	float ms = 0;

	/* The newest base that is not after it; else the oldest, with a negative distance. */
	for (unsigned back = 1; back <= kept; back++) {
		base = &context->bases[(context->base_count - back) % EVENT_BASES];
		if (device_driver.event_elapsed(&ms, base->event, event) != CUDA_SUCCESS)
			return false;
		if (ms >= 0)
			break;
	}
	if (!base)
		return false;
	distance = (double)ms * 1e6;
	error = distance < 0 ? -distance : distance;
	error = base->error_ns + EVENT_NS + error * (base->rate_error + FLOAT_ULP);
	error += (double)(deviation > base->deviation_ns ? deviation : base->deviation_ns);
	*ns = base->ns + (uint64_t)(int64_t)(distance * base->rate);
	*error_ns = error > UINT32_MAX ? UINT32_MAX : (uint32_t)error;
	return true;
}
