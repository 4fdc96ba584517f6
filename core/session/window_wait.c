/* Windows that open by time or by a signal: a thread waits for it, since neither a signal handler
 * nor the writer may wait for CUPTI. */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/env.h"
#include "core/log.h"
#include "core/record/alone.h"
#include "core/record/record.h"
#include "core/session/session.h"
#include "core/session/window.h"

static struct ts_window_spec spec;
static sem_t wake;

/* The program's: only tells the thread. */
static void on_signal(int number)
{
	int error = errno;

	(void)number;
	sem_post(&wake);
	errno = error;
}

static void wait_until(uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000u),
			      .tv_nsec = (long)(ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static void gate(bool open)
{
	if (ts_is_open(atomic_load(&ts_recording)))
		ts_window_gate(open, TS_CAUSE_TIME);
}

static void *wait_for_time(void *arg)
{
	uint64_t start = ts_session_start_ns();

	(void)arg;
	ts_self.depth = 1;
	if (spec.delay_ns) {
		wait_until(start + spec.delay_ns);
		gate(true);
	}
	if (spec.duration_ns) {
		wait_until(start + spec.delay_ns + spec.duration_ns);
		gate(false);
	}
	return NULL;
}

static void *wait_for_signal(void *arg)
{
	(void)arg;
	ts_self.depth = 1;
	for (;;) {
		if (sem_wait(&wake))
			continue;
		if (ts_is_open(atomic_load(&ts_recording)))
			ts_window_toggle();
	}
	return NULL;
}

/* The program's own handler is left alone. */
static bool take_signal(void)
{
	/* The program's threads may have stacks of their own making (Go's are small). */
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART | SA_ONSTACK },
			 old;

	if (sigaction(spec.signal, NULL, &old))
		return false;
	if (old.sa_handler != SIG_DFL) {
		ts_say("TSTRACE_WINDOW=%s: the program %s that signal; nothing is recorded before "
		       "tstrace_resume", ts_env.window,
		       old.sa_handler == SIG_IGN ? "ignores" : "handles");
		return false;
	}
	sigemptyset(&action.sa_mask);
	return !sigaction(spec.signal, &action, NULL);
}

void ts_window_wait_start(const struct ts_window_spec *what)
{
	bool by_signal = what->kind == TS_WINDOW_SIGNAL;

	spec = *what;
	if (by_signal && (sem_init(&wake, 0, 0) || !take_signal()))
		return;
	if (ts_helper_start(TS_THREAD_WINDOW, by_signal ? wait_for_signal : wait_for_time))
		ts_say("TSTRACE_WINDOW=%s: its thread could not be started; the window stays as "
		       "it is", ts_env.window);
}

/* Before its first CUDA call the child has no window that the signal could open. */
void ts_window_wait_child(void)
{
	struct sigaction old;

	if (spec.kind == TS_WINDOW_SIGNAL && !sigaction(spec.signal, NULL, &old) &&
	    old.sa_handler == on_signal)
		signal(spec.signal, SIG_DFL);
}
