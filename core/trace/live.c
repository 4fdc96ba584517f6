#include "core/trace/live.h"

#include <stdlib.h>
#include <string.h>

/* Nearby lines may be out of order: a free may be written after what another thread did later.  So
 * many changes wait, and count by time.  Nearly all come in order: they wait in a ring, which costs
 * no sorting, and only the others in a heap. */
#define WINDOW (1u << 17)

/* A storage of which an allocation or, in another thread's earlier line, only the free was seen. */
struct ts_live_entry {
	struct ts_live_entry *next;
	uint32_t hash, stack, kind, device;
	uint64_t bytes, time;
	bool is_alloc;
	uint32_t key_size;
	char key[];
};

struct ts_live_change {
	uint64_t time, sequence, bytes;
	uint32_t stack, kind, device;
	bool is_alloc;
};

static void grow_buckets(struct ts_live *live)
{
	size_t count = live->bucket_count ? live->bucket_count * 2 : 1024;
	struct ts_live_entry **buckets = ts_grow(NULL, count * sizeof(*buckets)), *entry, *next;

	memset(buckets, 0, count * sizeof(*buckets));
	for (size_t i = 0; i < live->bucket_count; i++)
		for (entry = live->buckets[i]; entry; entry = next) {
			next = entry->next;
			entry->next = buckets[entry->hash & (count - 1)];
			buckets[entry->hash & (count - 1)] = entry;
		}
	free(live->buckets);
	live->buckets = buckets;
	live->bucket_count = count;
}

/* Where the pointer to the entry is, or to where it would be put. */
static struct ts_live_entry **find(struct ts_live *live, const char *key, size_t size,
				   uint32_t hash)
{
	struct ts_live_entry **at = &live->buckets[hash & (live->bucket_count - 1)];

	while (*at &&
	       ((*at)->hash != hash || (*at)->key_size != size || memcmp((*at)->key, key, size)))
		at = &(*at)->next;
	return at;
}

/* The entry of that number in an array that grows, zeroed, as far as it is used. */
static struct ts_live_share *share_of(struct ts_live_share **shares, size_t *room, uint32_t number)
{
	if (number >= *room) {
		size_t count = *room ? *room : 16;

		while (count <= number)
			count *= 2;
		*shares = ts_grow(*shares, count * sizeof(**shares));
		memset(*shares + *room, 0, (count - *room) * sizeof(**shares));
		*room = count;
	}
	return &(*shares)[number];
}

static bool change_group(struct ts_live_group *group, const struct ts_live_change *change)
{
	if (!change->is_alloc) {
		group->frees++;
		group->live_count--;
		group->live_bytes -= change->bytes;
		return false;
	}
	group->allocations++;
	group->allocated_bytes += change->bytes;
	group->live_count++;
	group->live_bytes += change->bytes;
	if (group->live_bytes <= group->peak_bytes)
		return false;
	group->peak_bytes = group->live_bytes;
	group->peak_ns = change->time;
	return true;
}

/* A share of the peak is noted when the share changes for the first time after the peak: no copy of
 * all shares at every new peak. */
static void note_peak(const struct ts_live_scope *scope, struct ts_live_share *share)
{
	if (share->epoch == scope->epoch)
		return;
	share->epoch = scope->epoch;
	share->peak_bytes = share->live_bytes;
	share->peak_count = share->live_count;
}

static void change_share(const struct ts_live_scope *scope, struct ts_live_share *share,
			 const struct ts_live_change *change)
{
	note_peak(scope, share);
	share->live_bytes += change->is_alloc ? change->bytes : -change->bytes;
	share->live_count += change->is_alloc ? 1 : (uint64_t)-1;
}

static void change_scope(struct ts_live_scope *scope, const struct ts_live_change *change)
{
	change_share(scope,
		     change->stack == TS_MAP_NONE
			 ? &scope->no_stack
			 : share_of(&scope->by_stack, &scope->stack_count, change->stack),
		     change);
	change_share(scope, share_of(&scope->by_kind, &scope->kind_count, change->kind), change);
	if (change_group(&scope->sum, change))
		scope->epoch++;
}

