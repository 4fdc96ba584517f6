/* Reading and changing the shape of a graph; what is known of a capture. */
#include "graph.h"
#include <stdlib.h>
#include <string.h>

/* The convention of all lists: no array, the count is wanted; a longer array is filled with NULL.
 */
static CUresult list_out(struct node *const *nodes, size_t n, CUgraphNode *out, size_t *count)
{
	if (!out) {
		*count = n;
		return CUDA_SUCCESS;
	}
	for (size_t i = 0; i < *count; i++)
		out[i] = i < n ? (CUgraphNode)nodes[i] : NULL;
	if (*count > n)
		*count = n;
	return CUDA_SUCCESS;
}

static CUresult pick(struct graph *graph, bool (*want)(const struct node *, const void *),
		     const void *arg, CUgraphNode *out, size_t *count)
{
	struct node **found = malloc((graph->nnodes + 1) * sizeof *found);
	SIM_ALLOC_CHECK(found);
	size_t n = 0;
	for (struct node *node = graph->nodes; node; node = node->next)
		if (want(node, arg))
			found[n++] = node;
	CUresult error = list_out(found, n, out, count);
	free(found);
	return error;
}

static bool any(const struct node *node, const void *arg)
{
	(void)node, (void)arg;
	return true;
}

static bool is_root(const struct node *node, const void *arg)
{
	(void)arg;
	return !node->ndeps;
}

static bool depends_on(const struct node *node, const void *arg)
{
	for (size_t i = 0; i < node->ndeps; i++)
		if (node->deps[i] == arg)
			return true;
	return false;
}

