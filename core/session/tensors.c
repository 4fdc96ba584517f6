#include "core/session/tensors.h"

#include <pthread.h>
#include <sys/mman.h>

#define FIRST_ROOM 512u /* hashes; a power of two */

/* A set of hashes: of 64 bits, so that no two ids of a run have the same. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t *table;
static size_t room, count;

/* FNV-1a, and its bits mixed since the low ones choose the place.  Never 0. */
static uint64_t hash_of(const char *id)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *id; id++)
		hash = (hash ^ (unsigned char)*id) * 0x100000001b3u;
	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
	hash ^= hash >> 33;
	return hash ? hash : 1;
}

/* Where it is or belongs; there is an empty place. */
static uint64_t *find(uint64_t hash)
{
	size_t at = hash & (room - 1);

	while (table[at] && table[at] != hash)
		at = (at + 1) & (room - 1);
	return &table[at];
}

static bool grow(void)
{
	size_t old_room = room, new_room = room ? room * 2 : FIRST_ROOM;
	uint64_t *old = table, *made;

	made = mmap(NULL, new_room * sizeof(*made), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return false;
	table = made;
	room = new_room;
	for (size_t i = 0; i < old_room; i++)
		if (old[i])
			*find(old[i]) = old[i];
	if (old)
		munmap(old, old_room * sizeof(*old));
	return true;
}

void ts_tensor_add(const char *id)
{
	uint64_t hash = hash_of(id), *place;

	pthread_mutex_lock(&lock);
	/* Without memory its edges are refused. */
	if (count * 2 < room || grow()) {
		place = find(hash);
		count += !*place;
		*place = hash;
	}
	pthread_mutex_unlock(&lock);
}

bool ts_tensor_is_known(const char *id)
{
	uint64_t hash = hash_of(id);
	bool known;

	pthread_mutex_lock(&lock);
	known = room && *find(hash);
	pthread_mutex_unlock(&lock);
	return known;
}

/* Another thread may have been in the middle of it: its memory is left as it is. */
void ts_tensors_child(void)
{
	pthread_mutex_init(&lock, NULL);
	table = NULL;
	room = count = 0;
}
