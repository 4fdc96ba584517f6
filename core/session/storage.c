/* Live storages by name; see storage.h. */
#include "core/session/storage.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct tensor {
	struct tensor *next;
	char id[];
};

struct storage {
	struct tensor *tensors;
	uint64_t bytes, t_ns;
	const char *device, *id;        /* behind it, or what is looked for */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *live;              /* tree of storages (tsearch) */
static uint64_t unmatched;

static int compare(const void *a, const void *b)
{
	const struct storage *one = a, *other = b;
	int order = strcmp(one->id, other->id);

	return order ? order : strcmp(one->device, other->device);
}

static struct storage *find(const char *device, const char *id)
{
	const struct storage key = { .device = device, .id = id };
	struct storage **found = tfind(&key, &live, compare);

	return found ? *found : NULL;
}

static enum ts_storage_result add_tensor(struct storage *s, const char *id)
{
	size_t bytes = strlen(id) + 1;
	struct tensor *tensor;

	for (tensor = s->tensors; tensor; tensor = tensor->next)
		if (!strcmp(tensor->id, id))
			return TS_STORAGE_EXISTS;
	tensor = malloc(sizeof(*tensor) + bytes);
	if (!tensor)
		return TS_STORAGE_MEMORY;
	memcpy(tensor->id, id, bytes);
	tensor->next = s->tensors;
	s->tensors = tensor;
	return TS_STORAGE_OK;
}

static struct storage *new_storage(const char *device, const char *id, uint64_t bytes,
				   uint64_t t_ns)
{
	size_t device_bytes = strlen(device) + 1, id_bytes = strlen(id) + 1;
	struct storage *s = malloc(sizeof(*s) + device_bytes + id_bytes);
	char *texts;

	if (!s)
		return NULL;
	texts = (char *)(s + 1);
	*s = (struct storage){
		.bytes = bytes, .t_ns = t_ns, .device = texts, .id = texts + device_bytes
	};
	memcpy(texts, device, device_bytes);
	memcpy(texts + device_bytes, id, id_bytes);
	return s;
}

static void discard(struct storage *s)
{
	for (struct tensor *tensor = s->tensors, *next; tensor; tensor = next) {
		next = tensor->next;
		free(tensor);
	}
	free(s);
}

static enum ts_storage_result alloc_locked(const char *device, const char *storage,
					   const char *tensor, uint64_t *bytes, uint64_t t_ns)
{
	struct storage *s = find(device, storage);

	if (s && s->bytes != *bytes) {
		*bytes = s->bytes;
		return TS_STORAGE_SIZE;
	}
	if (s)
		return t_ns < s->t_ns ? TS_STORAGE_TIME : add_tensor(s, tensor);
	s = new_storage(device, storage, *bytes, t_ns);
	if (!s)
		return TS_STORAGE_MEMORY;
	if (add_tensor(s, tensor) != TS_STORAGE_OK || !tsearch(s, &live, compare)) {
		discard(s);
		return TS_STORAGE_MEMORY;
	}
	return TS_STORAGE_OK;
}

enum ts_storage_result ts_storage_alloc(const char *device, const char *storage,
					const char *tensor, uint64_t *bytes, uint64_t t_ns)
{
	enum ts_storage_result result;

	pthread_mutex_lock(&lock);
	result = alloc_locked(device, storage, tensor, bytes, t_ns);
	pthread_mutex_unlock(&lock);
	return result;
}

static enum ts_storage_result free_locked(const char *device, const char *storage,
					  uint64_t *bytes, uint64_t t_ns)
{
	struct storage *s = find(device, storage);

	if (!s) {
		unmatched++;
		return TS_STORAGE_ABSENT;
	}
	if (s->bytes != *bytes) {
		*bytes = s->bytes;
		return TS_STORAGE_SIZE;
	}
	if (t_ns < s->t_ns)
		return TS_STORAGE_TIME;
	tdelete(s, &live, compare);
	discard(s);
	return TS_STORAGE_OK;
}

enum ts_storage_result ts_storage_free(const char *device, const char *storage, uint64_t *bytes,
				       uint64_t t_ns)
{
	enum ts_storage_result result;

	pthread_mutex_lock(&lock);
	result = free_locked(device, storage, bytes, t_ns);
	pthread_mutex_unlock(&lock);
	return result;
}

uint64_t ts_storage_unmatched(void)
{
	uint64_t count;

	pthread_mutex_lock(&lock);
	count = unmatched;
	pthread_mutex_unlock(&lock);
	return count;
}

void ts_storage_prefork(void)
{
	pthread_mutex_lock(&lock);
}

void ts_storage_postfork(bool child)
{
	/* Left as it is: another allocator's locks may not be mended yet. */
	if (child) {
		live = NULL;
		unmatched = 0;
	}
	pthread_mutex_unlock(&lock);
}
