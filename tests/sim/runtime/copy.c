/* One-dimensional copies and sets. */
#include "tests/sim/runtime/runtime.h"

static int copy(const struct rt_driver *d, void *dst, const void *src, size_t n, int kind)
{
	if (!n)
		return 0;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return d->cuMemcpyHtoD(RT_PTR(dst), src, n);
	case cudaMemcpyDeviceToHost:
		return d->cuMemcpyDtoH(dst, RT_PTR(src), n);
	case cudaMemcpyDeviceToDevice:
		return d->cuMemcpyDtoD(RT_PTR(dst), RT_PTR(src), n);
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return d->cuMemcpy(RT_PTR(dst), RT_PTR(src), n);
	default:
		return cudaErrorInvalidMemcpyDirection;
	}
}

static int copy_async(const struct rt_driver *d, void *dst, const void *src, size_t n, int kind,
		      cudaStream_t stream)
{
	if (!n)
		return 0;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return d->cuMemcpyHtoDAsync(RT_PTR(dst), src, n, stream);
	case cudaMemcpyDeviceToHost:
		return d->cuMemcpyDtoHAsync(dst, RT_PTR(src), n, stream);
	case cudaMemcpyDeviceToDevice:
		return d->cuMemcpyDtoDAsync(RT_PTR(dst), RT_PTR(src), n, stream);
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return d->cuMemcpyAsync(RT_PTR(dst), RT_PTR(src), n, stream);
	default:
		return cudaErrorInvalidMemcpyDirection;
	}
}

RT_API_PTDS(cudaMemcpy, (void *dst, const void *src, size_t n, enum cudaMemcpyKind kind),
	    (dst, src, n, kind))
{
	return copy(d, dst, src, n, kind);
}

RT_API_PTSZ(cudaMemcpyAsync, (void *dst, const void *src, size_t n, enum cudaMemcpyKind kind,
	    cudaStream_t stream), (dst, src, n, kind, stream))
{
	return copy_async(d, dst, src, n, kind, stream);
}

/* --- symbols: a kind names which side is the device ----------------------------------------------
 */

static int symbol_range(const struct rt_driver *d, const void *symbol, size_t n, size_t offset,
			void **ptr)
{
	CUdeviceptr address;
	size_t size;
	int r = rt_symbol(d, symbol, &address, &size);

	if (r)
		return r;
	if (offset > size || n > size - offset)
		return cudaErrorInvalidValue;
	*ptr = (void *)(uintptr_t)(address + offset);
	return 0;
}

RT_API_PTDS(cudaMemcpyToSymbol, (const void *symbol, const void *src, size_t n, size_t offset,
	    enum cudaMemcpyKind kind), (symbol, src, n, offset, kind))
{
	void *dst;
	int r = symbol_range(d, symbol, n, offset, &dst);

	if (!r && (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost))
		r = cudaErrorInvalidMemcpyDirection;
	return r ? r : copy(d, dst, src, n, kind);
}

RT_API_PTDS(cudaMemcpyFromSymbol, (void *dst, const void *symbol, size_t n, size_t offset,
	    enum cudaMemcpyKind kind), (dst, symbol, n, offset, kind))
{
	void *src;
	int r = symbol_range(d, symbol, n, offset, &src);

	if (!r && (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost))
		r = cudaErrorInvalidMemcpyDirection;
	return r ? r : copy(d, dst, src, n, kind);
}

RT_API_PTSZ(cudaMemcpyToSymbolAsync, (const void *symbol, const void *src, size_t n, size_t offset,
	    enum cudaMemcpyKind kind, cudaStream_t stream), (symbol, src, n, offset, kind, stream))
{
	void *dst;
	int r = symbol_range(d, symbol, n, offset, &dst);

	if (!r && (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost))
		r = cudaErrorInvalidMemcpyDirection;
	return r ? r : copy_async(d, dst, src, n, kind, stream);
}

