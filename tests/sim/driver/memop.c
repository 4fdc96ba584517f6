/* Stream memory operations: wait for a value, write a value. */
#include "graph.h"
#include <stdlib.h>

#define MOST 256 /* operations of one batch */

struct value_write {
	void *address;
	uint64_t value;
	bool wide;
};

static void run_write(struct op *op)
{
	const struct value_write *w = op->data;
	if (w->wide)
		__atomic_store_n((uint64_t *)w->address, w->value, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint32_t *)w->address, (uint32_t)w->value, __ATOMIC_RELEASE);
}

static void drop_write(struct op *op)
{
	free(op->data);
}

static CUresult submit_wait(struct stream *stream, CUdeviceptr address, uint64_t value,
			    unsigned flags, bool wide)
{
	struct op *op = sim_op_new(0);
	SIM_ALLOC_CHECK(op);
	op->poll = (const uint32_t *)(uintptr_t)address;
	op->poll_value = value;
	op->poll_flags = (flags & 3) | (wide ? SIM_POLL_WIDE : 0);
	sim_submit(stream, op);
	return CUDA_SUCCESS;
}

static CUresult submit_write(struct stream *stream, CUdeviceptr address, uint64_t value, bool wide)
{
	struct op *op = sim_op_new(500);
	struct value_write *w = op ? malloc(sizeof *w) : NULL;
	if (!w) {
		free(op);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*w = (struct value_write){(void *)(uintptr_t)address, value, wide};
	op->data = w;
	op->run = run_write;
	op->drop = drop_write;
	sim_submit(stream, op);
	return CUDA_SUCCESS;
}

/* Waits and writes lie alike in the union: operation, address, value, flags. */
_Static_assert(offsetof(CUstreamBatchMemOpParams, waitValue.address) ==
		       offsetof(CUstreamBatchMemOpParams, writeValue.address) &&
		   offsetof(CUstreamBatchMemOpParams, waitValue.value64) ==
		       offsetof(CUstreamBatchMemOpParams, writeValue.value64) &&
		   offsetof(CUstreamBatchMemOpParams, waitValue.flags) ==
		       offsetof(CUstreamBatchMemOpParams, writeValue.flags),
	       "waits and writes differ");

static bool is_wide(const CUstreamBatchMemOpParams *p)
{
	return p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
	       p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

static bool valid(const CUstreamBatchMemOpParams *p)
{
	unsigned known = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
	switch ((int)p->operation) {
	case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
	case CU_STREAM_MEM_OP_BARRIER:
		return true;
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
		known = CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH;
		break;
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		break;
	default:
		return false;
	}
	CUdeviceptr address = p->waitValue.address;
	size_t size = is_wide(p) ? 8 : 4;
	const struct alloc *alloc = sim_memory_find(address);
	return address % size == 0 && alloc && address - alloc->address + size <= alloc->size &&
	       !(p->waitValue.flags & ~known);
}

static CUresult submit(struct stream *stream, const CUstreamBatchMemOpParams *p)
{
	uint64_t value = is_wide(p) ? p->waitValue.value64 : p->waitValue.value;
	switch ((int)p->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
		return submit_wait(stream, p->waitValue.address, value, p->waitValue.flags,
				   is_wide(p));
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		return submit_write(stream, p->waitValue.address, value, is_wide(p));
	default:
		return CUDA_SUCCESS;
	}
}

static CUresult capture(struct stream *stream, unsigned count, CUstreamBatchMemOpParams *list)
{
	const CUDA_BATCH_MEM_OP_NODE_PARAMS params = {(CUcontext)stream->obj.ctx, count, list, 0};
	CUresult error = sim_capture_check(stream);
	struct node *node = error ? NULL : sim_capture_add(stream, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
	if (!node)
		return error ? error : CUDA_ERROR_OUT_OF_MEMORY;
	return sim_kind_set(&sim_kind_batch, node, &params);
}

CUresult sim_cuStreamBatchMemOp_v2(CUstream handle, unsigned int count,
				   CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
	CUresult error;
	struct stream *stream = sim_stream_get(handle, &error);
	if (!stream)
		return error;
	if (!count || count > MOST || !paramArray || flags)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count; i++)
		if (!valid(&paramArray[i]))
			return CUDA_ERROR_INVALID_VALUE;
	error = sim_capture_implicit(stream);
	if (error)
		return error;
	if (sim_capturing(stream))
		return capture(stream, count, paramArray);
	for (unsigned i = 0; i < count && !error; i++)
		error = submit(stream, &paramArray[i]);
	return error;
}

CUresult sim_cuStreamBatchMemOp(CUstream stream, unsigned int count,
				CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
	return sim_cuStreamBatchMemOp_v2(stream, count, paramArray, flags);
}

/* The forms of one operation; those of CUDA 8 and 11.7 are the same but for who may use them. */
#define ONE(function, type, op, member, field)                                                     \
	CUresult sim_##function(CUstream stream, CUdeviceptr addr, type value, unsigned int flags) \
	{                                                                                          \
		CUstreamBatchMemOpParams p = {                                                     \
		    .member = {.address = addr, .field = value, .flags = flags}};                  \
		p.operation = CU_STREAM_MEM_OP_##op;                                               \
		return sim_cuStreamBatchMemOp_v2(stream, 1, &p, 0);                                \
	}
#define BOTH(function, type, op, member, field)                                                    \
	ONE(function, type, op, member, field)                                                     \
	ONE(function##_v2, type, op, member, field)

BOTH(cuStreamWaitValue32, cuuint32_t, WAIT_VALUE_32, waitValue, value)
BOTH(cuStreamWaitValue64, cuuint64_t, WAIT_VALUE_64, waitValue, value64)
BOTH(cuStreamWriteValue32, cuuint32_t, WRITE_VALUE_32, writeValue, value)
BOTH(cuStreamWriteValue64, cuuint64_t, WRITE_VALUE_64, writeValue, value64)
