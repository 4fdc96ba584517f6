/* Is a trace valid?  The rules of the format, with their codes.  A problem whose code begins with
 * parse_ makes the file unreadable for a strict reader; then only such problems are reported. */
#ifndef TS_TRACE_HEALTH_H
#define TS_TRACE_HEALTH_H

#include "core/trace/event.h"

#define TS_ISSUES_MAX 100000 /* kept; all are counted */

struct ts_issue {
	uint64_t line; /* 0: the file as a whole */
	bool is_error; /* else a warning */
	const char *code;
	char *text;
};

struct ts_health {
	bool valid, complete, parse_error;
	struct ts_issue *issues; /* by line, in the order found within a line */
	size_t issue_count, kept, capacity;
	uint64_t errors, warnings;
	uint64_t events[TS_EVENT_KINDS]; /* call and data edges apart */
	uint64_t extra_keys[TS_EVENT_KINDS];
};

/* Checks the file.  `allow_truncated`: a file that stops early is judged like a failed run. Returns
 * 0, or -errno after a message when the file cannot be read. */
int ts_health_check(const char *path, bool allow_truncated, struct ts_health *health);

void ts_health_free(struct ts_health *health);

#endif
