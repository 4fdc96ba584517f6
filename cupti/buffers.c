/* Activity buffers: from a pool of our own, since the program's malloc may call us.  A buffer is CUPTI's from the
 * request until its completion, on whatever thread, and is never unmapped. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "core/record/record.h"
#include "cupti/cupti.h"
#include "cupti/library.h"

#define BUFFER_BYTES (256u << 10)
#define HEADER_BYTES 64u
#define MAX_BUFFERS 512u                /* 128 MiB: CUPTI is not emptied fast enough beyond that */

struct buffer {
	struct buffer *next;
	_Atomic int given;              /* CUPTI has it; guards against a completion that comes twice */
};
_Static_assert(sizeof(struct buffer) <= HEADER_BYTES, "the header precedes the records");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer *pool;
static unsigned made;
static bool may_refuse;

void cupti_buffers_may_refuse(bool may)
{
	may_refuse = may;
}

static struct buffer *take(void)
{
	struct buffer *buffer;
	bool make;

	pthread_mutex_lock(&lock);
	buffer = pool;
	if (buffer)
		pool = buffer->next;
	make = !buffer && (made < MAX_BUFFERS || !may_refuse);
	made += make;
	pthread_mutex_unlock(&lock);
	if (make) {
		void *memory = mmap(NULL, HEADER_BYTES + BUFFER_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		buffer = memory == MAP_FAILED ? NULL : memory;
	}
	return buffer;
}

static void give_back(struct buffer *buffer)
{
	pthread_mutex_lock(&lock);
	buffer->next = pool;
	pool = buffer;
	pthread_mutex_unlock(&lock);
}

void CUPTIAPI cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	struct buffer *taken = take();

	*max_records = 0;
	*buffer = NULL;
	*size = 0;
	if (!taken) {
		ts_lost(TS_LOST_device_buffers, 1);
		return;
	}
	atomic_store(&taken->given, 1);
	*buffer = (uint8_t *)taken + HEADER_BYTES;
	*size = BUFFER_BYTES;
}

void CUPTIAPI cupti_buffer_completed(CUcontext context, uint32_t stream, uint8_t *data, size_t size, size_t valid)
{
	struct buffer *buffer = data ? (struct buffer *)(void *)(data - HEADER_BYTES) : NULL;
	CUpti_Activity *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	if (!buffer || !atomic_exchange(&buffer->given, 0))
		return;
	while (valid && cupti_api.cuptiActivityGetNextRecord(data, valid, &record) == CUPTI_SUCCESS)
		cupti_decode(record);
	give_back(buffer);
}

void cupti_buffers_child(void)
{
	/* CUPTI of the parent may have them all: they stay where they are. */
	pthread_mutex_init(&lock, NULL);
	pool = NULL;
	made = 0;
}
