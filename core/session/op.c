/* What happens in a span: operations, tensors, scalars. */
#include <errno.h>
#include <string.h>

#include "core/record/output.h"
#include "core/session/event.h"
#include "core/session/past.h"
#include "core/session/tensors.h"

#define NO_SPAN "no span has the number %llu"

/* Dimensions without an array, or a text that is wanted and missing: a slip of the caller's. */
static bool is_shape(struct tstrace_shape shape)
{
	return !shape.count || shape.sizes;
}

static bool are_ids(const char *const *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!ids || !ids[i])
			return false;
	return true;
}

/* Within which times an op of `span` must lie.  False: that is not known.  A span that is open on
 * another thread may end this very moment. */
static bool limits(const struct ts_event *event, tstrace_span span, struct ts_past *limits)
{
	struct ts_frame *frame;

	*limits = (struct ts_past){ .end_ns = ts_event_now(event) };
	if (!span)
		span = ts_self.span ? ts_self.span : TSTRACE_ROOT;
	if (span == TSTRACE_ROOT)
		return true;
	frame = ts_open_frame(event->thread, span);
	if (!frame)
		return ts_past_find(event->thread, span, limits);
	limits->start_ns = ts_clock_session_ns(frame->t);
	return true;
}

/* When the op began.  -ENOENT: it cannot be told whether it lies in its span; -ERANGE: it does
 * not, or it ends in the future. */
static int op_start(struct ts_event *event, tstrace_span span, const struct tstrace_op *op,
		    uint64_t *start)
{
	uint64_t now = ts_event_now(event), end;
	struct ts_past within;

	*start = op->timestamp_ns;
	if (!limits(event, span, &within))
		return ts_event_refuse(event, -ENOENT, "op %s: span %llu is neither open on this "
				       "thread nor among the last %u that ended on it", op->name,
				       (unsigned long long)span, TS_ENDED);
	if (!*start)
		*start = now > op->duration_ns ? now - op->duration_ns : 0;
	if (__builtin_add_overflow(*start, op->duration_ns, &end) || end > now)
		return ts_event_refuse(event, -ERANGE, "op %s: it must end by now", op->name);
	if (*start < within.start_ns || end > within.end_ns)
		return ts_event_refuse(event, -ERANGE, "op %s: it must lie within its span",
				       op->name);
	return 0;
}

static void print_op(struct ts_lines *line, const struct tstrace_op *op, uint64_t start)
{
	ts_line_string(line, "op_name", op->name);
	ts_line_raw(line, ",\"inputs\":[");
	for (size_t i = 0; i < op->input_count; i++) {
		ts_line_raw(line, i ? "," : "");
		ts_line_quoted(line, op->inputs[i], strlen(op->inputs[i]));
	}
	ts_line_raw(line, "]");
	if (op->output)
		ts_line_string(line, "output", op->output);
	ts_line_shape(line, op->shape);
	ts_line_string(line, "dtype", op->dtype ? op->dtype : "unknown");
	ts_line_string(line, "device", ts_device_or(op->device));
	ts_line_u64(line, "duration_ns", op->duration_ns);
	ts_line_u64(line, "timestamp_ns", start);
	ts_line_dense(line, "output_dense_bytes", op->output_dense_bytes, op->shape, op->dtype);
	ts_line_u64(line, "input_dense_bytes", op->input_dense_bytes);
}

TS_EXPORT int tstrace_record_op(tstrace_session *session, tstrace_span span,
				const struct tstrace_op *op)
{
	struct ts_event event;
	uint64_t start;
	int error;

	(void)session;
	if (!ts_event_begin(&event, "op"))
		return 0;
	if (!op || ts_text_is_blank(op->name))
		return ts_event_refuse(&event, -EINVAL, "an op needs a name");
	if (!is_shape(op->shape) || !are_ids(op->inputs, op->input_count))
		return ts_event_refuse(&event, -EINVAL, "op %s: a count without its array, or a "
							"NULL input", op->name);
	if (!ts_event_span(&event, span))
		return ts_event_refuse(&event, -EINVAL, NO_SPAN, (unsigned long long)span);
	error = op_start(&event, span, op, &start);
	if (error)
		return error;
	print_op(event.line, op, start);
	error = ts_event_put(&event);
	for (size_t i = 0; !error && i < op->input_count; i++)
		ts_tensor_add(op->inputs[i]);
	if (!error && op->output)
		ts_tensor_add(op->output);
	return error;
}

TS_EXPORT int tstrace_record_tensor(tstrace_session *session, tstrace_span span,
				    const struct tstrace_tensor *tensor)
{
	struct ts_event event;
	struct ts_lines *line;
	int error;

	(void)session;
	if (!ts_event_begin(&event, "tensor"))
		return 0;
	line = event.line;
	if (!tensor || ts_text_is_blank(tensor->tensor_id))
		return ts_event_refuse(&event, -EINVAL, "a tensor needs a tensor_id");
	if (!is_shape(tensor->shape) || !ts_category_name(tensor->category))
		return ts_event_refuse(&event, -EINVAL, "tensor %s: a count without its array, or "
							"no such category", tensor->tensor_id);
	if (!ts_event_span(&event, span))
		return ts_event_refuse(&event, -EINVAL, NO_SPAN, (unsigned long long)span);
	ts_line_string(line, "tensor_id", tensor->tensor_id);
	if (tensor->label)
		ts_line_string(line, "label", tensor->label);
	ts_line_shape(line, tensor->shape);
	ts_line_string(line, "dtype", tensor->dtype ? tensor->dtype : "unknown");
	ts_line_string(line, "device", ts_device_or(tensor->device));
	ts_line_bool(line, "requires_grad", tensor->requires_grad);
	ts_line_dense(line, "dense_bytes", tensor->dense_bytes, tensor->shape, tensor->dtype);
	ts_line_word(line, "category", ts_category_name(tensor->category));
	error = ts_event_put(&event);
	if (!error)
		ts_tensor_add(tensor->tensor_id);
	return error;
}

/* --- scalars: a slot of their own, since a loop may record many --- */

static int refuse(struct ts_api_thread *thread, int error, const char *text)
{
	if (thread)
		strcpy(thread->error, text);
	ts_leave();
	return error;
}

TS_EXPORT int tstrace_record_scalar(tstrace_session *session, tstrace_span span, const char *label,
				    double value)
{
	struct ts_ring *ring = ts_enter_call(false);
	struct ts_api_thread *thread = ring ? ts_api_thread() : NULL;
	struct ts_rec_scalar *rec;
	uint32_t text;
	int error;

	(void)session;
	if (!thread) {
		ts_leave();
		return 0;
	}
	if (ts_text_is_blank(label))
		return refuse(thread, -EINVAL, "a scalar's label must not be blank");
	if (!span)
		span = ts_self.span ? ts_self.span : 1;
	else if (!ts_past_is_span(span))
		return refuse(thread, -EINVAL, "a scalar for a span that was never begun");
	error = ts_output_error();
	if (error)
		return refuse(thread, error, "the trace could not be written before");
	text = ts_known_text(thread, label);
	rec = text ? ts_reserve(ring, 1) : NULL;
	if (!rec)
		return refuse(thread, -ENOBUFS, "no room for a scalar was made in time");
	*rec = (struct ts_rec_scalar){
		.h = { .kind = TS_REC_SCALAR,
		       .slots = 1,
		       .route = TS_ROUTE_API,
		       .device = TS_DEVICE_NONE,
		       .t = ts_clock_now(),
		       .span = (uint32_t)span },
		.value = value,
		.label = text,
	};
	ts_commit(ring, 1);
	ts_leave();
	return 0;
}
