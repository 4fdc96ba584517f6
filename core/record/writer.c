/* The writer thread: drains every ring, prints, writes. */
#include "core/record/writer.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/env.h"
#include "core/log.h"
#include "core/record/alone.h"
#include "core/record/device.h"
#include "core/record/file.h"
#include "core/record/output.h"

#define STACK_BYTES (256u << 10)
#define WRITE_AT (256u << 10)           /* bytes of lines that are written at once */
#define POLL_BUSY_MS 5
#define POLL_IDLE_MS 20
#define POLLS_BUSY 20                   /* idle passes before the longer wait */
/* A stamp is visible to the writer no later than this after it was taken, unless the ring says
 * busy: the time a store takes to leave its core, with a wide margin. */
#define STORE_DELAY_NS 200000

struct ts_lines ts_lines;

static _Atomic uint32_t wake;           /* futex: something to do */
static _Atomic uint32_t done;           /* futex: grows with each finished pass */
static _Atomic uint32_t flush_asked, flush_done;
static _Atomic int flush_to_disk, finish_asked, finished;
static _Atomic uint32_t holders;        /* futex: who may end the process any moment */
static const char *finish_reason;
static char reason_text[1024];
static bool begun;                      /* the first lines are printed */
static uint64_t written_ns;             /* when lines were last written */
static uint64_t count_written;
static uint64_t not_busy[TS_MAX_RINGS]; /* raw time of the last pass that saw the ring not busy */
static uint64_t read_to[TS_MAX_RINGS];  /* position up to which the ring was read */
static uint64_t pass_end[TS_MAX_RINGS]; /* heads when the pass began: it goes no further */
static uint32_t thread_of[TS_MAX_RINGS];        /* whose record was read last */

static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void ts_writer_wake(void)
{
	int saved = errno;

	if (!atomic_exchange(&wake, 1))
		futex(&wake, FUTEX_WAKE, 1, NULL);
	errno = saved;
}

/* Give the rings' slots back, up to the oldest record that is not in the file yet: the recovery
 * file still holds everything that a kill would lose.  A ring that has waited for a record until it
 * is half full gives that up. */
static void give_back(void)
{
	static uint64_t oldest[TS_MAX_RINGS];
	uint32_t rings = atomic_load_explicit(&ts_file->rings, memory_order_acquire);

	memcpy(oldest, read_to, rings * sizeof(*oldest));
	ts_memory_oldest(oldest);
	ts_interval_oldest(oldest);
	for (uint32_t i = 0; i < rings; i++) {
		struct ts_ring *ring = ts_file_ring_at(i);

		if (read_to[i] - oldest[i] > ring->mask / 2)
			oldest[i] = read_to[i];
		if (atomic_load_explicit(&ring->tail, memory_order_relaxed) < oldest[i])
			atomic_store_explicit(&ring->tail, oldest[i], memory_order_release);
	}
}

static void write_now(void)
{
	if (ts_lines.whole) {
		ts_output_write(ts_lines.text, ts_lines.whole, ts_lines.count - count_written);
		count_written = ts_lines.count;
		ts_lines.whole = ts_lines.used = 0;
	}
	written_ns = now_ns();
	give_back();
}

static bool is_awaited(void)
{
	return atomic_load_explicit(&finish_asked, memory_order_relaxed) ||
	       atomic_load_explicit(&flush_asked, memory_order_relaxed) !=
		   atomic_load_explicit(&flush_done, memory_order_relaxed);
}

/* False: broken off, since somebody waits for a pass that begins now. */
static bool drain(struct ts_ring *ring, uint32_t index, bool can_break)
{
	struct ts_source from = { .ring = index, .thread = thread_of[index], .at = read_to[index] };
	uint64_t head = pass_end[index];
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	while (from.at != head) {
		const struct ts_rec *rec =
		    (const void *)(ring->slots + (size_t)(from.at & ring->mask) * TS_SLOT);

		if (rec->kind == TS_REC_THREAD)
			from.thread = thread_of[index] =
			    ((const struct ts_rec_thread *)rec)->number;
		else
			ts_print_record(rec, &from);
		from.at += rec->slots ? rec->slots : 1;
		read_to[index] = from.at;
		/* In pieces, so that a thread that waits for room goes on soon. */
		if (ts_lines.whole >= WRITE_AT || from.at - tail > ring->mask / 4) {
			write_now();
			tail = from.at;
			if (can_break && is_awaited())
				return false;
		}
	}
	return true;
}

/* Raw ticks of the store delay, from the pieces of the clock. */
static uint64_t delay_ticks(uint64_t now)
{
	uint64_t ns = ts_clock_to_ns(now), back = now;

	if (!ts_clock_is_raw)
		return STORE_DELAY_NS;
	for (uint64_t step = 1u << 16; ns - ts_clock_to_ns(back) < STORE_DELAY_NS; step *= 2)
		back = now - step;
	return now - back;
}

static void write_lines(bool force)
{
	if (force || !ts_lines.whole || ts_lines.whole >= WRITE_AT ||
	    now_ns() - written_ns >= ts_env.flush_ms * 1000000)
		write_now();
}

