/* What a context says of itself, and waiting for all of its work. */
#include "sim.h"
#include <stdlib.h>

#define CURRENT(ctx)                                                                               \
	struct context *ctx;                                                                       \
	do {                                                                                       \
		CUresult error_ = sim_current_check(&ctx);                                         \
		if (error_)                                                                        \
			return error_;                                                             \
	} while (0)

static CUresult synchronise(struct context *ctx)
{
	if (ctx->ncaptures)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	uint64_t start = sim_now();
	ctx->refs++;
	sim_context_wait(ctx);
	if (!--ctx->refs) {
		free(ctx);
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	}
	sim_report_sync(4, NULL, start, 0);
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxSynchronize(void)
{
	CURRENT(ctx);
	return synchronise(ctx);
}

#if CUDA_VERSION >= 13000
CUresult sim_cuCtxSynchronize_v2(CUcontext hCtx)
{
	if (!hCtx)
		return sim_cuCtxSynchronize();
	struct context *ctx = sim_context_get(hCtx);
	return ctx ? synchronise(ctx) : CUDA_ERROR_INVALID_CONTEXT;
}
#endif

/* What a context says of itself: one value, through an out-parameter. */
#define GIVE(out, value)                                                                           \
	do {                                                                                       \
		if (!(out))                                                                        \
			return CUDA_ERROR_INVALID_VALUE;                                           \
		*(out) = (value);                                                                  \
		return CUDA_SUCCESS;                                                               \
	} while (0)
#define OF_CURRENT(function, type, value)                                                          \
	CUresult sim_##function(type *out)                                                         \
	{                                                                                          \
		CURRENT(ctx);                                                                      \
		GIVE(out, value);                                                                  \
	}
/* NULL: of the current one. */
#define OF_CONTEXT(function, order, value)                                                         \
	CUresult sim_##function order                                                              \
	{                                                                                          \
		const struct context *ctx = hCtx ? sim_context_get(hCtx) : sim_current();          \
		if (!ctx)                                                                          \
			return CUDA_ERROR_INVALID_CONTEXT;                                         \
		GIVE(out, value);                                                                  \
	}

OF_CURRENT(cuCtxGetDevice, CUdevice, ctx->device)
OF_CURRENT(cuCtxGetFlags, unsigned int, ctx->flags)
OF_CURRENT(cuCtxGetCacheConfig, CUfunc_cache, ctx->cache)
OF_CURRENT(cuCtxGetSharedMemConfig, CUsharedconfig, ctx->shared)
OF_CONTEXT(cuCtxGetId, (CUcontext hCtx, unsigned long long *out), ctx->id)
OF_CONTEXT(cuCtxGetApiVersion, (CUcontext hCtx, unsigned int *out), ctx->api_version)
#if CUDA_VERSION >= 13000
OF_CONTEXT(cuCtxGetDevice_v2, (CUdevice * out, CUcontext hCtx), ctx->device)
#endif

#define SET_OF_CURRENT(function, type, member)                                                     \
	CUresult sim_##function(type value)                                                        \
	{                                                                                          \
		CURRENT(ctx);                                                                      \
		ctx->member = value;                                                               \
		return CUDA_SUCCESS;                                                               \
	}

SET_OF_CURRENT(cuCtxSetFlags, unsigned int, flags)
SET_OF_CURRENT(cuCtxSetCacheConfig, CUfunc_cache, cache)
SET_OF_CURRENT(cuCtxSetSharedMemConfig, CUsharedconfig, shared)

/* Contexts are not partitioned: each has all multiprocessors. */
CUresult sim_cuCtxGetExecAffinity(CUexecAffinityParam *pExecAffinity, CUexecAffinityType type)
{
	CURRENT(ctx);
	if (!pExecAffinity)
		return CUDA_ERROR_INVALID_VALUE;
	(void)type;
	return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

CUresult sim_cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
	CURRENT(ctx);
	if (leastPriority)
		*leastPriority = 0;
	if (greatestPriority)
		*greatestPriority = -5;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
	CURRENT(ctx);
	if (!pvalue)
		return CUDA_ERROR_INVALID_VALUE;
	if ((unsigned)limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	*pvalue = ctx->limits[limit];
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxSetLimit(CUlimit limit, size_t value)
{
	CURRENT(ctx);
	if ((unsigned)limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	ctx->limits[limit] = value;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxResetPersistingL2Cache(void)
{
	CURRENT(ctx);
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
	CURRENT(ctx);
	struct context *peer = sim_context_get(peerContext);
	if (!peer)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (Flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (peer->device == ctx->device)
		return CUDA_ERROR_INVALID_DEVICE;
	if (ctx->peers & (1u << peer->device))
		return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	ctx->peers |= 1u << peer->device;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxDisablePeerAccess(CUcontext peerContext)
{
	CURRENT(ctx);
	struct context *peer = sim_context_get(peerContext);
	if (!peer)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!(ctx->peers & (1u << peer->device)))
		return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
	ctx->peers &= ~(1u << peer->device);
	return CUDA_SUCCESS;
}

CUresult sim_cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
					CUflushGPUDirectRDMAWritesScope scope)
{
	(void)target, (void)scope;
	CURRENT(ctx);
	return CUDA_SUCCESS;
}

CUresult sim_cuProfilerStart(void)
{
	CURRENT(ctx);
	return CUDA_SUCCESS;
}

CUresult sim_cuProfilerStop(void)
{
	CURRENT(ctx);
	return CUDA_SUCCESS;
}
