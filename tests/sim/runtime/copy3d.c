/* Three-dimensional, peer and batch copies. */
#include "tests/sim/runtime/runtime.h"

static CUmemorytype type_of(int kind, bool is_source)
{
	switch (kind) {
	case cudaMemcpyHostToHost:
		return CU_MEMORYTYPE_HOST;
	case cudaMemcpyHostToDevice:
		return is_source ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
	case cudaMemcpyDeviceToHost:
		return is_source ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
	case cudaMemcpyDeviceToDevice:
		return CU_MEMORYTYPE_DEVICE;
	default:
		return CU_MEMORYTYPE_UNIFIED;
	}
}

/* Where an array takes part, extents and its offsets count elements; the driver wants bytes. */
int rt_copy3d(const struct rt_driver *d, const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *to)
{
	CUDA_ARRAY3D_DESCRIPTOR info;
	size_t src_element = 1, dst_element = 1;
	int r = 0;

	if (!from || (from->srcArray && from->srcPtr.ptr) || (from->dstArray && from->dstPtr.ptr))
		return cudaErrorInvalidValue;
	if ((int)from->kind < cudaMemcpyHostToHost || (int)from->kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (from->srcArray)
		r = rt_array_info(d, (CUarray)from->srcArray, &info, &src_element);
	if (!r && from->dstArray)
		r = rt_array_info(d, (CUarray)from->dstArray, &info, &dst_element);
	if (r)
		return r;
	*to = (CUDA_MEMCPY3D){
		.srcXInBytes = from->srcPos.x * src_element, .srcY = from->srcPos.y,
		.srcZ = from->srcPos.z, .srcHost = from->srcPtr.ptr,
		.srcDevice = RT_PTR(from->srcPtr.ptr), .srcArray = (CUarray)from->srcArray,
		.srcPitch = from->srcPtr.pitch, .srcHeight = from->srcPtr.ysize,
		.srcMemoryType = from->srcArray ? CU_MEMORYTYPE_ARRAY : type_of(from->kind, true),
		.dstXInBytes = from->dstPos.x * dst_element, .dstY = from->dstPos.y,
		.dstZ = from->dstPos.z, .dstHost = from->dstPtr.ptr,
		.dstDevice = RT_PTR(from->dstPtr.ptr), .dstArray = (CUarray)from->dstArray,
		.dstPitch = from->dstPtr.pitch, .dstHeight = from->dstPtr.ysize,
		.dstMemoryType = from->dstArray ? CU_MEMORYTYPE_ARRAY : type_of(from->kind, false),
		.WidthInBytes = from->extent.width *
				(src_element > dst_element ? src_element : dst_element),
		.Height = from->extent.height, .Depth = from->extent.depth,
	};
	return 0;
}

void rt_copy1d(CUDA_MEMCPY3D *to, CUdeviceptr dst, CUdeviceptr src, size_t bytes, int kind)
{
	*to = (CUDA_MEMCPY3D){
		.srcHost = (void *)(uintptr_t)src,
		.srcDevice = src,
		.srcPitch = bytes,
		.srcHeight = 1,
		.srcMemoryType = type_of(kind, true),
		.dstHost = (void *)(uintptr_t)dst,
		.dstDevice = dst,
		.dstPitch = bytes,
		.dstHeight = 1,
		.dstMemoryType = type_of(kind, false),
		.WidthInBytes = bytes,
		.Height = 1,
		.Depth = 1,
	};
}

static int kind_of(CUmemorytype src, CUmemorytype dst)
{
	if (src == CU_MEMORYTYPE_UNIFIED || dst == CU_MEMORYTYPE_UNIFIED)
		return cudaMemcpyDefault;
	if (src == CU_MEMORYTYPE_HOST)
		return dst == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
	return dst == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

/* The way back, for the parameters of a graph node. */
int rt_copy3d_back(const struct rt_driver *d, const CUDA_MEMCPY3D *from,
		   struct cudaMemcpy3DParms *to)
{
	CUDA_ARRAY3D_DESCRIPTOR info;
	size_t src_element = 1, dst_element = 1;
	bool src_array = from->srcMemoryType == CU_MEMORYTYPE_ARRAY;
	bool dst_array = from->dstMemoryType == CU_MEMORYTYPE_ARRAY;
	int r = 0;

	memset(to, 0, sizeof(*to));
	if (src_array)
		r = rt_array_info(d, from->srcArray, &info, &src_element);
	if (!r && dst_array)
		r = rt_array_info(d, from->dstArray, &info, &dst_element);
	if (r)
		return r;
	if (src_array)
		to->srcArray = (cudaArray_t)from->srcArray;
	else
		to->srcPtr =
		    (struct cudaPitchedPtr){ .pitch = from->srcPitch,
					     .ysize = from->srcHeight,
					     .xsize = from->WidthInBytes,
					     .ptr = from->srcMemoryType == CU_MEMORYTYPE_HOST
							? (void *)(uintptr_t)from->srcHost
							: (void *)(uintptr_t)from->srcDevice };
	if (dst_array)
		to->dstArray = (cudaArray_t)from->dstArray;
	else
		to->dstPtr = (struct cudaPitchedPtr){ .pitch = from->dstPitch,
			.ysize = from->dstHeight, .xsize = from->WidthInBytes,
			.ptr = from->dstMemoryType == CU_MEMORYTYPE_HOST ?
			       from->dstHost : (void *)(uintptr_t)from->dstDevice };
	to->srcPos = (struct cudaPos){ from->srcXInBytes / src_element, from->srcY, from->srcZ };
	to->dstPos = (struct cudaPos){ from->dstXInBytes / dst_element, from->dstY, from->dstZ };
	to->extent =
	    (struct cudaExtent){ from->WidthInBytes /
				     (src_element > dst_element ? src_element : dst_element),
				 from->Height, from->Depth };
	to->kind = (enum cudaMemcpyKind)kind_of(from->srcMemoryType, from->dstMemoryType);
	return 0;
}

static bool empty(const CUDA_MEMCPY3D *c)
{
	return !c->WidthInBytes || !c->Height || !c->Depth;
}

RT_API_PTDS(cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), (p))
{
	CUDA_MEMCPY3D c;
	int r = rt_copy3d(d, p, &c);

	return r || empty(&c) ? r : (int)d->cuMemcpy3D(&c);
}

RT_API_PTSZ(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t stream),
	    (p, stream))
{
	CUDA_MEMCPY3D c;
	int r = rt_copy3d(d, p, &c);

	return r || empty(&c) ? r : (int)d->cuMemcpy3DAsync(&c, stream);
}