/* What lies before a pass, for every ring: the program goes on filling them, and whoever waits for
 * the pass must not wait for that.  Returns the time before which nothing is missing. */
static uint64_t begin_pass(uint32_t rings)
{
	uint64_t now = ts_clock_now(), watermark = now - delay_ticks(now);

	for (uint32_t i = 0; i < rings; i++) {
		struct ts_ring *ring = ts_file_ring_at(i);

		/* Busy is read before the head: a record published in between is drained all the
		 * same. */
		if (!atomic_load_explicit(&ring->busy, memory_order_acquire))
			not_busy[i] = watermark;
		else if (not_busy[i] < watermark)
			watermark = not_busy[i];
		pass_end[i] = atomic_load_explicit(&ring->head, memory_order_acquire);
	}
	return watermark;
}

enum pass { REGULAR, AWAITED, LAST /* nobody records any more */ };

/* One look at every ring. */
static bool pass(enum pass kind)
{
	uint32_t rings = atomic_load_explicit(&ts_file->rings, memory_order_acquire);
	uint64_t watermark = begin_pass(rings);
	static unsigned passes;
	uint64_t before = ts_lines.count;
	bool reaping = ++passes % 128 == 0;

	for (uint32_t i = 0; i < rings; i++) {
		if (!drain(ts_file_ring_at(i), i, kind == REGULAR))
			return true;
		if (reaping)
			ts_file_ring_reap(ts_file_ring_at(i));
	}
	ts_memory_settle(kind == LAST ? UINT64_MAX : watermark);
	ts_interval_settle(kind == LAST);
	return ts_lines.count != before;
}

static void flush_is_done(uint32_t asked)
{
	atomic_store(&flush_done, asked);
	futex(&flush_done, FUTEX_WAKE, INT32_MAX, NULL);
}

/* The trace as it would end now; true when that can be taken back. */
static bool print_end_to_take_back(void)
{
	bool held = false;

	pass(LAST);
	write_lines(true);
	if (!ts_output_error()) {
		ts_print_end(NULL);
		held = ts_output_hold(ts_lines.text, ts_lines.whole);
		ts_lines.whole = ts_lines.used = 0;
		ts_lines.count = count_written;
	}
	if (held)
		ts_file_unlink();
	return held;
}

/* The process may be another program's or gone from here on; if it is not, go on as before. */
static void hold(void)
{
	bool held = print_end_to_take_back();
	uint32_t count;

	flush_is_done(atomic_load(&flush_asked));
	while ((count = atomic_load(&holders)) && !atomic_load(&finish_asked)) {
		futex(&holders, FUTEX_WAIT, count,
		      &(struct timespec){ .tv_nsec = POLL_IDLE_MS * 1000000 });
		flush_is_done(atomic_load(&flush_asked));
	}
	if (held)
		ts_output_take_back();
}

static void serve_flush(void)
{
	uint32_t asked = atomic_load(&flush_asked);

	if (asked == atomic_load(&flush_done))
		return;
	/* Memory events wait for a moment that all threads have passed; a little later it is there.
	 */
	nanosleep(&(struct timespec){ .tv_nsec = 2 * STORE_DELAY_NS }, NULL);
	pass(AWAITED);
	write_lines(true);
	ts_output_flush(atomic_exchange(&flush_to_disk, 0));
	if (atomic_load(&holders))
		hold();
	else
		flush_is_done(asked);
}

/* What is in the file is the beginning of a valid trace: with a failed terminal it is one. */
static void write_cut(void)
{
	char reason[sizeof(reason_text) + 160];

	snprintf(reason, sizeof(reason), "%s%sthe trace could not be written: %s",
		 finish_reason ? finish_reason : "", finish_reason ? "; " : "",
		 ts_errno_text(ts_output_error()));
	ts_print_cut(reason);
	ts_output_last(ts_lines.text, ts_lines.whole);
	ts_lines.whole = ts_lines.used = 0;
}

static void begin(void)
{
	if (!begun)
		ts_print_begin();
	begun = true;
}

static void end(void)
{
	/* A program that is done at once asks for the end before the first lines are there. */
	begin();
	ts_clock_maintain();
	for (int i = 0; i < 20; i++) {
		uint32_t rings = atomic_load(&ts_file->rings);
		bool busy = false;

		for (uint32_t r = 0; r < rings; r++)
			busy |= atomic_load(&ts_file_ring_at(r)->busy) != 0;
		if (!busy)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
	}
	pass(LAST);
	pass(LAST);
	ts_print_end(finish_reason);
	write_now();
	if (ts_output_error())
		write_cut();
	ts_output_close();
	ts_file->finished = 1;
	ts_file_unlink();
	atomic_store(&finished, 1);
	/* All that could be written is: who waits for a flush need not wait on. */
	flush_is_done(atomic_load(&flush_asked));
	atomic_fetch_add(&done, 1);
	futex(&done, FUTEX_WAKE, INT32_MAX, NULL);
}

