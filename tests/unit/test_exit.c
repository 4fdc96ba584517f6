/* The end of a session against what else goes on: a flush, threads that are cancelled, a fork, an
 * exec, a program that begins at full speed. */
#include "tests/unit/record_test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "core/record/file.h"
#include "core/tstrace.h"
#include "tests/unit/child.h"

/* --- flush while another thread finishes (field case 2.12) --- */

static _Atomic int flushing, late;

static void *flush_often(void *arg)
{
	(void)arg;
	atomic_fetch_add(&flushing, 1);
	while (atomic_load(&ts_recording) == TS_REC_ON)
		if (tstrace_flush(NULL) == -ETIMEDOUT)
			atomic_store(&late, 1);
	return NULL;
}

static void flush_beside_finish(void)
{
	pthread_t threads[4];

	put_launch("k", 0);
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, flush_often, NULL));
	while (atomic_load(&flushing) < 4)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	CHECK(!tstrace_finish(NULL, NULL));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK(!atomic_load(&late));     /* nobody waited for a writer that had ended */
	CHECK(!tstrace_flush(NULL));
}

static void test_flush_beside_finish(void **state)
{
	const char *path;
	char name[32];

	(void)state;
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "flush%d.jsonl", i);
		path = test_path(name);
		if (run_session(flush_beside_finish, path, NULL))
			fail_msg("%s", said);
		json_decref(valid_trace(path));
	}
}

/* --- threads that are cancelled --- */

static _Atomic uint64_t recorded;

static void *until_cancelled(void *arg)
{
	for (;;) {
		int old;

		/* Not between the event and its count. */
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
		put_launch("k", 0);
		atomic_fetch_add(&recorded, 1);
		pthread_setcancelstate(old, NULL);
		pthread_testcancel();
	}
	return arg;
}

/* The only points where this thread may be cancelled are inside us, and there must be none. */
static void *first_event(void *arg)
{
	uint32_t text;

	put_launch(arg, 0);
	text = ts_arena_text(arg);
	atomic_fetch_add(&recorded, text != 0);
	tstrace_end_span(NULL, tstrace_begin_span(NULL, arg, TSTRACE_OP));
	return arg;
}

static void cancelled(void)
{
	static char names[100][32];
	void *result;

	put_launch("k", 0);
	atomic_store(&recorded, 1);
	for (int i = 0; i < 100; i++) {
		pthread_t busy, first;

		CHECK(!pthread_create(&busy, NULL, until_cancelled, NULL));
		snprintf(names[i], sizeof(names[i]), "first %d", i);
		CHECK(!pthread_create(&first, NULL, first_event, names[i]));
		pthread_cancel(first);
		CHECK(!pthread_join(first, &result));
		CHECK(result == names[i]);
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
		pthread_cancel(busy);
		CHECK(!pthread_join(busy, &result));
		CHECK(result == PTHREAD_CANCELED);
	}
	fprintf(stderr, "%lu", (unsigned long)atomic_load(&recorded));
}

static void test_cancelled_threads(void **state)
{
	const char *path = test_path("cancelled.jsonl");
	json_t *lines;

	(void)state;
	if (run_session(cancelled, path, "TSTRACE_BUFFER=16K", NULL))
		fail_msg("%s", said);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "op"), strtoul(said, NULL, 10));
	json_decref(lines);
}

/* --- fork and exec (field cases 2.02, 2.06) --- */

static void forked_before_a_write(void)
{
	int status;
	pid_t child;

	for (int i = 0; i < 10; i++)
		put_launch("parent", 0);
	child = fork();
	if (!child) {
		/* The name that the parent's store knows is another one here. */
		put_launch("another", 0);
		put_launch("child", 0);
		return; /* and exits as programs do */
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	put_launch("after", 0);
}

static void test_a_child_writes_nothing_of_its_parent(void **state)
{
	const char *path = test_path("fork.jsonl"), *second = test_path("fork.1.jsonl");
	json_t *lines, *other;

	(void)state;
	if (run_session(forked_before_a_write, path, NULL))
		fail_msg("%s", said);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "op"), 11);
	assert_string_equal(text_of(event_at(lines, "op", 9), "op_name"), "parent");
	assert_string_equal(text_of(event_at(lines, "op", 10), "op_name"), "after");
	other = valid_trace(second);
	assert_int_equal(event_count(other, "op"), 2);
	assert_string_equal(text_of(event_at(other, "op", 1), "op_name"), "child");
	assert_int_equal(number_of(event_at(other, "meta", 0), "ppid"),
			 number_of(event_at(lines, "meta", 0), "pid"));
	json_decref(lines);
	json_decref(other);
}

static void exec_after_events(void)
{
	for (int i = 0; i < 100; i++) {
		put_launch("k", 0);
		put_alloc(UINT64_C(0x1000) * (1 + (uint64_t)i), 16, 0, 0);
	}
	ts_record_may_end();
	execl("/bin/true", "true", (char *)NULL);
}

