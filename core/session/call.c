/* The calls of tstrace.h about the session as a whole, and the table that TSTRACE_DYNAMIC finds. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "core/record/arena.h"
#include "core/record/output.h"
#include "core/record/record.h"
#include "core/session/event.h"
#include "core/session/run.h"
#include "core/session/session.h"

/* What tstrace_open gives: there is one session, and this is its name. */
struct tstrace_session {
	char unused;
};
static struct tstrace_session the_session;

TS_EXPORT const struct tstrace_calls *tstrace_find_calls(void)
{
	static const struct tstrace_calls calls = {
		.size = sizeof(calls),
#define MEMBER(type, name, params, args, none) .name = tstrace_##name,
		TSTRACE_CALLS(MEMBER)
#undef MEMBER
	};

	return &calls;
}

TS_EXPORT const char *tstrace_error(void)
{
	const struct ts_api_thread *thread = ts_self.spans;

	return thread ? thread->error : "";
}

/* --- open --- */

static int prepare(void *user)
{
	struct ts_api_thread *thread = ts_api_thread();
	char flaw[256] = "";
	int error = ts_run_set(user, flaw, sizeof(flaw));

	if (thread)
		memcpy(thread->error, flaw, sizeof(flaw));
	return error;
}

TS_EXPORT int tstrace_open(tstrace_session **session, const char *path,
			   const struct tstrace_run *run)
{
	const struct ts_record_as as = { path, prepare, (void *)(uintptr_t)run };
	struct ts_api_thread *thread;
	int error;

	if (ts_self.depth++) {
		ts_self.depth--;
		return -EBUSY;
	}
	thread = ts_api_thread();
	if (thread)
		thread->error[0] = '\0';
	error = path && !*path ? -EINVAL : ts_record_open_as(&as);
	if (thread && error && !thread->error[0])
		snprintf(thread->error, sizeof(thread->error), "%s: %s", path ? path : "the trace",
			 error == -EALREADY ? "the session is open already"
					    : ts_errno_text(error));
	ts_self.depth--;
	if (session)
		*session = error && error != -EALREADY ? NULL : &the_session;
	return error;
}

/* --- times --- */

TS_EXPORT uint64_t tstrace_elapsed_ns(tstrace_session *session)
{
	uint64_t ns = 0;

	(void)session;
	/* A signal handler that interrupted us must not wait for what it interrupted. */
	if (ts_self.depth++ == 0 && ts_record_open() == 0)
		ns = ts_clock_elapsed_ns();
	ts_self.depth--;
	return ns;
}

TS_EXPORT int tstrace_host_timestamp_ns(tstrace_session *session, const struct timespec *time,
					uint64_t *ns)
{
	int error = 0;
	uint64_t at;

	(void)session;
	if (!time || !ns || time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec > 999999999)
		return ts_refuse(-EINVAL, "host timestamp: no such time");
	*ns = 0;
	at = (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
	if (ts_self.depth++ == 0 && ts_record_open() == 0) {
		if (at < ts_session_start_ns())
			error = -ERANGE;
		else
			*ns = at - ts_session_start_ns();
	}
	ts_self.depth--;
	return error ? ts_refuse(error, "host timestamp: before the session") : 0;
}

/* --- the end --- */

/* What became of the file. */
static int tell(int error)
{
	return error ? ts_refuse(error, ts_errno_text(error)) : 0;
}

TS_EXPORT int tstrace_flush(tstrace_session *session)
{
	(void)session;
	return tell(ts_record_flush(10000, true));
}

/* Name the open spans of this thread, as many as fit. */
static void name_open(struct ts_api_thread *thread)
{
	size_t used = (size_t)snprintf(thread->error, sizeof(thread->error),
				       "spans of this thread are still open:");

	for (uint32_t i = 0; i < thread->depth && used + 2 < sizeof(thread->error); i++) {
		const struct ts_entry *name = ts_arena_get(thread->frames[i].name);
		int more = snprintf(thread->error + used, sizeof(thread->error) - used, "%s %s",
				    i ? "," : "", name ? (const char *)name->data : "?");

		used += more > 0 ? (size_t)more : 0;
	}
	/* It is for a terminal. */
	for (char *p = thread->error; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
}

TS_EXPORT int tstrace_finish(tstrace_session *session, const char **path)
{
	struct ts_api_thread *thread = ts_self.spans;
	int state = atomic_load(&ts_recording);

	(void)session;
	if (path)
		*path = ts_record_path();
	/* What is still open when the session has ended stays so. */
	if (thread && thread->depth && (state == TS_REC_ON || state == TS_REC_OFF)) {
		name_open(thread);
		ts_say_once("finish: %s", thread->error);
		return -EBUSY;
	}
	return tell(ts_record_finish(NULL));
}

TS_EXPORT int tstrace_finish_failed(tstrace_session *session, const char *reason, const char **path)
{
	int error;

	(void)session;
	if (path)
		*path = ts_record_path();
	/* A trace whose reason is blank is not valid. */
	if (ts_text_is_blank(reason))
		return ts_refuse(-EINVAL, "finish_failed: a reason is wanted");
	error = ts_record_finish(reason);
	/* That the trace could not be written is a reason more, and in it. */
	return error == ts_output_error() ? 0 : tell(error);
}

TS_EXPORT const char *tstrace_path(tstrace_session *session)
{
	(void)session;
	return ts_record_path();
}
