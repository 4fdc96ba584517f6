/* What tstrace says to the user: single lines on stderr, "tstrace: ..." (the program's pid is added
 * when it is not the only process).  A stack buffer and one write(2): async-signal-safe, no stdio,
 * keeps errno.  Quiet is the rule: only when something failed, and each thing once. */
#ifndef TSTRACE_CORE_LOG_H
#define TSTRACE_CORE_LOG_H

#include "core/base.h"

/* %s %d %u %lu %lx %% and %m-like errno text through ts_errno_text; a line of at most 1 KiB. */
void ts_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Once a process for each place in the source. */
#define ts_say_once(...)                                                                           \
	do {                                                                                       \
		static _Atomic int said_;                                                          \
		if (!__atomic_exchange_n((int *)&said_, 1, __ATOMIC_RELAXED))                      \
			ts_say(__VA_ARGS__);                                                       \
	} while (0)

const char *ts_errno_text(int error);   /* static text, no locale, signal-safe */

#endif
