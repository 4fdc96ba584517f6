#include "core/record/arena.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/record/arena_life.h"
#include "core/record/file.h"
#include "core/record/record.h"

#define WORD 8u
#define INDEX_MASK (TS_INDEX_SLOTS - 1)
#define INDEX_LIMIT (TS_INDEX_SLOTS / 4 * 3)
_Static_assert(INDEX_LIMIT == 24576 && TS_ARENA_CHUNKS * (uint64_t)TS_ARENA_CHUNK == 256 << 20,
	       "lost.def tells these");

/* Finding is lock-free; adding is rare (once for each distinct name and stack) and takes a lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t entries;

static uint32_t hash_bytes(uint32_t kind, const void *data, size_t bytes)
{
	const unsigned char *p = data;
	uint64_t hash = 0x9e3779b97f4a7c15u * (kind + 1) ^ bytes, word;

	for (; bytes >= WORD; p += WORD, bytes -= WORD) {
		memcpy(&word, p, WORD);
		hash = (hash ^ word) * 0xff51afd7ed558ccdu;
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, p, bytes);
	hash = (hash ^ word) * 0xff51afd7ed558ccdu;
	hash ^= hash >> 29;
	return (uint32_t)(hash ^ hash >> 32);
}

static struct ts_entry *entry_of(uint32_t id)
{
	return (struct ts_entry *)(void *)(ts_file_arena() + (uint64_t)id * WORD);
}

/* The id, or 0; *slot is where the search ended. */
static uint32_t find(uint32_t hash, uint32_t kind, uint32_t extra, const void *data, size_t bytes,
		     uint32_t *slot)
{
	for (*slot = hash & INDEX_MASK;; *slot = (*slot + 1) & INDEX_MASK) {
		uint32_t id = atomic_load_explicit(&ts_file->index[*slot], memory_order_acquire);
		const struct ts_entry *entry;

		if (!id)
			return 0;
		entry = entry_of(id);
		if (entry->hash == hash && entry->kind == kind && entry->extra == extra &&
		    entry->bytes == bytes && !memcmp(entry->data, data, bytes))
			return id;
	}
}

static uint32_t add(uint32_t hash, uint32_t kind, uint32_t extra, const void *data, size_t bytes)
{
	uint64_t used = atomic_load(&ts_file->arena_used), size;
	uint32_t slot, id = find(hash, kind, extra, data, bytes, &slot);
	struct ts_entry *entry;

	if (id)
		return id;
	if (!used)
		used = WORD;            /* id 0 means none */
	size = (sizeof(struct ts_entry) + bytes + 1 + WORD - 1) & ~(uint64_t)(WORD - 1);
	if (entries >= INDEX_LIMIT || ts_file_arena_grow(used + size))
		return 0;
	id = (uint32_t)(used / WORD);
	entry = entry_of(id);
	entry->hash = hash;
	entry->bytes = (uint32_t)bytes;
	entry->kind = kind;
	entry->extra = extra;
	memcpy(entry->data, data, bytes);
	entry->data[bytes] = '\0';
	atomic_store_explicit(&ts_file->arena_used, used + size, memory_order_release);
	atomic_store_explicit(&ts_file->index[slot], id, memory_order_release);
	entries++;
	return id;
}

uint32_t ts_arena_put(enum ts_entry_kind kind, uint32_t extra, const void *data, size_t bytes)
{
	uint32_t hash, slot, id;
	int cancel;

	if (!ts_file || bytes > UINT32_MAX / 2)
		return 0;
	hash = hash_bytes(kind, data, bytes);
	id = find(hash, kind, extra, data, bytes, &slot);
	if (id)
		return id;
	/* A new piece is a file to open: no point for pthread_cancel while the lock is held. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&lock);
	id = add(hash, kind, extra, data, bytes);
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(cancel, NULL);
	if (!id)
		ts_lost(TS_LOST_names, 1);
	return id;
}

uint32_t ts_arena_text(const char *text)
{
	return text ? ts_arena_put(TS_ENTRY_TEXT, 0, text, strlen(text)) : 0;
}

const struct ts_entry *ts_arena_get(uint32_t id)
{
	if (!id || !ts_file ||
	    id * (uint64_t)WORD >= atomic_load_explicit(&ts_file->arena_used, memory_order_acquire))
		return NULL;
	return entry_of(id);
}

void ts_arena_prefork(void)
{
	pthread_mutex_lock(&lock);
}

void ts_arena_parent(void)
{
	pthread_mutex_unlock(&lock);
}

void ts_arena_child(void)
{
	entries = 0;
	pthread_mutex_unlock(&lock);    /* taken before the fork by this very thread */
}
