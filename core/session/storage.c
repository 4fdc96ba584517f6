/* Live storages by name; see storage.h. */
#include "core/session/storage.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct tensor {
	struct tensor *next;
	char id[];
};

struct storage {
	struct storage *next;
	struct tensor *tensors;
	uint64_t hash, bytes, t_ns;
	size_t device_bytes;
	char key[];             /* device, NUL, storage id, NUL */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct storage **buckets;
static size_t bucket_count, used;
static uint64_t unmatched;

static uint64_t hash_of(const char *device, const char *storage)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *p = device; *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	hash *= UINT64_C(0x100000001b3);
	for (const char *p = storage; *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

/* Where the storage hangs, or would. */
static struct storage **place(uint64_t hash, const char *device, const char *storage)
{
	struct storage **at = &buckets[hash & (bucket_count - 1)];

	for (; *at; at = &(*at)->next)
		if ((*at)->hash == hash && !strcmp((*at)->key, device) &&
		    !strcmp((*at)->key + (*at)->device_bytes, storage))
			break;
	return at;
}

static bool grow(void)
{
	size_t count = bucket_count ? bucket_count * 2 : 1024;
	struct storage **more = calloc(count, sizeof(*more)), *next;

	if (!more)
		return bucket_count != 0;       /* fuller chains will do */
	for (size_t i = 0; i < bucket_count; i++) {
		for (struct storage *s = buckets[i]; s; s = next) {
			next = s->next;
			s->next = more[s->hash & (count - 1)];
			more[s->hash & (count - 1)] = s;
		}
	}
	free(buckets);
	buckets = more;
	bucket_count = count;
	return true;
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

static struct storage *new_storage(uint64_t hash, const char *device, const char *storage,
				   uint64_t bytes, uint64_t t_ns)
{
	size_t device_bytes = strlen(device) + 1, storage_bytes = strlen(storage) + 1;
	struct storage *s = malloc(sizeof(*s) + device_bytes + storage_bytes);

	if (!s)
		return NULL;
	*s = (struct storage){
		.hash = hash, .bytes = bytes, .t_ns = t_ns, .device_bytes = device_bytes
	};
	memcpy(s->key, device, device_bytes);
	memcpy(s->key + device_bytes, storage, storage_bytes);
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
	uint64_t hash = hash_of(device, storage);
	enum ts_storage_result result;
	struct storage **at, *s;

	if (used >= bucket_count && !grow())
		return TS_STORAGE_MEMORY;
	at = place(hash, device, storage);
	if (*at && (*at)->bytes != *bytes) {
		*bytes = (*at)->bytes;
		return TS_STORAGE_SIZE;
	}
	if (*at)
		return t_ns < (*at)->t_ns ? TS_STORAGE_TIME : add_tensor(*at, tensor);
	s = new_storage(hash, device, storage, *bytes, t_ns);
	if (!s)
		return TS_STORAGE_MEMORY;
	result = add_tensor(s, tensor);
	if (result != TS_STORAGE_OK) {
		discard(s);
		return result;
	}
	*at = s;
	used++;
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
	struct storage **at = NULL, *s;

	if (bucket_count)
		at = place(hash_of(device, storage), device, storage);
	if (!at || !*at) {
		unmatched++;
		return TS_STORAGE_ABSENT;
	}
	s = *at;
	if (s->bytes != *bytes) {
		*bytes = s->bytes;
		return TS_STORAGE_SIZE;
	}
	if (t_ns < s->t_ns)
		return TS_STORAGE_TIME;
	*at = s->next;
	used--;
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
		buckets = NULL;
		bucket_count = used = 0;
		unmatched = 0;
	}
	pthread_mutex_unlock(&lock);
}