RT_API_PTSZ(cudaMemcpyFromSymbolAsync, (void *dst, const void *symbol, size_t n, size_t offset,
	    enum cudaMemcpyKind kind, cudaStream_t stream), (dst, symbol, n, offset, kind, stream))
{
	void *src;
	int r = symbol_range(d, symbol, n, offset, &src);

	if (!r && (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost))
		r = cudaErrorInvalidMemcpyDirection;
	return r ? r : copy_async(d, dst, src, n, kind, stream);
}

/* --- peers ---------------------------------------------------------------------------------------
 */

RT_API(cudaMemcpyPeer, (void *dst, int to, const void *src, int from, size_t n),
       (dst, to, src, from, n))
{
	CUcontext a, b;
	int r = rt_primary(to, &a);

	if (!r)
		r = rt_primary(from, &b);
	if (r || !n)
		return r;
	return d->cuMemcpyPeer(RT_PTR(dst), a, RT_PTR(src), b, n);
}

RT_API(cudaMemcpyPeerAsync, (void *dst, int to, const void *src, int from, size_t n,
       cudaStream_t stream), (dst, to, src, from, n, stream))
{
	CUcontext a, b;
	int r = rt_primary(to, &a);

	if (!r)
		r = rt_primary(from, &b);
	if (r || !n)
		return r;
	return d->cuMemcpyPeerAsync(RT_PTR(dst), a, RT_PTR(src), b, n, stream);
}

/* --- sets ----------------------------------------------------------------------------------------
 */

RT_API_PTDS(cudaMemset, (void *ptr, int value, size_t n), (ptr, value, n))
{
	return n ? (int)d->cuMemsetD8(RT_PTR(ptr), (unsigned char)value, n) : 0;
}

RT_API_PTSZ(cudaMemsetAsync, (void *ptr, int value, size_t n, cudaStream_t stream),
	    (ptr, value, n, stream))
{
	return n ? (int)d->cuMemsetD8Async(RT_PTR(ptr), (unsigned char)value, n, stream) : 0;
}

RT_API_PTDS(cudaMemset2D, (void *ptr, size_t pitch, int value, size_t width, size_t height),
	    (ptr, pitch, value, width, height))
{
	if (!width || !height)
		return 0;
	return d->cuMemsetD2D8(RT_PTR(ptr), pitch, (unsigned char)value, width, height);
}

RT_API_PTSZ(cudaMemset2DAsync, (void *ptr, size_t pitch, int value, size_t width, size_t height,
	    cudaStream_t stream), (ptr, pitch, value, width, height, stream))
{
	if (!width || !height)
		return 0;
	return d->cuMemsetD2D8Async(RT_PTR(ptr), pitch, (unsigned char)value, width, height,
				    stream);
}

/* A 3-D set is one 2-D set when its slices touch, else one a slice. */
RT_API_PTDS(cudaMemset3D, (struct cudaPitchedPtr p, int value, struct cudaExtent extent),
	    (p, value, extent))
{
	size_t rows = extent.height == p.ysize ? extent.height * extent.depth : extent.height;
	size_t slices = extent.height == p.ysize ? 1 : extent.depth;
	int r = 0;

	if (!extent.width || !extent.height || !extent.depth)
		return 0;
	for (size_t z = 0; z < slices && !r; z++)
		r = d->cuMemsetD2D8(RT_PTR(p.ptr) + z * p.pitch * p.ysize, p.pitch,
				    (unsigned char)value, extent.width, rows);
	return r;
}

RT_API_PTSZ(cudaMemset3DAsync, (struct cudaPitchedPtr p, int value, struct cudaExtent extent,
	    cudaStream_t stream), (p, value, extent, stream))
{
	size_t rows = extent.height == p.ysize ? extent.height * extent.depth : extent.height;
	size_t slices = extent.height == p.ysize ? 1 : extent.depth;
	int r = 0;

	if (!extent.width || !extent.height || !extent.depth)
		return 0;
	for (size_t z = 0; z < slices && !r; z++)
		r = d->cuMemsetD2D8Async(RT_PTR(p.ptr) + z * p.pitch * p.ysize, p.pitch,
					 (unsigned char)value, extent.width, rows, stream);
	return r;
}
