/* Threads and processes: many threads, threads that end, fork, kill, the ways out, a late call. */
#include "tests/unit/record_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "core/record/file.h"
#include "core/tstrace.h"

#define THREADS 8
/* Reading a trace back as JSON is what takes long under a sanitizer: its malloc is slow. */
#define ROUNDS (SANITIZED ? 1000 : 5000)

/* --- threads --- */

static void *busy_thread(void *arg)
{
	uint64_t base = UINT64_C(0x100000) * (1 + (uintptr_t)arg);

	for (uint64_t i = 0; i < ROUNDS; i++) {
		tstrace_span span = tstrace_begin_span(NULL, "work", TSTRACE_OP);

		put_alloc(base + i % 7 * 256, i + 1, 0, 0);
		put_launch("kernel", 0);
		put_free(base + i % 7 * 256, 0);
		tstrace_end_span(NULL, span);
	}
	return arg;
}

static void eight_threads(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, busy_thread, (void *)i);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void expect_all(const char *path)
{
	json_t *lines = valid_trace(path), *terminal = event_at(lines, "terminal", 0), *event;
	size_t spans = 0, ops = 0, memory = 0, i;

	json_array_foreach(lines, i, event)
	{
		spans += !strcmp(text_of(event, "kind"), "span_end");
		ops += !strcmp(text_of(event, "kind"), "op");
		memory += !strcmp(text_of(event, "kind"), "memory");
	}
	assert_int_equal(spans, THREADS * ROUNDS + 2);
	assert_int_equal(ops, THREADS * ROUNDS);
	assert_int_equal(memory, 2 * THREADS * ROUNDS);
	assert_int_equal(json_object_size(json_object_get(terminal, "lost")), 0);
	assert_int_equal(number_of(terminal, "live_bytes"), 0);
	json_decref(lines);
}

static void test_eight_threads_lose_nothing(void **state)
{
	const char *path = test_path("eight.jsonl");

	(void)state;
	assert_int_equal(run_session(eight_threads, path, PATIENT, NULL), 0);
	assert_string_equal(said, "");
	expect_all(path);
	/* The smallest rings: every thread waits for the writer over and over. */
	path = test_path("small.jsonl");
	assert_int_equal(run_session(eight_threads, path, PATIENT, "TSTRACE_BUFFER=16K", NULL), 0);
	expect_all(path);
	path = test_path("monotonic.jsonl");
	assert_int_equal(
	    run_session(eight_threads, path, PATIENT, "TSTRACE_CLOCK=monotonic", NULL), 0);
	expect_all(path);
}

static void test_dropped_events_are_counted(void **state)
{
	const char *path = test_path("drop.jsonl");
	json_t *lines, *lost;
	size_t total;

	(void)state;
	assert_int_equal(
	    run_session(eight_threads, path, "TSTRACE_BUFFER=16K", "TSTRACE_ON_FULL=drop", NULL),
	    0);
	lines = valid_trace(path);
	lost = json_object_get(event_at(lines, "terminal", 0), "lost");
	total = event_count(lines, "op");
	assert_true(total < THREADS * ROUNDS);
	assert_true(number_of(lost, "ring_full") > 0);
	json_decref(lines);
}

#define SHORT_THREADS 2000
#if defined(__SANITIZE_THREAD__)
#define TSD_ROUNDS 2            /* in the last, its own state of the thread is gone */
#else
#define TSD_ROUNDS 4
#endif

static pthread_key_t key;

/* A destructor of the program's own, run again in each round, that uses the device (field
 * case 2.14). */
static void at_thread_end(void *value)
{
	uintptr_t rounds = (uintptr_t)value;

	put_launch("destructor", 0);
	if (rounds > 1)
		pthread_setspecific(key, (void *)(rounds - 1));
}

static void *short_thread(void *arg)
{
	put_launch("thread", 0);
	pthread_setspecific(key, (void *)TSD_ROUNDS);
	pthread_exit(arg);
}

static long resident_kib(void)
{
	long pages = 0, total;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%ld %ld", &total, &pages) != 2)
		pages = 0;
	fclose(file);
	return pages * 4;
}

static void short_threads(void)
{
	pthread_t thread;
	void *result;
	long after_some = 0;

	pthread_key_create(&key, at_thread_end);
	for (uintptr_t i = 0; i < SHORT_THREADS; i++) {
		pthread_create(&thread, NULL, short_thread, (void *)i);
		pthread_join(thread, &result);
		if (result != (void *)i)
			_exit(1);
		if (i == SHORT_THREADS / 2)
			after_some = resident_kib();
	}
	/* Without reuse it would be 65 MiB.  The address sanitizer keeps what was freed. */
	if (resident_kib() - after_some > (SANITIZED ? 32768 : 4096))
		_exit(2);
	if (atomic_load(&ts_file->rings) > 100)
		_exit(3);
}

