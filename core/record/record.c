/* The threads' side: opening the session, a thread's first event and its end, fork and exit. */
#include "core/record/record.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/aside.h"
#include "core/env.h"
#include "core/loader.h"
#include "core/lock.h"
#include "core/log.h"
#include "core/record/alone.h"
#include "core/record/arena_life.h"
#include "core/record/describe.h"
#include "core/record/file.h"
#include "core/record/output.h"
#include "core/record/quiet.h"
#include "core/record/stack.h"
#include "core/record/writer.h"
#include "core/session/session.h"
#include "core/session/storage.h"
#include "core/session/window.h"

/* Longest time for the last lines, beside TSTRACE_EXIT_MS for the device. */
#define FINISH_MS 3000
/* For the device before an exec; for the last lines as long as at exit. */
#define MAY_END_MS 1000
/* Opening opens libraries, CUPTI for one, and the first call may come from a thread of 16 KiB: room
 * as on a usual thread, of which only what is used is ever there. */
#define OPEN_STACK (8u << 20)

extern char **environ;

_Thread_local struct ts_thread ts_self __attribute__((tls_model("initial-exec"))) = { .span = 1 };
_Atomic int ts_recording;

static _Atomic uint32_t threads;
static _Atomic int device_started;
static _Atomic int finishing, finish_done;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;
static pthread_key_t thread_key;
static bool has_key;            /* else the program has all of them: number 0 is not ours */
static _Atomic int open_error;
static bool inert;              /* AT_SECURE: nothing may be written on behalf of the environment */
static char cwd[PATH_MAX];
static char trace_path[TS_PATH_MAX];
static const char *asked_path;  /* what tstrace_open asked for; under open_lock */

static void load(void);

const char *ts_record_path(void)
{
	return trace_path[0] ? trace_path : NULL;
}

/* --- opening --- */

static void warn(const char *text)
{
	ts_say("%s", text);
}

