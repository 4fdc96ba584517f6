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
	bool unwritten;                 /* with all its tensors */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *live;              /* tree of storages (tsearch) */
static struct ts_storage_totals totals;

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

static struct storage *new_storage(const struct ts_storage_event *e)
{
	size_t device_bytes = strlen(e->device) + 1, id_bytes = strlen(e->storage) + 1;
	struct storage *s = malloc(sizeof(*s) + device_bytes + id_bytes);
	char *texts;

	if (!s)
		return NULL;
	texts = (char *)(s + 1);
	*s = (struct storage){
		.bytes = e->bytes,
		.t_ns = e->t_ns,
		.device = texts,
		.id = texts + device_bytes,
		.unwritten = e->outside,
	};
	memcpy(texts, e->device, device_bytes);
	memcpy(texts + device_bytes, e->storage, id_bytes);
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

static enum ts_storage_result alloc_locked(struct ts_storage_event *e)
{
	struct storage *s = find(e->device, e->storage);

	if (s && s->bytes != e->bytes) {
		e->bytes = s->bytes;
		return TS_STORAGE_SIZE;
	}
	if (s) {
		e->unwritten = s->unwritten;
		return e->t_ns < s->t_ns ? TS_STORAGE_TIME : add_tensor(s, e->tensor);
	}
	s = new_storage(e);
	if (!s)
		return TS_STORAGE_MEMORY;
	if (add_tensor(s, e->tensor) != TS_STORAGE_OK || !tsearch(s, &live, compare)) {
		discard(s);
		return TS_STORAGE_MEMORY;
	}
	e->unwritten = s->unwritten;
	return TS_STORAGE_OK;
}

enum ts_storage_result ts_storage_alloc(struct ts_storage_event *event)
{
	enum ts_storage_result result;

	pthread_mutex_lock(&lock);
	result = alloc_locked(event);
	pthread_mutex_unlock(&lock);
	return result;
}

static enum ts_storage_result free_locked(struct ts_storage_event *e)
{
	struct storage *s = find(e->device, e->storage);

	if (!s) {
		totals.unmatched += !e->outside;
		return TS_STORAGE_ABSENT;
	}
	if (s->bytes != e->bytes) {
		e->bytes = s->bytes;
		return TS_STORAGE_SIZE;
	}
	if (e->t_ns < s->t_ns)
		return TS_STORAGE_TIME;
	e->unwritten = s->unwritten;
	if (s->unwritten && !e->outside) {
		totals.earlier_frees++;
		totals.earlier_bytes += s->bytes;
	}
	tdelete(s, &live, compare);
	discard(s);
	return TS_STORAGE_OK;
}

enum ts_storage_result ts_storage_free(struct ts_storage_event *event)
{
	enum ts_storage_result result;

	pthread_mutex_lock(&lock);
	result = free_locked(event);
	pthread_mutex_unlock(&lock);
	return result;
}

struct ts_storage_totals ts_storage_totals(void)
{
	struct ts_storage_totals now;

	pthread_mutex_lock(&lock);
	now = totals;
	pthread_mutex_unlock(&lock);
	return now;
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
		totals = (struct ts_storage_totals){ 0 };
	}
	pthread_mutex_unlock(&lock);
}
