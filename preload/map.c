/* Read-mostly hash map; see map.h. */
#include "preload/map.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>

struct ts_map_table {
	uint64_t slots;         /* a power of two */
	uint64_t used;          /* keys, those with value 0 too */
	struct {
		_Atomic uint64_t key, value;
	} slot[];
};

static uint64_t place(uint64_t key)
{
	key ^= key >> 33;
	key *= UINT64_C(0xff51afd7ed558ccd);
	return key ^ key >> 29;
}

uint64_t ts_map_get(const struct ts_map *map, uint64_t key)
{
	const struct ts_map_table *t = atomic_load_explicit(&map->table, memory_order_acquire);
	uint64_t there;

	if (!t)
		return 0;
	for (uint64_t i = place(key);; i++) {
		there =
		    atomic_load_explicit(&t->slot[i & (t->slots - 1)].key, memory_order_acquire);
		if (there == key)
			return atomic_load_explicit(&t->slot[i & (t->slots - 1)].value,
						    memory_order_acquire);
		if (!there)
			return 0;
	}
}

static void put(struct ts_map_table *t, uint64_t key, uint64_t value)
{
	uint64_t i = place(key), there;

	while ((there = atomic_load(&t->slot[i & (t->slots - 1)].key)) != 0 && there != key)
		i++;
	/* The value first: who sees the key sees it. */
	atomic_store_explicit(&t->slot[i & (t->slots - 1)].value, value, memory_order_release);
	if (!there) {
		atomic_store_explicit(&t->slot[i & (t->slots - 1)].key, key, memory_order_release);
		t->used++;
	}
}

static struct ts_map_table *grow(struct ts_map *map, struct ts_map_table *old)
{
	uint64_t slots = old ? old->slots * 2 : 256;
	struct ts_map_table *t = mmap(NULL, sizeof(*t) + slots * sizeof(t->slot[0]),
				      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED)
		return NULL;
	t->slots = slots;
	for (uint64_t i = 0; old && i < old->slots; i++) {
		uint64_t value = atomic_load(&old->slot[i].value);

		if (value)
			put(t, atomic_load(&old->slot[i].key), value);
	}
	atomic_store_explicit(&map->table, t, memory_order_release);
	return t;
}

static void lock(struct ts_map *map)
{
	while (atomic_exchange_explicit(&map->lock, 1, memory_order_acquire))
		sched_yield();
}

static void unlock(struct ts_map *map)
{
	atomic_store_explicit(&map->lock, 0, memory_order_release);
}

int ts_map_put(struct ts_map *map, uint64_t key, uint64_t value)
{
	struct ts_map_table *t;
	int e = 0;

	if (!key)
		return 0;
	lock(map);
	t = atomic_load(&map->table);
	if (!t || t->used * 2 >= t->slots)
		t = grow(map, t);
	if (t)
		put(t, key, value);
	else
		e = -ENOMEM;
	unlock(map);
	return e;
}

void ts_map_drop(struct ts_map *map, bool (*drop)(uint64_t key, uint64_t value))
{
	struct ts_map_table *t;

	lock(map);
	t = atomic_load(&map->table);
	for (uint64_t i = 0; t && i < t->slots; i++) {
		uint64_t key = atomic_load(&t->slot[i].key), value = atomic_load(&t->slot[i].value);

		if (value && (!drop || drop(key, value)))
			atomic_store(&t->slot[i].value, 0);
	}
	unlock(map);
}

void ts_map_child(struct ts_map *map)
{
	atomic_store(&map->lock, 0);
}
