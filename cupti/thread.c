/* Threads of ours, and the way of an interval into a ring. */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "cupti/device.h"

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

int device_thread_start(const char *name, void *(*run)(void *))
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

void device_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

struct timespec device_deadline(unsigned ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

void device_emit(const struct ts_rec_interval *interval)
{
	struct ts_ring *ring = ts_enter();
	void *rec;

	/* The window closed, its work ends later: still its own. */
	if (!ring && ts_self.depth == 1 && ts_recording == TS_REC_OFF)
		ring = ts_self.ring;
	if (!ring) {
		ts_lost(ts_recording == TS_REC_FINISHED ? TS_LOST_late : TS_LOST_no_ring, 1);
	} else if ((rec = ts_reserve(ring, 2))) {
		memcpy(rec, interval, sizeof(*interval));
		ts_commit(ring, 2);
	}
	ts_leave();
}
