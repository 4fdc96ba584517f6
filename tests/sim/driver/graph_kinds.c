/* Kinds of nodes that have parameters: how they are checked and kept.  The functions of the API
 * that read and change them (graph_nodes.c) are the same for all. */
#include "graph.h"
#include <stdlib.h>
#include <string.h>

static CUresult set_kernel(struct node *node, const void *params)
{
	const CUDA_KERNEL_NODE_PARAMS *p = params;
	const struct sim_launch l = {
	    .function = p->func ? p->func : (CUfunction)p->kern,
	    .shared = p->sharedMemBytes,
	    .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
	    .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
	};
	CUresult error = sim_launch_check(&l);
	if (!error)
		node->kernel = *p;
	return error;
}

/* The layout of CUDA 10 is the first part of today's. */
_Static_assert(offsetof(CUDA_KERNEL_NODE_PARAMS, kern) >= sizeof(CUDA_KERNEL_NODE_PARAMS_v1),
	       "a kernel node's old parameters are no prefix of the new ones");

static CUresult set_kernel_v1(struct node *node, const void *params)
{
	CUDA_KERNEL_NODE_PARAMS p = {0};
	memcpy(&p, params, sizeof(CUDA_KERNEL_NODE_PARAMS_v1));
	return set_kernel(node, &p);
}

static CUresult set_memcpy(struct node *node, const void *params)
{
	const CUDA_MEMCPY3D *p = params;
	struct sim_copy copy;
	CUresult error = sim_copy_3d(&copy, p);
	if (error)
		return error;
	node->copy = copy;
	node->copy_params = *p;
	return CUDA_SUCCESS;
}

static CUresult set_memset(struct node *node, const void *params)
{
	const CUDA_MEMSET_NODE_PARAMS *p = params;
	struct sim_set what;
	if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = sim_copy_check_set(&what, p->dst, p->pitch, p->value, p->elementSize,
					    p->width, p->height);
	if (error)
		return error;
	node->set = what;
	node->set_params = *p;
	return CUDA_SUCCESS;
}

static CUresult set_host(struct node *node, const void *params)
{
	const CUDA_HOST_NODE_PARAMS *p = params;
	if (!p->fn)
		return CUDA_ERROR_INVALID_VALUE;
	node->host = *p;
	return CUDA_SUCCESS;
}

static CUresult set_event(struct node *node, const void *params)
{
	CUevent event = *(const CUevent *)params;
	if (!sim_event_get(event))
		return CUDA_ERROR_INVALID_HANDLE;
	node->event = event;
	return CUDA_SUCCESS;
}

/* `a` and `b` are pointers of the node's parameters: what they point to is copied. */
static CUresult own(struct node *node, void *a, size_t asize, void *b, size_t bsize)
{
	void **first = a, **second = b;
	char *block = malloc(asize + bsize + 1);
	SIM_ALLOC_CHECK(block);
	if (asize)
		memcpy(block, *first, asize);
	if (bsize)
		memcpy(block + asize, *second, bsize);
	*first = block;
	if (second)
		*second = block + asize;
	free(node->arrays);
	node->arrays = block;
	return CUDA_SUCCESS;
}

CUresult sim_node_own(struct node *node)
{
	CUDA_BATCH_MEM_OP_NODE_PARAMS *b = &node->batch;
	CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *s = &node->signal;
	CUDA_EXT_SEM_WAIT_NODE_PARAMS *w = &node->wait;
	switch ((int)node->type) {
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return own(node, &b->paramArray, b->count * sizeof *b->paramArray, NULL, 0);
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
		return own(node, &s->extSemArray, s->numExtSems * sizeof *s->extSemArray,
			   &s->paramsArray, s->numExtSems * sizeof *s->paramsArray);
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
		return own(node, &w->extSemArray, w->numExtSems * sizeof *w->extSemArray,
			   &w->paramsArray, w->numExtSems * sizeof *w->paramsArray);
	default:
		return CUDA_SUCCESS;
	}
}

