#include "cupti/buffers.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "core/record/record.h"
#include "cupti/device.h"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t queued, read;
	struct cupti_buffer all[CUPTI_BUFFERS_MAX];
	unsigned made;
	unsigned waiting;               /* queued or being read */
	uint64_t reads;                 /* buffers that waited and no longer do */
	struct cupti_buffer *free_first, *free_last;
	struct cupti_buffer *queue_first, *queue_last;
	bool refuse, closed;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void append(struct cupti_buffer **first, struct cupti_buffer **last,
		   struct cupti_buffer *buffer)
{
	buffer->next = NULL;
	if (*first)
		(*last)->next = buffer;
	else
		*first = buffer;
	*last = buffer;
}

static struct cupti_buffer *pop(struct cupti_buffer **first)
{
	struct cupti_buffer *buffer = *first;

	if (buffer)
		*first = buffer->next;
	return buffer;
}

/* Under the lock: mmap is a system call without callbacks. */
static struct cupti_buffer *make_buffer(void)
{
	struct cupti_buffer *buffer;
	void *data;

	if (pool.made == CUPTI_BUFFERS_MAX)
		return NULL;
	data = mmap(NULL, CUPTI_BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (data == MAP_FAILED)
		return NULL;
	buffer = &pool.all[pool.made++];
	buffer->data = data;
	return buffer;
}

int cupti_buffers_init(bool refuse)
{
	struct cupti_buffer *buffer;

	device_cond_init(&pool.queued);
	device_cond_init(&pool.read);
	pool.refuse = refuse;
	buffer = make_buffer();
	if (!buffer)
		return -ENOMEM;
	append(&pool.free_first, &pool.free_last, buffer);
	return 0;
}

/* Every buffer is in use.  A CUPTI that cannot take NULL gets the room of the oldest unread one:
 * its records are lost, the process lives. */
static struct cupti_buffer *sacrifice(void)
{
	struct cupti_buffer *buffer = pool.refuse ? NULL : pop(&pool.queue_first);

	if (buffer) {
		pool.waiting--;
		pool.reads++;
	}
	return buffer;
}

uint8_t *cupti_buffers_lend(void)
{
	struct cupti_buffer *buffer;
	bool lost = false;

	pthread_mutex_lock(&pool.lock);
	buffer = pop(&pool.free_first);
	if (!buffer)
		buffer = make_buffer();
	if (!buffer) {
		lost = true;
		buffer = sacrifice();
	}
	if (buffer)
		buffer->state = BUFFER_LENT;
	pthread_mutex_unlock(&pool.lock);
	if (lost)
		ts_lost(TS_LOST_device_buffers, 1);
	return buffer ? buffer->data : NULL;
}

static struct cupti_buffer *find(const uint8_t *data)
{
	for (unsigned i = 0; i < pool.made; i++)
		if (pool.all[i].data == data)
			return &pool.all[i];
	return NULL;
}

bool cupti_buffers_return(uint8_t *data, size_t valid)
{
	struct cupti_buffer *buffer;
	bool owned;

	pthread_mutex_lock(&pool.lock);
	buffer = find(data);
	owned = buffer && buffer->state == BUFFER_LENT;
	if (owned && valid && !pool.closed) {
		buffer->valid = valid < CUPTI_BUFFER_BYTES ? valid : CUPTI_BUFFER_BYTES;
		buffer->state = BUFFER_QUEUED;
		append(&pool.queue_first, &pool.queue_last, buffer);
		pool.waiting++;
		pthread_cond_signal(&pool.queued);
	} else if (owned) {
		buffer->state = BUFFER_FREE;
		append(&pool.free_first, &pool.free_last, buffer);
	}
	pthread_mutex_unlock(&pool.lock);
	return owned;
}

struct cupti_buffer *cupti_buffers_take(void)
{
	struct cupti_buffer *buffer;

	pthread_mutex_lock(&pool.lock);
	while (!pool.queue_first && !pool.closed)
		pthread_cond_wait(&pool.queued, &pool.lock);
	buffer = pool.closed ? NULL : pop(&pool.queue_first);
	if (buffer)
		buffer->state = BUFFER_READING;
	pthread_mutex_unlock(&pool.lock);
	return buffer;
}

void cupti_buffers_done(struct cupti_buffer *buffer)
{
	pthread_mutex_lock(&pool.lock);
	buffer->state = BUFFER_FREE;
	append(&pool.free_first, &pool.free_last, buffer);
	pool.waiting--;
	pool.reads++;
	pthread_cond_broadcast(&pool.read);
	pthread_mutex_unlock(&pool.lock);
}

bool cupti_buffers_wait_read(const struct timespec *deadline)
{
	uint64_t enough;
	bool read;

	pthread_mutex_lock(&pool.lock);
	/* Not those that come meanwhile: of a program that goes on there is no end. */
	enough = pool.reads + pool.waiting;
	while (pool.reads < enough &&
	       pthread_cond_timedwait(&pool.read, &pool.lock, deadline) != ETIMEDOUT)
		;
	read = pool.reads >= enough;
	pthread_mutex_unlock(&pool.lock);
	return read;
}

unsigned cupti_buffers_waiting(void)
{
	unsigned waiting;

	pthread_mutex_lock(&pool.lock);
	waiting = pool.waiting;
	pthread_mutex_unlock(&pool.lock);
	return waiting;
}

void cupti_buffers_close(void)
{
	pthread_mutex_lock(&pool.lock);
	pool.closed = true;
	pthread_cond_broadcast(&pool.queued);
	pthread_mutex_unlock(&pool.lock);
}
