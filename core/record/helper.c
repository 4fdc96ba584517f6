/* Starting a thread of ours. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "core/record/alone.h"

struct start {
	char name[16];
	void *(*run)(void *);
	_Atomic int taken;
};

static void *begin(void *arg)
{
	struct start *start = arg;
	void *(*run)(void *) = start->run;

	prctl(PR_SET_NAME, start->name);
	start->taken = 1;
	return run(NULL);
}

int ts_helper_start(const char *name, void *(*run)(void *))
{
	struct start start = { .run = run };
	pthread_attr_t attributes;
	sigset_t all, old;
	pthread_t thread;
	int error;

	strncpy(start.name, name, sizeof(start.name) - 1);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attributes, begin, &start);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	while (!error && !start.taken)
		nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
	return -error;
}

