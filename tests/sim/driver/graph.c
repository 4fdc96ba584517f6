/* Graphs: nodes, edges, copies of whole graphs, order of execution. */
#include "graph.h"
#include <stdlib.h>
#include <string.h>

static uint32_t next_graph = 1;
static uint64_t next_node = 1;

struct graph *sim_graph_new(void)
{
	struct graph *graph = sim_object_new(OBJ_GRAPH, sizeof *graph, NULL);
	if (!graph)
		return NULL;
	graph->id = next_graph++;
	graph->last = &graph->nodes;
	return graph;
}

static int copy_deps(struct node *node, struct node *const *deps, size_t ndeps)
{
	node->deps = ndeps ? malloc(ndeps * sizeof *deps) : NULL;
	if (ndeps && !node->deps)
		return -1;
	if (ndeps)
		memcpy(node->deps, deps, ndeps * sizeof *deps);
	node->ndeps = ndeps;
	return 0;
}

static struct node *append_node(struct graph *graph, CUgraphNodeType type)
{
	struct node *node = sim_object_new(OBJ_NODE, sizeof *node, NULL);
	if (!node)
		return NULL;
	node->graph = graph;
	node->type = type;
	node->id = next_node++;
	node->link = graph->last;
	*graph->last = node;
	graph->last = &node->next;
	graph->nnodes++;
	return node;
}

struct node *sim_node_add(struct graph *graph, CUgraphNodeType type, struct node *const *deps,
			  size_t ndeps)
{
	struct node *node = append_node(graph, type);
	if (node && copy_deps(node, deps, ndeps)) {
		sim_node_destroy(node);
		return NULL;
	}
	if (node)
		sim_report_node(0, (uintptr_t)node, graph->id);
	return node;
}

static void release(struct node *node)
{
	for (unsigned i = 0; i < node->ninner; i++)
		sim_graph_destroy(node->inner[i]);
	free(node->inner);
	sim_graph_memory_drop(node);
	free(node->arrays);
	free(node->attrs);
	free(node->deps);
	sim_object_drop(node);
}

void sim_node_destroy(struct node *node)
{
	struct graph *graph = node->graph;
	for (struct node *n = graph->nodes; n; n = n->next) {
		size_t kept = 0;
		for (size_t i = 0; i < n->ndeps; i++)
			if (n->deps[i] != node)
				n->deps[kept++] = n->deps[i];
		n->ndeps = kept;
	}
	*node->link = node->next;
	if (node->next)
		node->next->link = node->link;
	else
		graph->last = node->link;
	graph->nnodes--;
	release(node);
}

void sim_graph_destroy(struct graph *graph)
{
	for (struct node *next, *n = graph->nodes; n; n = next) {
		next = n->next;
		release(n);
	}
	sim_users_drop(graph);
	for (struct condition *next, *c = graph->conditions; c; c = next) {
		next = c->next;
		sim_object_drop(c);
	}
	sim_object_drop(graph);
}

int sim_node_embed(struct node *node, struct graph *const *from, unsigned n)
{
	struct graph **inner = calloc(n + 1, sizeof *inner);
	unsigned made = 0;
	while (inner && made < n && (inner[made] = sim_graph_clone(from[made])))
		inner[made++]->owned = true;
	bool good = inner && made == n;
	for (unsigned i = 0; good ? i < node->ninner : i < made; i++)
		sim_graph_destroy(good ? node->inner[i] : inner[i]);
	if (!good) {
		free(inner);
		return -1;
	}
	free(node->inner);
	node->inner = inner;
	node->ninner = n;
	return 0;
}

CUresult sim_node_attrs(struct node *to, const struct node *from)
{
	const size_t size = CU_LAUNCH_ATTRIBUTE_MAX * sizeof *to->attrs;
	CUlaunchAttributeValue *attrs = from->attrs ? malloc(size) : NULL;
	if (from->attrs)
		SIM_ALLOC_CHECK(attrs);
	if (attrs)
		memcpy(attrs, from->attrs, size);
	free(to->attrs);
	to->attrs = attrs;
	return CUDA_SUCCESS;
}

/* `to` is a fresh node: takes what `from` does, not where it stands. */
static int copy_node(struct node *to, const struct node *from)
{
	struct node place = *to;
	*to = *from;
	to->obj = place.obj;
	to->graph = place.graph;
	to->next = place.next;
	to->link = place.link;
	to->id = place.id;
	to->deps = NULL;
	to->ndeps = 0;
	to->inner = NULL;
	to->ninner = 0;
	to->arrays = NULL;
	to->attrs = NULL;
	sim_graph_memory_ref(to);
	if (sim_node_own(to) || sim_node_attrs(to, from))
		return -1;
	return from->ninner ? sim_node_embed(to, from->inner, from->ninner) : 0;
}

