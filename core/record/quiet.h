#ifndef TSTRACE_CORE_RECORD_QUIET_H
#define TSTRACE_CORE_RECORD_QUIET_H

#include <errno.h>
#include <pthread.h>

/* What runs seldom sleeps, opens files and holds locks: no point for pthread_cancel, which would
 * leave them held, and which the program does not expect in these calls.  Also keeps errno. */
struct quiet {
	int cancel, error;
};

static inline struct quiet quiet_begin(void)
{
	struct quiet quiet = { .error = errno };

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &quiet.cancel);
	return quiet;
}

static inline void quiet_end(struct quiet quiet)
{
	pthread_setcancelstate(quiet.cancel, NULL);
	errno = quiet.error;
}

#endif
