/* Kernel nodes, and nodes of any kind through one description. */
#include "tests/sim/runtime/runtime.h"

int rt_kernel_params(const struct rt_driver *d, const struct cudaKernelNodeParams *from,
		     CUDA_KERNEL_NODE_PARAMS *to)
{
	struct rt_code code;
	int r;

	if (!from)
		return cudaErrorInvalidValue;
	r = rt_code(d, from->func, &code);
	if (r)
		return r;
	*to = (CUDA_KERNEL_NODE_PARAMS){
		.func = code.kernel ? NULL : code.function,
		.kern = code.kernel,
		.gridDimX = from->gridDim.x,
		.gridDimY = from->gridDim.y,
		.gridDimZ = from->gridDim.z,
		.blockDimX = from->blockDim.x,
		.blockDimY = from->blockDim.y,
		.blockDimZ = from->blockDim.z,
		.sharedMemBytes = from->sharedMemBytes,
		.kernelParams = from->kernelParams,
		.extra = from->extra,
	};
	return 0;
}

RT_API(cudaGraphAddKernelNode, (cudaGraphNode_t *node, cudaGraph_t graph,
       const cudaGraphNode_t *after, size_t n, const struct cudaKernelNodeParams *params),
       (node, graph, after, n, params))
{
	CUDA_KERNEL_NODE_PARAMS p;
	int r = rt_kernel_params(d, params, &p);

	return r ? r : (int)d->cuGraphAddKernelNode(node, graph, after, n, &p);
}

RT_API(cudaGraphKernelNodeSetParams, (cudaGraphNode_t node,
       const struct cudaKernelNodeParams *params), (node, params))
{
	CUDA_KERNEL_NODE_PARAMS p;
	int r = rt_kernel_params(d, params, &p);

	return r ? r : (int)d->cuGraphKernelNodeSetParams(node, &p);
}

RT_API(cudaGraphExecKernelNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node,
       const struct cudaKernelNodeParams *params), (exec, node, params))
{
	CUDA_KERNEL_NODE_PARAMS p;
	int r = rt_kernel_params(d, params, &p);

	return r ? r : (int)d->cuGraphExecKernelNodeSetParams(exec, node, &p);
}

RT_API(cudaGraphKernelNodeGetParams, (cudaGraphNode_t node, struct cudaKernelNodeParams *params),
       (node, params))
{
	CUDA_KERNEL_NODE_PARAMS p;
	struct rt_code code;
	const void *handle;
	int r;

	if (!params)
		return cudaErrorInvalidValue;
	memset(&p, 0, sizeof(p));
	r = d->cuGraphKernelNodeGetParams(node, &p);
	if (r)
		return r;
	/* The program gets back what it gave: its host function where there is one. */
	handle = p.kern ? (const void *)p.kern : (const void *)p.func;
	if (!rt_code(d, handle, &code) && code.host)
		handle = code.host;
	*params = (struct cudaKernelNodeParams){
		.func = (void *)(uintptr_t)handle, .sharedMemBytes = p.sharedMemBytes,
		.kernelParams = p.kernelParams, .extra = p.extra,
		.gridDim = { p.gridDimX, p.gridDimY, p.gridDimZ },
		.blockDim = { p.blockDimX, p.blockDimY, p.blockDimZ },
	};
	return 0;
}

RT_API(cudaGraphKernelNodeCopyAttributes, (cudaGraphNode_t dst, cudaGraphNode_t src), (dst, src))
{
	return d->cuGraphKernelNodeCopyAttributes(dst, src);
}

RT_API(cudaGraphKernelNodeGetAttribute, (cudaGraphNode_t node, cudaLaunchAttributeID id,
       cudaLaunchAttributeValue *value), (node, id, value))
{
	return d->cuGraphKernelNodeGetAttribute(node, (CUkernelNodeAttrID)id,
						(CUkernelNodeAttrValue *)value);
}

RT_API(cudaGraphKernelNodeSetAttribute, (cudaGraphNode_t node, cudaLaunchAttributeID id,
       const cudaLaunchAttributeValue *value), (node, id, value))
{
	return d->cuGraphKernelNodeSetAttribute(node, (CUkernelNodeAttrID)id,
						(const CUkernelNodeAttrValue *)value);
}

/* --- one description for every kind of node
 * ---------------------------------------------------------- */