CUresult sim_cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
	struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	return graph && numNodes ? pick(graph, any, NULL, nodes, numNodes)
				 : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
	struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	return graph && numRootNodes ? pick(graph, is_root, NULL, rootNodes, numRootNodes)
				     : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies,
					size_t *numDependencies)
{
	struct node *node = sim_object_get(hNode, OBJ_NODE);
	return node && numDependencies
		   ? list_out(node->deps, node->ndeps, dependencies, numDependencies)
		   : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes,
					  size_t *numDependentNodes)
{
	struct node *node = sim_object_get(hNode, OBJ_NODE);
	return node && numDependentNodes
		   ? pick(node->graph, depends_on, node, dependentNodes, numDependentNodes)
		   : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)
{
	struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	if (!graph || !numEdges || !from != !to)
		return CUDA_ERROR_INVALID_VALUE;
	size_t n = 0;
	for (struct node *node = graph->nodes; node; node = node->next)
		for (size_t i = 0; i < node->ndeps; i++, n++)
			if (from && n < *numEdges) {
				from[n] = (CUgraphNode)node->deps[i];
				to[n] = (CUgraphNode)node;
			}
	if (!from || n < *numEdges)
		*numEdges = n;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
	struct node *node = sim_object_get(hNode, OBJ_NODE);
	if (!node || !type)
		return CUDA_ERROR_INVALID_VALUE;
	*type = node->type;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to,
				    size_t numDependencies)
{
	struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	if (!graph || (numDependencies && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < numDependencies; i++) {
		struct node *a = sim_object_get(from[i], OBJ_NODE),
			    *b = sim_object_get(to[i], OBJ_NODE);
		if (!a || !b || a == b || a->graph != graph || b->graph != graph ||
		    depends_on(b, a))
			return CUDA_ERROR_INVALID_VALUE;
		struct node **grown = realloc(b->deps, (b->ndeps + 1) * sizeof *grown);
		SIM_ALLOC_CHECK(grown);
		b->deps = grown;
		b->deps[b->ndeps++] = a;
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from,
				       const CUgraphNode *to, size_t numDependencies)
{
	struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	if (!graph || (numDependencies && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < numDependencies; i++) {
		struct node *a = sim_object_get(from[i], OBJ_NODE),
			    *b = sim_object_get(to[i], OBJ_NODE);
		if (!a || !b || b->graph != graph || !depends_on(b, a))
			return CUDA_ERROR_INVALID_VALUE;
		size_t kept = 0;
		for (size_t j = 0; j < b->ndeps; j++)
			if (b->deps[j] != a)
				b->deps[kept++] = b->deps[j];
		b->ndeps = kept;
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
				   unsigned int *isEnabled)
{
	struct node *node = sim_exec_node(sim_exec_get(hGraphExec), hNode);
	if (!node || !isEnabled)
		return CUDA_ERROR_INVALID_VALUE;
	*isEnabled = !node->disabled;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
				   unsigned int isEnabled)
{
	struct node *node = sim_exec_node(sim_exec_get(hGraphExec), hNode);
	if (!node ||
	    (node->type != CU_GRAPH_NODE_TYPE_KERNEL && node->type != CU_GRAPH_NODE_TYPE_MEMCPY &&
	     node->type != CU_GRAPH_NODE_TYPE_MEMSET))
		return CUDA_ERROR_INVALID_VALUE;
	node->disabled = !isEnabled;
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
				       cuuint64_t *id_out, CUgraph *graph_out,
				       const CUgraphNode **dependencies_out,
				       size_t *numDependencies_out)
{
	CUresult error;
	struct stream *s = sim_stream_get(hStream, &error);
	if (!s || !captureStatus_out)
		return s ? CUDA_ERROR_INVALID_VALUE : error;
	error = sim_capture_implicit(s);
	if (error)
		return error;
	*captureStatus_out = s->capture ? s->capture->status : CU_STREAM_CAPTURE_STATUS_NONE;
	if (*captureStatus_out != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		return CUDA_SUCCESS;
	if (id_out)
		*id_out = s->capture->id;
	if (graph_out)
		*graph_out = (CUgraph)s->capture->graph;
	if (dependencies_out)
		*dependencies_out = (const CUgraphNode *)s->deps;
	if (numDependencies_out)
		*numDependencies_out = s->ndeps;
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
				    cuuint64_t *id_out)
{
	return sim_cuStreamGetCaptureInfo_v2(hStream, captureStatus_out, id_out, NULL, NULL, NULL);
}

CUresult sim_cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies,
					       size_t numDependencies, unsigned int flags)
{
	CUresult error;
	struct stream *s = sim_stream_get(hStream, &error);
	if (!s)
		return error;
	if (!s->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if ((numDependencies && !dependencies) || flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
		return CUDA_ERROR_INVALID_VALUE;
	size_t kept = flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES ? 0 : s->ndeps;
	struct node **all = malloc((kept + numDependencies + 1) * sizeof *all);
	SIM_ALLOC_CHECK(all);
	if (kept)
		memcpy(all, s->deps, kept * sizeof *all);
	for (size_t i = 0; i < numDependencies; i++) {
		struct node *node = sim_object_get(dependencies[i], OBJ_NODE);
		if (!node || node->graph != s->capture->graph) {
			free(all);
			return CUDA_ERROR_INVALID_VALUE;
		}
		all[kept++] = node;
	}
	free(s->deps);
	s->deps = all;
	s->ndeps = kept;
	return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12030
static void plain_edges(CUgraphEdgeData *edges, const size_t *count)
{
	if (edges && count)
		memset(edges, 0, *count * sizeof *edges);
}

CUresult sim_cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
				CUgraphEdgeData *edgeData, size_t *numEdges)
{
	CUresult error = sim_cuGraphGetEdges(hGraph, from, to, numEdges);
	if (!error)
		plain_edges(edgeData, numEdges);
	return error;
}

CUresult sim_cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies,
					   CUgraphEdgeData *edgeData, size_t *numDependencies)
{
	CUresult error = sim_cuGraphNodeGetDependencies(hNode, dependencies, numDependencies);
	if (!error)
		plain_edges(edgeData, numDependencies);
	return error;
}

CUresult sim_cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes,
					     CUgraphEdgeData *edgeData, size_t *numDependentNodes)
{
	CUresult error = sim_cuGraphNodeGetDependentNodes(hNode, dependentNodes, numDependentNodes);
	if (!error)
		plain_edges(edgeData, numDependentNodes);
	return error;
}

CUresult sim_cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from,
				       const CUgraphNode *to, const CUgraphEdgeData *edgeData,
				       size_t numDependencies)
{
	(void)edgeData;
	return sim_cuGraphAddDependencies(hGraph, from, to, numDependencies);
}

CUresult sim_cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from,
					  const CUgraphNode *to, const CUgraphEdgeData *edgeData,
					  size_t numDependencies)
{
	(void)edgeData;
	return sim_cuGraphRemoveDependencies(hGraph, from, to, numDependencies);
}

CUresult sim_cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
				       cuuint64_t *id_out, CUgraph *graph_out,
				       const CUgraphNode **dependencies_out,
				       const CUgraphEdgeData **edgeData_out,
				       size_t *numDependencies_out)
{
	CUresult error = sim_cuStreamGetCaptureInfo_v2(
	    hStream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out);
	if (!error && edgeData_out)
		*edgeData_out = NULL;
	return error;
}

CUresult sim_cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies,
						  const CUgraphEdgeData *dependencyData,
						  size_t numDependencies, unsigned int flags)
{
	(void)dependencyData;
	return sim_cuStreamUpdateCaptureDependencies(hStream, dependencies, numDependencies, flags);
}

CUresult sim_cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
					 const CUgraphNode *dependencies,
					 const CUgraphEdgeData *dependencyData,
					 size_t numDependencies, CUstreamCaptureMode mode)
{
	CUresult error;
	struct stream *s = sim_stream_get(hStream, &error);
	struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	(void)dependencyData;
	if (!s)
		return error;
	if (!graph || (numDependencies && !dependencies))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < numDependencies; i++) {
		const struct node *node = sim_object_get(dependencies[i], OBJ_NODE);
		if (!node || node->graph != graph)
			return CUDA_ERROR_INVALID_VALUE;
	}
	return sim_capture_begin(s, mode, graph, (struct node *const *)dependencies,
				 numDependencies);
}
#endif
