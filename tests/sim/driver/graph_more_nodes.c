/* Empty, child and memory nodes; the general form that adds any kind. */
#include "graph.h"

CUresult sim_cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				 const CUgraphNode *dependencies, size_t numDependencies)
{
	struct node *node;
	if (!phGraphNode)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error =
	    sim_plain_add(CU_GRAPH_NODE_TYPE_EMPTY, hGraph, dependencies, numDependencies, &node);
	if (!error)
		*phGraphNode = (CUgraphNode)node;
	return error;
}

CUresult sim_cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				      const CUgraphNode *dependencies, size_t numDependencies,
				      CUgraph childGraph)
{
	struct graph *from = sim_object_get(childGraph, OBJ_GRAPH);
	struct node *node;
	if (!from || childGraph == hGraph || !phGraphNode)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error =
	    sim_plain_add(CU_GRAPH_NODE_TYPE_GRAPH, hGraph, dependencies, numDependencies, &node);
	if (error)
		return error;
	if (sim_node_embed(node, &from, 1)) {
		sim_node_destroy(node);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*phGraphNode = (CUgraphNode)node;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
	struct node *node = sim_object_get(hNode, OBJ_NODE);
	if (!node || node->type != CU_GRAPH_NODE_TYPE_GRAPH || !phGraph)
		return CUDA_ERROR_INVALID_VALUE;
	*phGraph = (CUgraph)node->inner[0];
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
						CUgraph childGraph)
{
	struct node *node = sim_exec_node(sim_exec_get(hGraphExec), hNode);
	struct graph *from = sim_object_get(childGraph, OBJ_GRAPH);
	if (!node || node->type != CU_GRAPH_NODE_TYPE_GRAPH || !from ||
	    from->nnodes != node->inner[0]->nnodes)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_node_embed(node, &from, 1) ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult sim_cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				    const CUgraphNode *dependencies, size_t numDependencies,
				    CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
	struct node *node;
	if (!phGraphNode || !nodeParams || !nodeParams->bytesize ||
	    nodeParams->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    sim_device_check(nodeParams->poolProps.location.id))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = sim_plain_add(CU_GRAPH_NODE_TYPE_MEM_ALLOC, hGraph, dependencies,
				       numDependencies, &node);
	if (error)
		return error;
	error = sim_graph_memory_new(node, nodeParams->bytesize, nodeParams->poolProps.location.id);
	if (error) {
		sim_node_destroy(node);
		return error;
	}
	nodeParams->dptr = node->dptr;
	*phGraphNode = (CUgraphNode)node;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out)
{
	struct node *node = sim_object_get(hNode, OBJ_NODE);
	if (!node || !node->memory || !params_out)
		return CUDA_ERROR_INVALID_VALUE;
	*params_out = node->alloc;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				   const CUgraphNode *dependencies, size_t numDependencies,
				   CUdeviceptr dptr)
{
	struct node *node;
	struct alloc *alloc = sim_memory_find(dptr);
	if (!phGraphNode || !alloc || alloc->address != dptr || alloc->kind != MEM_GRAPH)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = sim_plain_add(CU_GRAPH_NODE_TYPE_MEM_FREE, hGraph, dependencies,
				       numDependencies, &node);
	if (error)
		return error;
	node->dptr = dptr;
	*phGraphNode = (CUgraphNode)node;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out)
{
	struct node *node = sim_object_get(hNode, OBJ_NODE);
	if (!node || node->type != CU_GRAPH_NODE_TYPE_MEM_FREE || !dptr_out)
		return CUDA_ERROR_INVALID_VALUE;
	*dptr_out = node->dptr;
	return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12020
/* The parameters of the general form, in the layout that the kind's own functions have. */
union node_params {
	CUDA_KERNEL_NODE_PARAMS kernel;
	CUDA_MEMSET_NODE_PARAMS set;
	CUDA_HOST_NODE_PARAMS host;
	CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
	CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal;
	CUDA_EXT_SEM_WAIT_NODE_PARAMS wait;
};

static void kernel_of(const CUDA_KERNEL_NODE_PARAMS_v3 *p, CUDA_KERNEL_NODE_PARAMS *to)
{
	*to = (CUDA_KERNEL_NODE_PARAMS){
	    .func = p->func,
	    .gridDimX = p->gridDimX,
	    .gridDimY = p->gridDimY,
	    .gridDimZ = p->gridDimZ,
	    .blockDimX = p->blockDimX,
	    .blockDimY = p->blockDimY,
	    .blockDimZ = p->blockDimZ,
	    .sharedMemBytes = p->sharedMemBytes,
	    .kernelParams = p->kernelParams,
	    .extra = p->extra,
	    .kern = p->kern,
	    .ctx = p->ctx,
	};
}

static const struct kind *kind_of(const CUgraphNodeParams *p, union node_params *store,
				  const void **params)
{
	*params = store;
	switch ((int)p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		kernel_of(&p->kernel, &store->kernel);
		return &sim_kind_kernel;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		*params = &p->memcpy.copyParams;
		return &sim_kind_memcpy;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		store->set = (CUDA_MEMSET_NODE_PARAMS){p->memset.dst,	p->memset.pitch,
						       p->memset.value, p->memset.elementSize,
						       p->memset.width, p->memset.height};
		return &sim_kind_memset;
	case CU_GRAPH_NODE_TYPE_HOST:
		store->host = (CUDA_HOST_NODE_PARAMS){p->host.fn, p->host.userData};
		return &sim_kind_host;
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		*params = &p->eventRecord.event;
		return &sim_kind_record;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		*params = &p->eventWait.event;
		return &sim_kind_wait;
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		store->batch = (CUDA_BATCH_MEM_OP_NODE_PARAMS){p->memOp.ctx, p->memOp.count,
							       p->memOp.paramArray, p->memOp.flags};
		return &sim_kind_batch;
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
		store->signal = (CUDA_EXT_SEM_SIGNAL_NODE_PARAMS){p->extSemSignal.extSemArray,
								  p->extSemSignal.paramsArray,
								  p->extSemSignal.numExtSems};
		return &sim_kind_sem_signal;
	case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
		store->wait = (CUDA_EXT_SEM_WAIT_NODE_PARAMS){
		    p->extSemWait.extSemArray, p->extSemWait.paramsArray, p->extSemWait.numExtSems};
		return &sim_kind_sem_wait;
	default:
		return NULL;
	}
}

static CUresult add_memory(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, size_t n,
			   CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p)
{
	CUDA_MEM_ALLOC_NODE_PARAMS old = {.poolProps = p->poolProps, .bytesize = p->bytesize};
	CUresult error = sim_cuGraphAddMemAllocNode(out, graph, deps, n, &old);
	if (!error)
		p->dptr = old.dptr;
	return error;
}

CUresult sim_cuGraphAddNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, size_t n,
			    CUgraphNodeParams *p)
{
	union node_params store;
	const void *params;
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	const struct kind *kind = kind_of(p, &store, &params);
	if (kind)
		return sim_kind_add(kind, out, graph, deps, n, params);
	switch ((int)p->type) {
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return sim_cuGraphAddChildGraphNode(out, graph, deps, n, p->graph.graph);
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return sim_cuGraphAddEmptyNode(out, graph, deps, n);
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return add_memory(out, graph, deps, n, &p->alloc);
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return sim_cuGraphAddMemFreeNode(out, graph, deps, n, p->free.dptr);
#if CUDA_VERSION >= 12030
	case CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return sim_conditional_add(out, graph, deps, n, &p->conditional);
#endif
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* Kinds without parameters that may change are refused, as documented. */
static CUresult set_params(struct node *node, const CUgraphNodeParams *p)
{
	union node_params store;
	const void *params;
	const struct kind *kind = p ? kind_of(p, &store, &params) : NULL;
	return kind ? sim_kind_set(kind, node, params) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *p)
{
	return set_params(sim_object_get(hNode, OBJ_NODE), p);
}

CUresult sim_cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode hNode, CUgraphNodeParams *p)
{
	return set_params(sim_exec_node(sim_exec_get(exec), hNode), p);
}
#endif

#if CUDA_VERSION >= 12030
CUresult sim_cuGraphAddNode_v2(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps,
			       const CUgraphEdgeData *edges, size_t n, CUgraphNodeParams *p)
{
	(void)edges;
	return sim_cuGraphAddNode(out, graph, deps, n, p);
}
#endif
