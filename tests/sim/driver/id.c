/* Ids for the stand-in CUPTI: under which number activities name what a handle stands for. */
#include "graph.h"

static int find(enum sim_handle what, const void *handle, uint64_t *id)
{
	CUresult error;
	struct context *context;
	struct stream *stream;
	struct graph *graph;
	struct exec *exec;
	struct node *node;

	switch (what) {
	case SIM_ID_CONTEXT:
		context = sim_object_get(handle, OBJ_CONTEXT);
		return context ? *id = context->id, 0 : -1;
	case SIM_ID_STREAM:
		stream = sim_stream_get((CUstream)(uintptr_t)handle, &error);
		return stream ? *id = stream->id, 0 : -1;
	case SIM_ID_GRAPH:
		graph = sim_object_get(handle, OBJ_GRAPH);
		return graph ? *id = graph->id, 0 : -1;
	case SIM_ID_GRAPH_EXEC:
		exec = sim_object_get(handle, OBJ_EXEC);
		return exec ? *id = exec->graph->id, 0 : -1;
	case SIM_ID_GRAPH_NODE:
		node = sim_object_get(handle, OBJ_NODE);
		return node ? *id = node->id, 0 : -1;
	}
	return -1;
}

EXPORT int tstrace_sim_id(enum sim_handle what, const void *handle, uint64_t *id)
{
	int result;

	sim_lock();
	result = find(what, handle, id);
	sim_unlock();
	return result;
}
