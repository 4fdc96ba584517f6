/* External semaphores as nodes of graphs.  The runtime's descriptions are the driver's. */
#include "tests/sim/runtime/semaphore.h"

#define FUNCTIONS(Name, params_t, driver_t)                                                    \
	SAME(params_t, driver_t);                                                              \
	RT_API(cudaGraphAdd##Name##Node,                                                       \
	       (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *after,       \
		size_t n, const params_t *params),                                             \
	       (node, graph, after, n, params))                                                \
	{                                                                                      \
		return d->cuGraphAdd##Name##Node(node, graph, after, n,                        \
						 (const driver_t *)params);                    \
	}                                                                                      \
	RT_API(cudaGraph##Name##NodeGetParams, (cudaGraphNode_t node, params_t * params),      \
	       (node, params))                                                                 \
	{                                                                                      \
		return d->cuGraph##Name##NodeGetParams(node, (driver_t *)params);              \
	}                                                                                      \
	RT_API(cudaGraph##Name##NodeSetParams, (cudaGraphNode_t node, const params_t *params), \
	       (node, params))                                                                 \
	{                                                                                      \
		return d->cuGraph##Name##NodeSetParams(node, (const driver_t *)params);        \
	}                                                                                      \
	RT_API(cudaGraphExec##Name##NodeSetParams,                                             \
	       (cudaGraphExec_t exec, cudaGraphNode_t node, const params_t *params),           \
	       (exec, node, params))                                                           \
	{                                                                                      \
		return d->cuGraphExec##Name##NodeSetParams(exec, node,                         \
							   (const driver_t *)params);          \
	}

FUNCTIONS(ExternalSemaphoresSignal, struct cudaExternalSemaphoreSignalNodeParams,
	  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS)
FUNCTIONS(ExternalSemaphoresWait, struct cudaExternalSemaphoreWaitNodeParams,
	  CUDA_EXT_SEM_WAIT_NODE_PARAMS)
