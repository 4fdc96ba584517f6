/* Graphs: nodes, captures, executable graphs. */
#ifndef TSTRACE_SIM_GRAPH_H
#define TSTRACE_SIM_GRAPH_H

#include "sim.h"

/* Kernels do not run, so nothing but the launch gives a condition a value. */
struct condition {
	struct object obj; /* of the handle; a node has a copy */
	struct graph *graph;
	struct condition *next; /* of the same graph */
	unsigned value;		/* 0 unless the launch sets the default */
	unsigned type;		/* CUgraphConditionalNodeType */
};
struct node {
	struct object obj;
	struct graph *graph;
	struct node *next, **link;
	uint64_t id;
	CUgraphNodeType type;
	struct node **deps; /* it runs after these */
	size_t ndeps;
	struct node *original; /* cloned from */
	uint64_t original_id;
	bool disabled, visited;
	struct sim_copy copy;
	CUDA_MEMCPY3D copy_params;
	struct sim_set set;
	CUDA_MEMSET_NODE_PARAMS set_params;
	CUDA_KERNEL_NODE_PARAMS kernel;
	CUDA_HOST_NODE_PARAMS host;
	CUevent event;
	struct graph **inner; /* a child graph, or the bodies of a conditional node */
	unsigned ninner;
	struct condition condition; /* of a conditional node */
	CUDA_MEM_ALLOC_NODE_PARAMS alloc;
	CUdeviceptr dptr;
	struct graph_memory *memory; /* of an allocation node, shared with its clones */
	CUDA_BATCH_MEM_OP_NODE_PARAMS batch;
	CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal;
	CUDA_EXT_SEM_WAIT_NODE_PARAMS wait;
	void *arrays;		       /* what .batch, .signal and .wait point to */
	CUlaunchAttributeValue *attrs; /* of a kernel node, CU_LAUNCH_ATTRIBUTE_MAX; NULL: none */
	bool is_callback;	       /* captured cuStreamAddCallback */
	CUstreamCallback callback;
};
struct graph {
	struct object obj;
	uint32_t id;
	struct node *nodes, **last;
	size_t nnodes;
	bool owned; /* by a child node or an exec: not the user's to destroy */
	struct user_ref *users;
	struct condition *conditions;
	struct capture *capture;
};
struct capture {
	unsigned refs;
	uint64_t id;
	struct graph *graph;
	struct stream *origin;
	CUstreamCaptureMode mode;
	CUstreamCaptureStatus status;
	struct sim_thread *thread;
	struct stream *streams; /* that take part */
	struct capture *next;	/* in the list of those going on */
	bool own_graph;
};
struct graph *sim_graph_new(void);
void sim_graph_destroy(struct graph *graph);
struct graph *sim_graph_clone(struct graph *from);
struct node *sim_node_add(struct graph *graph, CUgraphNodeType type, struct node *const *deps,
			  size_t ndeps);
/* The next node of a capturing stream, after what the stream did last. */
struct node *sim_capture_add(struct stream *stream, CUgraphNodeType type);
bool sim_capturing(const struct stream *stream);
CUresult sim_capture_check(struct stream *stream);    /* 901 when the capture is invalid */
CUresult sim_capture_implicit(struct stream *stream); /* 906: the legacy stream meets a capture */
void sim_capture_invalidate(struct stream *stream);
void sim_capture_drop(struct capture *capture);
void sim_capture_leave(struct stream *stream);
CUresult sim_capture_event(struct stream *stream, struct event *event);
CUresult sim_capture_wait(struct stream *stream, struct event *event);
void sim_node_destroy(struct node *node);
CUresult sim_capture_begin(struct stream *stream, CUstreamCaptureMode mode, struct graph *graph,
			   struct node *const *deps, size_t ndeps);
bool sim_graph_free(struct alloc *alloc); /* memory of a graph; false: it is not live */
void sim_graph_memory_ref(struct node *node);
void sim_graph_memory_drop(struct node *node);
CUresult sim_graph_memory_new(struct node *node, size_t size, int device);
CUresult sim_graph_memory_launch(struct node *node, struct stream *stream, bool auto_free);
void sim_exec_destroy(void *exec);
void sim_users_drop(struct graph *graph);
int sim_order(struct graph *graph, struct node ***order); /* topological; -1: a cycle */

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
