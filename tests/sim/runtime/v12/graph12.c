/* Graphs and capture as in CUDA 12: each function without edge data, and its successor (_v2, _v3)
 * with. */
#include "tests/sim/runtime/v12/api12.h"

static int add_node(const struct rt_driver *d, cudaGraphNode_t *node, cudaGraph_t graph,
		    const cudaGraphNode_t *after, size_t n, struct cudaGraphNodeParams *params)
{
	return rt_add_node(d, node, graph, after, NULL, n, params);
}

RT_DEFINE(cudaGraphAddNode, add_node, RT_NEED_CONTEXT, false, (cudaGraphNode_t *node,
	  cudaGraph_t graph, const cudaGraphNode_t *after, size_t n,
	  struct cudaGraphNodeParams *params), (node, graph, after, n, params))
RT_DEFINE(cudaGraphAddNode_v2, rt_add_node, RT_NEED_CONTEXT, false, (cudaGraphNode_t *node,
	  cudaGraph_t graph, const cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t n,
	  struct cudaGraphNodeParams *params), (node, graph, after, edges, n, params))

RT_API_DRIVER(cudaGraphGetEdges, (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
	      size_t *n), (graph, from, to, n))
{
	return d->cuGraphGetEdges(graph, from, to, NULL, n);
}

RT_API_DRIVER(cudaGraphGetEdges_v2, (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
	      cudaGraphEdgeData *edges, size_t *n), (graph, from, to, edges, n))
{
	return d->cuGraphGetEdges(graph, from, to, (CUgraphEdgeData *)edges, n);
}

RT_API_DRIVER(cudaGraphNodeGetDependencies, (cudaGraphNode_t node, cudaGraphNode_t *nodes,
	      size_t *n), (node, nodes, n))
{
	return d->cuGraphNodeGetDependencies(node, nodes, NULL, n);
}

RT_API_DRIVER(cudaGraphNodeGetDependencies_v2, (cudaGraphNode_t node, cudaGraphNode_t *nodes,
	      cudaGraphEdgeData *edges, size_t *n), (node, nodes, edges, n))
{
	return d->cuGraphNodeGetDependencies(node, nodes, (CUgraphEdgeData *)edges, n);
}

RT_API_DRIVER(cudaGraphNodeGetDependentNodes, (cudaGraphNode_t node, cudaGraphNode_t *nodes,
	      size_t *n), (node, nodes, n))
{
	return d->cuGraphNodeGetDependentNodes(node, nodes, NULL, n);
}

RT_API_DRIVER(cudaGraphNodeGetDependentNodes_v2, (cudaGraphNode_t node, cudaGraphNode_t *nodes,
	      cudaGraphEdgeData *edges, size_t *n), (node, nodes, edges, n))
{
	return d->cuGraphNodeGetDependentNodes(node, nodes, (CUgraphEdgeData *)edges, n);
}

RT_API_DRIVER(cudaGraphAddDependencies, (cudaGraph_t graph, const cudaGraphNode_t *from,
	      const cudaGraphNode_t *to, size_t n), (graph, from, to, n))
{
	return d->cuGraphAddDependencies(graph, from, to, NULL, n);
}

RT_API_DRIVER(cudaGraphAddDependencies_v2, (cudaGraph_t graph, const cudaGraphNode_t *from,
	      const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t n),
	      (graph, from, to, edges, n))
{
	return d->cuGraphAddDependencies(graph, from, to, (const CUgraphEdgeData *)edges, n);
}

RT_API_DRIVER(cudaGraphRemoveDependencies, (cudaGraph_t graph, const cudaGraphNode_t *from,
	      const cudaGraphNode_t *to, size_t n), (graph, from, to, n))
{
	return d->cuGraphRemoveDependencies(graph, from, to, NULL, n);
}

RT_API_DRIVER(cudaGraphRemoveDependencies_v2, (cudaGraph_t graph, const cudaGraphNode_t *from,
	      const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t n),
	      (graph, from, to, edges, n))
{
	return d->cuGraphRemoveDependencies(graph, from, to, (const CUgraphEdgeData *)edges, n);
}

/* --- capture
 * ------------------------------------------------------------------------------------------ */

RT_API_PTSZ(cudaStreamGetCaptureInfo, (cudaStream_t stream, enum cudaStreamCaptureStatus *status,
	    unsigned long long *id), (stream, status, id))
{
	cuuint64_t unused;

	return d->cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status,
			id ? (cuuint64_t *)id : &unused, NULL, NULL, NULL, NULL);
}

RT_API_PTSZ(cudaStreamGetCaptureInfo_v2, (cudaStream_t stream, enum cudaStreamCaptureStatus *status,
	    unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **nodes, size_t *n),
	    (stream, status, id, graph, nodes, n))
{
	return d->cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status, (cuuint64_t *)id,
					 graph, nodes, NULL, n);
}

RT_API_PTSZ(cudaStreamGetCaptureInfo_v3,
	    (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
	     cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
	     size_t *n),
	    (stream, status, id, graph, nodes, edges, n))
{
	return d->cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status, (cuuint64_t *)id,
					 graph, nodes, (const CUgraphEdgeData **)edges, n);
}

RT_API_PTSZ(cudaStreamUpdateCaptureDependencies, (cudaStream_t stream, cudaGraphNode_t *nodes,
	    size_t n, unsigned int flags), (stream, nodes, n, flags))
{
	return d->cuStreamUpdateCaptureDependencies(stream, nodes, NULL, n, flags);
}

RT_API_PTSZ(cudaStreamUpdateCaptureDependencies_v2, (cudaStream_t stream, cudaGraphNode_t *nodes,
	    const cudaGraphEdgeData *edges, size_t n, unsigned int flags),
	    (stream, nodes, edges, n, flags))
{
	return d->cuStreamUpdateCaptureDependencies(stream, nodes, (const CUgraphEdgeData *)edges,
						    n, flags);
}
