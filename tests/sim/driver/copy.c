/* Copies and sets as operations on a timeline: checked when called, done in stream order. */
#include "graph.h"
#include <stdlib.h>
#include <string.h>

/* CUpti_ActivityMemcpyKind */
enum {
	KIND_HTOD = 1,
	KIND_DTOH,
	KIND_HTOA,
	KIND_ATOH,
	KIND_ATOA,
	KIND_ATOD,
	KIND_DTOA,
	KIND_DTOD,
	KIND_HTOH,
	KIND_PTOP
};

static bool on_host(const struct sim_box *box)
{
	if (box->array)
		return false;
	return !box->alloc || box->alloc->kind == MEM_HOST || box->alloc->kind == MEM_REGISTERED;
}

static int copy_kind(const struct sim_copy *copy)
{
	int from = copy->src.array ? 2 : !on_host(&copy->src),
	    to = copy->dst.array ? 2 : !on_host(&copy->dst);
	static const int kinds[3][3] = {
	    {KIND_HTOH, KIND_HTOD, KIND_HTOA},
	    {KIND_DTOH, KIND_DTOD, KIND_DTOA},
	    {KIND_ATOH, KIND_ATOD, KIND_ATOA},
	};
	return kinds[from][to];
}

/* Does the box lie inside what it names?  Host memory that we do not know is the caller's word. */
static bool fits(const struct sim_box *box, const struct sim_copy *copy)
{
	if (!copy->width || !copy->height || !copy->depth)
		return true;
	size_t last =
	    (copy->depth - 1) * box->slice + (copy->height - 1) * box->pitch + copy->width;
	if (box->array)
		return box->base >= box->array->data &&
		       (size_t)(box->base - box->array->data) + last <= box->array->size;
	if (box->alloc)
		return (uintptr_t)box->base - box->alloc->address + last <= box->alloc->size;
	return true;
}

static bool device_side(struct sim_box *box, const void *pointer)
{
	box->base = (unsigned char *)(uintptr_t)pointer;
	box->alloc = sim_memory_find((uintptr_t)pointer);
	return box->alloc != NULL;
}

/* kind: bit 0 source must be known to the driver, bit 1 destination must be. */
CUresult sim_copy_linear(struct sim_copy *copy, void *dst, const void *src, size_t size, int kind)
{
	*copy = (struct sim_copy){.width = size, .height = 1, .depth = 1};
	if (!size)
		return CUDA_SUCCESS;
	bool known_src = device_side(&copy->src, src), known_dst = device_side(&copy->dst, dst);
	if (!src || !dst || ((kind & 1) && !known_src) || ((kind & 2) && !known_dst) ||
	    !fits(&copy->src, copy) || !fits(&copy->dst, copy))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static CUresult side(struct sim_box *box, CUmemorytype type, const void *host, CUdeviceptr device,
		     CUarray handle, size_t pitch, size_t rows, size_t x, size_t y, size_t z,
		     const struct sim_copy *copy)
{
	box->type = type;
	if (type == CU_MEMORYTYPE_ARRAY) {
		box->array = sim_object_get(handle, OBJ_ARRAY);
		if (!box->array)
			return CUDA_ERROR_INVALID_HANDLE;
		box->pitch = box->array->pitch;
		box->slice = box->array->slice;
		box->base = box->array->data;
		size_t height = box->array->desc.Height ? box->array->desc.Height : 1;
		size_t depth = box->array->desc.Depth ? box->array->desc.Depth : 1;
		if (x + copy->width > box->pitch || y + copy->height > height ||
		    z + copy->depth > depth)
			return CUDA_ERROR_INVALID_VALUE;
	} else {
		const void *p = type == CU_MEMORYTYPE_HOST ? host : (const void *)(uintptr_t)device;
		if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE &&
		    type != CU_MEMORYTYPE_UNIFIED)
			return CUDA_ERROR_INVALID_VALUE;
		if (!p || (!device_side(box, p) && type == CU_MEMORYTYPE_DEVICE))
			return CUDA_ERROR_INVALID_VALUE;
		box->pitch = pitch ? pitch : x + copy->width;
		box->slice = box->pitch * (rows ? rows : copy->height);
		if (box->pitch < x + copy->width)
			return CUDA_ERROR_INVALID_VALUE;
	}
	box->base += z * box->slice + y * box->pitch + x;
	return CUDA_SUCCESS;
}

CUresult sim_copy_3d(struct sim_copy *copy, const CUDA_MEMCPY3D *p)
{
	*copy = (struct sim_copy){.width = p->WidthInBytes, .height = p->Height, .depth = p->Depth};
	if (!copy->width || !copy->height || !copy->depth)
		return CUDA_SUCCESS;
	CUresult error = side(&copy->src, p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray,
			      p->srcPitch, p->srcHeight, p->srcXInBytes, p->srcY, p->srcZ, copy);
	if (!error)
		error = side(&copy->dst, p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray,
			     p->dstPitch, p->dstHeight, p->dstXInBytes, p->dstY, p->dstZ, copy);
	if (!error && (!fits(&copy->src, copy) || !fits(&copy->dst, copy)))
		error = CUDA_ERROR_INVALID_VALUE;
	return error;
}

static void move(const struct sim_copy *copy)
{
	if (copy->height == 1 && copy->depth == 1) {
		memmove(copy->dst.base, copy->src.base, copy->width);
		return;
	}
	for (size_t z = 0; z < copy->depth; z++)
		for (size_t y = 0; y < copy->height; y++)
			memmove(copy->dst.base + z * copy->dst.slice + y * copy->dst.pitch,
				copy->src.base + z * copy->src.slice + y * copy->src.pitch,
				copy->width);
}