/* --- peers
 * ------------------------------------------------------------------------------------------ */

static int copy3d_peer(const struct rt_driver *d, const struct cudaMemcpy3DPeerParms *p,
		       CUDA_MEMCPY3D_PEER *to)
{
	struct cudaMemcpy3DParms same;
	CUDA_MEMCPY3D c;
	CUcontext src, dst;
	int r;

	if (!p)
		return cudaErrorInvalidValue;
	same = (struct cudaMemcpy3DParms){
		.srcArray = p->srcArray, .srcPos = p->srcPos, .srcPtr = p->srcPtr,
		.dstArray = p->dstArray, .dstPos = p->dstPos, .dstPtr = p->dstPtr,
		.extent = p->extent, .kind = cudaMemcpyDeviceToDevice,
	};
	r = rt_copy3d(d, &same, &c);
	if (!r)
		r = rt_primary(p->srcDevice, &src);
	if (!r)
		r = rt_primary(p->dstDevice, &dst);
	if (r)
		return r;
	*to = (CUDA_MEMCPY3D_PEER){
		.srcXInBytes = c.srcXInBytes, .srcY = c.srcY, .srcZ = c.srcZ,
		.srcMemoryType = c.srcMemoryType, .srcDevice = c.srcDevice, .srcArray = c.srcArray,
		.srcContext = src, .srcPitch = c.srcPitch, .srcHeight = c.srcHeight,
		.dstXInBytes = c.dstXInBytes, .dstY = c.dstY, .dstZ = c.dstZ,
		.dstMemoryType = c.dstMemoryType, .dstDevice = c.dstDevice, .dstArray = c.dstArray,
		.dstContext = dst, .dstPitch = c.dstPitch, .dstHeight = c.dstHeight,
		.WidthInBytes = c.WidthInBytes, .Height = c.Height, .Depth = c.Depth,
	};
	return 0;
}

RT_API_PTDS(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *p), (p))
{
	CUDA_MEMCPY3D_PEER c;
	int r = copy3d_peer(d, p, &c);

	return r ? r : (int)d->cuMemcpy3DPeer(&c);
}

RT_API_PTSZ(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream),
	    (p, stream))
{
	CUDA_MEMCPY3D_PEER c;
	int r = copy3d_peer(d, p, &c);

	return r ? r : (int)d->cuMemcpy3DPeerAsync(&c, stream);
}
