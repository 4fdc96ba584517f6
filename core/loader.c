#include "core/loader.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define STEP_NS 100000
#define STEPS 1000

static _Atomic int walks, forking;
static _Atomic pthread_t forker;        /* while `forking` */

static void wait_a_step(void)
{
	int saved = errno;

	nanosleep(&(struct timespec){ .tv_nsec = STEP_NS }, NULL);
	errno = saved;
}

static bool must_wait(void)
{
	/* The forking thread's other handlers may walk. */
	return atomic_load(&forking) && !pthread_equal(atomic_load(&forker), pthread_self());
}

int ts_loader_walk(int (*visit)(struct dl_phdr_info *info, size_t bytes, void *data), void *data)
{
	int result;

	/* Counted before looking; a fork looks after saying so: one of them sees the other. */
	atomic_fetch_add(&walks, 1);
	for (int i = 0; i < STEPS && must_wait(); i++) {
		atomic_fetch_sub(&walks, 1);
		wait_a_step();
		atomic_fetch_add(&walks, 1);
	}
	result = dl_iterate_phdr(visit, data);
	atomic_fetch_sub(&walks, 1);
	return result;
}

void ts_loader_before_fork(void)
{
	atomic_store(&forker, pthread_self());
	atomic_store(&forking, 1);
	for (int i = 0; i < STEPS && atomic_load(&walks); i++)
		wait_a_step();
}

void ts_loader_after_fork(bool in_child)
{
	/* The walks of threads that are gone. */
	if (in_child)
		atomic_store(&walks, 0);
	atomic_store(&forking, 0);
}
