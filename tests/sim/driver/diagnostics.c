/* What the driver tells people: graphs as DOT, and its log, which is always empty. */
#include "graph.h"
#include <stdio.h>

static const char *type_name(CUgraphNodeType type)
{
	static const char *const names[] = {
	    "KERNEL",	      "MEMCPY",	      "MEMSET",
	    "HOST",	      "GRAPH",	      "EMPTY",
	    "WAIT_EVENT",     "EVENT_RECORD", "EXT_SEMAS_SIGNAL",
	    "EXT_SEMAS_WAIT", "MEM_ALLOC",    "MEM_FREE",
	    "BATCH_MEM_OP",   "CONDITIONAL",
	};
	return (unsigned)type < sizeof names / sizeof *names ? names[type] : "NODE";
}

static void print_graph(FILE *file, const struct graph *graph)
{
	fprintf(file, "subgraph cluster_%u {\nlabel=\"graph_%u\"\n", graph->id, graph->id);
	for (const struct node *n = graph->nodes; n; n = n->next) {
		CUfunction f = n->kernel.func ? n->kernel.func : (CUfunction)n->kernel.kern;
		const struct function *kernel =
		    n->type == CU_GRAPH_NODE_TYPE_KERNEL ? sim_function_get(f) : NULL;
		fprintf(file, "\"%llu\"[shape=\"record\" label=\"{%s|ID %llu%s%s}\"];\n",
			(unsigned long long)n->id, type_name(n->type), (unsigned long long)n->id,
			kernel ? "|" : "", kernel ? kernel->name : "");
		for (unsigned i = 0; i < n->ninner; i++)
			print_graph(file, n->inner[i]);
	}
	for (const struct node *n = graph->nodes; n; n = n->next)
		for (size_t i = 0; i < n->ndeps; i++)
			fprintf(file, "\"%llu\" -> \"%llu\";\n", (unsigned long long)n->deps[i]->id,
				(unsigned long long)n->id);
	fputs("}\n", file);
}

CUresult sim_cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)
{
	const struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	if (!graph || !path || flags >= 1u << 16)
		return CUDA_ERROR_INVALID_VALUE;
	FILE *file = fopen(path, "we");
	if (!file)
		return CUDA_ERROR_OPERATING_SYSTEM;
	fputs("digraph dot {\n", file);
	print_graph(file, graph);
	fputs("}\n", file);
	return fclose(file) ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12090
/* A callback is never called: no message is ever written. */
CUresult sim_cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData,
				    CUlogsCallbackHandle *callback_out)
{
	(void)userData;
	if (!callbackFunc)
		return CUDA_ERROR_INVALID_VALUE;
	struct object *handle = sim_object_new(OBJ_LOG_CALLBACK, sizeof *handle, NULL);
	SIM_ALLOC_CHECK(handle);
	if (callback_out)
		*callback_out = (CUlogsCallbackHandle)handle;
	return CUDA_SUCCESS;
}

CUresult sim_cuLogsUnregisterCallback(CUlogsCallbackHandle callback)
{
	if (!sim_object_get(callback, OBJ_LOG_CALLBACK))
		return CUDA_ERROR_INVALID_VALUE;
	sim_object_drop(callback);
	return CUDA_SUCCESS;
}

CUresult sim_cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags)
{
	if (!iterator_out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*iterator_out = 0;
	return CUDA_SUCCESS;
}

CUresult sim_cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile, unsigned int flags)
{
	FILE *file =
	    pathToFile && !flags && !(iterator && *iterator) ? fopen(pathToFile, "we") : NULL;
	return file && !fclose(file) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size,
				unsigned int flags)
{
	if (!buffer || !size || !*size || flags || (iterator && *iterator))
		return CUDA_ERROR_INVALID_VALUE;
	*buffer = 0;
	*size = 0;
	return CUDA_SUCCESS;
}
#endif