static bool is_half_full(const struct ts_ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_acquire) -
		   atomic_load_explicit(&ring->tail, memory_order_relaxed) >
	       ring->mask / 2;
}

/* The first lines want to know the device, which shows itself only after the program's first calls;
 * but nobody may have to wait for room because of that. */
static bool can_begin(uint64_t start_ns)
{
	uint64_t passed = now_ns() - start_ns;

	if (is_awaited())
		return true;
	for (uint32_t i = 0; i < atomic_load_explicit(&ts_file->rings, memory_order_acquire); i++)
		if (is_half_full(ts_file_ring_at(i)))
			return true;
	return ts_record_device_started() ? passed > 50000000 : passed > UINT64_C(5000000000);
}

static void *run(void *arg)
{
	uint64_t start_ns = now_ns(), flushed_ns = start_ns;
	unsigned idle = 0;              /* passes since there was something to print */

	(void)arg;
	ts_self.depth = 1;              /* whatever this thread calls is not recorded */
	prctl(PR_SET_NAME, TS_THREAD_WRITER);
	for (;;) {
		struct timespec poll = { .tv_nsec =
					     (idle < POLLS_BUSY ? POLL_BUSY_MS : POLL_IDLE_MS) *
					     1000000 };

		if (!atomic_load(&finish_asked))
			futex(&wake, FUTEX_WAIT, 0, &poll);
		atomic_store(&wake, 0);
		ts_alone_look();
		if (atomic_load(&finish_asked))
			break;
		if (!begun && !can_begin(start_ns))
			continue;
		begin();
		ts_clock_maintain();
		idle = pass(REGULAR) ? 0 : idle + 1;
		if (ts_device && now_ns() - flushed_ns > ts_env.flush_ms * 1000000) {
			ts_device->flush(0, false);
			flushed_ns = now_ns();
		}
		write_lines(false);
		serve_flush();
	}
	end();
	ts_alone_watch();
}

int ts_writer_start(void)
{
	pthread_attr_t attributes;
	sigset_t all, old;
	pthread_t thread;
	int error;

	begun = false;
	written_ns = now_ns();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attributes, run, NULL);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -error;
}

/* Wait until `word` reaches at least `value`. */
static bool wait_for(_Atomic uint32_t *word, uint32_t value, unsigned timeout_ms)
{
	uint64_t deadline = now_ns() + (uint64_t)timeout_ms * 1000000;

	for (;;) {
		uint32_t seen = atomic_load(word);
		uint64_t now = now_ns();

		if ((int32_t)(seen - value) >= 0)
			return true;
		if (now >= deadline)
			return false;
		futex(word, FUTEX_WAIT, seen,
		      &(struct timespec){ .tv_sec = (time_t)((deadline - now) / 1000000000),
					  .tv_nsec = (long)((deadline - now) % 1000000000) });
	}
}

int ts_writer_flush(unsigned timeout_ms, bool to_disk)
{
	uint32_t ticket;

	if (atomic_load(&finished))
		return ts_output_error();
	if (to_disk)
		atomic_store(&flush_to_disk, 1);
	ticket = atomic_fetch_add(&flush_asked, 1) + 1;
	/* The writer ended meanwhile: it may have looked before this was asked. */
	if (atomic_load(&finished))
		return ts_output_error();
	ts_writer_wake();
	return wait_for(&flush_done, ticket, timeout_ms) ? ts_output_error() : -ETIMEDOUT;
}

int ts_writer_hold(unsigned timeout_ms)
{
	atomic_fetch_add(&holders, 1);
	return ts_writer_flush(timeout_ms, false);
}

void ts_writer_resume(void)
{
	atomic_fetch_sub(&holders, 1);
	futex(&holders, FUTEX_WAKE, 1, NULL);
}

int ts_writer_finish(const char *reason, unsigned timeout_ms)
{
	/* The writer may need it after the caller has stopped waiting. */
	if (reason)
		snprintf(reason_text, sizeof(reason_text), "%s", reason);
	finish_reason = reason ? reason_text : NULL;
	atomic_store(&finish_asked, 1);
	ts_writer_wake();
	return wait_for(&done, 1, timeout_ms) ? ts_output_error() : -ETIMEDOUT;
}

/* The parent's writer may have been in the middle of anything: what it had in memory is left as it
 * is, mapped or no longer, here and in what is called below. */
void ts_writer_child(void)
{
	atomic_store(&wake, 0);
	atomic_store(&done, 0);
	atomic_store(&flush_asked, 0);
	atomic_store(&flush_done, 0);
	atomic_store(&finish_asked, 0);
	atomic_store(&finished, 0);
	atomic_store(&holders, 0);
	finish_reason = NULL;
	ts_lines = (struct ts_lines){ 0 };
	count_written = 0;
	/* Untouched pages stay so: programs that never record fork as well. */
	if (begun) {
		memset(not_busy, 0, sizeof(not_busy));
		memset(read_to, 0, sizeof(read_to));
	}
	begun = false;
	ts_print_child();
	ts_memory_child();
	ts_interval_child();
}
