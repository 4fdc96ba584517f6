/* Executable graphs, between the files that know them. */
#ifndef TSTRACE_SIM_GRAPH_H
#define TSTRACE_SIM_GRAPH_H

#include "sim.h"

struct exec {
	struct object obj;
	struct graph *graph; /* own copy; nodes point to what they were copied from */
	struct node **order;
	unsigned long long flags;
};
struct exec *sim_exec_get(CUgraphExec handle);
struct node *sim_exec_node(struct exec *exec, CUgraphNode node); /* NULL: not of this graph */

/* A kind of node that has parameters, or of which there are two layouts of them. */
struct kind {
	CUgraphNodeType type;
	size_t offset, size; /* of the parameters within struct node, as they are read */
	CUresult (*set)(struct node *node, const void *params); /* unchanged when refused */
};
extern const struct kind sim_kind_kernel, sim_kind_kernel_v1, sim_kind_memcpy, sim_kind_memset,
    sim_kind_host, sim_kind_record, sim_kind_wait, sim_kind_batch, sim_kind_sem_signal,
    sim_kind_sem_wait;
CUresult sim_kind_add(const struct kind *kind, CUgraphNode *out, CUgraph graph,
		      const CUgraphNode *deps, size_t ndeps, const void *params);
CUresult sim_kind_get(const struct kind *kind, CUgraphNode node, void *params);
CUresult sim_kind_set(const struct kind *kind, struct node *node, const void *params);
/* A node without parameters after `deps`, all of the same graph. */
CUresult sim_plain_add(CUgraphNodeType type, CUgraph graph, const CUgraphNode *deps, size_t ndeps,
		       struct node **made);
/* Copies of `from` become the node's graphs in place of those it had; -1: no memory. */
int sim_node_embed(struct node *node, struct graph *const *from, unsigned n);
CUresult sim_node_attrs(struct node *to, const struct node *from); /* of kernel nodes */
#if CUDA_VERSION >= 12030
CUresult sim_conditional_add(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, size_t n,
			     CUDA_CONDITIONAL_NODE_PARAMS *p);
#endif
/* Of CUDA 12.3. */
#define SIM_NODE_CONDITIONAL ((CUgraphNodeType)13)
/* Which of the node's graphs a launch runs; NULL: none. */
struct graph *sim_conditional_body(const struct node *node);
/* What a node's parameters point to becomes the node's: for a fresh copy, and after a change. */
CUresult sim_node_own(struct node *node);
CUresult sim_semaphores_submit(struct stream *stream, const struct node *node);

#endif
