/* Every form of copy. */
#include "graph.h"
#include <stdlib.h>

enum { KNOWN_SRC = 1, KNOWN_DST = 2 };

/* The stream of a copy, ready to take it; a captured copy becomes a node instead. */
static CUresult begin(CUstream handle, struct stream **stream)
{
	CUresult error;
	*stream = sim_stream_get(handle, &error);
	return *stream ? sim_capture_implicit(*stream) : error;
}

static CUresult finish(struct stream *stream, const struct sim_copy *copy,
		       const CUDA_MEMCPY3D *params, bool async)
{
	if (!sim_capturing(stream))
		return sim_copy_submit(stream, copy, async, NULL);
	if (!async) {
		sim_capture_invalidate(stream);
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	CUresult error = sim_capture_check(stream);
	if (error)
		return error;
	struct node *node = sim_capture_add(stream, CU_GRAPH_NODE_TYPE_MEMCPY);
	SIM_ALLOC_CHECK(node);
	node->copy = *copy;
	if (params)
		node->copy_params = *params;
	return CUDA_SUCCESS;
}

static CUresult linear(const void *dst, const void *src, size_t size, int known, CUstream handle,
		       bool async)
{
	struct stream *stream;
	struct sim_copy copy;
	CUresult error = begin(handle, &stream);
	if (!error)
		error = sim_copy_linear(&copy, (void *)(uintptr_t)dst, src, size, known);
	if (error)
		return error;
	const CUDA_MEMCPY3D params = {
	    .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
	    .srcDevice = (uintptr_t)src,
	    .WidthInBytes = size,
	    .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
	    .dstDevice = (uintptr_t)dst,
	    .Height = 1,
	    .Depth = 1,
	};
	return finish(stream, &copy, &params, async);
}

#define PTR(x) ((const void *)(uintptr_t)(x))

CUresult sim_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
	return linear(PTR(dst), PTR(src), ByteCount, 0, NULL, false);
}

CUresult sim_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
	return linear(PTR(dst), PTR(src), ByteCount, 0, hStream, true);
}

CUresult sim_cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
	return linear(PTR(dstDevice), srcHost, ByteCount, KNOWN_DST, NULL, false);
}

CUresult sim_cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
				  CUstream hStream)
{
	return linear(PTR(dstDevice), srcHost, ByteCount, KNOWN_DST, hStream, true);
}

CUresult sim_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
	return linear(dstHost, PTR(srcDevice), ByteCount, KNOWN_SRC, NULL, false);
}

CUresult sim_cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
				  CUstream hStream)
{
	return linear(dstHost, PTR(srcDevice), ByteCount, KNOWN_SRC, hStream, true);
}

CUresult sim_cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
	return linear(PTR(dstDevice), PTR(srcDevice), ByteCount, KNOWN_SRC | KNOWN_DST, NULL,
		      false);
}

CUresult sim_cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
				  CUstream hStream)
{
	return linear(PTR(dstDevice), PTR(srcDevice), ByteCount, KNOWN_SRC | KNOWN_DST, hStream,
		      true);
}

static CUresult peer(CUdeviceptr dst, CUcontext dstContext, CUdeviceptr src, CUcontext srcContext,
		     size_t size, CUstream handle, bool async)
{
	struct stream *stream;
	struct sim_copy copy;
	CUresult error = begin(handle, &stream);
	if (error)
		return error;
	struct context *to = sim_context_get(dstContext), *from = sim_context_get(srcContext);
	if (!to || !from)
		return CUDA_ERROR_INVALID_CONTEXT;
	error =
	    sim_copy_linear(&copy, (void *)(uintptr_t)dst, PTR(src), size, KNOWN_SRC | KNOWN_DST);
	if (error)
		return error;
	copy.dst_ctx = to;
	copy.src_ctx = from;
	return finish(stream, &copy, NULL, async);
}

CUresult sim_cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
			  CUcontext srcContext, size_t ByteCount)
{
	return peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, NULL, false);
}

CUresult sim_cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
			       CUcontext srcContext, size_t ByteCount, CUstream hStream)
{
	return peer(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream, true);
}

static CUresult boxed(const CUDA_MEMCPY3D *params, CUstream handle, bool async)
{
	struct stream *stream;
	struct sim_copy copy;
	CUresult error = begin(handle, &stream);
	if (!error)
		error = sim_copy_3d(&copy, params);
	return error ? error : finish(stream, &copy, params, async);
}

