#include "core/record/alone.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/record/clock.h"

#define LOOK_NS 20000000        /* between two looks of a writer that has nothing else to do */
#define UNKNOWN_NS 1000000000u  /* the same while the initial thread is not known to us */

static _Atomic uint32_t main_ended;     /* futex */
static _Atomic bool main_known, exiting;
static sigset_t main_mask;              /* of the initial thread at its end */
static unsigned times_alone;            /* looks in a row; the writer's */

void ts_alone_main_is_known(void)
{
	atomic_store(&main_known, true);
}

void ts_alone_main_ends(void)
{
	pthread_sigmask(SIG_BLOCK, NULL, &main_mask);
	atomic_store(&main_ended, 1);
	syscall(SYS_futex, &main_ended, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void ts_alone_child(void)
{
	atomic_store(&main_ended, 0);
	atomic_store(&exiting, false);
	times_alone = 0;
}

/* The first bytes of a file of a task, as text; false when it cannot be read. */
static bool read_task(const char *tid, const char *name, char *text, size_t bytes)
{
	char path[80];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/%s", tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, bytes - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

/* Ended, but kept by the kernel until the last thread has ended. */
static bool is_dead(const char *tid)
{
	char text[128];
	const char *state;

	if (!read_task(tid, "stat", text, sizeof(text)))
		return false;
	state = strrchr(text, ')');     /* the name before it may hold anything */
	return state && (state[2] == 'Z' || state[2] == 'X');
}

static bool is_name_of_ours(const char *name)
{
	static const char *const names[] = { TS_THREAD_WRITER,  TS_THREAD_FLUSH,
					     TS_THREAD_READ,    TS_THREAD_EVENT,
					     TS_THREAD_LIBRARY, TS_THREAD_DESCRIBE,
					     TS_THREAD_EXIT,    TS_THREAD_WINDOW };

	for (size_t i = 0; i < TS_ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool is_ours(const char *tid)
{
	char name[32];

	if (!read_task(tid, "comm", name, sizeof(name)))
		return false;
	name[strcspn(name, "\n")] = '\0';
	return is_name_of_ours(name);
}

/* Whether every task but the dead initial one is ours.  A program of such a name gives it to its
 * threads: then nothing can be told. */
static bool are_only_ours(const char *main_tid)
{
	static char entries[8192] __attribute__((aligned(8)));
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool only = fd >= 0 && is_dead(main_tid) && !is_ours(main_tid);
	long bytes = 0;

	while (only && (bytes = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		for (long at = 0; at < bytes && only;) {
			const struct dirent64 *entry = (const void *)(entries + at);

			at += entry->d_reclen;
			if (entry->d_name[0] != '.' && strcmp(entry->d_name, main_tid))
				only = is_ours(entry->d_name);
		}
	if (fd >= 0)
		close(fd);
	return only && !bytes;
}

static void *leave(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, TS_THREAD_EXIT);
	/* Exit handlers are the program's: its signals reach it again. */
	pthread_sigmask(SIG_SETMASK, &main_mask, NULL);
	exit(0);
}

/* On a thread of its own: exit waits for the writer. */
static void start_exit(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	/* When it fails, the next look tries again. */
	if (!pthread_create(&thread, &attributes, leave, NULL))
		atomic_store(&exiting, true);
	pthread_attr_destroy(&attributes);
}

/* Loaded late, by another thread: nobody tells of the initial one's end. */
static bool has_unknown_main_ended(const char *main_tid)
{
	static uint64_t looked_ns;
	uint64_t ns = ts_monotonic_ns();

	if (ns - looked_ns < UNKNOWN_NS)
		return false;
	looked_ns = ns;
	return is_dead(main_tid);
}

void ts_alone_look(void)
{
	char main_tid[16];

	if (!atomic_load_explicit(&main_ended, memory_order_relaxed) &&
	    atomic_load_explicit(&main_known, memory_order_relaxed))
		return;
	if (atomic_load(&exiting))
		return;
	snprintf(main_tid, sizeof(main_tid), "%d", (int)getpid());
	if (!atomic_load(&main_ended) && has_unknown_main_ended(main_tid)) {
		sigemptyset(&main_mask);
		atomic_store(&main_ended, 1);
	}
	/* A thread that ends as it starts another may hide it from one look. */
	if (!atomic_load(&main_ended) || !are_only_ours(main_tid))
		times_alone = 0;
	else if (++times_alone == 2)
		start_exit();
}

void ts_alone_watch(void)
{
	for (;;) {
		if (atomic_load(&main_known) && !atomic_load(&main_ended))
			syscall(SYS_futex, &main_ended, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
		ts_alone_look();
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
	}
}
