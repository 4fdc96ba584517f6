/* Empty, child and memory nodes; the general form that adds any kind. */
#include "graph.h"
#include "sim.h"

static CUresult plain(CUgraphNode *out, CUgraph hGraph, const CUgraphNode *deps, size_t ndeps,
		      CUgraphNodeType type, struct node **made)
{
	struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	if (!out || !graph || (ndeps && !deps))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < ndeps; i++) {
		const struct node *dep = sim_object_get(deps[i], OBJ_NODE);
		if (!dep || dep->graph != graph)
			return CUDA_ERROR_INVALID_VALUE;
	}
	*made = sim_node_add(graph, type, (struct node *const *)deps, ndeps);
	SIM_ALLOC_CHECK(*made);
	*out = (CUgraphNode)*made;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				 const CUgraphNode *dependencies, size_t numDependencies)
{
	struct node *node;
	return plain(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_EMPTY,
		     &node);
}

CUresult sim_cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				      const CUgraphNode *dependencies, size_t numDependencies,
				      CUgraph childGraph)
{
	struct graph *from = sim_object_get(childGraph, OBJ_GRAPH);
	struct node *node;
	if (!from || childGraph == hGraph)
		return CUDA_ERROR_INVALID_VALUE;
	struct graph *child = sim_graph_clone(from);
	SIM_ALLOC_CHECK(child);
	CUresult error = plain(phGraphNode, hGraph, dependencies, numDependencies,
			       CU_GRAPH_NODE_TYPE_GRAPH, &node);
	if (error) {
		sim_graph_destroy(child);
		return error;
	}
	child->owned = true;
	node->child = child;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
	struct node *node = sim_object_get(hNode, OBJ_NODE);
	if (!node || !node->child || !phGraph)
		return CUDA_ERROR_INVALID_VALUE;
	*phGraph = (CUgraph)node->child;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
						CUgraph childGraph)
{
	struct node *node = sim_exec_node(sim_exec_get(hGraphExec), hNode);
	struct graph *from = sim_object_get(childGraph, OBJ_GRAPH);
	if (!node || !node->child || !from || from->nnodes != node->child->nnodes)
		return CUDA_ERROR_INVALID_VALUE;
	struct graph *child = sim_graph_clone(from);
	SIM_ALLOC_CHECK(child);
	child->owned = true;
	sim_graph_destroy(node->child);
	node->child = child;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				    const CUgraphNode *dependencies, size_t numDependencies,
				    CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
	struct node *node;
	CUgraphNode made;
	if (!phGraphNode || !nodeParams || !nodeParams->bytesize ||
	    nodeParams->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    sim_device_check(nodeParams->poolProps.location.id))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = plain(&made, hGraph, dependencies, numDependencies,
			       CU_GRAPH_NODE_TYPE_MEM_ALLOC, &node);
	if (error)
		return error;
	error = sim_graph_memory_new(node, nodeParams->bytesize, nodeParams->poolProps.location.id);
	if (error) {
		sim_node_destroy(node);
		return error;
	}
	nodeParams->dptr = node->dptr;
	*phGraphNode = made;
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
	if (!alloc || alloc->address != dptr || alloc->kind != MEM_GRAPH)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = plain(phGraphNode, hGraph, dependencies, numDependencies,
			       CU_GRAPH_NODE_TYPE_MEM_FREE, &node);
	if (!error)
		node->dptr = dptr;
	return error;
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
static CUDA_KERNEL_NODE_PARAMS kernel_of(const CUDA_KERNEL_NODE_PARAMS_v3 *p)
{
	return (CUDA_KERNEL_NODE_PARAMS){
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

static CUDA_MEMSET_NODE_PARAMS set_of(const CUDA_MEMSET_NODE_PARAMS_v2 *p)
{
	return (CUDA_MEMSET_NODE_PARAMS){.dst = p->dst,
					 .pitch = p->pitch,
					 .value = p->value,
					 .elementSize = p->elementSize,
					 .width = p->width,
					 .height = p->height};
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
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	const CUDA_HOST_NODE_PARAMS host = {.fn = p->host.fn, .userData = p->host.userData};
	CUDA_KERNEL_NODE_PARAMS kernel;
	CUDA_MEMSET_NODE_PARAMS set;
	switch ((int)p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		kernel = kernel_of(&p->kernel);
		return sim_cuGraphAddKernelNode_v2(out, graph, deps, n, &kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return sim_cuGraphAddMemcpyNode(out, graph, deps, n, &p->memcpy.copyParams,
						p->memcpy.copyCtx);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		set = set_of(&p->memset);
		return sim_cuGraphAddMemsetNode(out, graph, deps, n, &set, p->memset.ctx);
	case CU_GRAPH_NODE_TYPE_HOST:
		return sim_cuGraphAddHostNode(out, graph, deps, n, &host);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return sim_cuGraphAddChildGraphNode(out, graph, deps, n, p->graph.graph);
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return sim_cuGraphAddEmptyNode(out, graph, deps, n);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return sim_cuGraphAddEventRecordNode(out, graph, deps, n, p->eventRecord.event);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return sim_cuGraphAddEventWaitNode(out, graph, deps, n, p->eventWait.event);
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return add_memory(out, graph, deps, n, &p->alloc);
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return sim_cuGraphAddMemFreeNode(out, graph, deps, n, p->free.dptr);
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

CUresult sim_cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *p)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	const CUDA_HOST_NODE_PARAMS host = {.fn = p->host.fn, .userData = p->host.userData};
	CUDA_KERNEL_NODE_PARAMS kernel;
	CUDA_MEMSET_NODE_PARAMS set;
	switch ((int)p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		kernel = kernel_of(&p->kernel);
		return sim_cuGraphKernelNodeSetParams_v2(hNode, &kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return sim_cuGraphMemcpyNodeSetParams(hNode, &p->memcpy.copyParams);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		set = set_of(&p->memset);
		return sim_cuGraphMemsetNodeSetParams(hNode, &set);
	case CU_GRAPH_NODE_TYPE_HOST:
		return sim_cuGraphHostNodeSetParams(hNode, &host);
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

CUresult sim_cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode hNode, CUgraphNodeParams *p)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	const CUDA_HOST_NODE_PARAMS host = {.fn = p->host.fn, .userData = p->host.userData};
	CUDA_KERNEL_NODE_PARAMS kernel;
	CUDA_MEMSET_NODE_PARAMS set;
	switch ((int)p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		kernel = kernel_of(&p->kernel);
		return sim_cuGraphExecKernelNodeSetParams_v2(exec, hNode, &kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return sim_cuGraphExecMemcpyNodeSetParams(exec, hNode, &p->memcpy.copyParams, NULL);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		set = set_of(&p->memset);
		return sim_cuGraphExecMemsetNodeSetParams(exec, hNode, &set, NULL);
	case CU_GRAPH_NODE_TYPE_HOST:
		return sim_cuGraphExecHostNodeSetParams(exec, hNode, &host);
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
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
