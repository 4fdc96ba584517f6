/* Executable graphs: a private copy of the graph, launched node by node on a stream. */
#include "graph.h"
#include <stdlib.h>

struct exec *sim_exec_get(CUgraphExec handle)
{
	return sim_object_get(handle, OBJ_EXEC);
}

/* The copy of a node of the user's graph, also inside child graphs. */
static struct node *find_copy(struct graph *graph, const struct node *original)
{
	for (struct node *n = graph->nodes; n; n = n->next) {
		if (n->original == original)
			return n;
		for (unsigned i = 0; i < n->ninner; i++) {
			struct node *inner = find_copy(n->inner[i], original);
			if (inner)
				return inner;
		}
	}
	return NULL;
}

struct node *sim_exec_node(struct exec *exec, CUgraphNode hNode)
{
	const struct node *node = sim_object_get(hNode, OBJ_NODE);
	return node && exec ? find_copy(exec->graph, node) : NULL;
}

void sim_exec_destroy(void *p)
{
	struct exec *exec = p;
	sim_graph_destroy(exec->graph);
	free(exec->order);
	sim_object_drop(exec);
}

static CUresult instantiate(CUgraphExec *out, CUgraph hGraph, unsigned long long flags)
{
	struct graph *from = sim_object_get(hGraph, OBJ_GRAPH);
	const unsigned long long known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
					 CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
					 CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
	if (!out || !from)
		return CUDA_ERROR_INVALID_VALUE;
	if (flags & ~known)
		return flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH ? CUDA_ERROR_NOT_SUPPORTED
									 : CUDA_ERROR_INVALID_VALUE;
	struct exec *exec = sim_object_new(OBJ_EXEC, sizeof *exec, NULL);
	SIM_ALLOC_CHECK(exec);
	exec->flags = flags;
	exec->graph = sim_graph_clone(from);
	if (!exec->graph || sim_order(exec->graph, &exec->order)) {
		bool cycle = exec->graph != NULL;
		if (exec->graph)
			sim_graph_destroy(exec->graph);
		sim_object_drop(exec);
		return cycle ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
	}
	exec->graph->owned = true;
	*out = (CUgraphExec)exec;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
					 unsigned long long flags)
{
	return instantiate(phGraphExec, hGraph, flags);
}

CUresult sim_cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph,
				   CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
	(void)phErrorNode, (void)logBuffer, (void)bufferSize;
	return instantiate(phGraphExec, hGraph, 0);
}

