/* Activity buffers: got from the client, filled by the threads that call CUDA. */
#include "tests/sim/cupti/simcupti.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

CUpti_BuffersCallbackRequestFunc sim_request;
CUpti_BuffersCallbackCompleteFunc sim_complete;
atomic_bool sim_per_thread_buffers = true;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_buffer *shared;       /* the one of all threads, without per-thread buffers */
static struct sim_buffer *spare;        /* asked for by two threads at once: kept for the next */
static atomic_size_t dropped;
static atomic_ulong drop_counter;

struct sim_buffer *sim_buffer_request(void)
{
	struct sim_buffer *buffer;
	uint8_t *data = NULL;
	size_t size = 0, max_records = 0;

	if (!sim_request)
		return NULL;
	sim_request(&data, &size, &max_records);
	if (!data || !size)
		return NULL;
	buffer = calloc(1, sizeof(*buffer));
	if (!buffer)
		abort();
	buffer->data = data;
	buffer->size = size;
	buffer->max_records = max_records;
	return buffer;
}

void sim_buffer_free(struct sim_buffer *buffer)
{
	free(buffer->stamps);
	free(buffer);
}

static bool has_room(const struct sim_buffer *buffer, size_t size)
{
	return buffer->size - buffer->used >= size &&
	       (!buffer->max_records || buffer->records < buffer->max_records);
}

static struct sim_buffer **slot_of(struct sim_thread *thread)
{
	return atomic_load(&sim_per_thread_buffers) ? &thread->buffer : &shared;
}

/* Ask the client without holding the lock: its callback may call CUPTI, or wait for a thread that
 * does.  Returns false when it has no buffer for us. */
static bool refill(struct sim_buffer **slot)
{
	struct sim_buffer *buffer = spare;
	uint64_t begin, end;

	if (buffer) {
		spare = buffer->next;
	} else {
		pthread_mutex_unlock(&lock);
		begin = sim_clock_now();
		buffer = sim_buffer_request();
		end = sim_clock_now();
		pthread_mutex_lock(&lock);
		if (!buffer)
			return false;
		if (*slot) {
			buffer->next = spare;
			spare = buffer;
			return true;
		}
		buffer->next = NULL;
		*slot = buffer;
		pthread_mutex_unlock(&lock);
		sim_record_overhead(CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST, begin, end);
		pthread_mutex_lock(&lock);
		return true;
	}
	buffer->next = NULL;
	*slot = buffer;
	return true;
}

static void add_stamp(struct sim_buffer *buffer, const struct sim_stamp *stamp)
{
	struct sim_stamp *to;

	if (buffer->stamp_count == buffer->stamp_room) {
		buffer->stamp_room = buffer->stamp_room ? buffer->stamp_room * 2 : 64;
		buffer->stamps = realloc(buffer->stamps, buffer->stamp_room * sizeof(*to));
		if (!buffer->stamps)
			abort();
	}
	to = &buffer->stamps[buffer->stamp_count++];
	*to = *stamp;
	if (to->start_at != SIM_NO_OFFSET)
		to->start_at += buffer->used;
	if (to->end_at != SIM_NO_OFFSET)
		to->end_at += buffer->used;
	if (stamp->end > buffer->last_end)
		buffer->last_end = stamp->end;
}

void sim_buffer_append(const void *record, size_t size, const struct sim_stamp *stamp)
{
	struct sim_buffer **slot = slot_of(sim_thread()), *buffer;
	bool queued = false, hopeless = false;

	if (sim_faults_every(sim_faults.drop_every, &drop_counter)) {
		atomic_fetch_add(&dropped, 1);
		return;
	}
	pthread_mutex_lock(&lock);
	while (!(buffer = *slot) || !has_room(buffer, size)) {
		if (buffer) {
			/* Too small for one record: given back empty, and the record is lost. */
			hopeless = !buffer->used;
			*slot = NULL;
			sim_deliver_queue(buffer);
			queued = true;
		}
		if (hopeless || !refill(slot)) {
			atomic_fetch_add(&dropped, 1);
			goto out;
		}
	}
	memcpy(buffer->data + buffer->used, record, size);
	if (stamp)
		add_stamp(buffer, stamp);
	buffer->used += size;
	buffer->records++;
out:
	pthread_mutex_unlock(&lock);
	if (queued)
		sim_deliver_kick();
}

size_t sim_buffers_dropped(void)
{
	return atomic_exchange(&dropped, 0);
}

static void retire(struct sim_buffer **slot, bool forced, uint64_t now)
{
	struct sim_buffer *buffer = *slot;

	if (!buffer || !buffer->used || (!forced && buffer->last_end > now))
		return;
	*slot = NULL;
	buffer->forced = forced;
	buffer->wanted = true;
	sim_deliver_queue(buffer);
}

void sim_buffers_retire(bool forced)
{
	uint64_t now = sim_monotonic_ns();

	pthread_mutex_lock(&lock);
	retire(&shared, forced, now);
	for (struct sim_thread *t = sim_threads(); t; t = t->next)
		retire(&t->buffer, forced, now);
	pthread_mutex_unlock(&lock);
}

static void go_stale(struct sim_buffer *buffer, uint64_t now)
{
	for (size_t i = 0; buffer && i < buffer->stamp_count; i++)
		if (buffer->stamps[i].device && buffer->stamps[i].end < now)
			buffer->stamps[i].end = now;
}

void sim_buffers_go_stale(void)
{
	uint64_t now = sim_monotonic_ns();

	pthread_mutex_lock(&lock);
	go_stale(shared, now);
	for (struct sim_thread *t = sim_threads(); t; t = t->next)
		go_stale(t->buffer, now);
	pthread_mutex_unlock(&lock);
}

static void forget(struct sim_buffer **slot)
{
	if (*slot)
		sim_buffer_free(*slot);
	*slot = NULL;
}

void sim_buffers_reset(void)
{
	pthread_mutex_lock(&lock);
	forget(&shared);
	for (struct sim_thread *t = sim_threads(); t; t = t->next)
		forget(&t->buffer);
	while (spare) {
		struct sim_buffer *buffer = spare;

		spare = buffer->next;
		sim_buffer_free(buffer);
	}
	pthread_mutex_unlock(&lock);
	atomic_store(&dropped, 0);
	atomic_store(&drop_counter, 0);
	sim_request = NULL;
	sim_complete = NULL;
	atomic_store(&sim_per_thread_buffers, true);
}
