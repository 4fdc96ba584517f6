/* The address table: open addressing, linear probing.  A freed entry stays, for the generation of
 * the address's next life and for the report of a double free; when such entries crowd the table
 * they are dropped together, and later generations count on from the highest seen. */
#include "core/record/writer.h"

#include <string.h>
#include <sys/mman.h>

#define FIRST_ROOM 4096u
#define CROWDED (1u << 16)

static struct ts_block *table;
static size_t room, used;
static uint32_t generation_floor;

static uint8_t space_of(uint8_t kind)
{
	switch (kind) {
	case TS_MEM_ARRAY:
		return 1;
	case TS_MEM_MIPMAP:
		return 2;
	case TS_MEM_VMM:
		return 3;
	default:
		return 0;       /* pointers: a block may be freed by a call of another kind */
	}
}

static size_t slot_of(const struct ts_block *blocks, size_t size, uint64_t address, uint8_t space)
{
	uint64_t hash = (address ^ (uint64_t)space << 60) * 0x9e3779b97f4a7c15u;
	size_t slot = (size_t)(hash >> 32) & (size - 1);

	while (blocks[slot].address &&
	       (blocks[slot].address != address || blocks[slot].space != space))
		slot = (slot + 1) & (size - 1);
	return slot;
}

static bool rebuild(void)
{
	size_t kept = 0, bigger = room ? room : FIRST_ROOM / 2, old_room = room;
	struct ts_block *blocks;
	bool drop;

	for (size_t i = 0; i < room; i++)
		kept += table[i].address && table[i].state != TS_BLOCK_FREED;
	drop = room >= CROWDED && kept < room / 4;
	if (!drop)
		bigger *= 2;
	blocks = mmap(NULL, bigger * sizeof(*blocks), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (blocks == MAP_FAILED)
		return false;
	used = 0;
	for (size_t i = 0; i < old_room; i++) {
		if (!table[i].address)
			continue;
		if (drop && table[i].generation > generation_floor)
			generation_floor = table[i].generation;
		if (drop && table[i].state == TS_BLOCK_FREED)
			continue;
		blocks[slot_of(blocks, bigger, table[i].address, table[i].space)] = table[i];
		used++;
	}
	if (table)
		munmap(table, old_room * sizeof(*table));
	table = blocks;
	room = bigger;
	return true;
}

struct ts_block *ts_block_find(uint64_t address, uint8_t kind)
{
	size_t slot;

	if (!room || !address)
		return NULL;
	slot = slot_of(table, room, address, space_of(kind));
	return table[slot].address ? &table[slot] : NULL;
}

struct ts_block *ts_block_add(uint64_t address, uint8_t kind)
{
	struct ts_block *block = ts_block_find(address, kind);

	if (block || !address)
		return block;
	if (used + 1 > room / 4 * 3 && !rebuild())
		return NULL;
	block = &table[slot_of(table, room, address, space_of(kind))];
	*block = (struct ts_block){ .address = address,
				    .space = space_of(kind),
				    .generation = generation_floor };
	used++;
	return block;
}

void ts_block_each(void (*visit)(struct ts_block *block, void *user), void *user)
{
	for (size_t i = 0; i < room; i++)
		if (table[i].address)
			visit(&table[i], user);
}

void ts_block_child(void)
{
	table = NULL;
	room = used = 0;
	generation_floor = 0;
}

void *ts_writer_grow(void *old, size_t *have, size_t count, size_t bytes)
{
	size_t want = *have ? *have : 256;
	void *more;

	if (count <= *have)
		return old;
	while (want < count)
		want *= 2;
	/* Not mremap: the thread sanitizer does not see it. */
	more = mmap(NULL, want * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (more == MAP_FAILED)
		return NULL;
	if (old) {
		memcpy(more, old, *have * bytes);
		munmap(old, *have * bytes);
	}
	*have = want;
	return more;
}
