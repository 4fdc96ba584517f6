#ifndef TSTRACE_CORE_LOCK_H
#define TSTRACE_CORE_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* For what seldom waits.  pthread_mutex_clocklock() would do, but the thread sanitizer of GCC 12
 * does not see it. */
static inline bool ts_lock_within(pthread_mutex_t *mutex, unsigned ms)
{
	const struct timespec step = { .tv_nsec = 1000000 };

	for (unsigned i = 0; i < ms; i++) {
		if (!pthread_mutex_trylock(mutex))
			return true;
		nanosleep(&step, NULL);
	}
	return false;
}

#endif