static void apply(struct ts_live *live, const struct ts_live_change *change)
{
	if (change->time < live->last_ns)
		live->disordered++;
	else
		live->last_ns = change->time;
	change_scope(&live->all, change);
	change_scope(&live->by_device[change->device], change);
	change_group(&live->by_kind[change->kind], change);
}

static bool is_before(const struct ts_live_change *a, const struct ts_live_change *b)
{
	return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
}

static struct ts_live_change pop_heap(struct ts_live *live)
{
	struct ts_live_change first = live->heap[0], last = live->heap[--live->heap_count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < live->heap_count) {
		if (child + 1 < live->heap_count &&
		    is_before(&live->heap[child + 1], &live->heap[child]))
			child++;
		if (!is_before(&live->heap[child], &last))
			break;
		live->heap[at] = live->heap[child];
		at = child;
	}
	live->heap[at] = last;
	return first;
}

/* Counts the earliest change that waits. */
static void pop(struct ts_live *live)
{
	struct ts_live_change change;

	if (live->run_count &&
	    (!live->heap_count || is_before(&live->run[live->run_first], &live->heap[0]))) {
		apply(live, &live->run[live->run_first]);
		live->run_first = (live->run_first + 1) % WINDOW;
		live->run_count--;
		return;
	}
	change = pop_heap(live);
	apply(live, &change);
}

static void push_heap(struct ts_live *live, const struct ts_live_change *change)
{
	size_t at;

	if (!live->heap)
		live->heap = ts_grow(NULL, WINDOW * sizeof(*live->heap));
	for (at = live->heap_count++; at && is_before(change, &live->heap[(at - 1) / 2]);
	     at = (at - 1) / 2)
		live->heap[at] = live->heap[(at - 1) / 2];
	live->heap[at] = *change;
}

static void push(struct ts_live *live, struct ts_live_change change)
{
	size_t end;

	if (!live->run)
		live->run = ts_grow(NULL, WINDOW * sizeof(*live->run));
	if (live->run_count + live->heap_count == WINDOW)
		pop(live);
	change.sequence = live->sequence++;
	end = (live->run_first + live->run_count) % WINDOW;
	if (live->run_count && is_before(&change, &live->run[(end + WINDOW - 1) % WINDOW])) {
		push_heap(live, &change);
		return;
	}
	live->run[end] = change;
	live->run_count++;
}

static uint32_t kind_number(struct ts_live *live, struct ts_str name)
{
	size_t before = live->kinds.count;
	uint32_t number = ts_map_add(&live->kinds, name);

	if (number == before) {
		live->by_kind = ts_array_room(live->by_kind, before, &live->kind_capacity,
					      sizeof(*live->by_kind));
		live->by_kind[number] = (struct ts_live_group){0};
	}
	return number;
}

static uint32_t device_number(struct ts_live *live, struct ts_str name)
{
	size_t before = live->devices.count;
	uint32_t number = ts_map_add(&live->devices, name);

	if (number == before) {
		live->by_device = ts_array_room(live->by_device, before, &live->device_capacity,
						sizeof(*live->by_device));
		live->by_device[number] = (struct ts_live_scope){0};
	}
	return number;
}

static void count_flags(struct ts_live *live, const struct ts_ev_memory *memory)
{
	live->inferred_frees += memory->inferred;
	live->restored += memory->restored;
	if (memory->reset) {
		live->reset_count++;
		live->reset_bytes += memory->bytes;
	}
}

static void push_change(struct ts_live *live, const struct ts_live_entry *alloc, uint64_t time,
			bool is_alloc)
{
	push(live, (struct ts_live_change){
		       .time = time,
		       .bytes = alloc->bytes,
		       .stack = alloc->stack,
		       .kind = alloc->kind,
		       .device = alloc->device,
		       .is_alloc = is_alloc,
		   });
}

