/* Nodes that copy and set.  Copies live in the context that is current when the node is made. */
#include "tests/sim/runtime/runtime.h"

static int context(const struct rt_driver *d, CUcontext *c)
{
	return d->cuCtxGetCurrent(c);
}

/* The three forms of a copy node that take a flat copy: pointers, or a symbol on one side. */
static int flat(const struct rt_driver *d, const void *dst, const void *src, const void *symbol,
		bool to_symbol, size_t count, size_t offset, int kind, CUDA_MEMCPY3D *c)
{
	CUdeviceptr address = 0;
	size_t size;
	int r;

	if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (!symbol) {
		rt_copy1d(c, RT_PTR(dst), RT_PTR(src), count, kind);
		return 0;
	}
	r = rt_symbol(d, symbol, &address, &size);
	if (r)
		return r;
	if (offset > size || count > size - offset)
		return cudaErrorInvalidValue;
	address += offset;
	rt_copy1d(c, to_symbol ? address : RT_PTR(dst), to_symbol ? RT_PTR(src) : address, count,
		  kind);
	return 0;
}

static int add(const struct rt_driver *d, cudaGraphNode_t *node, cudaGraph_t graph,
	       const cudaGraphNode_t *after, size_t n, const CUDA_MEMCPY3D *c)
{
	CUcontext ctx;
	int r = context(d, &ctx);

	return r ? r : (int)d->cuGraphAddMemcpyNode(node, graph, after, n, c, ctx);
}

static int set_exec(const struct rt_driver *d, cudaGraphExec_t exec, cudaGraphNode_t node,
		    const CUDA_MEMCPY3D *c)
{
	CUcontext ctx;
	int r = context(d, &ctx);

	return r ? r : (int)d->cuGraphExecMemcpyNodeSetParams(exec, node, c, ctx);
}

RT_API(cudaGraphAddMemcpyNode, (cudaGraphNode_t *node, cudaGraph_t graph,
       const cudaGraphNode_t *after, size_t n, const struct cudaMemcpy3DParms *params),
       (node, graph, after, n, params))
{
	CUDA_MEMCPY3D c;
	int r = rt_copy3d(d, params, &c);

	return r ? r : add(d, node, graph, after, n, &c);
}

RT_API(cudaGraphAddMemcpyNode1D, (cudaGraphNode_t *node, cudaGraph_t graph,
       const cudaGraphNode_t *after, size_t n, void *dst, const void *src, size_t count,
       enum cudaMemcpyKind kind), (node, graph, after, n, dst, src, count, kind))
{
	CUDA_MEMCPY3D c;
	int r = flat(d, dst, src, NULL, false, count, 0, kind, &c);

	return r ? r : add(d, node, graph, after, n, &c);
}

RT_API(cudaGraphAddMemcpyNodeToSymbol, (cudaGraphNode_t *node, cudaGraph_t graph,
       const cudaGraphNode_t *after, size_t n, const void *symbol, const void *src, size_t count,
       size_t offset, enum cudaMemcpyKind kind),
       (node, graph, after, n, symbol, src, count, offset, kind))
{
	CUDA_MEMCPY3D c;
	int r = symbol ? flat(d, NULL, src, symbol, true, count, offset, kind, &c)
		       : (int)cudaErrorInvalidSymbol;

	return r ? r : add(d, node, graph, after, n, &c);
}

RT_API(cudaGraphAddMemcpyNodeFromSymbol, (cudaGraphNode_t *node, cudaGraph_t graph,
       const cudaGraphNode_t *after, size_t n, void *dst, const void *symbol, size_t count,
       size_t offset, enum cudaMemcpyKind kind),
       (node, graph, after, n, dst, symbol, count, offset, kind))
{
	CUDA_MEMCPY3D c;
	int r = symbol ? flat(d, dst, NULL, symbol, false, count, offset, kind, &c)
		       : (int)cudaErrorInvalidSymbol;

	return r ? r : add(d, node, graph, after, n, &c);
}

RT_API(cudaGraphMemcpyNodeGetParams, (cudaGraphNode_t node, struct cudaMemcpy3DParms *params),
       (node, params))
{
	CUDA_MEMCPY3D c;
	int r;

	if (!params)
		return cudaErrorInvalidValue;
	memset(&c, 0, sizeof(c));
	r = d->cuGraphMemcpyNodeGetParams(node, &c);
	return r ? r : rt_copy3d_back(d, &c, params);
}

RT_API(cudaGraphMemcpyNodeSetParams, (cudaGraphNode_t node, const struct cudaMemcpy3DParms *params),
       (node, params))
{
	CUDA_MEMCPY3D c;
	int r = rt_copy3d(d, params, &c);

	return r ? r : (int)d->cuGraphMemcpyNodeSetParams(node, &c);
}

RT_API(cudaGraphMemcpyNodeSetParams1D, (cudaGraphNode_t node, void *dst, const void *src,
       size_t count, enum cudaMemcpyKind kind), (node, dst, src, count, kind))
{
	CUDA_MEMCPY3D c;
	int r = flat(d, dst, src, NULL, false, count, 0, kind, &c);

	return r ? r : (int)d->cuGraphMemcpyNodeSetParams(node, &c);
}

