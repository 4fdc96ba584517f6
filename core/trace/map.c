#include "core/trace/map.h"

#include <stdlib.h>
#include <string.h>

/* 64-bit multiply and fold over 8 bytes at a time; texts are ids and names, not chosen by an
 * attacker. */
uint32_t ts_map_hash(struct ts_str text)
{
	uint64_t hash = 0x9e3779b97f4a7c15u ^ text.size;

	while (text.size >= 8) {
		uint64_t word;

		memcpy(&word, text.at, 8);
		hash = (hash ^ word) * 0xff51afd7ed558ccdu;
		hash ^= hash >> 32;
		text.at += 8;
		text.size -= 8;
	}
	while (text.size--)
		hash = (hash ^ (unsigned char)*text.at++) * 0xff51afd7ed558ccdu;
	return (uint32_t)(hash ^ hash >> 29);
}

/* The slot that holds the text, or the empty one where it belongs. */
static size_t find_slot(const struct ts_map *map, struct ts_str text, uint32_t hash)
{
	size_t mask = map->slot_count - 1, slot = hash & mask;

	for (; map->slots[slot]; slot = (slot + 1) & mask) {
		uint32_t number = map->slots[slot] - 1;

		if (map->hashes[number] == hash && map->texts[number].size == text.size &&
		    !memcmp(map->texts[number].at, text.at, text.size))
			break;
	}
	return slot;
}

static void grow_slots(struct ts_map *map)
{
	map->slot_count = map->slot_count ? map->slot_count * 2 : 64;
	free(map->slots);
	map->slots = ts_grow(NULL, map->slot_count * sizeof(*map->slots));
	memset(map->slots, 0, map->slot_count * sizeof(*map->slots));
	for (size_t i = 0; i < map->count; i++) {
		size_t slot = map->hashes[i] & (map->slot_count - 1);

		while (map->slots[slot])
			slot = (slot + 1) & (map->slot_count - 1);
		map->slots[slot] = (uint32_t)i + 1;
	}
}

uint32_t ts_map_add(struct ts_map *map, struct ts_str text)
{
	uint32_t hash = ts_map_hash(text);
	size_t slot, before = map->capacity;

	if ((map->count + 1) * 2 > map->slot_count)
		grow_slots(map);
	slot = find_slot(map, text, hash);
	if (map->slots[slot])
		return map->slots[slot] - 1;
	map->texts = ts_array_room(map->texts, map->count, &map->capacity, sizeof(*map->texts));
	if (map->capacity != before)
		map->hashes = ts_grow(map->hashes, map->capacity * sizeof(*map->hashes));
	map->texts[map->count] = ts_pool_copy(&map->pool, text);
	map->hashes[map->count] = hash;
	map->slots[slot] = (uint32_t)++map->count;
	return (uint32_t)map->count - 1;
}

uint32_t ts_map_find(const struct ts_map *map, struct ts_str text)
{
	uint32_t slot;

	if (!map->count)
		return TS_MAP_NONE;
	slot = map->slots[find_slot(map, text, ts_map_hash(text))];
	return slot ? slot - 1 : TS_MAP_NONE;
}

void ts_map_free(struct ts_map *map)
{
	free(map->texts);
	free(map->hashes);
	free(map->slots);
	ts_pool_free(&map->pool);
	*map = (struct ts_map){0};
}

struct ts_str ts_pair_text(struct ts_pool *pool, struct ts_str first, struct ts_str second)
{
	char *text = ts_pool_get(pool, sizeof(first.size) + first.size + second.size);

	memcpy(text, &first.size, sizeof(first.size));
	memcpy(text + sizeof(first.size), first.at, first.size);
	memcpy(text + sizeof(first.size) + first.size, second.at, second.size);
	return (struct ts_str){text, sizeof(first.size) + first.size + second.size};
}
