/* Allocations and frees must pair, storage by storage, in the order of time. */
#include "core/trace/evidence.h"

#include <stdlib.h>
#include <string.h>

/* One tensor on a live storage; a storage has a chain of them. */
struct alias {
	uint32_t tensor;
	uint32_t next;
};

struct storage {
	uint64_t bytes;
	uint32_t aliases;
	bool is_live;
};

struct pairing {
	struct ts_evidence *evidence;
	struct storage *storages;
	struct alias *aliases;
	size_t alias_capacity;
	uint32_t alias_count, free_aliases; /* chain of unused entries */
};

/* By time; file order among equal times. */
static int compare(const void *a, const void *b)
{
	const struct ts_memory_record *x = a, *y = b;

	if (x->timestamp != y->timestamp)
		return x->timestamp < y->timestamp ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static bool has_alias(const struct pairing *pairing, const struct storage *storage, uint32_t tensor)
{
	for (uint32_t i = storage->aliases; i != TS_MAP_NONE; i = pairing->aliases[i].next)
		if (pairing->aliases[i].tensor == tensor)
			return true;
	return false;
}

static void add_alias(struct pairing *pairing, struct storage *storage, uint32_t tensor)
{
	uint32_t index = pairing->free_aliases;

	if (index == TS_MAP_NONE) {
		index = pairing->alias_count++;
		pairing->aliases = ts_array_room(pairing->aliases, index, &pairing->alias_capacity,
						 sizeof(*pairing->aliases));
	} else {
		pairing->free_aliases = pairing->aliases[index].next;
	}
	pairing->aliases[index] = (struct alias){tensor, storage->aliases};
	storage->aliases = index;
}

static void drop_aliases(struct pairing *pairing, struct storage *storage)
{
	while (storage->aliases != TS_MAP_NONE) {
		uint32_t index = storage->aliases;

		storage->aliases = pairing->aliases[index].next;
		pairing->aliases[index].next = pairing->free_aliases;
		pairing->free_aliases = index;
	}
}

static void apply(struct pairing *pairing, const struct ts_memory_record *record)
{
	struct storage *storage = &pairing->storages[record->storage];
	struct ts_evidence *evidence = pairing->evidence;

	if (!storage->is_live) {
		if (!record->is_alloc) {
			ts_issue_add(evidence, record->line, true, "unpaired_free",
				     "the storage is not live");
			return;
		}
		*storage = (struct storage){
		    .bytes = record->bytes, .aliases = TS_MAP_NONE, .is_live = true};
	}
	if (record->bytes != storage->bytes)
		ts_issue_add(evidence, record->line, true, "allocation_size_mismatch",
			     "%llu bytes, the storage has %llu", (unsigned long long)record->bytes,
			     (unsigned long long)storage->bytes);
	else if (record->is_alloc && has_alias(pairing, storage, record->tensor))
		ts_issue_add(evidence, record->line, true, "duplicate_allocation",
			     "the tensor already lives on this storage");
	if (record->is_alloc) {
		if (!has_alias(pairing, storage, record->tensor))
			add_alias(pairing, storage, record->tensor);
	} else {
		drop_aliases(pairing, storage);
		storage->is_live = false;
	}
}

void ts_health_memory(struct ts_evidence *evidence)
{
	size_t count = evidence->storages.count, live = 0;
	struct pairing pairing = {.evidence = evidence, .free_aliases = TS_MAP_NONE};

	if (!evidence->memory_count)
		return;
	pairing.storages = ts_grow(NULL, count * sizeof(*pairing.storages));
	memset(pairing.storages, 0, count * sizeof(*pairing.storages));
	qsort(evidence->memory, evidence->memory_count, sizeof(*evidence->memory), compare);
	for (size_t i = 0; i < evidence->memory_count; i++)
		apply(&pairing, &evidence->memory[i]);
	for (size_t i = 0; i < count; i++)
		live += pairing.storages[i].is_live;
	if (live)
		ts_issue_add(evidence, 0, false, "retained_allocations",
			     "%zu storages live at the end", live);
	free(pairing.storages);
	free(pairing.aliases);
}