CUresult sim_cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
				char *logBuffer, size_t bufferSize)
{
	return sim_cuGraphInstantiate_v2(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult sim_cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
					  CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
	if (!instantiateParams)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = instantiate(phGraphExec, hGraph, instantiateParams->flags);
	instantiateParams->result_out =
	    error ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
	return error;
}

CUresult sim_cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
	struct exec *exec = sim_exec_get(hGraphExec);
	if (!exec || !flags)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = exec->flags;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphExecDestroy(CUgraphExec hGraphExec)
{
	struct exec *exec = sim_exec_get(hGraphExec);
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	sim_exec_destroy(exec);
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
	CUresult error;
	if (!sim_exec_get(hGraph))
		return CUDA_ERROR_INVALID_VALUE;
	return sim_stream_get(hStream, &error) ? CUDA_SUCCESS : error;
}

static CUresult launch_host(struct stream *stream, struct node *node)
{
	struct op *op = sim_op_new(0);
	SIM_ALLOC_CHECK(op);
	op->host = node->host.fn;
	op->host_data = node->host.userData;
	sim_fill_activity(&op->work, SIM_HOST_NODE, stream);
	op->work.graph_id = node->graph->id;
	op->work.graph_node_id = node->id;
	op->report = true;
	sim_submit(stream, op);
	return CUDA_SUCCESS;
}

static CUresult launch_kernel(struct stream *stream, struct node *node)
{
	const CUDA_KERNEL_NODE_PARAMS *k = &node->kernel;
	const struct sim_launch l = {
	    .function = k->func ? k->func : (CUfunction)k->kern,
	    .shared = k->sharedMemBytes,
	    .grid = {k->gridDimX, k->gridDimY, k->gridDimZ},
	    .block = {k->blockDimX, k->blockDimY, k->blockDimZ},
	};
	return sim_launch_submit(stream, &l, node);
}

static CUresult launch_event(struct stream *stream, struct node *node)
{
	struct event *event = sim_event_get(node->event);
	struct op *op = event ? sim_op_new(0) : NULL;
	if (!op)
		return CUDA_ERROR_INVALID_HANDLE;
	if (node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
		sim_mark_drop(event->mark);
		event->mark = sim_op_mark(op);
	} else if (event->mark) {
		sim_op_wait(op, event->mark);
	}
	sim_submit(stream, op);
	return CUDA_SUCCESS;
}

static CUresult launch_graph(struct stream *stream, struct graph *graph, struct node *const *order,
			     bool auto_free);

static CUresult launch_inner(struct stream *stream, struct graph *graph, bool auto_free)
{
	struct node **order;
	if (!graph)
		return CUDA_SUCCESS;
	if (sim_order(graph, &order))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = launch_graph(stream, graph, order, auto_free);
	free(order);
	return error;
}

static CUresult launch_node(struct stream *stream, struct node *node, bool auto_free)
{
	if (node->disabled)
		return CUDA_SUCCESS;
	switch ((int)node->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return launch_kernel(stream, node);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return sim_copy_submit(stream, &node->copy, true, node);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return sim_set_submit(stream, &node->set, true, node);
	case CU_GRAPH_NODE_TYPE_HOST:
		return launch_host(stream, node);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return launch_inner(stream, node->inner[0], auto_free);
	case SIM_NODE_CONDITIONAL:
		return launch_inner(stream, sim_conditional_body(node), auto_free);
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
		return sim_semaphores_submit(stream, node);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return launch_event(stream, node);
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return sim_graph_memory_launch(node, stream, auto_free);
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return sim_cuMemFreeAsync(node->dptr, (CUstream)stream);
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return sim_cuStreamBatchMemOp_v2((CUstream)stream, node->batch.count,
						 node->batch.paramArray, node->batch.flags);
	default:
		return CUDA_SUCCESS;
	}
}

static CUresult launch_graph(struct stream *stream, struct graph *graph, struct node *const *order,
			     bool auto_free)
{
	for (size_t i = 0; i < graph->nnodes; i++) {
		CUresult error = launch_node(stream, order[i], auto_free);
		if (error)
			return error;
	}
	return CUDA_SUCCESS;
}

/* The graph's own record needs the time of its first operation: taken from a mark before it. */
static void end_graph(struct op *op)
{
	struct mark *begin = op->data;
	op->work.start_ns = begin->time;
	op->work.end_ns = op->end;
	sim_report(&op->work);
}

static void drop_begin(struct op *op)
{
	sim_mark_drop(op->data);
}

static CUresult submit_graph(struct exec *exec, struct stream *stream)
{
	struct op *first = sim_op_new(0), *last = sim_op_new(0);
	struct mark *begin = first ? sim_op_mark(first) : NULL;
	if (!begin || !last) {
		free(first);
		free(last);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	sim_submit(stream, first);
	bool auto_free = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
	CUresult error = launch_graph(stream, exec->graph, exec->order, auto_free);
	sim_fill_activity(&last->work, SIM_GRAPH, stream);
	last->work.graph_id = exec->graph->id;
	last->run = end_graph;
	last->drop = drop_begin;
	last->data = begin;
	sim_submit(stream, last);
	return error;
}

CUresult sim_cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
	CUresult error;
	struct stream *stream = sim_stream_get(hStream, &error);
	struct exec *exec = sim_exec_get(hGraphExec);
	if (!stream)
		return error;
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	error = sim_capture_implicit(stream);
	if (error)
		return error;
	if (!sim_capturing(stream))
		return submit_graph(exec, stream);
	error = sim_capture_check(stream);
	struct node *node = error ? NULL : sim_capture_add(stream, CU_GRAPH_NODE_TYPE_GRAPH);
	if (!node)
		return error ? error : CUDA_ERROR_OUT_OF_MEMORY;
	return sim_node_embed(node, &exec->graph, 1) ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

/* --- update ------------------------------------------------------------------------------------
 */

static bool same_shape(struct graph *a, struct graph *b, struct node **culprit)
{
	struct node *x = a->nodes, *y = b->nodes;
	for (; x && y; x = x->next, y = y->next) {
		*culprit = y;
		if (x->type != y->type || x->ndeps != y->ndeps || x->ninner != y->ninner)
			return false;
		for (unsigned i = 0; i < x->ninner; i++)
			if (!same_shape(x->inner[i], y->inner[i], culprit))
				return false;
	}
	*culprit = y;
	return !x && !y;
}

static CUresult take_params(struct graph *to, const struct graph *from)
{
	struct node *x = to->nodes;
	CUresult error = CUDA_SUCCESS;
	for (const struct node *y = from->nodes; x && y && !error; x = x->next, y = y->next) {
		x->original = (struct node *)(uintptr_t)y;
		x->copy = y->copy;
		x->copy_params = y->copy_params;
		x->set = y->set;
		x->set_params = y->set_params;
		x->kernel = y->kernel;
		x->host = y->host;
		x->event = y->event;
		x->batch = y->batch;
		x->signal = y->signal;
		x->wait = y->wait;
		x->condition = y->condition;
		error = sim_node_own(x);
		if (!error)
			error = sim_node_attrs(x, y);
		for (unsigned i = 0; i < x->ninner && !error; i++)
			error = take_params(x->inner[i], y->inner[i]);
	}
	return error;
}

CUresult sim_cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
				  CUgraphExecUpdateResultInfo *resultInfo)
{
	struct exec *exec = sim_exec_get(hGraphExec);
	struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	struct node *culprit = NULL;
	if (!exec || !graph || !resultInfo)
		return CUDA_ERROR_INVALID_VALUE;
	*resultInfo = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
	if (!same_shape(exec->graph, graph, &culprit)) {
		resultInfo->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
		resultInfo->errorNode = (CUgraphNode)culprit;
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	}
	return take_params(exec->graph, graph);
}

CUresult sim_cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
			       CUgraphExecUpdateResult *updateResult_out)
{
	CUgraphExecUpdateResultInfo info;
	CUresult error = sim_cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);
	if (error == CUDA_ERROR_INVALID_VALUE)
		return error;
	if (hErrorNode_out)
		*hErrorNode_out = info.errorNode;
	if (updateResult_out)
		*updateResult_out = info.result;
	return error;
}
