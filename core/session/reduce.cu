/* The device's form of the reduction: the passes of reduce.h, a part a block.  Built to PTX, which is
 * embedded in the library as text; launched by cupti/reduce.c. */
#include "core/session/reduce.h"
#include "core/session/reduce_device.h"

/* Parts of the tensors that are being reduced; a slot is one tensor's. */
extern "C" {
__device__ struct ts_parts tstrace_stats_parts[TS_REDUCE_SLOTS];
}

/* Where the n-th element lies. */
__device__ static const unsigned char *element(const struct ts_view &view, uint64_t n)
{
	const unsigned char *at = view.data;
	uint32_t d = view.dims;

	if (!d)
		return at;
	while (--d > 0) {
		at += n % view.sizes[d] * view.strides[d];
		n /= view.sizes[d];
	}
	return at + n * view.strides[0];
}

__device__ static uint64_t first(void)
{
	return (uint64_t)blockIdx.x * TS_REDUCE_THREADS + threadIdx.x;
}

__device__ static void merge(struct ts_range *into, const struct ts_range *other)
{
	ts_range_merge(into, other);
}

__device__ static void merge(struct ts_spread *into, const struct ts_spread *other)
{
	ts_spread_merge(into, other);
}

/* All threads' results in results[0], for every thread to read. */
template <class T> __device__ static void merge_all(T *results, const T &own)
{
	results[threadIdx.x] = own;
	for (unsigned half = TS_REDUCE_THREADS / 2; half; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			merge(&results[threadIdx.x], &results[threadIdx.x + half]);
	}
	__syncthreads();
}

extern "C" __global__ void tstrace_stats_range(const __grid_constant__ struct ts_view view,
					       struct ts_parts *parts)
{
	__shared__ struct ts_range results[TS_REDUCE_THREADS];
	struct ts_range own = ts_range_none();

	for (uint64_t n = first(); n < view.count; n += (uint64_t)gridDim.x * TS_REDUCE_THREADS)
		ts_range_add(&own, ts_decode(element(view, n), view.dtype));
	merge_all(results, own);
	if (threadIdx.x == 0)
		parts->range[blockIdx.x] = results[0];
}

extern "C" __global__ void tstrace_stats_spread(const __grid_constant__ struct ts_view view,
						struct ts_parts *parts)
{
	__shared__ struct ts_range ranges[TS_REDUCE_THREADS];
	__shared__ struct ts_spread results[TS_REDUCE_THREADS];
	struct ts_range range = ts_range_none();
	struct ts_spread own = ts_spread_none();
	struct ts_center center;

	for (unsigned part = threadIdx.x; part < gridDim.x; part += TS_REDUCE_THREADS)
		ts_range_merge(&range, &parts->range[part]);
	merge_all(ranges, range);
	center = ts_center_of(&ranges[0]);
	for (uint64_t n = first(); n < view.count; n += (uint64_t)gridDim.x * TS_REDUCE_THREADS)
		ts_spread_add(&own, ts_decode(element(view, n), view.dtype), &center);
	merge_all(results, own);
	if (threadIdx.x == 0)
		parts->spread[blockIdx.x] = results[0];
}
