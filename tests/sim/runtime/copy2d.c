/* Two-dimensional copies and copies from and to arrays. */
#include "tests/sim/runtime/runtime.h"

/* One side of a copy: linear memory with a pitch, or an array with an offset in bytes and rows. */
struct side {
	CUarray array;
	const void *ptr;
	size_t pitch, x, y;
};

static CUmemorytype type_of(const struct side *side, int kind, bool is_source)
{
	if (side->array)
		return CU_MEMORYTYPE_ARRAY;
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

static int copy2d(const struct rt_driver *d, struct side dst, struct side src, size_t width,
		  size_t height, int kind, bool async, cudaStream_t stream)
{
	CUDA_MEMCPY2D c;

	if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (!width || !height)
		return 0;
	if ((!dst.array && dst.pitch < width) || (!src.array && src.pitch < width))
		return cudaErrorInvalidPitchValue;
	c = (CUDA_MEMCPY2D){
		.srcXInBytes = src.x, .srcY = src.y, .srcArray = src.array, .srcPitch = src.pitch,
		.srcMemoryType = type_of(&src, kind, true), .srcHost = src.ptr,
		.srcDevice = RT_PTR(src.ptr),
		.dstXInBytes = dst.x, .dstY = dst.y, .dstArray = dst.array, .dstPitch = dst.pitch,
		.dstMemoryType = type_of(&dst, kind, false), .dstHost = (void *)(uintptr_t)dst.ptr,
		.dstDevice = RT_PTR(dst.ptr),
		.WidthInBytes = width, .Height = height,
	};
	return async ? d->cuMemcpy2DAsync(&c, stream) : d->cuMemcpy2DUnaligned(&c);
}

/* A run of bytes in an array wraps at the end of a row: at most a head, whole rows and a tail. */
static int copy_rows(const struct rt_driver *d, struct side dst, struct side src, size_t n,
		     int kind, bool async, cudaStream_t stream)
{
	struct side *array = dst.array ? &dst : &src, *linear = dst.array ? &src : &dst;
	CUDA_ARRAY3D_DESCRIPTOR info;
	size_t element, row, width, height;
	int r = rt_array_info(d, array->array, &info, &element);

	row = r ? 0 : info.Width * element;
	if (!r && array->x >= row)
		r = n ? cudaErrorInvalidValue : 0;
	while (!r && n) {
		width = array->x || n < row ? row - array->x : row;
		width = width < n ? width : n;
		height = width == row ? n / row : 1;
		linear->pitch = width;
		r = copy2d(d, dst, src, width, height, kind, async, stream);
		n -= width * height;
		linear->ptr = (const char *)linear->ptr + width * height;
		array->x = 0;
		array->y += height;
	}
	return r;
}

static struct side linear(const void *ptr, size_t pitch)
{
	return (struct side){ .ptr = ptr, .pitch = pitch };
}

static struct side array(cudaArray_const_t a, size_t x, size_t y)
{
	return (struct side){ .array = (CUarray)(uintptr_t)a, .x = x, .y = y };
}

RT_API_PTDS(cudaMemcpy2D,
	    (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
	     enum cudaMemcpyKind kind),
	    (dst, dpitch, src, spitch, width, height, kind))
{
	return copy2d(d, linear(dst, dpitch), linear(src, spitch), width, height, kind, false,
		      NULL);
}

RT_API_PTSZ(cudaMemcpy2DAsync, (void *dst, size_t dpitch, const void *src, size_t spitch,
	    size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
	    (dst, dpitch, src, spitch, width, height, kind, stream))
{
	return copy2d(d, linear(dst, dpitch), linear(src, spitch), width, height, kind, true,
		      stream);
}

RT_API_PTDS(cudaMemcpy2DToArray, (cudaArray_t dst, size_t x, size_t y, const void *src,
	    size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind),
	    (dst, x, y, src, spitch, width, height, kind))
{
	if (!dst)
		return cudaErrorInvalidResourceHandle;
	return copy2d(d, array(dst, x, y), linear(src, spitch), width, height, kind, false, NULL);
}

RT_API_PTSZ(cudaMemcpy2DToArrayAsync, (cudaArray_t dst, size_t x, size_t y, const void *src,
	    size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind,
	    cudaStream_t stream), (dst, x, y, src, spitch, width, height, kind, stream))
{
	if (!dst)
		return cudaErrorInvalidResourceHandle;
	return copy2d(d, array(dst, x, y), linear(src, spitch), width, height, kind, true, stream);
}

RT_API_PTDS(cudaMemcpy2DFromArray, (void *dst, size_t dpitch, cudaArray_const_t src, size_t x,
	    size_t y, size_t width, size_t height, enum cudaMemcpyKind kind),
	    (dst, dpitch, src, x, y, width, height, kind))
{
	if (!src)
		return cudaErrorInvalidResourceHandle;
	return copy2d(d, linear(dst, dpitch), array(src, x, y), width, height, kind, false, NULL);
}

RT_API_PTSZ(cudaMemcpy2DFromArrayAsync, (void *dst, size_t dpitch, cudaArray_const_t src, size_t x,
	    size_t y, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
	    (dst, dpitch, src, x, y, width, height, kind, stream))
{
	if (!src)
		return cudaErrorInvalidResourceHandle;
	return copy2d(d, linear(dst, dpitch), array(src, x, y), width, height, kind, true, stream);
}

RT_API_PTDS(cudaMemcpy2DArrayToArray, (cudaArray_t dst, size_t dx, size_t dy, cudaArray_const_t src,
	    size_t sx, size_t sy, size_t width, size_t height, enum cudaMemcpyKind kind),
	    (dst, dx, dy, src, sx, sy, width, height, kind))
{
	if (!dst || !src)
		return cudaErrorInvalidResourceHandle;
	return copy2d(d, array(dst, dx, dy), array(src, sx, sy), width, height, kind, false, NULL);
}

/* --- the older one-dimensional forms
 * --------------------------------------------------------------- */

RT_API_PTDS(cudaMemcpyToArray, (cudaArray_t dst, size_t x, size_t y, const void *src, size_t n,
	    enum cudaMemcpyKind kind), (dst, x, y, src, n, kind))
{
	return copy_rows(d, array(dst, x, y), linear(src, 0), n, kind, false, NULL);
}

RT_API_PTSZ(cudaMemcpyToArrayAsync, (cudaArray_t dst, size_t x, size_t y, const void *src, size_t n,
	    enum cudaMemcpyKind kind, cudaStream_t stream), (dst, x, y, src, n, kind, stream))
{
	return copy_rows(d, array(dst, x, y), linear(src, 0), n, kind, true, stream);
}

RT_API_PTDS(cudaMemcpyFromArray, (void *dst, cudaArray_const_t src, size_t x, size_t y, size_t n,
	    enum cudaMemcpyKind kind), (dst, src, x, y, n, kind))
{
	return copy_rows(d, linear(dst, 0), array(src, x, y), n, kind, false, NULL);
}

RT_API_PTSZ(cudaMemcpyFromArrayAsync, (void *dst, cudaArray_const_t src, size_t x, size_t y,
	    size_t n, enum cudaMemcpyKind kind, cudaStream_t stream),
	    (dst, src, x, y, n, kind, stream))
{
	return copy_rows(d, linear(dst, 0), array(src, x, y), n, kind, true, stream);
}

/* Both sides wrap, so only runs within one row of both arrays are one copy. */
RT_API_PTDS(cudaMemcpyArrayToArray, (cudaArray_t dst, size_t dx, size_t dy, cudaArray_const_t src,
	    size_t sx, size_t sy, size_t n, enum cudaMemcpyKind kind),
	    (dst, dx, dy, src, sx, sy, n, kind))
{
	CUDA_ARRAY3D_DESCRIPTOR a, b;
	size_t element, to, from, part;
	int r = rt_array_info(d, (CUarray)dst, &a, &element);

	if (r)
		return r;
	to = a.Width * element;
	r = rt_array_info(d, (CUarray)(uintptr_t)src, &b, &element);
	from = r ? 0 : b.Width * element;
	if (!r && (dx >= to || sx >= from))
		r = n ? cudaErrorInvalidValue : 0;
	while (!r && n) {
		part = to - dx < from - sx ? to - dx : from - sx;
		part = part < n ? part : n;
		r = copy2d(d, array(dst, dx, dy), array(src, sx, sy), part, 1, kind, false, NULL);
		n -= part;
		dy += (dx + part) / to;
		dx = (dx + part) % to;
		sy += (sx + part) / from;
		sx = (sx + part) % from;
	}
	return r;
}
