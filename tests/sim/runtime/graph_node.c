/* Nodes that run host code, hold a graph, record or wait for events, allocate and free. */
#include "tests/sim/runtime/runtime.h"

RT_API(cudaGraphAddHostNode,
       (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
	const struct cudaHostNodeParams *params),
       (node, graph, after, n, params))
{
	CUDA_HOST_NODE_PARAMS p;

	if (!params)
		return cudaErrorInvalidValue;
	p = (CUDA_HOST_NODE_PARAMS){ .fn = params->fn, .userData = params->userData };
	return d->cuGraphAddHostNode(node, graph, after, n, &p);
}

RT_API(cudaGraphHostNodeGetParams, (cudaGraphNode_t node, struct cudaHostNodeParams *params),
       (node, params))
{
	CUDA_HOST_NODE_PARAMS p;
	int r;

	if (!params)
		return cudaErrorInvalidValue;
	r = d->cuGraphHostNodeGetParams(node, &p);
	if (!r)
		*params = (struct cudaHostNodeParams){ .fn = p.fn, .userData = p.userData };
	return r;
}

RT_API(cudaGraphHostNodeSetParams, (cudaGraphNode_t node, const struct cudaHostNodeParams *params),
       (node, params))
{
	CUDA_HOST_NODE_PARAMS p;

	if (!params)
		return cudaErrorInvalidValue;
	p = (CUDA_HOST_NODE_PARAMS){ .fn = params->fn, .userData = params->userData };
	return d->cuGraphHostNodeSetParams(node, &p);
}

RT_API(cudaGraphExecHostNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node,
       const struct cudaHostNodeParams *params), (exec, node, params))
{
	CUDA_HOST_NODE_PARAMS p;

	if (!params)
		return cudaErrorInvalidValue;
	p = (CUDA_HOST_NODE_PARAMS){ .fn = params->fn, .userData = params->userData };
	return d->cuGraphExecHostNodeSetParams(exec, node, &p);
}

RT_API(cudaGraphAddChildGraphNode, (cudaGraphNode_t *node, cudaGraph_t graph,
       const cudaGraphNode_t *after, size_t n, cudaGraph_t child), (node, graph, after, n, child))
{
	return d->cuGraphAddChildGraphNode(node, graph, after, n, child);
}

RT_API(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *graph), (node, graph))
{
	return d->cuGraphChildGraphNodeGetGraph(node, graph);
}

RT_API(cudaGraphExecChildGraphNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node,
       cudaGraph_t child), (exec, node, child))
{
	return d->cuGraphExecChildGraphNodeSetParams(exec, node, child);
}

RT_API(cudaGraphAddEmptyNode, (cudaGraphNode_t *node, cudaGraph_t graph,
       const cudaGraphNode_t *after, size_t n), (node, graph, after, n))
{
	return d->cuGraphAddEmptyNode(node, graph, after, n);
}

/* --- events
 * ------------------------------------------------------------------------------------------- */

RT_API(cudaGraphAddEventRecordNode, (cudaGraphNode_t *node, cudaGraph_t graph,
       const cudaGraphNode_t *after, size_t n, cudaEvent_t event), (node, graph, after, n, event))
{
	return d->cuGraphAddEventRecordNode(node, graph, after, n, event);
}

RT_API(cudaGraphEventRecordNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event), (node, event))
{
	return d->cuGraphEventRecordNodeGetEvent(node, event);
}

RT_API(cudaGraphEventRecordNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event), (node, event))
{
	return d->cuGraphEventRecordNodeSetEvent(node, event);
}

RT_API(cudaGraphExecEventRecordNodeSetEvent, (cudaGraphExec_t exec, cudaGraphNode_t node,
       cudaEvent_t event), (exec, node, event))
{
	return d->cuGraphExecEventRecordNodeSetEvent(exec, node, event);
}

RT_API(cudaGraphAddEventWaitNode, (cudaGraphNode_t *node, cudaGraph_t graph,
       const cudaGraphNode_t *after, size_t n, cudaEvent_t event), (node, graph, after, n, event))
{
	return d->cuGraphAddEventWaitNode(node, graph, after, n, event);
}

RT_API(cudaGraphEventWaitNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event), (node, event))
{
	return d->cuGraphEventWaitNodeGetEvent(node, event);
}

RT_API(cudaGraphEventWaitNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event), (node, event))
{
	return d->cuGraphEventWaitNodeSetEvent(node, event);
}

RT_API(cudaGraphExecEventWaitNodeSetEvent, (cudaGraphExec_t exec, cudaGraphNode_t node,
       cudaEvent_t event), (exec, node, event))
{
	return d->cuGraphExecEventWaitNodeSetEvent(exec, node, event);
}

/* --- memory
 * ------------------------------------------------------------------------------------------- */

RT_API(cudaGraphAddMemAllocNode, (cudaGraphNode_t *node, cudaGraph_t graph,
       const cudaGraphNode_t *after, size_t n, struct cudaMemAllocNodeParams *params),
       (node, graph, after, n, params))
{
	_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS),
		       "same layout");
	return d->cuGraphAddMemAllocNode(node, graph, after, n,
					 (CUDA_MEM_ALLOC_NODE_PARAMS *)params);
}

RT_API(cudaGraphMemAllocNodeGetParams,
       (cudaGraphNode_t node, struct cudaMemAllocNodeParams *params), (node, params))
{
	return d->cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)params);
}

RT_API(cudaGraphAddMemFreeNode, (cudaGraphNode_t *node, cudaGraph_t graph,
       const cudaGraphNode_t *after, size_t n, void *ptr), (node, graph, after, n, ptr))
{
	return d->cuGraphAddMemFreeNode(node, graph, after, n, RT_PTR(ptr));
}

RT_API(cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t node, void *ptr), (node, ptr))
{
	return d->cuGraphMemFreeNodeGetParams(node, (CUdeviceptr *)ptr);
}