static void run_copy(struct op *op)
{
	move(op->data);
}

static void drop_copy(struct op *op)
{
	struct sim_copy *copy = op->data;
	free(copy->staged);
	free(copy);
}

/* A pageable source is the caller's again when the call returns: take its bytes now. */
static CUresult stage(struct sim_copy *copy)
{
	struct sim_copy in = *copy;
	in.dst.pitch = copy->width;
	in.dst.slice = copy->width * copy->height;
	copy->staged = in.dst.base = malloc(in.dst.slice * copy->depth);
	SIM_ALLOC_CHECK(copy->staged);
	move(&in);
	copy->src.base = in.dst.base;
	copy->src.pitch = in.dst.pitch;
	copy->src.slice = in.dst.slice;
	return CUDA_SUCCESS;
}

static void fill_copy(struct op *op, struct stream *stream, const struct sim_copy *copy,
		      size_t bytes, const struct node *node)
{
	struct sim_activity *work = &op->work;
	int from = copy->src.alloc ? copy->src.alloc->device : stream->obj.ctx->device;
	int to = copy->dst.alloc ? copy->dst.alloc->device : stream->obj.ctx->device;
	sim_fill_activity(work, from != to ? SIM_MEMCPY_P2P : SIM_MEMCPY, stream);
	work->bytes = bytes;
	work->copy_kind = (uint8_t)(from != to ? KIND_PTOP : copy_kind(copy));
	work->src_kind = copy->src.array ? 4 : sim_memory_kind(copy->src.alloc);
	work->dst_kind = copy->dst.array ? 4 : sim_memory_kind(copy->dst.alloc);
	work->src_device = (uint32_t)from;
	work->dst_device = (uint32_t)to;
	work->src_context = copy->src_ctx ? copy->src_ctx->id : work->context_id;
	work->dst_context = copy->dst_ctx ? copy->dst_ctx->id : work->context_id;
	if (node) {
		work->graph_id = node->graph->id;
		work->graph_node_id = node->id;
	}
	op->report = true;
}

CUresult sim_copy_submit(struct stream *stream, const struct sim_copy *copy, bool async,
			 const struct node *node)
{
	size_t bytes = copy->width * copy->height * copy->depth;
	if (!bytes)
		return CUDA_SUCCESS;
	struct op *op = sim_op_new(sim_config.copy_base_ns +
				   (uint64_t)((double)bytes / sim_config.copy_bytes_per_ns));
	struct sim_copy *own = op ? malloc(sizeof *own) : NULL;
	if (!own) {
		free(op);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*own = *copy;
	op->data = own;
	op->run = run_copy;
	op->drop = drop_copy;
	fill_copy(op, stream, copy, bytes, node);
	op->work.is_async = async;
	bool pageable_src = !copy->src.array && !copy->src.alloc;
	bool pageable_dst = !copy->dst.array && !copy->dst.alloc;
	if (async && !node && pageable_src && stream->head && stage(own)) {
		sim_op_drop(op);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	sim_submit(stream, op);
	if (!node && (!async || pageable_dst))
		return sim_stream_wait(stream);
	return CUDA_SUCCESS;
}

CUresult sim_copy_check_set(struct sim_set *set, CUdeviceptr dst, size_t pitch, unsigned value,
			    unsigned element, size_t width, size_t height)
{
	*set = (struct sim_set){.base = (unsigned char *)(uintptr_t)dst,
				.pitch = pitch,
				.width = width,
				.height = height,
				.element = element,
				.value = value};
	if (!width || !height)
		return CUDA_SUCCESS;
	struct alloc *alloc = sim_memory_find(dst);
	if (!alloc || dst % element ||
	    (height > 1 && (pitch < width * element || pitch % element)) ||
	    dst - alloc->address + (height - 1) * pitch + width * element > alloc->size)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static void run_set(struct op *op)
{
	const struct sim_set *set = op->data;
	for (size_t y = 0; y < set->height; y++) {
		unsigned char *row = set->base + y * set->pitch;
		if (set->element == 1)
			memset(row, (int)set->value, set->width);
		for (size_t x = 0; set->element == 2 && x < set->width; x++)
			((uint16_t *)(void *)row)[x] = (uint16_t)set->value;
		for (size_t x = 0; set->element == 4 && x < set->width; x++)
			((uint32_t *)(void *)row)[x] = set->value;
	}
}

static void drop_data(struct op *op)
{
	free(op->data);
}

CUresult sim_set_submit(struct stream *stream, const struct sim_set *set, bool async,
			const struct node *node)
{
	size_t bytes = set->width * set->height * set->element;
	if (!bytes)
		return CUDA_SUCCESS;
	struct op *op = sim_op_new(sim_config.copy_base_ns +
				   (uint64_t)((double)bytes / (sim_config.copy_bytes_per_ns * 8)));
	struct sim_set *own = op ? malloc(sizeof *own) : NULL;
	if (!own) {
		free(op);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*own = *set;
	op->data = own;
	op->run = run_set;
	op->drop = drop_data;
	sim_fill_activity(&op->work, SIM_MEMSET, stream);
	op->work.bytes = bytes;
	op->work.value = set->value;
	op->work.is_async = async;
	op->work.memory_kind = sim_memory_kind(sim_memory_find((uintptr_t)set->base));
	op->work.address = (uintptr_t)set->base;
	if (node) {
		op->work.graph_id = node->graph->id;
		op->work.graph_node_id = node->id;
	}
	op->report = true;
	sim_submit(stream, op);
	return CUDA_SUCCESS;
}
