/* What tstrace says to the user: single lines on stderr, "tstrace: ...".  A stack buffer and one
 * write(2): async-signal-safe, no stdio, keeps errno.  Quiet is the rule: only when something
 * failed, and each thing once. */
#ifndef TSTRACE_CORE_LOG_H
#define TSTRACE_CORE_LOG_H

#include "core/base.h"

/* Knows %s %d %u %x %c %p %%, with l or z before the numbers, no width and no precision; an error's
 * text by ts_errno_text.  A line of at most 1 KiB; what is longer is cut. */
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
