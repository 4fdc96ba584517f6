/* How far a file is read, for who waits at a terminal: on stderr, one line that is rewritten and
 * wiped away at the end.  Nothing where stderr is no terminal. */
#ifndef TS_TRACE_PROGRESS_H
#define TS_TRACE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct ts_progress {
	bool is_on, is_shown;
	uint64_t done, size; /* bytes; size 0: not known, a pipe */
	int64_t next_ms;     /* when to show it again */
};

void ts_progress_begin(struct ts_progress *progress, int fd);
void ts_progress_add(struct ts_progress *progress, uint64_t bytes);
void ts_progress_end(struct ts_progress *progress);

#endif
