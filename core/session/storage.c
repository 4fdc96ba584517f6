/* Live storages by name; see storage.h. */
#include "core/session/storage.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define FREED 4096u

struct tensor {
	struct tensor *next;
	char id[];
};

struct storage {
	struct tensor *tensors;
	uint64_t bytes, t_ns;           /* t_ns: of its last event */
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

static bool has_tensor(const struct storage *s, const char *id)
{
	const struct tensor *tensor = s->tensors;

	while (tensor && strcmp(tensor->id, id))
		tensor = tensor->next;
	return tensor;
}

static bool add_tensor(struct storage *s, const char *id)
{
	size_t bytes = strlen(id) + 1;
	struct tensor *tensor = malloc(sizeof(*tensor) + bytes);

	if (!tensor)
		return false;
	memcpy(tensor->id, id, bytes);
	tensor->next = s->tensors;
	s->tensors = tensor;
	return true;
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

/* An id that comes again with times of its own may not come before its free.  The last ones are
 * known: other ids at the same place push them out. */
static struct freed {
	uint64_t hash, t_ns;
} freed[FREED];

static uint64_t hash_of(const struct ts_storage_event *e)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (const char *p = e->device; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
	hash *= 0x100000001b3u;
	for (const char *p = e->storage; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
	return hash;
}

static struct freed *freed_slot(const struct ts_storage_event *e)
{
	uint64_t hash = hash_of(e);

	return &freed[(hash ^ hash >> 32) % FREED];
}

static uint64_t freed_ns(const struct ts_storage_event *e)
{
	const struct freed *slot = freed_slot(e);

	return slot->hash == hash_of(e) ? slot->t_ns : 0;
}

enum ts_storage_result ts_storage_check(struct ts_storage_event *e)
{
	struct storage *s = find(e->device, e->storage);

	if (!s && e->is_free) {
		totals.unmatched += !e->outside;
		return TS_STORAGE_ABSENT;
	}
	e->unwritten = s ? s->unwritten : e->outside;
	if (s && s->bytes != e->bytes) {
		e->bytes = s->bytes;
		return TS_STORAGE_SIZE;
	}
	if (e->t_ns < (s ? s->t_ns : freed_ns(e)))
		return TS_STORAGE_TIME;
	return s && !e->is_free && has_tensor(s, e->tensor) ? TS_STORAGE_EXISTS : TS_STORAGE_OK;
}

static void forget(struct storage *s, const struct ts_storage_event *e)
{
	if (s->unwritten && !e->outside) {
		totals.earlier_frees++;
		totals.earlier_bytes += s->bytes;
	}
	tdelete(s, &live, compare);
	discard(s);
	*freed_slot(e) = (struct freed){ hash_of(e), e->t_ns };
}

/* Without memory the storage is not known: its free is refused. */
static void know(const struct ts_storage_event *e)
{
	struct storage *s = new_storage(e);

	if (s && (!add_tensor(s, e->tensor) || !tsearch(s, &live, compare)))
		discard(s);
}

void ts_storage_change(const struct ts_storage_event *e)
{
	struct storage *s = find(e->device, e->storage);

	if (e->is_free)
		forget(s, e);
	else if (!s)
		know(e);
	else if (add_tensor(s, e->tensor))
		s->t_ns = e->t_ns;
}

void ts_storage_lock(void)
{
	pthread_mutex_lock(&lock);
}

void ts_storage_unlock(void)
{
	pthread_mutex_unlock(&lock);
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
		memset(freed, 0, sizeof(freed));
		totals = (struct ts_storage_totals){ 0 };
	}
	pthread_mutex_unlock(&lock);
}
