/* After a run: did a trace appear? */
#ifndef TS_CLI_OUTCOME_H
#define TS_CLI_OUTCOME_H

#include <stdbool.h>
#include <time.h>

/* True when a file that fits the output template was written since `since`.  The template's %
 * tokens stand for anything. */
bool ts_outcome_has_trace(const char *template, const struct timespec *since);

#endif
