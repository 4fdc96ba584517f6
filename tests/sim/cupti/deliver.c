/* Delivery: finished buffers go back to the client from a worker thread of CUPTI's own.
 *
 * Times are converted here, as late as the real CUPTI does it, and here most of the scripted
 * faults strike. */
#include "tests/sim/cupti/simcupti.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define POLL_NS 1000000         /* how often the worker looks whether work has ended meanwhile */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static struct sim_buffer *queue;        /* oldest first */
static struct sim_buffer *late;         /* kept for after main(): fault LATE */
static unsigned in_flight;
static bool started;
static uint64_t period_ns;
static pthread_t worker;
static atomic_ulong zero_count, reversed_count, sentinel_count, end_count, skew_count;

static void break_times(uint64_t *start, uint64_t *end)
{
	bool minus = atomic_fetch_add(&skew_count, 1) & 1;
	uint64_t shift = (uint64_t)(sim_faults.clock_offset +
				    (minus ? -sim_faults.clock_skew : sim_faults.clock_skew));

	if (*start)
		*start += shift;
	if (*end)
		*end += shift;
	if (sim_faults_every(sim_faults.zero_time, &zero_count))
		*start = *end = 0;
	if (sim_faults_every(sim_faults.sentinel, &sentinel_count))
		*start = UINT64_C(1) << 63;
	if (sim_faults_every(sim_faults.end_zero, &end_count))
		*end = 0;
	if (sim_faults_every(sim_faults.reversed, &reversed_count)) {
		uint64_t swap = *start;

		*start = *end + (*start == *end);
		*end = swap;
	}
}

static void put_time(struct sim_buffer *buffer, size_t at, uint64_t value)
{
	if (at != SIM_NO_OFFSET)
		memcpy(buffer->data + at, &value, sizeof(value));
}

static void convert(struct sim_buffer *buffer)
{
	uint64_t now = sim_monotonic_ns();

	sim_clock_sample();
	for (size_t i = 0; i < buffer->stamp_count; i++) {
		const struct sim_stamp *stamp = &buffer->stamps[i];
		/* A forced flush shows what is known by now: of running work its start only. */
		uint64_t start = stamp->start <= now ? sim_clock_convert(stamp->start) : 0;
		uint64_t end = stamp->end <= now ? sim_clock_convert(stamp->end) : 0;

		if (stamp->device)
			break_times(&start, &end);
		put_time(buffer, stamp->start_at, start);
		put_time(buffer, stamp->end_at, end);
	}
}

static void complete(struct sim_buffer *buffer)
{
	struct sim_buffer *empty = sim_faults.empty ? sim_buffer_request() : NULL;

	convert(buffer);
	if (empty) {
		sim_complete(NULL, 0, empty->data, empty->size, 0);
		sim_buffer_free(empty);
	}
	sim_complete(NULL, 0, buffer->data, buffer->size, buffer->used);
	if (sim_faults.twice)
		sim_complete(NULL, 0, buffer->data, buffer->size, buffer->used);
	sim_buffer_free(buffer);
}

static bool deliverable(const struct sim_buffer *buffer, uint64_t now)
{
	return buffer->forced || buffer->last_end <= now;
}

/* Take the next buffer whose turn it is out of the queue; lock held. */
static struct sim_buffer *pick(bool flushing)
{
	uint64_t now = sim_monotonic_ns();
	struct sim_buffer **chosen = NULL, *buffer;
	unsigned ready = 0;
	bool wanted = flushing;

	for (struct sim_buffer **at = &queue; *at; at = &(*at)->next) {
		if (!deliverable(*at, now))
			continue;
		ready++;
		wanted |= (*at)->wanted;
		if (!chosen || sim_faults.out_of_order)
			chosen = at;
	}
	/* One alone cannot be out of order: wait for a second, or for a flush. */
	if (!chosen || (sim_faults.out_of_order && ready < 2 && !wanted))
		return NULL;
	buffer = *chosen;
	*chosen = buffer->next;
	buffer->next = NULL;
	return buffer;
}

/* Deliver one buffer, if there is one; lock held, released meanwhile. */
static bool deliver_one(bool flushing)
{
	struct sim_buffer *buffer = pick(flushing);

	if (!buffer)
		return false;
	if (sim_faults.late && buffer->forced && !late) {
		late = buffer;
		return true;
	}
	in_flight++;
	pthread_mutex_unlock(&lock);
	complete(buffer);
	pthread_mutex_lock(&lock);
	in_flight--;
	pthread_cond_broadcast(&done);
	return true;
}