/* The event as an entry, which is good until the next event. */
static struct ts_live_entry *entry_of(struct ts_live *live, const struct ts_ev_memory *memory,
				      uint32_t stack)
{
	size_t size = memory->device.size + 1 + memory->storage_id.size;
	struct ts_str kind = memory->memory_kind;
	struct ts_live_entry *entry;

	if (!kind.size)
		kind = (struct ts_str){"unknown", 7};
	if (live->spare_room < size) {
		live->spare = ts_grow(live->spare, sizeof(*live->spare) + 2 * size);
		live->spare_room = 2 * size;
	}
	entry = live->spare;
	*entry = (struct ts_live_entry){
	    .stack = stack,
	    .bytes = memory->bytes,
	    .time = memory->timestamp_ns,
	    .is_alloc = memory->action == TS_ACTION_ALLOC,
	    .key_size = (uint32_t)size,
	    .kind = kind_number(live, kind),
	    .device = device_number(live, memory->device),
	};
	memcpy(entry->key, memory->device.at, memory->device.size);
	entry->key[memory->device.size] = '\0';
	memcpy(entry->key + memory->device.size + 1, memory->storage_id.at,
	       memory->storage_id.size);
	entry->hash = ts_map_hash((struct ts_str){entry->key, size});
	return entry;
}

void ts_live_add(struct ts_live *live, const struct ts_event *event, uint32_t stack)
{
	const struct ts_live_entry *entry = entry_of(live, &event->memory, stack);
	struct ts_live_entry *other, **at;
	size_t size = sizeof(*entry) + entry->key_size;

	count_flags(live, &event->memory);
	if (live->entry_count >= live->bucket_count)
		grow_buckets(live);
	at = find(live, entry->key, entry->key_size, entry->hash);
	if (*at && (*at)->is_alloc == entry->is_alloc)
		return; /* one more name of a live storage, or a second free: no bytes come or go */
	if (!*at) {
		*at = memcpy(ts_grow(NULL, size), entry, size);
		live->entry_count++;
		if (entry->is_alloc)
			push_change(live, entry, entry->time, true);
		return;
	}
	/* The pair is complete: what the allocation says counts for both.  A free that stands
	 * before its allocation has waited until now. */
	other = *at;
	*at = other->next;
	live->entry_count--;
	if (entry->is_alloc)
		push_change(live, entry, entry->time, true);
	push_change(live, entry->is_alloc ? entry : other,
		    entry->is_alloc ? other->time : entry->time, false);
	free(other);
}

static void finish_scope(struct ts_live_scope *scope)
{
	for (size_t i = 0; i < scope->stack_count; i++)
		note_peak(scope, &scope->by_stack[i]);
	for (size_t i = 0; i < scope->kind_count; i++)
		note_peak(scope, &scope->by_kind[i]);
	note_peak(scope, &scope->no_stack);
}

static void free_scope(struct ts_live_scope *scope)
{
	free(scope->by_stack);
	free(scope->by_kind);
}

void ts_live_finish(struct ts_live *live)
{
	while (live->run_count + live->heap_count)
		pop(live);
	finish_scope(&live->all);
	for (size_t i = 0; i < live->devices.count; i++)
		finish_scope(&live->by_device[i]);
	for (size_t i = 0; i < live->bucket_count; i++)
		for (const struct ts_live_entry *entry = live->buckets[i]; entry;
		     entry = entry->next)
			live->unpaired_frees += !entry->is_alloc;
}

void ts_live_free(struct ts_live *live)
{
	for (size_t i = 0; i < live->bucket_count; i++)
		while (live->buckets[i]) {
			struct ts_live_entry *next = live->buckets[i]->next;

			free(live->buckets[i]);
			live->buckets[i] = next;
		}
	free(live->buckets);
	free(live->heap);
	free(live->run);
	free(live->spare);
	free_scope(&live->all);
	for (size_t i = 0; i < live->devices.count; i++)
		free_scope(&live->by_device[i]);
	free(live->by_kind);
	free(live->by_device);
	ts_map_free(&live->kinds);
	ts_map_free(&live->devices);
}