static void test_exec_keeps_the_events(void **state)
{
	const char *path = test_path("exec.jsonl");
	json_t *lines;

	(void)state;
	assert_int_equal(run_session(exec_after_events, path, "TSTRACE_FLUSH_MS=60000", NULL), 0);
	assert_string_equal(said, "");
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "op"), 100);
	assert_int_equal(event_count(lines, "memory"), 100);
	json_decref(lines);
}

/* --- a program that begins at full speed --- */

/* While the time stands still, what waits for time to pass waits for ever: the writer must begin
 * because a ring fills, and nobody gives up waiting for room.  The whole program comes by here. */
static _Atomic int stopped;
static struct timespec stopped_at;

int clock_gettime(clockid_t id, struct timespec *t)
{
	if (id != CLOCK_MONOTONIC || !atomic_load(&stopped))
		return (int)syscall(SYS_clock_gettime, id, t);
	*t = stopped_at;
	return 0;
}

static void full_speed(void)
{
	clock_gettime(CLOCK_MONOTONIC, &stopped_at);
	atomic_store(&stopped, 1);
	/* Four rings full. */
	for (int i = 0; i < 512; i++)
		put_launch("k", 0);
	atomic_store(&stopped, 0);
}

static void test_nobody_waits_for_the_first_lines(void **state)
{
	const char *path = test_path("speed.jsonl");
	json_t *lines;

	(void)state;
	if (run_session(full_speed, path, "TSTRACE_BUFFER=16K", "TSTRACE_CLOCK=monotonic", NULL))
		fail_msg("%s", said);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "op"), 512);
	json_decref(lines);
}

/* --- what is not in the file yet stays in the rings, for after a kill --- */

static _Atomic int held, let_go;

/* Has taken the time of an event that it does not publish: memory events have to wait for it. */
static void *hold(void *arg)
{
	struct ts_ring *ring = ts_enter();

	ts_stamp(ring);
	atomic_store(&held, 1);
	while (!atomic_load(&let_go))
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	atomic_store(&ring->busy, 0);
	ts_leave();
	return arg;
}

static void waiting_events(void)
{
	struct ts_ring *ring;
	pthread_t thread;
	uint64_t first;

	put_launch("k", 0);
	CHECK(!tstrace_flush(NULL));
	ring = ts_file_ring_at(0);
	CHECK(!pthread_create(&thread, NULL, hold, NULL));
	while (!atomic_load(&held))
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	first = atomic_load(&ring->head);
	for (uint64_t i = 1; i <= 100; i++)
		put_alloc(i * 4096, 16, 0, 0);
	CHECK(!tstrace_flush(NULL));
	CHECK(atomic_load(&ring->tail) == first);
	/* A ring half full of them gives its room up: the program must not wait for ever. */
	for (uint64_t i = 101; i <= 1000; i++)
		put_alloc(i * 4096, 16, 0, 0);
	CHECK(!tstrace_flush(NULL));
	CHECK(!ts_lost_count(TS_LOST_ring_full));
	atomic_store(&let_go, 1);
	pthread_join(thread, NULL);
	CHECK(!tstrace_flush(NULL));
	CHECK(atomic_load(&ring->tail) == atomic_load(&ring->head));
}

static void test_rings_keep_what_waits(void **state)
{
	const char *path = test_path("waiting.jsonl");
	json_t *lines;

	(void)state;
	if (run_session(waiting_events, path, "TSTRACE_BUFFER=32K", NULL))
		fail_msg("%s", said);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "memory"), 1000);
	json_decref(lines);
}

/* --- why it failed --- */

static void blank_reasons(void)
{
	char reason[3000];

	put_launch("k", 0);
	CHECK(tstrace_finish_failed(NULL, NULL, NULL) == -EINVAL);
	CHECK(tstrace_finish_failed(NULL, " \t\n", NULL) == -EINVAL);
	memset(reason, 'r', sizeof(reason) - 1);
	reason[sizeof(reason) - 1] = '\0';
	CHECK(!tstrace_finish_failed(NULL, reason, NULL));
}

static void test_blank_reasons(void **state)
{
	const char *path = test_path("blank.jsonl");
	json_t *lines;

	(void)state;
	if (run_session(blank_reasons, path, NULL))
		fail_msg("%s", said);
	lines = valid_trace(path);
	assert_int_equal(strspn(text_of(event_at(lines, "terminal", 0), "reason"), "r"), 1023);
	json_decref(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_flush_beside_finish),
	    cmocka_unit_test(test_cancelled_threads),
	    cmocka_unit_test(test_a_child_writes_nothing_of_its_parent),
	    cmocka_unit_test(test_exec_keeps_the_events),
	    cmocka_unit_test(test_nobody_waits_for_the_first_lines),
	    cmocka_unit_test(test_rings_keep_what_waits),
	    cmocka_unit_test(test_blank_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
