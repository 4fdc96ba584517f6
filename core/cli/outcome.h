/* After a run: which traces appeared? */
#ifndef TS_CLI_OUTCOME_H
#define TS_CLI_OUTCOME_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

/* Prints one line for each file that fits the output template and was written since `since` (of
 * CLOCK_REALTIME_COARSE, the clock of file times).  The template's % tokens stand for anything.
 * Returns false when there is none, and true when that cannot be known. */
bool ts_outcome_tell(const char *template, const struct timespec *since, FILE *out);

#endif