static void test_threads_that_end(void **state)
{
	const char *path = test_path("short.jsonl");
	json_t *lines;

	(void)state;
	assert_int_equal(run_session(short_threads, path, "TSTRACE_BUFFER=64K", NULL), 0);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "op"), (1 + TSD_ROUNDS) * SHORT_THREADS);
	json_decref(lines);
}

/* --- fork (field cases 2.01, 2.02, 2.03) --- */

/* The thread sanitizer copies and checks all of its own state at each fork. */
#if defined(__SANITIZE_THREAD__)
#define FORKS 40
#else
#define FORKS 200
#endif

static _Atomic int forked_enough;

static void *until_enough(void *arg)
{
	while (!atomic_load(&forked_enough)) {
		tstrace_span span = tstrace_begin_span(NULL, "parent", TSTRACE_OP);

		put_launch("parent", 0);
		tstrace_end_span(NULL, span);
		nanosleep(&(struct timespec){.tv_nsec = SANITIZED ? 1000000 : 50000}, NULL);
	}
	return arg;
}

static void forking(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, until_enough, NULL);
	put_launch("parent", 0);
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();
		int status;

		if (!child) {
			if (i % 10 == 0) {
				put_launch("child", 0);
				exit(0);
			}
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child || status)
			_exit(9);
	}
	atomic_store(&forked_enough, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void test_fork_under_load(void **state)
{
	const char *path = test_path("fork.jsonl");
	json_t *lines, *event;
	char name[64];
	size_t i;

	(void)state;
	assert_int_equal(run_session(forking, path, "TSTRACE_BUFFER=64K", NULL), 0);
	assert_string_equal(said, "");
	lines = valid_trace(path);
	json_array_foreach(lines, i, event) if (!strcmp(text_of(event, "kind"), "op"))
	    assert_string_equal(text_of(event, "op_name"), "parent");
	json_decref(lines);
	for (int child = 1; child <= FORKS / 10; child++) {
		snprintf(name, sizeof(name), "fork.%d.jsonl", child);
		lines = valid_trace(test_path(name));
		assert_int_equal(event_count(lines, "op"), 1);
		assert_string_equal(text_of(event_at(lines, "op", 0), "op_name"), "child");
		json_decref(lines);
	}
}

/* --- a kill: what no write had reached is in the recovery file --- */

#define KILLED_EVENTS 3000

static void killed(void)
{
	for (int i = 0; i < KILLED_EVENTS; i++)
		put_launch("kernel", 0);
	kill(getpid(), SIGKILL);
}

/* Launches in the rings of a recovery file that the writer had not given back. */
static size_t launches_in_rings(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat status;
	const unsigned char *bytes;
	const struct ts_file *file;
	size_t found = 0;

	assert_true(fd >= 0 && !fstat(fd, &status));
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	file = (const void *)bytes;
	assert_true(file->magic == TS_FILE_MAGIC);
	for (uint32_t i = 0; i < file->rings; i++) {
		const struct ts_ring *ring = (const void *)(bytes + file->ring_offset[i]);

		for (uint64_t at = ring->tail; at < ring->head;) {
			const struct ts_rec *rec =
			    (const void *)(ring->slots + (size_t)(at & ring->mask) * TS_SLOT);

			found += rec->kind == TS_REC_OP;
			at += rec->slots;
		}
	}
	munmap((void *)(uintptr_t)bytes, (size_t)status.st_size);
	return found;
}

/* SIGKILL ends a write in its middle, too: the lines that it cut are still in the ring. */
static void cut_torn_line(const char *path)
{
	int fd = open(path, O_RDWR);
	off_t end = lseek(fd, 0, SEEK_END);
	char last = '\n';

	assert_true(fd >= 0 && end >= 0);
	while (end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n')
		end--;
	assert_int_equal(ftruncate(fd, end), 0);
	close(fd);
}

static void test_killed_process_leaves_everything(void **state)
{
	const char *path = test_path("killed.jsonl"), *rings = test_path("rings");
	char setting[128], command[256], file[256] = "";
	json_t *lines;
	size_t written;
	FILE *list;

	(void)state;
	mkdir(rings, 0700);
	snprintf(setting, sizeof(setting), "TSTRACE_RING_DIR=%s", rings);
	assert_int_equal(run_session(killed, path, setting, NULL), SIGKILL);
	snprintf(command, sizeof(command), "ls %s/*.ring", rings);
	list = popen(command, "r");
	assert_non_null(fgets(file, sizeof(file), list));
	pclose(list);
	file[strcspn(file, "\n")] = '\0';
	cut_torn_line(path);
	lines = trace_lines(path);
	written = event_count(lines, "op");
	assert_true(written + launches_in_rings(file) >= KILLED_EVENTS);
	json_decref(lines);
}

/* --- the ways out --- */

static void put_late(void)
{
	put_launch("late", 0);
}

static void finished_twice(void)
{
	const char *path = NULL;

	put_launch("k", 0);
	if (tstrace_finish(NULL, &path) || !path || access(path, R_OK))
		_exit(1);
	for (int i = 0; i < 3; i++)
		put_late();
	if (ts_lost_count(TS_LOST_late) != 3 || tstrace_finish(NULL, NULL))
		_exit(2);
	if (*ts_file_path())
		_exit(3);
}

static void test_late_calls_pass_through(void **state)
{
	const char *path = test_path("late.jsonl");
	json_t *lines;

	(void)state;
	assert_int_equal(run_session(finished_twice, path, NULL), 0);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "op"), 1);
	json_decref(lines);
}