static int kernel_node(const struct rt_driver *d, const struct cudaKernelNodeParamsV2 *from,
		       CUDA_KERNEL_NODE_PARAMS_v3 *to)
{
	struct cudaKernelNodeParams old = {
		.func = from->func, .gridDim = from->gridDim, .blockDim = from->blockDim,
		.sharedMemBytes = from->sharedMemBytes, .kernelParams = from->kernelParams,
		.extra = from->extra,
	};
	CUDA_KERNEL_NODE_PARAMS p;
	int r = rt_kernel_params(d, &old, &p);

	if (!r)
		*to = (CUDA_KERNEL_NODE_PARAMS_v3){
			.func = p.func,
			.kern = p.kern,
			.gridDimX = p.gridDimX,
			.gridDimY = p.gridDimY,
			.gridDimZ = p.gridDimZ,
			.blockDimX = p.blockDimX,
			.blockDimY = p.blockDimY,
			.blockDimZ = p.blockDimZ,
			.sharedMemBytes = p.sharedMemBytes,
			.kernelParams = p.kernelParams,
			.extra = p.extra,
		};
	return r;
}

_Static_assert(sizeof(struct cudaMemAllocNodeParamsV2) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS_v2),
	       "same layout");

static int node_params(const struct rt_driver *d, const struct cudaGraphNodeParams *from,
		       CUgraphNodeParams *to)
{
	memset(to, 0, sizeof(*to));
	if (!from)
		return cudaErrorInvalidValue;
	to->type = (CUgraphNodeType)from->type;
	switch (from->type) {
	case cudaGraphNodeTypeKernel:
		return kernel_node(d, &from->kernel, &to->kernel);
	case cudaGraphNodeTypeMemcpy:
		to->memcpy.flags = from->memcpy.flags;
		return rt_copy3d(d, &from->memcpy.copyParams, &to->memcpy.copyParams);
	case cudaGraphNodeTypeMemset:
		to->memset = (CUDA_MEMSET_NODE_PARAMS_v2){
			.dst = RT_PTR(from->memset.dst), .pitch = from->memset.pitch,
			.value = from->memset.value, .elementSize = from->memset.elementSize,
			.width = from->memset.width, .height = from->memset.height,
		};
		return 0;
	case cudaGraphNodeTypeHost:
		to->host.fn = from->host.fn;
		to->host.userData = from->host.userData;
		return 0;
	case cudaGraphNodeTypeGraph:
		to->graph.graph = from->graph.graph;
		to->graph.ownership = (CUgraphChildGraphNodeOwnership)from->graph.ownership;
		return 0;
	case cudaGraphNodeTypeEmpty:
		return 0;
	case cudaGraphNodeTypeWaitEvent:
		to->eventWait.event = from->eventWait.event;
		return 0;
	case cudaGraphNodeTypeEventRecord:
		to->eventRecord.event = from->eventRecord.event;
		return 0;
	case cudaGraphNodeTypeMemAlloc:
		memcpy(&to->alloc, &from->alloc, sizeof(to->alloc));
		return 0;
	case cudaGraphNodeTypeMemFree:
		to->free.dptr = RT_PTR(from->free.dptr);
		return 0;
	case cudaGraphNodeTypeConditional:
		to->conditional = (CUDA_CONDITIONAL_NODE_PARAMS){
			.handle = from->conditional.handle,
			.type = (CUgraphConditionalNodeType)from->conditional.type,
			.size = from->conditional.size,
		};
		return d->cuCtxGetCurrent(&to->conditional.ctx);
	default:
		return cudaErrorNotSupported;
	}
}

int rt_add_node(const struct rt_driver *d, cudaGraphNode_t *node, cudaGraph_t graph,
		const cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t n,
		struct cudaGraphNodeParams *params)
{
	CUgraphNodeParams p;
	int r = node_params(d, params, &p);

	if (!r)
		r = d->cuGraphAddNode(node, graph, after, (const CUgraphEdgeData *)edges, n, &p);
	/* Two kinds answer through the description. */
	if (!r && params->type == cudaGraphNodeTypeMemAlloc)
		params->alloc.dptr = (void *)(uintptr_t)p.alloc.dptr;
	if (!r && params->type == cudaGraphNodeTypeConditional)
		params->conditional.phGraph_out = p.conditional.phGraph_out;
	return r;
}

RT_API(cudaGraphNodeSetParams, (cudaGraphNode_t node, struct cudaGraphNodeParams *params),
       (node, params))
{
	CUgraphNodeParams p;
	int r = node_params(d, params, &p);

	return r ? r : (int)d->cuGraphNodeSetParams(node, &p);
}

RT_API(cudaGraphExecNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node,
       struct cudaGraphNodeParams *params), (exec, node, params))
{
	CUgraphNodeParams p;
	int r = node_params(d, params, &p);

	return r ? r : (int)d->cuGraphExecNodeSetParams(exec, node, &p);
}
