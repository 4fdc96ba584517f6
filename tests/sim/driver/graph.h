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

#endif