static void *finisher(void *arg)
{
	tstrace_finish(NULL, NULL);
	return arg;
}

/* main ends while another thread is finishing: the process waits for it. */
static void finish_elsewhere(void)
{
	pthread_t thread;

	for (int i = 0; i < 20000; i++)
		put_launch("k", 0);
	pthread_create(&thread, NULL, finisher, NULL);
	while (atomic_load(&ts_recording) == TS_REC_ON)
		;
}

static void test_exit_waits_for_a_finish_under_way(void **state)
{
	const char *path = test_path("elsewhere.jsonl");
	json_t *lines;

	(void)state;
	assert_int_equal(run_session(finish_elsewhere, path, NULL), 0);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "op"), 20000);
	json_decref(lines);
}

static void nothing(void)
{
	/* One thread, no file: this process has no event. */
	if (ts_file || ts_record_path())
		_exit(1);
}

static void test_no_event_no_trace(void **state)
{
	const char *path = test_path("nothing.jsonl");

	(void)state;
	assert_int_equal(run_session(nothing, path, NULL), 0);
	assert_string_equal(said, "");
	assert_int_equal(access(path, F_OK), -1);
}

static void keeps_errno(void)
{
	errno = 4242;
	for (int i = 0; i < 30000; i++)
		put_launch("k", 0);
	if (errno != 4242)
		_exit(1);
	tstrace_flush(NULL);
	if (errno != 4242)
		_exit(2);
}

static void test_errno_is_kept(void **state)
{
	(void)state;
	assert_int_equal(
	    run_session(keeps_errno, test_path("errno.jsonl"), "TSTRACE_BUFFER=16K", NULL), 0);
}

/* --- a signal handler that interrupts us (field case 2.10) --- */

static void in_handler(int number)
{
	(void)number;
	tstrace_end_span(NULL, tstrace_begin_span(NULL, "handler", TSTRACE_OP));
	tstrace_elapsed_ns(NULL);
}

static void interrupted(void)
{
	const struct itimerspec often = {{0, 20000}, {0, 20000}};
	struct sigaction action = {.sa_handler = in_handler, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	timer_t timer;

	sigaction(SIGALRM, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &often, NULL);
	for (int i = 0; i < 30000; i++)
		tstrace_end_span(NULL, tstrace_begin_span(NULL, "work", TSTRACE_OP));
	timer_delete(timer);
}

static void test_signal_handlers(void **state)
{
	const char *path = test_path("signals.jsonl");

	(void)state;
	assert_int_equal(run_session(interrupted, path, NULL), 0);
	json_decref(valid_trace(path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_eight_threads_lose_nothing),
	    cmocka_unit_test(test_dropped_events_are_counted),
	    cmocka_unit_test(test_threads_that_end),
	    cmocka_unit_test(test_fork_under_load),
	    cmocka_unit_test(test_killed_process_leaves_everything),
	    cmocka_unit_test(test_late_calls_pass_through),
	    cmocka_unit_test(test_exit_waits_for_a_finish_under_way),
	    cmocka_unit_test(test_no_event_no_trace),
	    cmocka_unit_test(test_errno_is_kept),
	    cmocka_unit_test(test_signal_handlers),
	};

	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
