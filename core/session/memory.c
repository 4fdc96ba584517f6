/* Memory that the program tells of: its own allocator's blocks, and what a device has. */
#include <errno.h>
#include <string.h>

#include "core/session/event.h"
#include "core/session/storage.h"

/* What of a memory event is missing or wrong; NULL: nothing. */
static const char *flaw(const struct tstrace_memory *m)
{
	if (!m || ts_text_is_blank(m->storage_id))
		return "a storage_id is wanted";
	if (m->shape.count && !m->shape.sizes)
		return "a shape's count without its array";
	return ts_category_name(m->category) ? NULL : "no such category";
}

static void print(struct ts_event *event, const struct tstrace_memory *m, uint64_t t_ns,
		  const char *action)
{
	struct ts_lines *line = event->line;

	ts_line_u64(line, "timestamp_ns", t_ns);
	ts_line_string(line, "storage_id", m->storage_id);
	ts_line_string(line, "tensor_id", m->tensor_id ? m->tensor_id : m->storage_id);
	if (m->op_name)
		ts_line_string(line, "op_name", m->op_name);
	ts_line_string(line, "device", ts_device_or(m->device));
	ts_line_u64(line, "bytes", m->bytes);
	ts_line_word(line, "action", action);
	ts_line_shape(line, m->shape);
	ts_line_string(line, "dtype", m->dtype ? m->dtype : "u8");
	ts_line_word(line, "category", ts_category_name(m->category));
	ts_line_word(line, "source", "api");
}

static int refuse_pairing(struct ts_event *event, enum ts_storage_result result,
			  const struct tstrace_memory *m, uint64_t bytes)
{
	const char *id = m->storage_id;

	switch (result) {
	case TS_STORAGE_EXISTS:
		return ts_event_refuse(event, -EEXIST, "storage %s: tensor %s is on it already", id,
				       m->tensor_id ? m->tensor_id : id);
	case TS_STORAGE_SIZE:
		return ts_event_refuse(event, -EINVAL, "storage %s is live with %llu bytes, not "
						       "%llu", id, (unsigned long long)bytes,
				       (unsigned long long)m->bytes);
	case TS_STORAGE_ABSENT:
		return ts_event_refuse(event, -ENOENT, "storage %s is not live", id);
	default:
		return ts_event_refuse(event, -ERANGE, "storage %s: before its last event", id);
	}
}

/* Under the storages' lock, and the time is taken there: another thread's event of the same storage
 * is before or behind in both. */
static int record_locked(struct ts_event *event, const struct tstrace_memory *m, bool is_alloc)
{
	struct ts_storage_event what = {
		.device = ts_device_or(m->device),
		.storage = m->storage_id,
		.tensor = m->tensor_id ? m->tensor_id : m->storage_id,
		.bytes = m->bytes,
		.is_free = !is_alloc,
		.outside = ts_outside(),
	};
	enum ts_storage_result result;
	uint64_t now;
	int error;

	event->t = ts_clock_now();
	now = ts_event_now(event);
	what.t_ns = m->timestamp_ns ? *m->timestamp_ns : now;
	if (what.t_ns > now)
		return ts_event_refuse(event, -ERANGE, "storage %s: %llu ns is in the future",
				       m->storage_id, (unsigned long long)what.t_ns);
	result = ts_storage_check(&what);
	if (result != TS_STORAGE_OK)
		return refuse_pairing(event, result, m, what.bytes);
	if (what.unwritten) {
		error = ts_event_drop(event);
	} else {
		print(event, m, what.t_ns, is_alloc ? "alloc" : "free");
		error = ts_event_put(event);
	}
	if (!error)
		ts_storage_change(&what);
	return error;
}

static int record(tstrace_span span, const struct tstrace_memory *m, bool is_alloc)
{
	struct ts_event event;
	const char *wrong;
	int error;

	if (!ts_event_begin_tracked(&event, "memory"))
		return 0;
	wrong = flaw(m);
	if (wrong)
		return ts_event_refuse(&event, -EINVAL, "memory: %s", wrong);
	if (!ts_event_span(&event, span))
		return ts_event_refuse(&event, -EINVAL, "no span has the number %llu",
				       (unsigned long long)span);
	ts_storage_lock();
	error = record_locked(&event, m, is_alloc);
	ts_storage_unlock();
	return error;
}

TS_EXPORT int tstrace_record_memory_alloc(tstrace_session *session, tstrace_span span,
					  const struct tstrace_memory *memory)
{
	(void)session;
	return record(span, memory, true);
}

TS_EXPORT int tstrace_record_memory_free(tstrace_session *session, tstrace_span span,
					 const struct tstrace_memory *memory)
{
	(void)session;
	return record(span, memory, false);
}

TS_EXPORT int tstrace_record_device_memory(tstrace_session *session,
					   const struct tstrace_device_memory *m)
{
	static const char *const keys[] = { "used_bytes", "free_bytes", "reserved_bytes",
					    "capacity_bytes" };
	struct ts_event event;
	uint64_t now, t_ns;
	bool any = false;

	(void)session;
	if (!ts_event_begin(&event, "device_memory"))
		return 0;
	if (!m)
		return ts_event_refuse(&event, -EINVAL, "device memory: NULL");
	now = ts_event_now(&event);
	t_ns = m->timestamp_ns ? *m->timestamp_ns : now;
	if (t_ns > now)
		return ts_event_refuse(&event, -ERANGE, "device memory: %llu ns is in the future",
				       (unsigned long long)t_ns);
	ts_line_u64(event.line, "timestamp_ns", t_ns);
	ts_line_string(event.line, "device", ts_device_or(m->device));
	for (size_t i = 0; i < TS_ARRAY_SIZE(keys); i++) {
		uint64_t values[] = { m->used_bytes, m->free_bytes, m->reserved_bytes,
				      m->capacity_bytes };

		if (values[i] != TSTRACE_NOT_KNOWN)
			ts_line_u64(event.line, keys[i], values[i]);
		any |= values[i] != TSTRACE_NOT_KNOWN;
	}
	if (!any)
		return ts_event_refuse(&event, -EINVAL, "device memory: no value is known");
	return ts_event_put(&event);
}
