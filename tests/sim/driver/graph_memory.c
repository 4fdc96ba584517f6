/* Memory nodes: the address is the node's for its life, the bytes are taken and given back by
 * launches. */
#include "graph.h"
#include <stdlib.h>

struct graph_memory {
	unsigned refs;
	bool live;
	struct alloc *alloc;
};

CUresult sim_graph_memory_new(struct node *node, size_t size, int device)
{
	struct graph_memory *m = calloc(1, sizeof *m);
	SIM_ALLOC_CHECK(m);
	CUresult error = sim_memory_new(size, MEM_GRAPH, device, NULL, &m->alloc);
	if (error) {
		free(m);
		return error;
	}
	m->refs = 1;
	m->alloc->pool = NULL;
	node->memory = m;
	node->dptr = m->alloc->address;
	node->alloc.bytesize = size;
	node->alloc.dptr = node->dptr;
	node->alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	node->alloc.poolProps.location =
	    (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
	return CUDA_SUCCESS;
}

void sim_graph_memory_ref(struct node *node)
{
	if (node->memory)
		node->memory->refs++;
}

static void give_back(struct alloc *alloc)
{
	sim_devices[alloc->device].used -= alloc->charged;
	sim_devices[alloc->device].graph_used -= alloc->charged;
	alloc->charged = 0;
}

void sim_graph_memory_drop(struct node *node)
{
	struct graph_memory *m = node->memory;
	if (!m || --m->refs)
		return;
	if (m->alloc->charged)
		give_back(m->alloc);
	sim_memory_drop(m->alloc, false);
	free(m);
}

bool sim_graph_free(struct alloc *alloc)
{
	if (!alloc->charged)
		return false;
	give_back(alloc);
	return true;
}

CUresult sim_graph_memory_launch(struct node *node, struct stream *stream, bool auto_free)
{
	struct alloc *alloc = node->memory->alloc;
	struct device *device = &sim_devices[alloc->device];
	size_t size = (alloc->size + 511) / 512 * 512;
	if (alloc->charged && !auto_free)
		return CUDA_ERROR_INVALID_VALUE;
	if (alloc->charged) {
		sim_report_memory(alloc, 2, stream);
		give_back(alloc);
	}
	if (!sim_charge(alloc->device, size))
		return CUDA_ERROR_OUT_OF_MEMORY;
	alloc->charged = size;
	device->graph_used += size;
	if (device->graph_used > device->graph_high)
		device->graph_high = device->graph_used;
	sim_report_memory(alloc, 1, stream);
	return CUDA_SUCCESS;
}
