/* What memory there is: one record an allocation, found by any address inside it. */
#include "sim.h"
#include <search.h>
#include <stdlib.h>

static void *tree;
static unsigned long long next_id = 1;

static int by_range(const void *a, const void *b)
{
	const struct alloc *x = a, *y = b;
	if (x->address + x->size <= y->address)
		return -1;
	return x->address >= y->address + y->size;
}

struct alloc *sim_memory_find_range(uintptr_t address, size_t size)
{
	const struct alloc key = {.address = address, .size = size ? size : 1};
	struct alloc **found = tfind(&key, &tree, by_range);
	return found ? *found : NULL;
}

struct alloc *sim_memory_find(uintptr_t address)
{
	return address ? sim_memory_find_range(address, 1) : NULL;
}

struct alloc *sim_memory_name(uintptr_t address, size_t size, enum sim_memory kind, int device,
			      struct context *owner)
{
	struct alloc *alloc = calloc(1, sizeof *alloc);
	if (!alloc)
		return NULL;
	alloc->obj.type = OBJ_ALLOC;
	alloc->address = address;
	alloc->size = size;
	alloc->kind = kind;
	alloc->device = device;
	alloc->advice.preferred = alloc->advice.prefetched = CU_DEVICE_INVALID;
	alloc->id = next_id++;
	struct alloc **found = tsearch(alloc, &tree, by_range);
	if (!found || *found != alloc) {
		free(alloc);
		return NULL;
	}
	if (owner)
		sim_object_own(&alloc->obj, owner);
	return alloc;
}

bool sim_charge(int device, size_t size)
{
	if (size > sim_config.memory - sim_devices[device].used)
		return false;
	sim_devices[device].used += size;
	return true;
}

/* Host and managed memory is not the device's. */
static bool charged(enum sim_memory kind)
{
	return kind == MEM_DEVICE || kind == MEM_GLOBAL;
}

CUresult sim_memory_new(size_t size, enum sim_memory kind, int device, struct context *owner,
			struct alloc **out)
{
	if (size > (size_t)1 << 46)
		return CUDA_ERROR_OUT_OF_MEMORY;
	size_t rounded = (size + 511) / 512 * 512, capacity;
	if (charged(kind) && !sim_charge(device, rounded))
		return CUDA_ERROR_OUT_OF_MEMORY;
	uintptr_t address = sim_arena_take(size, &capacity);
	struct alloc *alloc = address ? sim_memory_name(address, size, kind, device, owner) : NULL;
	if (!alloc) {
		if (address)
			sim_arena_give(address, capacity, false);
		if (charged(kind))
			sim_devices[device].used -= rounded;
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	alloc->charged = charged(kind) ? rounded : 0;
	alloc->arena = true;
	alloc->extra = (void *)capacity;
	*out = alloc;
	return CUDA_SUCCESS;
}

/* The record dies before the address can be handed out again. */
void sim_memory_drop(struct alloc *alloc, bool handshake)
{
	tdelete(alloc, &tree, by_range);
	sim_object_disown(&alloc->obj);
	sim_devices[alloc->device].used -= alloc->charged;
	uintptr_t address = alloc->address;
	size_t capacity = (size_t)alloc->extra;
	bool arena = alloc->arena;
	free(alloc);
	if (arena)
		sim_arena_give(address, capacity, handshake);
}

uint8_t sim_memory_kind(const struct alloc *alloc)
{
	if (!alloc)
		return 1; /* pageable */
	switch (alloc->kind) {
	case MEM_HOST:
	case MEM_REGISTERED:
		return 2;
	case MEM_MANAGED:
		return 5;
	case MEM_GLOBAL:
		return 6;
	default:
		return 3;
	}
}

void sim_report_memory(const struct alloc *alloc, int op, struct stream *stream)
{
	struct sim_activity work;
	if (!sim_observed())
		return;
	sim_fill_activity(&work, SIM_MEMORY, stream);
	work.memory_op = (uint8_t)op;
	work.memory_kind = sim_memory_kind(alloc);
	work.address = alloc->address;
	work.bytes = alloc->size;
	work.is_async = stream != NULL;
	work.device_id = (uint32_t)alloc->device;
	if (alloc->pool) {
		work.pool = (uint64_t)(uintptr_t)alloc->pool;
		work.pool_size = alloc->pool->reserved;
		work.pool_used = alloc->pool->used;
		work.pool_threshold = alloc->pool->threshold;
	}
	work.start_ns = work.end_ns = sim_now();
	sim_report(&work);
}
