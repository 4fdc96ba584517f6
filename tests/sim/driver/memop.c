/* Stream memory operations: wait for a value, write a value. */
#include "sim.h"
#include <stdlib.h>

struct value_write {
	void *address;
	uint64_t value;
	bool wide;
};
#define WIDE 0x80000000u

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

static CUresult check(CUstream handle, CUdeviceptr address, size_t size, struct stream **stream)
{
	CUresult error;
	*stream = sim_stream_get(handle, &error);
	if (!*stream)
		return error;
	const struct alloc *alloc = sim_memory_find(address);
	if (address % size || !alloc || address - alloc->address + size > alloc->size)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_capture_implicit(*stream);
}

/* Captured: one batch node an operation. */
static CUresult capture(struct stream *stream, const CUstreamBatchMemOpParams *what)
{
	CUresult error = sim_capture_check(stream);
	struct node *node = error ? NULL : sim_capture_add(stream, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
	if (!node)
		return error ? error : CUDA_ERROR_OUT_OF_MEMORY;
	node->batch.paramArray = malloc(sizeof *what);
	SIM_ALLOC_CHECK(node->batch.paramArray);
	*node->batch.paramArray = *what;
	node->batch.count = 1;
	return CUDA_SUCCESS;
}

static CUresult wait_value(CUstream handle, CUdeviceptr address, uint64_t value, unsigned flags,
			   bool wide)
{
	struct stream *stream;
	CUresult error = check(handle, address, wide ? 8 : 4, &stream);
	if (error)
		return error;
	if (flags & ~(unsigned)(CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH))
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_capturing(stream)) {
		CUstreamBatchMemOpParams p = {
		    .waitValue = {.address = address, .value64 = value, .flags = flags}};
		p.operation =
		    wide ? CU_STREAM_MEM_OP_WAIT_VALUE_64 : CU_STREAM_MEM_OP_WAIT_VALUE_32;
		return capture(stream, &p);
	}
	struct op *op = sim_op_new(0);
	SIM_ALLOC_CHECK(op);
	op->poll = (const uint32_t *)(uintptr_t)address;
	op->poll_value = value;
	op->poll_flags = (flags & 3) | (wide ? WIDE : 0);
	sim_submit(stream, op);
	return CUDA_SUCCESS;
}

static CUresult write_value(CUstream handle, CUdeviceptr address, uint64_t value, unsigned flags,
			    bool wide)
{
	struct stream *stream;
	CUresult error = check(handle, address, wide ? 8 : 4, &stream);
	if (error)
		return error;
	if (flags & ~(unsigned)CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_capturing(stream)) {
		CUstreamBatchMemOpParams p = {
		    .writeValue = {.address = address, .value64 = value, .flags = flags}};
		p.operation =
		    wide ? CU_STREAM_MEM_OP_WRITE_VALUE_64 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
		return capture(stream, &p);
	}
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

CUresult sim_cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
				    unsigned int flags)
{
	return wait_value(stream, addr, value, flags, false);
}

CUresult sim_cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
				 unsigned int flags)
{
	return wait_value(stream, addr, value, flags, false);
}

CUresult sim_cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value,
				    unsigned int flags)
{
	return wait_value(stream, addr, value, flags, true);
}

CUresult sim_cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
				 unsigned int flags)
{
	return wait_value(stream, addr, value, flags, true);
}

CUresult sim_cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
				     unsigned int flags)
{
	return write_value(stream, addr, value, flags, false);
}

CUresult sim_cuStreamWriteValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
				  unsigned int flags)
{
	return write_value(stream, addr, value, flags, false);
}

CUresult sim_cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value,
				     unsigned int flags)
{
	return write_value(stream, addr, value, flags, true);
}

CUresult sim_cuStreamWriteValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
				  unsigned int flags)
{
	return write_value(stream, addr, value, flags, true);
}

static CUresult one(CUstream stream, const CUstreamBatchMemOpParams *p)
{
	switch ((int)p->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
		return wait_value(stream, p->waitValue.address, p->waitValue.value,
				  p->waitValue.flags, false);
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
		return wait_value(stream, p->waitValue.address, p->waitValue.value64,
				  p->waitValue.flags, true);
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
		return write_value(stream, p->writeValue.address, p->writeValue.value,
				   p->writeValue.flags, false);
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		return write_value(stream, p->writeValue.address, p->writeValue.value64,
				   p->writeValue.flags, true);
	case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
	case CU_STREAM_MEM_OP_BARRIER:
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult sim_cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
				   CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
	if (!count || count > 256 || !paramArray || flags)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count; i++) {
		CUresult error = one(stream, &paramArray[i]);
		if (error)
			return error;
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamBatchMemOp(CUstream stream, unsigned int count,
				CUstreamBatchMemOpParams *paramArray, unsigned int flags)
{
	return sim_cuStreamBatchMemOp_v2(stream, count, paramArray, flags);
}
