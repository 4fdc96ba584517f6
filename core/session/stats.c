/* tstrace_record_tensor_stats: statistics of a tensor as one event. */
#include "core/session/stats.h"

#include <errno.h>
#include <stdio.h>

#include "core/session/event.h"
#include "core/session/session.h"

/* The program may round otherwise, flush subnormal numbers to zero, or have exceptions trap: none
 * of it while we calculate, and all of it, flags too, as it was afterwards. */
#if defined(__x86_64__)
typedef unsigned float_state;

static float_state plain_floats(void)
{
	float_state state = __builtin_ia32_stmxcsr();

	__builtin_ia32_ldmxcsr(0x1f80);
	return state;
}

static void restore_floats(float_state state)
{
	__builtin_ia32_ldmxcsr(state);
}
#elif defined(__aarch64__)
typedef struct {
	uint64_t control, status;
} float_state;

static float_state plain_floats(void)
{
	float_state state;

	__asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(state.control), "=r"(state.status));
	__asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0) : "memory");
	return state;
}

static void restore_floats(float_state state)
{
	__asm__ volatile("msr fpsr, %1\n\tmsr fpcr, %0"
			 :
			 : "r"(state.control), "r"(state.status)
			 : "memory");
}
#else
#error "how floating point is set up is not known for this architecture"
#endif

/* Not inlined: no calculation moves out of what is between the two calls. */
static __attribute__((noinline)) int reduce(const struct tstrace_data *tensor,
					    const struct ts_view *view, struct ts_stats *stats,
					    char *why, size_t room)
{
	if (tensor->on_device && view->count) {
		if (ts_stats_device)
			return ts_stats_device(view, tensor->stream, stats, why, room);
		snprintf(why, room, "this library knows no device");
		return -ENODEV;
	}
	ts_stats_host(view, stats);
	return 0;
}

/* --- the event --- */

static void print_stats(struct ts_lines *line, const struct ts_stats *stats, uint64_t repeat)
{
	/* The schema's own are of all elements: with one that is not finite, they are not. */
	bool whole = !stats->nan && !stats->inf;

	ts_line_u64(line, "non_finite", (stats->nan + stats->inf) * repeat);
	ts_line_f64(line, "rms", whole ? stats->rms : 0);
	ts_line_f64(line, "abs_max", whole ? stats->abs_max : 0);
	ts_line_f64(line, "mean", whole ? stats->mean : 0);
	if (stats->finite) {
		ts_line_f64(line, "min", stats->min);
		ts_line_f64(line, "max", stats->max);
		ts_line_f64(line, "std", stats->std);
	}
	ts_line_u64(line, "nan_count", stats->nan * repeat);
	ts_line_u64(line, "inf_count", stats->inf * repeat);
}

/* What is wrong with a tensor before its elements are looked at.  NULL: nothing. */
static const char *flaw(const struct tstrace_data *tensor, struct ts_view *view, uint64_t *repeat,
			uint64_t *elements)
{
	if (!tensor)
		return "NULL instead of a tensor";
	if (tensor->shape.count && !tensor->shape.sizes)
		return "a shape's count without its array";
	switch (ts_view_of(tensor, view, repeat, elements)) {
	case 0:
		return *elements && !tensor->data ? "NULL instead of its elements" : NULL;
	case -EINVAL:
		return "no such element type";
	default:
		return "its shape and strides go beyond 64 bits";
	}
}

TS_EXPORT int tstrace_record_tensor_stats(tstrace_session *session, tstrace_span span,
					  const char *label, const struct tstrace_data *tensor)
{
	struct ts_event event;
	struct ts_stats stats;
	struct ts_view view;
	uint64_t repeat, elements;
	const char *wrong;
	char why[160] = "";
	float_state floats;
	int error;

	(void)session;
	if (!ts_event_begin(&event, "tensor_stats"))
		return 0;
	if (ts_text_is_blank(label))
		return ts_event_refuse(&event, -EINVAL, "a tensor's label must not be blank");
	wrong = flaw(tensor, &view, &repeat, &elements);
	if (wrong)
		return ts_event_refuse(&event, -EINVAL, "tensor %s: %s", label, wrong);
	if (!ts_event_span(&event, span))
		return ts_event_refuse(&event, -EINVAL, "no span has the number %llu",
				       (unsigned long long)span);
	floats = plain_floats();
	error = reduce(tensor, &view, &stats, why, sizeof(why));
	restore_floats(floats);
	if (error)
		return ts_event_refuse(&event, error, "tensor %s: %s", label, why);
	ts_line_string(event.line, "label", label);
	ts_line_shape(event.line, tensor->shape);
	ts_line_string(event.line, "dtype", ts_dtype_name(tensor->dtype));
	ts_line_u64(event.line, "elements", elements);
	print_stats(event.line, &stats, repeat);
	return ts_event_put(&event);
}
