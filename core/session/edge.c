/* Device work that the program measured, and edges between spans and between tensors. */
#include <errno.h>

#include "core/session/event.h"
#include "core/session/past.h"
#include "core/session/tensors.h"

TS_EXPORT int tstrace_record_device_interval(tstrace_session *session, tstrace_span span,
					     const struct tstrace_device_interval *i)
{
	struct ts_event event;

	(void)session;
	if (!ts_event_begin(&event, "device_interval"))
		return 0;
	if (!i || ts_text_is_blank(i->device) || ts_text_is_blank(i->stream_id) ||
	    ts_text_is_blank(i->clock_id) || ts_text_is_blank(i->backend))
		return ts_event_refuse(&event, -EINVAL, "a device interval needs device, "
							"stream_id, clock_id and backend");
	if (!i->duration_ns)
		return ts_event_refuse(&event, -EINVAL, "a device interval's duration_ns must be "
							"more than 0");
	if (!ts_event_span(&event, span))
		return ts_event_refuse(&event, -EINVAL, "no span has the number %llu",
				       (unsigned long long)span);
	ts_line_string(event.line, "device", i->device);
	ts_line_string(event.line, "stream_id", i->stream_id);
	ts_line_string(event.line, "clock_id", i->clock_id);
	ts_line_string(event.line, "backend", i->backend);
	ts_line_u64(event.line, "start_ns", i->start_ns);
	ts_line_u64(event.line, "duration_ns", i->duration_ns);
	return ts_event_put(&event);
}

static void print_span(struct ts_lines *line, const char *key, tstrace_span span)
{
	ts_line_raw(line, ",\"");
	ts_line_raw(line, key);
	ts_line_raw(line, "\":\"s");
	ts_line_number(line, span);
	ts_line_raw(line, "\"");
}

TS_EXPORT int tstrace_record_call_edge(tstrace_session *session, tstrace_span from,
				       tstrace_span to, uint64_t host_duration_ns)
{
	struct ts_event event;
	struct ts_past callee;
	uint64_t duration;

	(void)session;
	if (!ts_event_begin(&event, "edge"))
		return 0;
	if (!ts_past_is_span(from) || !ts_past_is_span(to))
		return ts_event_refuse(&event, -EINVAL, "a call edge joins two spans; there is "
							"none from %llu to %llu",
				       (unsigned long long)from, (unsigned long long)to);
	if (!ts_past_find(event.thread, to, &callee))
		return ts_event_refuse(&event, -ENOENT, "a call edge leads to one of the last %u "
							"spans that ended on this thread; %llu is "
							"none", TS_ENDED, (unsigned long long)to);
	duration = callee.end_ns > callee.start_ns ? callee.end_ns - callee.start_ns : 0;
	if (callee.parent != from)
		return ts_event_refuse(&event, -EINVAL, "span %llu was begun in span %llu, not in "
							"%llu", (unsigned long long)to,
				       (unsigned long long)callee.parent,
				       (unsigned long long)from);
	if (host_duration_ns && host_duration_ns != duration)
		return ts_event_refuse(&event, -EINVAL, "span %llu took %llu ns, not %llu",
				       (unsigned long long)to, (unsigned long long)duration,
				       (unsigned long long)host_duration_ns);
	ts_line_word(event.line, "edge_kind", "call");
	print_span(event.line, "from_span", from);
	print_span(event.line, "to_span", to);
	ts_line_u64(event.line, "host_duration_ns", duration);
	return ts_event_put(&event);
}

TS_EXPORT int tstrace_record_data_edge(tstrace_session *session, const char *from, const char *to)
{
	struct ts_event event;

	(void)session;
	if (!ts_event_begin(&event, "edge"))
		return 0;
	if (!from || !*from || !to || !*to)
		return ts_event_refuse(&event, -EINVAL, "a data edge joins two tensor ids; neither "
							"may be empty");
	if (!ts_tensor_is_known(from) || !ts_tensor_is_known(to))
		return ts_event_refuse(&event, -ENOENT, "tensor %s is in no tensor or op recorded "
							"before",
				       ts_tensor_is_known(from) ? to : from);
	ts_line_word(event.line, "edge_kind", "data");
	ts_line_string(event.line, "from_tensor", from);
	ts_line_string(event.line, "to_tensor", to);
	return ts_event_put(&event);
}
