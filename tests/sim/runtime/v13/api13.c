/* Functions whose meaning or parameters changed between CUDA 12 and 13: the form of 13. */
#include "tests/sim/runtime/semaphore.h"

const int rt_version = CUDART_VERSION;

#include "tests/sim/runtime/properties.h"

RT_DEFINE(cudaGetDeviceProperties, fill_properties, RT_NEED_DRIVER, false,
	  (struct cudaDeviceProp *prop, int device), (prop, device))

static CUmemLocation location_of(struct cudaMemLocation from)
{
	return (CUmemLocation){ .type = (CUmemLocationType)from.type, .id = from.id };
}

RT_API(cudaMemAdvise, (const void *ptr, size_t count, enum cudaMemoryAdvise advice,
       struct cudaMemLocation location), (ptr, count, advice, location))
{
	return rt_advise(d, ptr, count, advice, location_of(location));
}

RT_API_PTSZ(cudaMemPrefetchAsync, (const void *ptr, size_t count, struct cudaMemLocation location,
	    unsigned int flags, cudaStream_t stream), (ptr, count, location, flags, stream))
{
	return d->cuMemPrefetchAsync(RT_PTR(ptr), count, location_of(location), flags, stream);
}

RT_API_PTSZ(cudaStreamGetCaptureInfo,
	    (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
	     cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
	     size_t *n),
	    (stream, status, id, graph, nodes, edges, n))
{
	cuuint64_t unused;

	return d->cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status,
			id ? (cuuint64_t *)id : &unused, graph, nodes,
			(const CUgraphEdgeData **)edges, n);
}

RT_API_PTSZ(cudaStreamUpdateCaptureDependencies, (cudaStream_t stream, cudaGraphNode_t *nodes,
	    const cudaGraphEdgeData *edges, size_t n, unsigned int flags),
	    (stream, nodes, edges, n, flags))
{
	return d->cuStreamUpdateCaptureDependencies(stream, nodes, (const CUgraphEdgeData *)edges,
						    n, flags);
}

/* --- graphs: every edge has data
 * ---------------------------------------------------------------------- */

RT_DEFINE(cudaGraphAddNode, rt_add_node, RT_NEED_CONTEXT, false, (cudaGraphNode_t *node,
	  cudaGraph_t graph, const cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t n,
	  struct cudaGraphNodeParams *params), (node, graph, after, edges, n, params))

RT_API_DRIVER(cudaGraphGetEdges, (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
	      cudaGraphEdgeData *edges, size_t *n), (graph, from, to, edges, n))
{
	return d->cuGraphGetEdges(graph, from, to, (CUgraphEdgeData *)edges, n);
}

RT_API_DRIVER(cudaGraphNodeGetDependencies, (cudaGraphNode_t node, cudaGraphNode_t *nodes,
	      cudaGraphEdgeData *edges, size_t *n), (node, nodes, edges, n))
{
	return d->cuGraphNodeGetDependencies(node, nodes, (CUgraphEdgeData *)edges, n);
}

RT_API_DRIVER(cudaGraphNodeGetDependentNodes, (cudaGraphNode_t node, cudaGraphNode_t *nodes,
	      cudaGraphEdgeData *edges, size_t *n), (node, nodes, edges, n))
{
	return d->cuGraphNodeGetDependentNodes(node, nodes, (CUgraphEdgeData *)edges, n);
}

RT_API_DRIVER(cudaGraphAddDependencies, (cudaGraph_t graph, const cudaGraphNode_t *from,
	      const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t n),
	      (graph, from, to, edges, n))
{
	return d->cuGraphAddDependencies(graph, from, to, (const CUgraphEdgeData *)edges, n);
}

RT_API_DRIVER(cudaGraphRemoveDependencies, (cudaGraph_t graph, const cudaGraphNode_t *from,
	      const cudaGraphNode_t *to, const cudaGraphEdgeData *edges, size_t n),
	      (graph, from, to, edges, n))
{
	return d->cuGraphRemoveDependencies(graph, from, to, (const CUgraphEdgeData *)edges, n);
}

RT_SEMAPHORES_BOTH()

RT_API_DRIVER(cudaDeviceGetHostAtomicCapabilities,
	      (unsigned int *capabilities, const enum cudaAtomicOperation *operations,
	       unsigned int count, int device),
	      (capabilities, operations, count, device))
{
	return d->cuDeviceGetHostAtomicCapabilities(
		capabilities, (const CUatomicOperation *)operations, count, device);
}

RT_API_DRIVER(cudaDeviceGetP2PAtomicCapabilities,
	      (unsigned int *capabilities, const enum cudaAtomicOperation *operations,
	       unsigned int count, int src, int dst),
	      (capabilities, operations, count, src, dst))
{
	return d->cuDeviceGetP2PAtomicCapabilities(
		capabilities, (const CUatomicOperation *)operations, count, src, dst);
}