/* Twins are found through .original of the new nodes, which lie in the order of the old ones. */
static int copy_edges(struct graph *to, struct node *const *twins, size_t n)
{
	size_t i = 0;
	for (struct node *node = to->nodes; node; node = node->next, i++) {
		const struct node *old = node->original;
		if (old->ndeps && !(node->deps = malloc(old->ndeps * sizeof *node->deps)))
			return -1;
		node->ndeps = old->ndeps;
		for (size_t d = 0; d < old->ndeps; d++) {
			if (old->deps[d]->original_id >= n)
				return -1;
			node->deps[d] = twins[old->deps[d]->original_id];
		}
	}
	return 0;
}

struct graph *sim_graph_clone(struct graph *from)
{
	struct graph *to = sim_graph_new();
	struct node **twins = to ? calloc(from->nnodes + 1, sizeof *twins) : NULL;
	uint64_t *kept = twins ? calloc(from->nnodes + 1, sizeof *kept) : NULL;
	size_t n = 0;
	int bad = !kept;
	for (struct node *old = from->nodes; old && !bad; old = old->next) {
		struct node *twin = append_node(to, old->type);
		bad = !twin || copy_node(twin, old);
		if (!twin)
			break;
		twin->original = old;
		twins[n] = twin;
		kept[n] = old->original_id;
		old->original_id = n++; /* its place, while edges are copied */
	}
	if (!bad)
		bad = copy_edges(to, twins, n);
	n = 0;
	for (struct node *old = from->nodes; old && kept && twins[n]; old = old->next)
		old->original_id = kept[n++];
	for (struct node *twin = to ? to->nodes : NULL; twin; twin = twin->next) {
		twin->original_id = twin->original ? twin->original->id : 0;
		sim_report_node((uintptr_t)twin->original, (uintptr_t)twin, to->id);
	}
	free(twins);
	free(kept);
	if (bad && to) {
		sim_graph_destroy(to);
		return NULL;
	}
	return to;
}

/* Nodes so that each comes after those it depends on; -1: a cycle, or no memory. */
int sim_order(struct graph *graph, struct node ***order)
{
	size_t n = 0, done = 0;
	struct node **out = malloc((graph->nnodes + 1) * sizeof *out);
	if (!out)
		return -1;
	for (struct node *node = graph->nodes; node; node = node->next)
		node->visited = false;
	/* Insertion order nearly always is one: each pass takes what is ready, in that order. */
	do {
		done = n;
		for (struct node *node = graph->nodes; node; node = node->next) {
			bool ready = !node->visited;
			for (size_t i = 0; ready && i < node->ndeps; i++)
				ready = node->deps[i]->visited;
			if (ready) {
				node->visited = true;
				out[n++] = node;
			}
		}
	} while (n < graph->nnodes && n > done);
	if (n < graph->nnodes) {
		free(out);
		return -1;
	}
	*order = out;
	return 0;
}

CUresult sim_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
	if (!phGraph || flags)
		return CUDA_ERROR_INVALID_VALUE;
	struct graph *graph = sim_graph_new();
	SIM_ALLOC_CHECK(graph);
	*phGraph = (CUgraph)graph;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphDestroy(CUgraph hGraph)
{
	struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	if (!graph || graph->owned)
		return CUDA_ERROR_INVALID_VALUE;
	sim_graph_destroy(graph);
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
	struct graph *from = sim_object_get(originalGraph, OBJ_GRAPH);
	if (!from || !phGraphClone)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *n = from->nodes; n; n = n->next)
		if (n->memory || n->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
			return CUDA_ERROR_NOT_SUPPORTED;
	struct graph *to = sim_graph_clone(from);
	SIM_ALLOC_CHECK(to);
	*phGraphClone = (CUgraph)to;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
				    CUgraph hClonedGraph)
{
	struct graph *graph = sim_object_get(hClonedGraph, OBJ_GRAPH);
	struct node *original = sim_object_get(hOriginalNode, OBJ_NODE);
	if (!phNode || !graph || !original)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct node *n = graph->nodes; n; n = n->next)
		if (n->original == original) {
			*phNode = (CUgraphNode)n;
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphDestroyNode(CUgraphNode hNode)
{
	struct node *node = sim_object_get(hNode, OBJ_NODE);
	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
		return CUDA_ERROR_NOT_SUPPORTED;
	sim_node_destroy(node);
	return CUDA_SUCCESS;
}