static CUDA_MEMCPY3D widen(const CUDA_MEMCPY2D *p)
{
	return (CUDA_MEMCPY3D){
	    .srcXInBytes = p->srcXInBytes,
	    .srcY = p->srcY,
	    .srcMemoryType = p->srcMemoryType,
	    .srcHost = p->srcHost,
	    .srcDevice = p->srcDevice,
	    .srcArray = p->srcArray,
	    .srcPitch = p->srcPitch,
	    .dstXInBytes = p->dstXInBytes,
	    .dstY = p->dstY,
	    .dstMemoryType = p->dstMemoryType,
	    .dstHost = p->dstHost,
	    .dstDevice = p->dstDevice,
	    .dstArray = p->dstArray,
	    .dstPitch = p->dstPitch,
	    .WidthInBytes = p->WidthInBytes,
	    .Height = p->Height,
	    .Depth = 1,
	};
}

static CUresult flat(const CUDA_MEMCPY2D *pCopy, CUstream stream, bool async)
{
	if (!pCopy)
		return CUDA_ERROR_INVALID_VALUE;
	const CUDA_MEMCPY3D params = widen(pCopy);
	return boxed(&params, stream, async);
}

CUresult sim_cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy)
{
	return flat(pCopy, NULL, false);
}

CUresult sim_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
	return flat(pCopy, NULL, false);
}

CUresult sim_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
	return flat(pCopy, hStream, true);
}

CUresult sim_cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy)
{
	return pCopy ? boxed(pCopy, NULL, false) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
	return pCopy ? boxed(pCopy, hStream, true) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult boxed_peer(const CUDA_MEMCPY3D_PEER *p, CUstream handle, bool async)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	const CUDA_MEMCPY3D params = {
	    .srcXInBytes = p->srcXInBytes,
	    .srcY = p->srcY,
	    .srcZ = p->srcZ,
	    .srcLOD = p->srcLOD,
	    .srcMemoryType = p->srcMemoryType,
	    .srcHost = p->srcHost,
	    .srcDevice = p->srcDevice,
	    .srcArray = p->srcArray,
	    .srcPitch = p->srcPitch,
	    .srcHeight = p->srcHeight,
	    .dstXInBytes = p->dstXInBytes,
	    .dstY = p->dstY,
	    .dstZ = p->dstZ,
	    .dstLOD = p->dstLOD,
	    .dstMemoryType = p->dstMemoryType,
	    .dstHost = p->dstHost,
	    .dstDevice = p->dstDevice,
	    .dstArray = p->dstArray,
	    .dstPitch = p->dstPitch,
	    .dstHeight = p->dstHeight,
	    .WidthInBytes = p->WidthInBytes,
	    .Height = p->Height,
	    .Depth = p->Depth,
	};
	return boxed(&params, handle, async);
}

CUresult sim_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy)
{
	return boxed_peer(pCopy, NULL, false);
}

CUresult sim_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
	return boxed_peer(pCopy, hStream, true);
}

/* Linear bytes to and from arrays: rows follow each other without padding. */
static CUresult with_array(CUarray dst, size_t dst_at, CUarray src, size_t src_at,
			   const void *pointer, bool host, size_t size, CUstream handle, bool async)
{
	struct stream *stream;
	CUresult error = begin(handle, &stream);
	struct array *to = sim_object_get(dst, OBJ_ARRAY), *from = sim_object_get(src, OBJ_ARRAY);
	if (error)
		return error;
	if ((dst && !to) || (src && !from))
		return CUDA_ERROR_INVALID_HANDLE;
	struct sim_copy copy = {.width = size, .height = 1, .depth = 1};
	copy.dst = (struct sim_box){
	    .array = to, .base = to ? to->data + dst_at : (unsigned char *)(uintptr_t)pointer};
	copy.src = (struct sim_box){.array = from,
				    .base = from ? from->data + src_at
						 : (unsigned char *)(uintptr_t)pointer};
	if ((to && (dst_at > to->size || size > to->size - dst_at)) ||
	    (from && (src_at > from->size || size > from->size - src_at)) ||
	    ((!to || !from) && !pointer))
		return CUDA_ERROR_INVALID_VALUE;
	if (!to)
		copy.dst.alloc = sim_memory_find((uintptr_t)pointer);
	if (!from)
		copy.src.alloc = sim_memory_find((uintptr_t)pointer);
	if (!host && (!to || !from) && !copy.dst.alloc && !copy.src.alloc)
		return CUDA_ERROR_INVALID_VALUE;
	return finish(stream, &copy, NULL, async);
}

CUresult sim_cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
			     size_t ByteCount)
{
	return with_array(dstArray, dstOffset, NULL, 0, PTR(srcDevice), false, ByteCount, NULL,
			  false);
}

CUresult sim_cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
			     size_t ByteCount)
{
	return with_array(NULL, 0, srcArray, srcOffset, PTR(dstDevice), false, ByteCount, NULL,
			  false);
}

CUresult sim_cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost,
			     size_t ByteCount)
{
	return with_array(dstArray, dstOffset, NULL, 0, srcHost, true, ByteCount, NULL, false);
}

