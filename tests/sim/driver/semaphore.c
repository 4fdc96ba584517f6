/* External semaphores.  The file descriptor names something of another API, which the simulated
 * device cannot reach: what the process itself signals is what its waits see. */
#include "graph.h"
#include <stdlib.h>
#include <unistd.h>

struct semaphore {
	struct object obj;
	bool timeline; /* else binary: a wait takes the signal away */
	unsigned refs; /* the handle, and operations on streams */
	uint64_t value;
};
struct semaphore_op {
	struct semaphore *semaphore;
	uint64_t value;
};

CUresult sim_cuImportExternalSemaphore(CUexternalSemaphore *extSem_out,
				       const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!extSem_out || !desc || desc->flags)
		return CUDA_ERROR_INVALID_VALUE;
	bool timeline = desc->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
	if (!timeline && desc->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD)
		return CUDA_ERROR_NOT_SUPPORTED;
	struct semaphore *s = sim_object_new(OBJ_EXTSEM, sizeof *s, NULL);
	SIM_ALLOC_CHECK(s);
	if (close(desc->handle.fd)) { /* the driver owns it from here on, as documented */
		sim_object_drop(s);
		return CUDA_ERROR_INVALID_VALUE;
	}
	s->timeline = timeline;
	s->refs = 1;
	*extSem_out = (CUexternalSemaphore)s;
	return CUDA_SUCCESS;
}

static void unref(struct semaphore *s)
{
	if (!--s->refs)
		free(s);
}

CUresult sim_cuDestroyExternalSemaphore(CUexternalSemaphore extSem)
{
	struct semaphore *s = sim_object_get(extSem, OBJ_EXTSEM);
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_object_forget(s);
	unref(s);
	return CUDA_SUCCESS;
}

static void run_signal(struct op *op)
{
	const struct semaphore_op *what = op->data;
	struct semaphore *s = what->semaphore;
	__atomic_store_n(&s->value, s->timeline ? what->value : s->value + 1, __ATOMIC_RELEASE);
}

static void run_wait(struct op *op)
{
	const struct semaphore_op *what = op->data;
	if (!what->semaphore->timeline)
		__atomic_sub_fetch(&what->semaphore->value, 1, __ATOMIC_RELEASE);
}

static void drop(struct op *op)
{
	struct semaphore_op *what = op->data;
	unref(what->semaphore);
	free(what);
}

static CUresult submit(struct stream *stream, CUexternalSemaphore handle, uint64_t value, bool wait)
{
	struct semaphore *s = sim_object_get(handle, OBJ_EXTSEM);
	if (!s)
		return CUDA_ERROR_INVALID_HANDLE;
	struct op *op = sim_op_new(0);
	struct semaphore_op *what = op ? malloc(sizeof *what) : NULL;
	if (!what) {
		free(op);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*what = (struct semaphore_op){s, value};
	s->refs++;
	op->data = what;
	op->drop = drop;
	op->run = wait ? run_wait : run_signal;
	if (wait) {
		op->poll = (const uint32_t *)(const void *)&s->value;
		op->poll_value = s->timeline ? value : 1;
		op->poll_flags = CU_STREAM_WAIT_VALUE_GEQ | SIM_POLL_WIDE;
	}
	sim_submit(stream, op);
	return CUDA_SUCCESS;
}

CUresult sim_semaphores_submit(struct stream *stream, const struct node *node)
{
	CUresult error = CUDA_SUCCESS;
	if (node->type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL)
		for (unsigned i = 0; i < node->signal.numExtSems && !error; i++)
			error = submit(stream, node->signal.extSemArray[i],
				       node->signal.paramsArray[i].params.fence.value, false);
	else
		for (unsigned i = 0; i < node->wait.numExtSems && !error; i++)
			error = submit(stream, node->wait.extSemArray[i],
				       node->wait.paramsArray[i].params.fence.value, true);
	return error;
}

/* As a node says it: captured, or done at once by one that is in no graph. */
static CUresult semaphores(CUstream handle, const struct kind *kind, const void *params)
{
	CUresult error;
	struct stream *stream = sim_stream_get(handle, &error);
	if (!stream)
		return error;
	struct node checked = {.type = kind->type};
	error = sim_capture_implicit(stream);
	if (!error)
		error = kind->set(&checked, params);
	if (!error && sim_capturing(stream)) {
		error = sim_capture_check(stream);
		struct node *node = error ? NULL : sim_capture_add(stream, kind->type);
		if (!error)
			error = node ? kind->set(node, params) : CUDA_ERROR_OUT_OF_MEMORY;
	} else if (!error) {
		error = sim_semaphores_submit(stream, &checked);
	}
	free(checked.arrays);
	return error;
}

CUresult
sim_cuSignalExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray,
				    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray,
				    unsigned int numExtSems, CUstream stream)
{
	const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS params = {(CUexternalSemaphore *)extSemArray,
							paramsArray, numExtSems};
	return semaphores(stream, &sim_kind_sem_signal, &params);
}

CUresult sim_cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *extSemArray,
					   const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray,
					   unsigned int numExtSems, CUstream stream)
{
	const CUDA_EXT_SEM_WAIT_NODE_PARAMS params = {(CUexternalSemaphore *)extSemArray,
						      paramsArray, numExtSems};
	return semaphores(stream, &sim_kind_sem_wait, &params);
}
