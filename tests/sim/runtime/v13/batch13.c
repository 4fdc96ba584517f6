/* Batches of copies, prefetches and discards.  Descriptions agree member by member with the
 * driver's. */
#include "tests/sim/runtime/runtime.h"

_Static_assert(sizeof(struct cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes), "same layout");
_Static_assert(sizeof(struct cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP), "same layout");

RT_API_PTSZ(cudaMemcpyBatchAsync, (void *const *dsts, const void *const *srcs, const size_t *sizes,
	    size_t count, struct cudaMemcpyAttributes *attrs, size_t *indices, size_t n,
	    cudaStream_t stream), (dsts, srcs, sizes, count, attrs, indices, n, stream))
{
	return d->cuMemcpyBatchAsync((CUdeviceptr *)(uintptr_t)dsts, (CUdeviceptr *)(uintptr_t)srcs,
			(size_t *)(uintptr_t)sizes, count, (CUmemcpyAttributes *)attrs, indices, n,
			stream);
}

RT_API_PTSZ(cudaMemcpy3DBatchAsync, (size_t n, struct cudaMemcpy3DBatchOp *ops,
	    unsigned long long flags, cudaStream_t stream), (n, ops, flags, stream))
{
	return d->cuMemcpy3DBatchAsync(n, (CUDA_MEMCPY3D_BATCH_OP *)ops, flags, stream);
}

RT_API_PTSZ(cudaMemPrefetchBatchAsync, (void **ptrs, size_t *sizes, size_t count,
	    struct cudaMemLocation *locations, size_t *indices, size_t n, unsigned long long flags,
	    cudaStream_t stream), (ptrs, sizes, count, locations, indices, n, flags, stream))
{
	return d->cuMemPrefetchBatchAsync((CUdeviceptr *)ptrs, sizes, count,
			(CUmemLocation *)locations, indices, n, flags, stream);
}

RT_API_PTSZ(cudaMemDiscardBatchAsync, (void **ptrs, size_t *sizes, size_t count,
	    unsigned long long flags, cudaStream_t stream), (ptrs, sizes, count, flags, stream))
{
	return d->cuMemDiscardBatchAsync((CUdeviceptr *)ptrs, sizes, count, flags, stream);
}

RT_API_PTSZ(cudaMemDiscardAndPrefetchBatchAsync, (void **ptrs, size_t *sizes, size_t count,
	    struct cudaMemLocation *locations, size_t *indices, size_t n, unsigned long long flags,
	    cudaStream_t stream), (ptrs, sizes, count, locations, indices, n, flags, stream))
{
	return d->cuMemDiscardAndPrefetchBatchAsync((CUdeviceptr *)ptrs, sizes, count,
			(CUmemLocation *)locations, indices, n, flags, stream);
}
