/* The functions of each kind of node: add, read, change, change in an executable graph. */
#include "graph.h"
#include <stdlib.h>
#include <string.h>

/* The context that some forms name is not looked at: addresses say where memory lies. */
#define NO_CONTEXT
#define CONTEXT , CUcontext ctx __attribute__((unused))

#define ADD_FUNCTION(function, kind, type, ...)                                                    \
	CUresult sim_##function(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps,          \
				size_t n, type *p __VA_ARGS__)                                     \
	{                                                                                          \
		return sim_kind_add(&sim_kind_##kind, out, graph, deps, n, p);                     \
	}
#define GET_FUNCTION(function, kind, type)                                                         \
	CUresult sim_##function(CUgraphNode node, type *p)                                         \
	{                                                                                          \
		return sim_kind_get(&sim_kind_##kind, node, p);                                    \
	}
#define SET_FUNCTION(function, kind, type)                                                         \
	CUresult sim_##function(CUgraphNode node, type *p)                                         \
	{                                                                                          \
		return sim_kind_set(&sim_kind_##kind, sim_object_get(node, OBJ_NODE), p);          \
	}
#define EXEC_FUNCTION(function, kind, type, ...)                                                   \
	CUresult sim_##function(CUgraphExec exec, CUgraphNode node, type *p __VA_ARGS__)           \
	{                                                                                          \
		return sim_kind_set(&sim_kind_##kind, sim_exec_node(sim_exec_get(exec), node), p); \
	}
#define FUNCTIONS(Name, version, kind, type, context)                                              \
	ADD_FUNCTION(cuGraphAdd##Name##Node##version, kind, const type, context)                   \
	GET_FUNCTION(cuGraph##Name##NodeGetParams##version, kind, type)                            \
	SET_FUNCTION(cuGraph##Name##NodeSetParams##version, kind, const type)                      \
	EXEC_FUNCTION(cuGraphExec##Name##NodeSetParams##version, kind, const type, context)

FUNCTIONS(Kernel, , kernel_v1, CUDA_KERNEL_NODE_PARAMS_v1, NO_CONTEXT)
FUNCTIONS(Kernel, _v2, kernel, CUDA_KERNEL_NODE_PARAMS, NO_CONTEXT)
FUNCTIONS(Memcpy, , memcpy, CUDA_MEMCPY3D, CONTEXT)
FUNCTIONS(Memset, , memset, CUDA_MEMSET_NODE_PARAMS, CONTEXT)
FUNCTIONS(Host, , host, CUDA_HOST_NODE_PARAMS, NO_CONTEXT)
FUNCTIONS(BatchMemOp, , batch, CUDA_BATCH_MEM_OP_NODE_PARAMS, NO_CONTEXT)
FUNCTIONS(ExternalSemaphoresSignal, , sem_signal, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS, NO_CONTEXT)
FUNCTIONS(ExternalSemaphoresWait, , sem_wait, CUDA_EXT_SEM_WAIT_NODE_PARAMS, NO_CONTEXT)

/* Nodes of events take the event itself. */
#define EVENT_FUNCTIONS(Name, kind)                                                                \
	CUresult sim_cuGraphAdd##Name##Node(CUgraphNode *out, CUgraph graph,                       \
					    const CUgraphNode *deps, size_t n, CUevent event)      \
	{                                                                                          \
		return sim_kind_add(&sim_kind_##kind, out, graph, deps, n, &event);                \
	}                                                                                          \
	GET_FUNCTION(cuGraph##Name##NodeGetEvent, kind, CUevent)                                   \
	CUresult sim_cuGraph##Name##NodeSetEvent(CUgraphNode node, CUevent event)                  \
	{                                                                                          \
		return sim_kind_set(&sim_kind_##kind, sim_object_get(node, OBJ_NODE), &event);     \
	}                                                                                          \
	CUresult sim_cuGraphExec##Name##NodeSetEvent(CUgraphExec exec, CUgraphNode node,           \
						     CUevent event)                                \
	{                                                                                          \
		return sim_kind_set(&sim_kind_##kind, sim_exec_node(sim_exec_get(exec), node),     \
				    &event);                                                       \
	}

EVENT_FUNCTIONS(EventRecord, record)
EVENT_FUNCTIONS(EventWait, wait)

/* --- attributes of kernel nodes ------------------------------------------------------------------
 */

static struct node *kernel_node(CUgraphNode handle)
{
	struct node *node = sim_object_get(handle, OBJ_NODE);
	return node && node->type == CU_GRAPH_NODE_TYPE_KERNEL ? node : NULL;
}

static bool node_attribute(CUkernelNodeAttrID attr)
{
	switch ((int)attr) {
	case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
	case 6: /* programmatic stream serialization and events: of launches only */
	case 7:
	case 12:
		return false;
	default:
		return (int)attr > 0 && attr < CU_LAUNCH_ATTRIBUTE_MAX;
	}
}

CUresult sim_cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
					   CUkernelNodeAttrValue *value_out)
{
	const struct node *node = kernel_node(hNode);
	if (!node || !value_out || !node_attribute(attr))
		return CUDA_ERROR_INVALID_VALUE;
	*value_out = node->attrs ? node->attrs[attr] : (CUkernelNodeAttrValue){{0}};
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
					   const CUkernelNodeAttrValue *value)
{
	struct node *node = kernel_node(hNode);
	if (!node || !value || !node_attribute(attr))
		return CUDA_ERROR_INVALID_VALUE;
	if (!node->attrs)
		node->attrs = calloc(CU_LAUNCH_ATTRIBUTE_MAX, sizeof *node->attrs);
	SIM_ALLOC_CHECK(node->attrs);
	node->attrs[attr] = *value;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
	struct node *to = kernel_node(dst);
	const struct node *from = kernel_node(src);
	if (!to || !from)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_node_attrs(to, from);
}