static CUresult set_batch(struct node *node, const void *params)
{
	const CUDA_BATCH_MEM_OP_NODE_PARAMS old = node->batch, *p = params;
	if (!p->count || p->count > 256 || !p->paramArray || p->flags)
		return CUDA_ERROR_INVALID_VALUE;
	node->batch = *p;
	CUresult error = sim_node_own(node);
	if (error)
		node->batch = old;
	return error;
}

static bool semaphores(const CUexternalSemaphore *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!sim_object_get(list[i], OBJ_EXTSEM))
			return false;
	return true;
}

#define SET_SEMAPHORES(member, type)                                                               \
	static CUresult set_##member(struct node *node, const void *params)                        \
	{                                                                                          \
		const type old = node->member, *p = params;                                        \
		if (!p->numExtSems || !p->extSemArray || !p->paramsArray)                          \
			return CUDA_ERROR_INVALID_VALUE;                                           \
		if (!semaphores(p->extSemArray, p->numExtSems))                                    \
			return CUDA_ERROR_INVALID_HANDLE;                                          \
		node->member = *p;                                                                 \
		CUresult error = sim_node_own(node);                                               \
		if (error)                                                                         \
			node->member = old;                                                        \
		return error;                                                                      \
	}
SET_SEMAPHORES(signal, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS)
SET_SEMAPHORES(wait, CUDA_EXT_SEM_WAIT_NODE_PARAMS)

#define KIND(name, node_type, member, set)                                                         \
	const struct kind sim_kind_##name = {CU_GRAPH_NODE_TYPE_##node_type,                       \
					     offsetof(struct node, member),                        \
					     sizeof(((struct node *)0)->member), set}
KIND(kernel, KERNEL, kernel, set_kernel);
KIND(memcpy, MEMCPY, copy_params, set_memcpy);
KIND(memset, MEMSET, set_params, set_memset);
KIND(host, HOST, host, set_host);
KIND(record, EVENT_RECORD, event, set_event);
KIND(wait, WAIT_EVENT, event, set_event);
KIND(batch, BATCH_MEM_OP, batch, set_batch);
KIND(sem_signal, EXT_SEMAS_SIGNAL, signal, set_signal);
KIND(sem_wait, EXT_SEMAS_WAIT, wait, set_wait);
const struct kind sim_kind_kernel_v1 = {CU_GRAPH_NODE_TYPE_KERNEL, offsetof(struct node, kernel),
					sizeof(CUDA_KERNEL_NODE_PARAMS_v1), set_kernel_v1};

CUresult sim_plain_add(CUgraphNodeType type, CUgraph hGraph, const CUgraphNode *deps, size_t ndeps,
		       struct node **made)
{
	struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	if (!graph || (ndeps && !deps))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < ndeps; i++) {
		const struct node *dep = sim_object_get(deps[i], OBJ_NODE);
		if (!dep || dep->graph != graph)
			return CUDA_ERROR_INVALID_VALUE;
	}
	*made = sim_node_add(graph, type, (struct node *const *)deps, ndeps);
	SIM_ALLOC_CHECK(*made);
	return CUDA_SUCCESS;
}

CUresult sim_kind_add(const struct kind *kind, CUgraphNode *out, CUgraph graph,
		      const CUgraphNode *deps, size_t ndeps, const void *params)
{
	struct node *node;
	if (!out || !params)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = sim_plain_add(kind->type, graph, deps, ndeps, &node);
	if (error)
		return error;
	error = kind->set(node, params);
	if (error)
		sim_node_destroy(node);
	else
		*out = (CUgraphNode)node;
	return error;
}

CUresult sim_kind_get(const struct kind *kind, CUgraphNode handle, void *params)
{
	const struct node *node = sim_object_get(handle, OBJ_NODE);
	if (!node || node->type != kind->type || !params)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(params, (const char *)node + kind->offset, kind->size);
	return CUDA_SUCCESS;
}

CUresult sim_kind_set(const struct kind *kind, struct node *node, const void *params)
{
	return node && node->type == kind->type && params ? kind->set(node, params)
							  : CUDA_ERROR_INVALID_VALUE;
}