CUresult sim_cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
	return with_array(NULL, 0, srcArray, srcOffset, dstHost, true, ByteCount, NULL, false);
}

CUresult sim_cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost,
				  size_t ByteCount, CUstream hStream)
{
	return with_array(dstArray, dstOffset, NULL, 0, srcHost, true, ByteCount, hStream, true);
}

CUresult sim_cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset,
				  size_t ByteCount, CUstream hStream)
{
	return with_array(NULL, 0, srcArray, srcOffset, dstHost, true, ByteCount, hStream, true);
}

CUresult sim_cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
			     size_t ByteCount)
{
	if (!dstArray || !srcArray)
		return CUDA_ERROR_INVALID_HANDLE;
	return with_array(dstArray, dstOffset, srcArray, srcOffset, NULL, false, ByteCount, NULL,
			  false);
}

#if CUDA_VERSION >= 12080
static CUresult batch(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
		      const CUmemcpyAttributes *attrs, const size_t *attrsIdxs, size_t numAttrs,
		      size_t *failIdx, CUstream hStream)
{
	if (failIdx)
		*failIdx = SIZE_MAX;
	if (!dsts || !srcs || !sizes || !count || !attrs || !attrsIdxs || !numAttrs ||
	    numAttrs > count || attrsIdxs[0])
		return CUDA_ERROR_INVALID_VALUE;
	if (!hStream || hStream == CU_STREAM_LEGACY) /* documented: not for the default stream */
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		CUresult error = linear(PTR(dsts[i]), PTR(srcs[i]), sizes[i], 0, hStream, true);
		if (error) {
			if (failIdx)
				*failIdx = i;
			return error;
		}
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
				CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
				size_t *failIdx, CUstream hStream)
{
	return batch(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, hStream);
}

static CUresult operand(const CUmemcpy3DOperand *from, CUmemorytype *type, CUdeviceptr *device,
			CUarray *array, size_t *pitch, size_t *rows, size_t at[3], size_t height)
{
	if (from->type == CU_MEMCPY_OPERAND_TYPE_POINTER) {
		*type = CU_MEMORYTYPE_UNIFIED;
		*device = from->op.ptr.ptr;
		*pitch = from->op.ptr.rowLength;
		*rows = from->op.ptr.layerHeight ? from->op.ptr.layerHeight : height;
		return CUDA_SUCCESS;
	}
	if (from->type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
		return CUDA_ERROR_INVALID_VALUE;
	*type = CU_MEMORYTYPE_ARRAY;
	*array = from->op.array.array;
	at[0] = from->op.array.offset.x;
	at[1] = from->op.array.offset.y;
	at[2] = from->op.array.offset.z;
	return CUDA_SUCCESS;
}

static CUresult one_box(const CUDA_MEMCPY3D_BATCH_OP *op, CUstream hStream)
{
	size_t src[3] = {0}, dst[3] = {0}, element = 1;
	CUDA_MEMCPY3D p = {.Height = op->extent.height, .Depth = op->extent.depth};
	CUresult error = operand(&op->src, &p.srcMemoryType, &p.srcDevice, &p.srcArray, &p.srcPitch,
				 &p.srcHeight, src, p.Height);
	if (!error)
		error = operand(&op->dst, &p.dstMemoryType, &p.dstDevice, &p.dstArray, &p.dstPitch,
				&p.dstHeight, dst, p.Height);
	if (error)
		return error;
	struct array *array = sim_object_get(p.srcArray ? p.srcArray : p.dstArray, OBJ_ARRAY);
	if (array)
		element = array->element;
	p.WidthInBytes = op->extent.width * element;
	p.srcPitch *= element;
	p.dstPitch *= element;
	p.srcXInBytes = src[0] * element, p.srcY = src[1], p.srcZ = src[2];
	p.dstXInBytes = dst[0] * element, p.dstY = dst[1], p.dstZ = dst[2];
	return boxed(&p, hStream, true);
}

static CUresult batch_3d(size_t numOps, const CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
			 unsigned long long flags, CUstream hStream)
{
	if (failIdx)
		*failIdx = SIZE_MAX;
	if (!numOps || !opList || flags || !hStream || hStream == CU_STREAM_LEGACY)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < numOps; i++) {
		CUresult error = one_box(&opList[i], hStream);
		if (error) {
			if (failIdx)
				*failIdx = i;
			return error;
		}
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx,
				  unsigned long long flags, CUstream hStream)
{
	return batch_3d(numOps, opList, failIdx, flags, hStream);
}
#endif

#if CUDA_VERSION >= 13000
CUresult sim_cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
				   size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
				   size_t numAttrs, CUstream hStream)
{
	return batch(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, NULL, hStream);
}

CUresult sim_cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList,
				     unsigned long long flags, CUstream hStream)
{
	return batch_3d(numOps, opList, NULL, flags, hStream);
}
#endif
