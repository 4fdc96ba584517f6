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

CUresult sim_cuCtxGetDevice_v2(CUdevice *device, CUcontext hCtx)
{
	struct context *ctx = hCtx ? sim_context_get(hCtx) : sim_current();
	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = ctx->device;
	return CUDA_SUCCESS;
}
#endif

CUresult sim_cuCtxGetDevice(CUdevice *device)
{
	CURRENT(ctx);
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = ctx->device;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetFlags(unsigned int *flags)
{
	CURRENT(ctx);
	if (!flags)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = ctx->flags;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxSetFlags(unsigned int flags)
{
	CURRENT(ctx);
	ctx->flags = flags;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetId(CUcontext hCtx, unsigned long long *ctxId)
{
	struct context *ctx = hCtx ? sim_context_get(hCtx) : sim_current();
	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!ctxId)
		return CUDA_ERROR_INVALID_VALUE;
	*ctxId = ctx->id;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetApiVersion(CUcontext hCtx, unsigned int *version)
{
	struct context *ctx = hCtx ? sim_context_get(hCtx) : sim_current();
	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = ctx->api_version;
	return CUDA_SUCCESS;
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

CUresult sim_cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
	CURRENT(ctx);
	if (!pconfig)
		return CUDA_ERROR_INVALID_VALUE;
	*pconfig = ctx->cache;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxSetCacheConfig(CUfunc_cache config)
{
	CURRENT(ctx);
	ctx->cache = config;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetSharedMemConfig(CUsharedconfig *pConfig)
{
	CURRENT(ctx);
	if (!pConfig)
		return CUDA_ERROR_INVALID_VALUE;
	*pConfig = ctx->shared;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxSetSharedMemConfig(CUsharedconfig config)
{
	CURRENT(ctx);
	ctx->shared = config;
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