static void nap(uint64_t nanoseconds)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	nanoseconds += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(nanoseconds / 1000000000u);
	until.tv_nsec = (long)(nanoseconds % 1000000000u);
	pthread_cond_timedwait(&wake, &lock, &until);
}

static void *work(void *arg)
{
	(void)arg;
	sim_thread()->quiet = true;
	pthread_mutex_lock(&lock);
	for (;;) {
		if (sim_faults.on_caller != 1 && deliver_one(false))
			continue;
		pthread_cond_broadcast(&done);
		if (queue && sim_faults.on_caller != 1)
			nap(period_ns ? period_ns : POLL_NS);
		else
			pthread_cond_wait(&wake, &lock);
	}
	return NULL;
}

int sim_deliver_start(void)
{
	sigset_t all, before;
	int error = 0;

	/* The program's signals are not for this thread. */
	sigfillset(&all);
	pthread_mutex_lock(&lock);
	if (!started) {
		pthread_sigmask(SIG_SETMASK, &all, &before);
		error = pthread_create(&worker, NULL, work, NULL);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		started = !error;
	}
	pthread_mutex_unlock(&lock);
	return -error;
}

void sim_deliver_queue(struct sim_buffer *buffer)
{
	struct sim_buffer **at = &queue;

	pthread_mutex_lock(&lock);
	while (*at)
		at = &(*at)->next;
	buffer->next = NULL;
	*at = buffer;
	pthread_cond_signal(&wake);
	pthread_mutex_unlock(&lock);
}

void sim_deliver_kick(void)
{
	if (sim_faults.on_caller != 1)
		return;
	pthread_mutex_lock(&lock);
	while (deliver_one(false))
		;
	pthread_mutex_unlock(&lock);
}

static bool wanted_left(void)
{
	for (struct sim_buffer *b = queue; b; b = b->next)
		if (b->wanted)
			return true;
	return in_flight > 0;
}

void sim_deliver_flush(bool forced)
{
	uint64_t begin = sim_clock_now(), now = sim_monotonic_ns(), until = now;
	bool on_worker = started && pthread_equal(worker, pthread_self());

	if (sim_driver.settle)
		sim_driver.settle();
	until += (uint64_t)sim_faults.flush_ms * 1000000u;
	/* Before older ones are asked for: out of order, they come behind it. */
	sim_buffers_retire(forced);
	pthread_mutex_lock(&lock);
	for (struct sim_buffer *b = queue; b; b = b->next) {
		b->forced |= forced;
		b->wanted |= deliverable(b, now);
	}
	pthread_cond_signal(&wake);
	/* A flush from inside a completion callback cannot wait for that callback. */
	while (!on_worker && wanted_left()) {
		if (sim_faults.on_caller && deliver_one(true))
			continue;
		if (wanted_left())
			pthread_cond_wait(&done, &lock);
	}
	pthread_mutex_unlock(&lock);
	while (sim_monotonic_ns() < until)
		nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
	sim_record_overhead(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, begin, sim_clock_now());
}

void sim_deliver_period(uint32_t milliseconds)
{
	pthread_mutex_lock(&lock);
	period_ns = (uint64_t)milliseconds * 1000000u;
	pthread_cond_signal(&wake);
	pthread_mutex_unlock(&lock);
}

void sim_deliver_reset(void)
{
	atomic_ulong *const counters[] = { &zero_count, &reversed_count, &sentinel_count,
					   &end_count, &skew_count };

	pthread_mutex_lock(&lock);
	while (in_flight && !pthread_equal(worker, pthread_self()))
		pthread_cond_wait(&done, &lock);
	if (late) {
		late->next = queue;
		queue = late;
		late = NULL;
	}
	while (queue) {
		struct sim_buffer *buffer = queue;

		queue = buffer->next;
		sim_buffer_free(buffer);
	}
	period_ns = 0;
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		atomic_store(counters[i], 0);
	pthread_mutex_unlock(&lock);
}

static void *deliver_late(void *buffer)
{
	nanosleep(&(struct timespec){ .tv_sec = sim_faults.late / 1000,
				      .tv_nsec = sim_faults.late % 1000 * 1000000 }, NULL);
	complete(buffer);
	return NULL;
}

/* Runs when main() has returned and the program's own exit handlers are done. */
__attribute__((destructor)) static void after_main(void)
{
	struct sim_buffer *buffer = late;
	pthread_t thread;

	late = NULL;
	if (buffer && sim_complete && !sim_forked() &&
	    !pthread_create(&thread, NULL, deliver_late, buffer))
		pthread_join(thread, NULL);
}
