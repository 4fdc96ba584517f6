/* Which physical memory is mapped where; see writer.h.  Open addressing, linear probing; what goes
 * leaves no gap: those behind it move up. */
#include "core/record/writer.h"

#include <string.h>
#include <sys/mman.h>

#define FIRST_ROOM 1024u

static struct ts_mapping *table;
static size_t room, used;

static size_t home_of(uint64_t address)
{
	return (size_t)(address * 0x9e3779b97f4a7c15u >> 32) & (room - 1);
}

/* Where it is, or would be. */
static struct ts_mapping *slot_of(uint64_t address)
{
	size_t slot = home_of(address);

	while (table[slot].address && table[slot].address != address)
		slot = (slot + 1) & (room - 1);
	return &table[slot];
}

static bool grow(void)
{
	struct ts_mapping *old = table, *more;
	size_t old_room = room, wanted = room ? room * 2 : FIRST_ROOM;

	more = mmap(NULL, wanted * sizeof(*more), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (more == MAP_FAILED)
		return false;
	table = more;
	room = wanted;
	for (size_t i = 0; i < old_room; i++)
		if (old[i].address)
			*slot_of(old[i].address) = old[i];
	if (old)
		munmap(old, old_room * sizeof(*old));
	return true;
}

bool ts_mapping_put(const struct ts_mapping *mapping)
{
	struct ts_mapping *slot;

	if (!mapping->address || (used + 1 > room / 4 * 3 && !grow()))
		return false;
	slot = slot_of(mapping->address);
	used += !slot->address;
	*slot = *mapping;
	return true;
}

bool ts_mapping_take(uint64_t address, struct ts_mapping *mapping)
{
	size_t gap, next;

	if (!room || !address || !slot_of(address)->address)
		return false;
	gap = next = (size_t)(slot_of(address) - table);
	*mapping = table[gap];
	for (;;) {
		next = (next + 1) & (room - 1);
		if (!table[next].address)
			break;
		/* Its search begins behind the gap: it stays. */
		if (((next - home_of(table[next].address)) & (room - 1)) <
		    ((next - gap) & (room - 1)))
			continue;
		table[gap] = table[next];
		gap = next;
	}
	table[gap].address = 0;
	used--;
	return true;
}

void ts_mapping_child(void)
{
	table = NULL;
	room = used = 0;
}
