/* Stream-ordered memory: pools and what is taken from them. */
#include "graph.h"
#include <stdlib.h>

static void report_pool(struct pool *pool, int op)
{
	struct sim_activity work;
	if (!sim_observed())
		return;
	sim_fill_activity(&work, SIM_POOL, NULL);
	work.memory_op = (uint8_t)op;
	work.pool = (uint64_t)(uintptr_t)pool;
	work.device_id = (uint32_t)pool->device;
	work.pool_size = pool->reserved;
	work.pool_used = pool->used;
	work.pool_threshold = pool->threshold;
	work.start_ns = work.end_ns = sim_now();
	sim_report(&work);
}

struct pool *sim_pool_new(int device, const CUmemPoolProps *props)
{
	struct pool *pool = sim_object_new(OBJ_POOL, sizeof *pool, NULL);
	if (!pool)
		return NULL;
	pool->device = device;
	pool->props = *props;
	pool->reuse[0] = pool->reuse[1] = pool->reuse[2] = 1;
	pool->access[device] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	report_pool(pool, 1);
	return pool;
}

struct pool *sim_pool_default(int device)
{
	struct device *d = &sim_devices[device];
	const CUmemPoolProps props = {
	    .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
	if (!d->default_pool) {
		d->default_pool = sim_pool_new(device, &props);
		if (!d->default_pool)
			return NULL;
		d->default_pool->is_default = true;
		d->pool = d->default_pool;
	}
	return d->default_pool;
}

/* The pool keeps what is freed, up to its threshold; beyond that the device has it back. */
static void shrink(struct pool *pool, uint64_t keep)
{
	uint64_t target = keep > pool->used ? keep : pool->used;
	if (pool->reserved > target) {
		sim_devices[pool->device].used -= pool->reserved - target;
		pool->reserved = target;
	}
}

static void drop_pool(struct pool *pool)
{
	shrink(pool, 0);
	sim_object_drop(pool);
}

CUresult sim_pool_take(struct pool *pool, size_t size, struct context *ctx, struct alloc **out)
{
	size_t rounded = (size + 511) / 512 * 512;
	uint64_t idle = pool->reserved - pool->used, more = rounded > idle ? rounded - idle : 0;
	if (size > (size_t)1 << 46 || (pool->max_size && pool->reserved + more > pool->max_size) ||
	    !sim_charge(pool->device, more))
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult error = sim_memory_new(size, MEM_POOL, pool->device, ctx, out);
	if (error) {
		sim_devices[pool->device].used -= more;
		return error;
	}
	(*out)->pool = pool;
	pool->live++;
	pool->used += rounded;
	pool->reserved += more;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	if (pool->reserved > pool->reserved_high)
		pool->reserved_high = pool->reserved;
	return CUDA_SUCCESS;
}

CUresult sim_pool_give(struct alloc *alloc)
{
	struct pool *pool = alloc->pool;
	pool->used -= (alloc->size + 511) / 512 * 512;
	pool->live--;
	sim_memory_drop(alloc, false);
	shrink(pool, pool->threshold);
	if (pool->closing && !pool->live)
		drop_pool(pool);
	return CUDA_SUCCESS;
}

static CUresult take_async(CUdeviceptr *dptr, size_t size, struct pool *pool, struct stream *stream)
{
	if (!dptr || !size)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = sim_capture_implicit(stream);
	if (error)
		return error;
	if (sim_capturing(stream)) {
		error = sim_capture_check(stream);
		struct node *node =
		    error ? NULL : sim_capture_add(stream, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
		if (!node)
			return error ? error : CUDA_ERROR_OUT_OF_MEMORY;
		error = sim_graph_memory_new(node, size, pool->device);
		if (!error)
			*dptr = node->dptr;
		return error;
	}
	struct alloc *alloc;
	error = sim_pool_take(pool, size, stream->obj.ctx, &alloc);
	if (error)
		return error;
	sim_report_memory(alloc, 1, stream);
	*dptr = alloc->address;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
	CUresult error;
	struct stream *stream = sim_stream_get(hStream, &error);
	if (!stream)
		return error;
	struct pool *pool = sim_pool_default(stream->obj.ctx->device);
	SIM_ALLOC_CHECK(pool);
	return take_async(dptr, bytesize, sim_devices[stream->obj.ctx->device].pool, stream);
}

CUresult sim_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool hPool,
				     CUstream hStream)
{
	CUresult error;
	struct stream *stream = sim_stream_get(hStream, &error);
	struct pool *pool = sim_object_get(hPool, OBJ_POOL);
	if (!stream)
		return error;
	return pool && !pool->closing ? take_async(dptr, bytesize, pool, stream)
				      : CUDA_ERROR_INVALID_VALUE;
}

static void run_free(struct op *op)
{
	struct alloc *alloc = sim_memory_find((uintptr_t)op->data);
	if (!alloc || alloc->address != (uintptr_t)op->data)
		return;
	if (alloc->kind == MEM_POOL)
		sim_pool_give(alloc);
	else if (alloc->kind == MEM_GRAPH)
		sim_graph_free(alloc);
	else
		sim_memory_drop(alloc, false);
}

CUresult sim_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
	CUresult error;
	struct stream *stream = sim_stream_get(hStream, &error);
	if (!stream)
		return error;
	if (!dptr)
		return CUDA_SUCCESS;
	error = sim_capture_implicit(stream);
	if (error)
		return error;
	struct alloc *alloc = sim_memory_find(dptr);
	if (!alloc || alloc->address != dptr || alloc->freeing ||
	    (alloc->kind != MEM_POOL && alloc->kind != MEM_GRAPH && alloc->kind != MEM_DEVICE))
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_capturing(stream)) {
		error = sim_capture_check(stream);
		struct node *node =
		    error ? NULL : sim_capture_add(stream, CU_GRAPH_NODE_TYPE_MEM_FREE);
		if (!node)
			return error ? error : CUDA_ERROR_OUT_OF_MEMORY;
		node->dptr = dptr;
		return CUDA_SUCCESS;
	}
	if (alloc->kind == MEM_GRAPH && !alloc->charged)
		return CUDA_ERROR_INVALID_VALUE;
	struct op *op = sim_op_new(0);
	SIM_ALLOC_CHECK(op);
	sim_report_memory(alloc, 2, stream);
	alloc->freeing = alloc->kind != MEM_GRAPH; /* a second free must fail */
	op->data = (void *)(uintptr_t)dptr;
	op->run = run_free;
	sim_submit(stream, op);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolTrimTo(CUmemoryPool hPool, size_t minBytesToKeep)
{
	struct pool *pool = sim_object_get(hPool, OBJ_POOL);
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	shrink(pool, minBytesToKeep);
	report_pool(pool, 3);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolCreate(CUmemoryPool *hPool, const CUmemPoolProps *poolProps)
{
	if (!hPool || !poolProps || poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    poolProps->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    sim_device_check(poolProps->location.id))
		return CUDA_ERROR_INVALID_VALUE;
	struct pool *pool = sim_pool_new(poolProps->location.id, poolProps);
	SIM_ALLOC_CHECK(pool);
	pool->max_size = poolProps->maxSize;
	*hPool = (CUmemoryPool)pool;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolDestroy(CUmemoryPool hPool)
{
	struct pool *pool = sim_object_get(hPool, OBJ_POOL);
	if (!pool || pool->is_default || pool->closing)
		return CUDA_ERROR_INVALID_VALUE;
	report_pool(pool, 2);
	struct device *device = &sim_devices[pool->device];
	if (device->pool == pool)
		device->pool = device->default_pool;
	pool->closing = true;
	if (!pool->live)
		drop_pool(pool);
	return CUDA_SUCCESS;
}
