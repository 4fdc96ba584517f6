/* Nodes of each kind: add, read, change, change in an executable graph. */
#include "graph.h"
#include "sim.h"
#include <stdlib.h>
#include <string.h>

static struct node *node_of(CUgraphNode handle, CUgraphNodeType type)
{
	struct node *node = sim_object_get(handle, OBJ_NODE);
	return node && node->type == type ? node : NULL;
}

static struct node *exec_node_of(CUgraphExec exec, CUgraphNode handle, CUgraphNodeType type)
{
	struct node *node = sim_exec_node(sim_exec_get(exec), handle);
	return node && node->type == type ? node : NULL;
}

/* A node after `deps`, all of the same graph. */
static CUresult add(CUgraphNode *out, CUgraph hGraph, const CUgraphNode *deps, size_t ndeps,
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
	return CUDA_SUCCESS;
}

static CUresult set_kernel(struct node *node, const CUDA_KERNEL_NODE_PARAMS *p)
{
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

static CUresult set_memcpy(struct node *node, const CUDA_MEMCPY3D *p)
{
	struct sim_copy copy;
	CUresult error = sim_copy_3d(&copy, p);
	if (error)
		return error;
	node->copy = copy;
	node->copy_params = *p;
	return CUDA_SUCCESS;
}

static CUresult set_memset(struct node *node, const CUDA_MEMSET_NODE_PARAMS *p)
{
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

static CUresult set_host(struct node *node, const CUDA_HOST_NODE_PARAMS *p)
{
	if (!p->fn)
		return CUDA_ERROR_INVALID_VALUE;
	node->host = *p;
	return CUDA_SUCCESS;
}

static CUresult set_event(struct node *node, CUevent event)
{
	if (!sim_event_get(event))
		return CUDA_ERROR_INVALID_HANDLE;
	node->event = event;
	return CUDA_SUCCESS;
}

/* Keep the new node, or take it away again. */
static CUresult keep(CUgraphNode *out, struct node *node, CUresult error)
{
	if (error)
		sim_node_destroy(node);
	else
		*out = (CUgraphNode)node;
	return error;
}

static CUDA_KERNEL_NODE_PARAMS newer(const CUDA_KERNEL_NODE_PARAMS_v1 *p)
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
	};
}

CUresult sim_cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				  const CUgraphNode *dependencies, size_t numDependencies,
				  const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	struct node *node;
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	const CUDA_KERNEL_NODE_PARAMS full = newer(p);
	CUresult error = add(phGraphNode, hGraph, dependencies, numDependencies,
			     CU_GRAPH_NODE_TYPE_KERNEL, &node);
	return error ? error : keep(phGraphNode, node, set_kernel(node, &full));
}

CUresult sim_cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_KERNEL);
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	*p = (CUDA_KERNEL_NODE_PARAMS_v1){
	    .func = node->kernel.func,
	    .gridDimX = node->kernel.gridDimX,
	    .gridDimY = node->kernel.gridDimY,
	    .gridDimZ = node->kernel.gridDimZ,
	    .blockDimX = node->kernel.blockDimX,
	    .blockDimY = node->kernel.blockDimY,
	    .blockDimZ = node->kernel.blockDimZ,
	    .sharedMemBytes = node->kernel.sharedMemBytes,
	    .kernelParams = node->kernel.kernelParams,
	    .extra = node->kernel.extra,
	};
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_KERNEL);
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	const CUDA_KERNEL_NODE_PARAMS full = newer(p);
	return set_kernel(node, &full);
}

CUresult sim_cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
					    const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	struct node *node = exec_node_of(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL);
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	const CUDA_KERNEL_NODE_PARAMS full = newer(p);
	return set_kernel(node, &full);
}

CUresult sim_cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
				     const CUgraphNode *dependencies, size_t numDependencies,
				     const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct node *node;
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = add(phGraphNode, hGraph, dependencies, numDependencies,
			     CU_GRAPH_NODE_TYPE_KERNEL, &node);
	return error ? error : keep(phGraphNode, node, set_kernel(node, p));
}

