/* Conditional nodes.  Kernels compute nothing, so none ever sets a condition: a launch sees the
 * default of the handle, and the body of a `while` whose condition holds runs once, as if it had
 * ended it. */
#include "graph.h"
#include <stdlib.h>

#if CUDA_VERSION >= 12030
#define SWITCH 2 /* CU_GRAPH_COND_TYPE_SWITCH, of CUDA 12.8 */

CUresult sim_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out, CUgraph hGraph,
					    CUcontext ctx, unsigned int defaultLaunchValue,
					    unsigned int flags)
{
	struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	struct context *current;
	CUresult error = ctx ? CUDA_SUCCESS : sim_current_check(&current);
	if (error)
		return error;
	if (!pHandle_out || !graph || (flags & ~(unsigned)CU_GRAPH_COND_ASSIGN_DEFAULT))
		return CUDA_ERROR_INVALID_VALUE;
	if (ctx && !sim_context_get(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	struct condition *c = sim_object_new(OBJ_CONDITION, sizeof *c, NULL);
	SIM_ALLOC_CHECK(c);
	c->graph = graph;
	c->value = flags & CU_GRAPH_COND_ASSIGN_DEFAULT ? defaultLaunchValue : 0;
	c->next = graph->conditions;
	graph->conditions = c;
	*pHandle_out = (CUgraphConditionalHandle)(uintptr_t)c;
	return CUDA_SUCCESS;
}

static bool valid_size(unsigned type, unsigned size)
{
	switch (type) {
	case CU_GRAPH_COND_TYPE_IF:
		return size == 1 || size == 2;
	case CU_GRAPH_COND_TYPE_WHILE:
		return size == 1;
	default:
		return type == SWITCH && size;
	}
}

static int make_bodies(struct node *node, unsigned n)
{
	node->inner = calloc(n, sizeof *node->inner);
	while (node->inner && node->ninner < n) {
		struct graph *body = sim_graph_new();
		if (!body)
			return -1;
		body->owned = true;
		node->inner[node->ninner++] = body;
	}
	return node->inner ? 0 : -1;
}

CUresult sim_conditional_add(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, size_t n,
			     CUDA_CONDITIONAL_NODE_PARAMS *p)
{
	const struct condition *c = sim_object_get((void *)(uintptr_t)p->handle, OBJ_CONDITION);
	struct node *node;
	if (!out || !c || !valid_size((unsigned)p->type, p->size))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = sim_plain_add(SIM_NODE_CONDITIONAL, graph, deps, n, &node);
	if (error)
		return error;
	if (make_bodies(node, p->size)) {
		sim_node_destroy(node);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	node->condition = *c;
	node->condition.type = (unsigned)p->type;
	p->phGraph_out = (CUgraph *)node->inner;
	*out = (CUgraphNode)node;
	return CUDA_SUCCESS;
}
#endif

struct graph *sim_conditional_body(const struct node *node)
{
	unsigned value = node->condition.value, which;
	switch (node->condition.type) {
	case 0: /* if, and perhaps else */
		which = !value;
		break;
	case 1: /* while */
		which = value ? 0 : node->ninner;
		break;
	default:
		which = value;
	}
	return which < node->ninner ? node->inner[which] : NULL;
}