static int make_session(void)
{
	struct timespec real, mono;
	uint64_t ring_bytes = TS_SLOT, start;
	bool recoverable;
	int result;

	if (inert)
		return -EPERM;
	ts_env_read(environ, warn);
	ts_clock_init((int)ts_env.clock);
	result = ts_output_expand(asked_path ? asked_path : ts_env.output, cwd, trace_path);
	if (result) {
		ts_say("%s%s: %s; nothing is recorded", asked_path ? "" : "TSTRACE_OUTPUT=",
		       asked_path ? asked_path : ts_env.output,
		       result == -EINVAL ? "it is empty, a file name is wanted"
					 : ts_errno_text(result));
		return result;
	}
	result = ts_output_open(trace_path, ts_env.compress == 1);
	if (result)
		return result;
	while (ring_bytes * 2 <= ts_env.buffer)
		ring_bytes *= 2;
	result = ts_file_make(ts_env.ring_dir, trace_path, ring_bytes, &recoverable);
	if (result) {
		ts_say("no memory for the recorder: %s; nothing is recorded",
		       ts_errno_text(result));
		ts_output_discard(trace_path);
		return result;
	}
	if (!recoverable)
		ts_say("no room for the recovery file in %s; events not yet written are lost if "
		       "the program is killed",
		       *ts_env.ring_dir ? ts_env.ring_dir : "/dev/shm or beside the trace");
	start = ts_clock_now();
	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	ts_file->start_raw = start;
	ts_file->start_ns = (uint64_t)mono.tv_sec * 1000000000u + (uint64_t)mono.tv_nsec;
	ts_file->start_realtime_ns = (uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec;
	ts_clock_attach(ts_file);
	ts_session_begin(ts_file->start_ns);
	ts_stack_set_depth((unsigned)ts_env.stacks);
	result = ts_writer_start();
	if (result) {
		ts_say("the writer thread could not be started: %s; nothing is recorded",
		       ts_errno_text(result));
		ts_file_unlink();
		ts_output_discard(trace_path);
	}
	return result;
}

static void open_aside(void *arg)
{
	(void)arg;
	open_error = make_session();
}

/* The device backend is started by the thread that opened the session, outside the lock: it opens
 * libraries, and another thread may be inside the loader and about to call us.  The others wait for
 * it, so that their first launches are seen, but not for ever. */
static void start_device(void *arg)
{
	(void)arg;
	ts_self.depth++;
	if (ts_device)
		ts_device->start();
	else
		ts_device_set_state(TS_BACKEND_OFF, "off", "no device backend in this build");
	ts_window_device_started();
	ts_self.depth--;
	atomic_store_explicit(&device_started, 1, memory_order_release);
	ts_writer_wake();
}

static void on_stack(struct ts_aside *stack, void (*fn)(void *), void *arg)
{
	if (ts_aside_run(stack, fn, arg))
		fn(arg);        /* no memory: perhaps there is room enough */
}

static void wait_for_device(void)
{
	const struct timespec step = { .tv_nsec = 1000000 };

	for (int ms = 0; ms < 2000 && !atomic_load_explicit(&device_started, memory_order_acquire);
	     ms++)
		nanosleep(&step, NULL);
}

bool ts_record_device_started(void)
{
	return atomic_load_explicit(&device_started, memory_order_acquire);
}

/* Under the lock.  What the program asked for and did not get may be asked for again. */
static bool open_now(const struct ts_record_as *as, struct ts_aside *stack)
{
	int error = as ? as->prepare(as->user) : 0;

	asked_path = as ? as->path : NULL;
	open_error = error;
	if (!error)
		on_stack(stack, open_aside, NULL);
	error = open_error;
	asked_path = NULL;
	if (!error)
		atomic_store(&ts_recording, ts_window_begin() ? TS_REC_ON : TS_REC_OFF);
	else if (!as)
		atomic_store(&ts_recording, TS_REC_REFUSED);
	return !error;
}

int ts_record_open_as(const struct ts_record_as *as)
{
	struct ts_aside stack = { .bytes = OPEN_STACK };
	bool opened = false, asked = false;
	struct quiet quiet;
	int state, error;

	quiet = quiet_begin();
	/* Another library's constructor may call CUDA before ours ran. */
	pthread_once(&loaded, load);
	pthread_mutex_lock(&open_lock);
	if (atomic_load(&ts_recording) == TS_REC_UNOPENED) {
		asked = true;
		opened = open_now(as, &stack);
	}
	state = atomic_load(&ts_recording);
	error = open_error;
	pthread_mutex_unlock(&open_lock);
	if (opened)
		on_stack(&stack, start_device, NULL);
	else if (ts_is_open(state) && !ts_record_device_started())
		wait_for_device();
	ts_aside_free(&stack);
	quiet_end(quiet);
	if (asked && !opened)
		return error;
	if (!ts_is_open(state))
		return error ? error : -ESHUTDOWN;
	return as && !opened ? -EALREADY : 0;
}

int ts_record_open(void)
{
	if (ts_is_open(atomic_load(&ts_recording)) && ts_record_device_started())
		return 0;
	return ts_record_open_as(NULL);
}

/* --- threads --- */

static void thread_end(void *arg)
{
	struct ts_thread *self = &ts_self;
	struct ts_ring *ring = self->ring;

	(void)arg;
	/* Not by exit: that runs no destructor of a key. */
	if (syscall(SYS_gettid) == getpid())
		ts_alone_main_ends();
	self->depth++;
	ts_stack_thread_end();
	ts_session_thread_end();
	self->stacks = NULL;
	self->spans = NULL;
	self->span = 1;
	self->ended = 1;
	self->ring = NULL;
	if (ring) {
		/* A thread that was cancelled or left by longjmp may have stamped and never
		 * published. */
		atomic_store_explicit(&ring->busy, 0, memory_order_relaxed);
		atomic_store_explicit(&ring->state, TS_RING_EXITED, memory_order_release);
	}
	self->depth--;
}

static void make_ring(struct ts_thread *self)
{
	int tid = (int)syscall(SYS_gettid);
	struct ts_rec_thread *rec;

	if (!self->number)
		self->number = 1 + atomic_fetch_add(&threads, 1);
	self->ring = ts_file_ring(tid);
	if (!self->ring) {
		ts_lost(TS_LOST_no_ring, 1);
		return;
	}
	rec = ts_reserve(self->ring, 1);
	if (rec) {
		*rec = (struct ts_rec_thread){
			.h = { .kind = TS_REC_THREAD, .slots = 1, .t = ts_clock_now() },
			.number = self->number,
			.tid = tid
		};
		prctl(PR_GET_NAME, rec->name);
		ts_commit(self->ring, 1);
	}
	/* In a thread that is ending, the destructor runs again in its next round. */
	if (has_key)
		pthread_setspecific(thread_key, self);
}

struct ts_ring *ts_own_ring(void)
{
	if (!ts_self.ring) {
		struct quiet quiet = quiet_begin();

		make_ring(&ts_self);
		quiet_end(quiet);
	}
	return ts_self.ring;
}

void ts_lost_reentrant(void)
{
	if (atomic_load_explicit(&ts_recording, memory_order_relaxed) == TS_REC_ON)
		ts_lost(TS_LOST_reentrant, 1);
}

struct ts_ring *ts_enter_slow(bool tracked)
{
	int state = atomic_load(&ts_recording);

	if (state == TS_REC_FINISHED)
		ts_lost(TS_LOST_late, 1);
	if (state == TS_REC_FINISHED || state == TS_REC_REFUSED)
		return NULL;
	if (state == TS_REC_UNOPENED && ts_record_open())
		return NULL;
	if (!ts_record_device_started())
		ts_record_open();
	state = atomic_load(&ts_recording);
	return state == TS_REC_ON || (tracked && state == TS_REC_OFF) ? ts_own_ring() : NULL;
}

/* --- the end --- */

int ts_record_flush(unsigned timeout_ms, bool to_disk)
{
	int state = atomic_load(&ts_recording), result;
	struct quiet quiet;

	if (state == TS_REC_UNOPENED || state == TS_REC_REFUSED)
		return 0;
	quiet = quiet_begin();
	ts_self.depth++;
	if (ts_device)
		ts_device->flush(timeout_ms, false);
	result = ts_writer_flush(timeout_ms, to_disk);
	ts_self.depth--;
	quiet_end(quiet);
	return result;
}

/* The state; a session that was never opened is finished from now on.  A thread that opens it this
 * very moment is waited for: its trace has an end too. */
static int state_to_finish(void)
{
	bool locked = ts_lock_within(&open_lock, FINISH_MS);
	int state = atomic_load(&ts_recording);

	if (state == TS_REC_UNOPENED)
		atomic_store(&ts_recording, TS_REC_FINISHED);
	if (locked)
		pthread_mutex_unlock(&open_lock);
	return state;
}

static int finish(const char *reason)
{
	int state = state_to_finish();

	if (!ts_is_open(state))
		return 0;
	/* Device records are delivered by threads that are producers: while the session is still
	 * on. */
	if (ts_device) {
		ts_device->flush((unsigned)ts_env.exit_ms, true);
		ts_device->stop();
	}
	atomic_store(&ts_recording, TS_REC_FINISHED);
	return ts_writer_finish(reason, (unsigned)ts_env.exit_ms + FINISH_MS);
}

int ts_record_finish(const char *reason)
{
	const struct timespec step = { .tv_nsec = 1000000 };
	struct quiet quiet = quiet_begin();
	int result = 0;

	if (!atomic_exchange(&finishing, 1)) {
		ts_self.depth++;
		result = finish(reason);
		ts_self.depth--;
		atomic_store(&finish_done, 1);
	} else if (!ts_self.depth) {
		/* Another thread is at it: the process must not end before.  (Inside ourselves it
		 * may be this very thread: an exit handler called from a device callback.) */
		for (uint64_t ms = 0;
		     ms < ts_env.exit_ms * 2 + FINISH_MS && !atomic_load(&finish_done); ms++)
			nanosleep(&step, NULL);
	}
	quiet_end(quiet);
	return result;
}

bool ts_record_may_end(void)
{
	int state = atomic_load(&ts_recording);
	struct quiet quiet;

	if (!ts_is_open(state))
		return false;
	quiet = quiet_begin();
	ts_self.depth++;
	if (ts_device)
		ts_device->flush(MAY_END_MS, false);
	ts_writer_hold(FINISH_MS);
	ts_self.depth--;
	quiet_end(quiet);
	return true;
}

void ts_record_goes_on(void)
{
	struct quiet quiet = quiet_begin();

	ts_writer_resume();
	quiet_end(quiet);
}

/* The destructor tells of the end of the initial thread, also of one that records nothing. */
static void know_main(void)
{
	if (has_key && syscall(SYS_gettid) == getpid() &&
	    !pthread_setspecific(thread_key, &ts_self))
		ts_alone_main_is_known();
}

/* --- fork: steps in lock order; the child keeps nothing of the parent's session --- */

/* Libraries that another thread is opening for us would be the child's in part, and crash it. */
static void prefork(void)
{
	pthread_mutex_lock(&open_lock);
	if (!ts_self.depth && ts_is_open(atomic_load(&ts_recording)) && !device_started) {
		pthread_mutex_unlock(&open_lock);
		wait_for_device();
		pthread_mutex_lock(&open_lock);
	}
	ts_stack_before_fork();
	ts_storage_prefork();
	ts_arena_prefork();
	ts_loader_before_fork();
}

static void in_parent(void)
{
	ts_loader_after_fork(false);
	ts_arena_parent();
	ts_storage_postfork(false);
	ts_stack_after_fork(false);
	pthread_mutex_unlock(&open_lock);
}

static void in_child(void)
{
	ts_loader_after_fork(true);
	ts_clock_detach();
	ts_arena_child();
	ts_storage_postfork(true);
	ts_file_child();
	ts_output_child();
	ts_writer_child();
	ts_session_child();
	ts_stack_after_fork(true);
	if (ts_device && atomic_load(&ts_recording) != TS_REC_UNOPENED && !open_error)
		ts_device->child();
	ts_describe_child();
	ts_lost_child();
	atomic_store(&threads, 0);
	atomic_store(&device_started, 0);
	atomic_store(&finishing, 0);
	atomic_store(&finish_done, 0);
	atomic_store(&ts_recording, TS_REC_UNOPENED);
	open_error = 0;
	trace_path[0] = '\0';
	ts_self.ring = NULL;
	ts_self.number = 0;
	ts_self.span = 1;
	ts_self.step = 0;
	ts_session_thread_end();
	ts_alone_child();
	know_main();
	pthread_mutex_unlock(&open_lock);
}

static void load(void)
{
	inert = getauxval(AT_SECURE) != 0;
	if (inert) {
		open_error = -EPERM;
		atomic_store(&ts_recording, TS_REC_REFUSED);
		return;
	}
	ts_clock_init(0);
	if (!getcwd(cwd, sizeof(cwd)))
		strcpy(cwd, "/");
	has_key = !pthread_key_create(&thread_key, thread_end);
	know_main();
	pthread_atfork(prefork, in_parent, in_child);
}

__attribute__((constructor)) static void constructed(void)
{
	pthread_once(&loaded, load);
}

/* After the program's own exit handlers: what they do with the GPU is still recorded. */
__attribute__((destructor)) static void unload(void)
{
	ts_record_finish(NULL);
}
