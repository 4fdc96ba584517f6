/* Graphs: their shape, their life, instantiation and launch. */
#include "tests/sim/runtime/runtime.h"

RT_API_DRIVER(cudaGraphCreate, (cudaGraph_t *graph, unsigned int flags), (graph, flags))
{
	return d->cuGraphCreate(graph, flags);
}

RT_API_DRIVER(cudaGraphDestroy, (cudaGraph_t graph), (graph))
{
	return d->cuGraphDestroy(graph);
}

RT_API_DRIVER(cudaGraphClone, (cudaGraph_t *clone, cudaGraph_t graph), (clone, graph))
{
	return d->cuGraphClone(clone, graph);
}

RT_API_DRIVER(cudaGraphNodeFindInClone, (cudaGraphNode_t *node, cudaGraphNode_t original,
	      cudaGraph_t clone), (node, original, clone))
{
	return d->cuGraphNodeFindInClone(node, original, clone);
}

RT_API_DRIVER(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *type),
	      (node, type))
{
	return d->cuGraphNodeGetType(node, (CUgraphNodeType *)type);
}

RT_API_DRIVER(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n),
	      (graph, nodes, n))
{
	return d->cuGraphGetNodes(graph, nodes, n);
}

RT_API_DRIVER(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *n),
	      (graph, nodes, n))
{
	return d->cuGraphGetRootNodes(graph, nodes, n);
}

RT_API_DRIVER(cudaGraphDestroyNode, (cudaGraphNode_t node), (node))
{
	return d->cuGraphDestroyNode(node);
}

RT_API_DRIVER(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned int flags),
	      (graph, path, flags))
{
	return d->cuGraphDebugDotPrint(graph, path, flags);
}

RT_API_DRIVER(cudaGraphConditionalHandleCreate, (cudaGraphConditionalHandle *handle,
	      cudaGraph_t graph, unsigned int value, unsigned int flags),
	      (handle, graph, value, flags))
{
	CUcontext context = NULL;
	int r = rt_context();

	if (!r)
		r = d->cuCtxGetCurrent(&context);
	if (r)
		return r;
	return d->cuGraphConditionalHandleCreate((CUgraphConditionalHandle *)handle, graph, context,
						 value, flags);
}

/* --- user objects
 * ----------------------------------------------------------------------------------- */

RT_API_DRIVER(cudaUserObjectCreate, (cudaUserObject_t *object, void *ptr, cudaHostFn_t destroy,
	      unsigned int references, unsigned int flags),
	      (object, ptr, destroy, references, flags))
{
	return d->cuUserObjectCreate(object, ptr, destroy, references, flags);
}

RT_API_DRIVER(cudaUserObjectRetain, (cudaUserObject_t object, unsigned int n), (object, n))
{
	return d->cuUserObjectRetain(object, n);
}

RT_API_DRIVER(cudaUserObjectRelease, (cudaUserObject_t object, unsigned int n), (object, n))
{
	return d->cuUserObjectRelease(object, n);
}

RT_API_DRIVER(cudaGraphRetainUserObject,
	      (cudaGraph_t graph, cudaUserObject_t object, unsigned int n, unsigned int flags),
	      (graph, object, n, flags))
{
	return d->cuGraphRetainUserObject(graph, object, n, flags);
}

RT_API_DRIVER(cudaGraphReleaseUserObject, (cudaGraph_t graph, cudaUserObject_t object,
	      unsigned int n), (graph, object, n))
{
	return d->cuGraphReleaseUserObject(graph, object, n);
}

/* --- executable graphs
 * ------------------------------------------------------------------------------ */

static int instantiate(const struct rt_driver *d, cudaGraphExec_t *exec, cudaGraph_t graph,
		       unsigned long long flags)
{
	return d->cuGraphInstantiateWithFlags(exec, graph, flags);
}

RT_DEFINE(cudaGraphInstantiate, instantiate, RT_NEED_CONTEXT, false,
	  (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
	  (exec, graph, flags))
RT_DEFINE(cudaGraphInstantiateWithFlags, instantiate, RT_NEED_CONTEXT, false,
	  (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
	  (exec, graph, flags))

RT_API_PTSZ(cudaGraphInstantiateWithParams, (cudaGraphExec_t *exec, cudaGraph_t graph,
	    cudaGraphInstantiateParams *params), (exec, graph, params))
{
	_Static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS),
		       "same layout");
	return d->cuGraphInstantiateWithParams(exec, graph,
					       (CUDA_GRAPH_INSTANTIATE_PARAMS *)params);
}

RT_API_PTSZ(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
{
	return d->cuGraphUpload(exec, stream);
}

RT_API_PTSZ(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
{
	return d->cuGraphLaunch(exec, stream);
}

RT_API_DRIVER(cudaGraphExecDestroy, (cudaGraphExec_t exec), (exec))
{
	return d->cuGraphExecDestroy(exec);
}

RT_API_DRIVER(cudaGraphExecGetFlags, (cudaGraphExec_t exec, unsigned long long *flags),
	      (exec, flags))
{
	cuuint64_t value = 0;
	int r = d->cuGraphExecGetFlags(exec, &value);

	if (!flags)
		return cudaErrorInvalidValue;
	*flags = value;
	return r;
}

RT_API(cudaGraphExecUpdate, (cudaGraphExec_t exec, cudaGraph_t graph,
       cudaGraphExecUpdateResultInfo *info), (exec, graph, info))
{
	CUgraphExecUpdateResultInfo result;
	int r;

	if (!info)
		return cudaErrorInvalidValue;
	memset(&result, 0, sizeof(result));
	r = d->cuGraphExecUpdate(exec, graph, &result);
	*info = (cudaGraphExecUpdateResultInfo){
		.result = (enum cudaGraphExecUpdateResult)result.result,
		.errorNode = result.errorNode, .errorFromNode = result.errorFromNode,
	};
	return r;
}

RT_API(cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled),
       (exec, node, enabled))
{
	return d->cuGraphNodeSetEnabled(exec, node, enabled);
}

RT_API(cudaGraphNodeGetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int *enabled),
       (exec, node, enabled))
{
	return d->cuGraphNodeGetEnabled(exec, node, enabled);
}