CUresult sim_cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *p)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_KERNEL);
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	*p = node->kernel;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_KERNEL);
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	return set_kernel(node, p);
}

CUresult sim_cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
					       const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct node *node = exec_node_of(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL);
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	return set_kernel(node, p);
}

CUresult sim_cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				  const CUgraphNode *dependencies, size_t numDependencies,
				  const CUDA_MEMCPY3D *p, CUcontext ctx)
{
	struct node *node;
	(void)ctx;
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = add(phGraphNode, hGraph, dependencies, numDependencies,
			     CU_GRAPH_NODE_TYPE_MEMCPY, &node);
	return error ? error : keep(phGraphNode, node, set_memcpy(node, p));
}

CUresult sim_cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *p)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_MEMCPY);
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	*p = node->copy_params;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *p)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_MEMCPY);
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	return set_memcpy(node, p);
}

CUresult sim_cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
					    const CUDA_MEMCPY3D *p, CUcontext ctx)
{
	struct node *node = exec_node_of(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMCPY);
	(void)ctx;
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	return set_memcpy(node, p);
}

CUresult sim_cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				  const CUgraphNode *dependencies, size_t numDependencies,
				  const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx)
{
	struct node *node;
	(void)ctx;
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = add(phGraphNode, hGraph, dependencies, numDependencies,
			     CU_GRAPH_NODE_TYPE_MEMSET, &node);
	return error ? error : keep(phGraphNode, node, set_memset(node, p));
}

CUresult sim_cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *p)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_MEMSET);
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	*p = node->set_params;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *p)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_MEMSET);
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	return set_memset(node, p);
}

CUresult sim_cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
					    const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx)
{
	struct node *node = exec_node_of(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMSET);
	(void)ctx;
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	return set_memset(node, p);
}

CUresult sim_cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				const CUgraphNode *dependencies, size_t numDependencies,
				const CUDA_HOST_NODE_PARAMS *p)
{
	struct node *node;
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error =
	    add(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_HOST, &node);
	return error ? error : keep(phGraphNode, node, set_host(node, p));
}

CUresult sim_cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *p)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_HOST);
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	*p = node->host;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *p)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_HOST);
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	return set_host(node, p);
}

CUresult sim_cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
					  const CUDA_HOST_NODE_PARAMS *p)
{
	struct node *node = exec_node_of(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_HOST);
	if (!node || !p)
		return CUDA_ERROR_INVALID_VALUE;
	return set_host(node, p);
}

CUresult sim_cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				       const CUgraphNode *dependencies, size_t numDependencies,
				       CUevent event)
{
	struct node *node;
	CUresult error = add(phGraphNode, hGraph, dependencies, numDependencies,
			     CU_GRAPH_NODE_TYPE_EVENT_RECORD, &node);
	return error ? error : keep(phGraphNode, node, set_event(node, event));
}

CUresult sim_cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
	if (!node || !event_out)
		return CUDA_ERROR_INVALID_VALUE;
	*event_out = node->event;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
	return node ? set_event(node, event) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
						CUevent event)
{
	struct node *node = exec_node_of(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
	return node ? set_event(node, event) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph,
				     const CUgraphNode *dependencies, size_t numDependencies,
				     CUevent event)
{
	struct node *node;
	CUresult error = add(phGraphNode, hGraph, dependencies, numDependencies,
			     CU_GRAPH_NODE_TYPE_WAIT_EVENT, &node);
	return error ? error : keep(phGraphNode, node, set_event(node, event));
}

CUresult sim_cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent *event_out)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
	if (!node || !event_out)
		return CUDA_ERROR_INVALID_VALUE;
	*event_out = node->event;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event)
{
	struct node *node = node_of(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
	return node ? set_event(node, event) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
					      CUevent event)
{
	struct node *node = exec_node_of(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
	return node ? set_event(node, event) : CUDA_ERROR_INVALID_VALUE;
}