RT_API(cudaGraphMemcpyNodeSetParamsToSymbol, (cudaGraphNode_t node, const void *symbol,
       const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind),
       (node, symbol, src, count, offset, kind))
{
	CUDA_MEMCPY3D c;
	int r = symbol ? flat(d, NULL, src, symbol, true, count, offset, kind, &c)
		       : (int)cudaErrorInvalidSymbol;

	return r ? r : (int)d->cuGraphMemcpyNodeSetParams(node, &c);
}

RT_API(cudaGraphMemcpyNodeSetParamsFromSymbol, (cudaGraphNode_t node, void *dst, const void *symbol,
       size_t count, size_t offset, enum cudaMemcpyKind kind),
       (node, dst, symbol, count, offset, kind))
{
	CUDA_MEMCPY3D c;
	int r = symbol ? flat(d, dst, NULL, symbol, false, count, offset, kind, &c)
		       : (int)cudaErrorInvalidSymbol;

	return r ? r : (int)d->cuGraphMemcpyNodeSetParams(node, &c);
}

RT_API(cudaGraphExecMemcpyNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node,
       const struct cudaMemcpy3DParms *params), (exec, node, params))
{
	CUDA_MEMCPY3D c;
	int r = rt_copy3d(d, params, &c);

	return r ? r : set_exec(d, exec, node, &c);
}

RT_API(cudaGraphExecMemcpyNodeSetParams1D,
       (cudaGraphExec_t exec, cudaGraphNode_t node, void *dst, const void *src, size_t count,
	enum cudaMemcpyKind kind),
       (exec, node, dst, src, count, kind))
{
	CUDA_MEMCPY3D c;
	int r = flat(d, dst, src, NULL, false, count, 0, kind, &c);

	return r ? r : set_exec(d, exec, node, &c);
}

RT_API(cudaGraphExecMemcpyNodeSetParamsToSymbol, (cudaGraphExec_t exec, cudaGraphNode_t node,
       const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind),
       (exec, node, symbol, src, count, offset, kind))
{
	CUDA_MEMCPY3D c;
	int r = symbol ? flat(d, NULL, src, symbol, true, count, offset, kind, &c)
		       : (int)cudaErrorInvalidSymbol;

	return r ? r : set_exec(d, exec, node, &c);
}

RT_API(cudaGraphExecMemcpyNodeSetParamsFromSymbol, (cudaGraphExec_t exec, cudaGraphNode_t node,
       void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind),
       (exec, node, dst, symbol, count, offset, kind))
{
	CUDA_MEMCPY3D c;
	int r = symbol ? flat(d, dst, NULL, symbol, false, count, offset, kind, &c)
		       : (int)cudaErrorInvalidSymbol;

	return r ? r : set_exec(d, exec, node, &c);
}

/* --- sets
 * --------------------------------------------------------------------------------------------- */

static int set_params(const struct cudaMemsetParams *from, CUDA_MEMSET_NODE_PARAMS *to)
{
	if (!from)
		return cudaErrorInvalidValue;
	*to = (CUDA_MEMSET_NODE_PARAMS){
		.dst = RT_PTR(from->dst), .pitch = from->pitch, .value = from->value,
		.elementSize = from->elementSize, .width = from->width, .height = from->height,
	};
	return 0;
}

RT_API(cudaGraphAddMemsetNode, (cudaGraphNode_t *node, cudaGraph_t graph,
       const cudaGraphNode_t *after, size_t n, const struct cudaMemsetParams *params),
       (node, graph, after, n, params))
{
	CUDA_MEMSET_NODE_PARAMS p;
	CUcontext ctx;
	int r = set_params(params, &p);

	if (!r)
		r = context(d, &ctx);
	return r ? r : (int)d->cuGraphAddMemsetNode(node, graph, after, n, &p, ctx);
}

RT_API(cudaGraphMemsetNodeGetParams, (cudaGraphNode_t node, struct cudaMemsetParams *params),
       (node, params))
{
	CUDA_MEMSET_NODE_PARAMS p;
	int r;

	if (!params)
		return cudaErrorInvalidValue;
	r = d->cuGraphMemsetNodeGetParams(node, &p);
	if (!r)
		*params = (struct cudaMemsetParams){
			.dst = (void *)(uintptr_t)p.dst, .pitch = p.pitch, .value = p.value,
			.elementSize = p.elementSize, .width = p.width, .height = p.height,
		};
	return r;
}

RT_API(cudaGraphMemsetNodeSetParams, (cudaGraphNode_t node, const struct cudaMemsetParams *params),
       (node, params))
{
	CUDA_MEMSET_NODE_PARAMS p;
	int r = set_params(params, &p);

	return r ? r : (int)d->cuGraphMemsetNodeSetParams(node, &p);
}

RT_API(cudaGraphExecMemsetNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node,
       const struct cudaMemsetParams *params), (exec, node, params))
{
	CUDA_MEMSET_NODE_PARAMS p;
	CUcontext ctx;
	int r = set_params(params, &p);

	if (!r)
		r = context(d, &ctx);
	return r ? r : (int)d->cuGraphExecMemsetNodeSetParams(exec, node, &p, ctx);
}
