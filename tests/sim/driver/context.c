/* Contexts: primary and created ones, and the stack of current contexts of each thread. */
#include "sim.h"
#include <stdlib.h>

static uint32_t next_id = 1;

struct context *sim_context_get(CUcontext handle)
{
	return sim_object_get(handle, OBJ_CONTEXT);
}

struct context *sim_current(void)
{
	struct sim_thread *self = sim_thread();
	return self->depth ? self->stack[self->depth - 1] : NULL;
}

CUresult sim_current_check(struct context **ctx)
{
	*ctx = sim_current();
	if (!*ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	return (*ctx)->dead ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

static void unref(struct context *ctx)
{
	if (!--ctx->refs)
		free(ctx);
}

static CUresult push(struct context *ctx)
{
	struct sim_thread *self = sim_thread();
	if (self->depth == self->capacity) {
		unsigned capacity = self->capacity ? self->capacity * 2 : 8;
		struct context **grown = realloc(self->stack, capacity * sizeof *grown);
		SIM_ALLOC_CHECK(grown);
		self->stack = grown;
		self->capacity = capacity;
	}
	self->stack[self->depth++] = ctx;
	ctx->refs++;
	return CUDA_SUCCESS;
}

static void pop(void)
{
	struct sim_thread *self = sim_thread();
	unref(self->stack[--self->depth]);
}

void sim_thread_stack_free(struct sim_thread *self)
{
	while (self->depth)
		unref(self->stack[--self->depth]);
	free(self->stack);
	for (unsigned i = 0; i < self->nstreams; i++) {
		struct stream *stream = self->streams[i].stream;
		if (!stream->gone)
			sim_stream_destroy(stream);
		sim_stream_unref(stream);
	}
	free(self->streams);
}

static void report(struct context *ctx)
{
	struct sim_activity work;
	sim_fill_activity(&work, SIM_CONTEXT, NULL);
	work.context_id = ctx->id;
	work.device_id = (uint32_t)ctx->device;
	work.address = (uintptr_t)ctx;
	work.memory_op = 1;
	work.start_ns = work.end_ns = sim_now();
	sim_report(&work);
}

static CUresult revive(struct context *ctx)
{
	ctx->dead = false;
	ctx->blocking_tail = 0;
	ctx->peers = 0;
	ctx->limits[CU_LIMIT_STACK_SIZE] = 1024;
	ctx->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 7 << 20;
	ctx->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
	ctx->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
	ctx->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
	ctx->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
	ctx->legacy = sim_stream_new(ctx, 0, 0);
	SIM_ALLOC_CHECK(ctx->legacy);
	ctx->legacy->legacy = true;
	report(ctx);
	return CUDA_SUCCESS;
}

static struct context *create(int device, unsigned flags, bool primary)
{
	struct context *ctx = sim_object_new(OBJ_CONTEXT, sizeof *ctx, NULL);
	if (!ctx)
		return NULL;
	ctx->id = next_id++;
	ctx->device = device;
	ctx->flags = flags;
	ctx->primary = primary;
	ctx->refs = 1;
	ctx->api_version = 3020;
	if (revive(ctx)) {
		sim_object_drop(ctx);
		return NULL;
	}
	return ctx;
}

/* Wait for its work, then everything it owns goes.  The lock is given back while waiting. */
static void kill_context(struct context *ctx)
{
	ctx->refs++;
	sim_context_wait(ctx);
	if (!ctx->dead) {
		ctx->dead = true;
		sim_objects_destroy(ctx);
	}
	unref(ctx);
}

struct context *sim_context_new(int device, unsigned flags)
{
	return create(device, flags, false);
}

void sim_context_destroy(struct context *ctx)
{
	report(ctx);
	kill_context(ctx);
	if (sim_context_get((CUcontext)ctx)) {
		sim_object_forget(ctx);
		unref(ctx);
	}
}

CUresult sim_cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	if (!pctx || (flags & ~(unsigned)CU_CTX_FLAGS_MASK))
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	struct context *ctx = create(dev, flags, false);
	SIM_ALLOC_CHECK(ctx);
	CUresult error = push(ctx);
	if (!error)
		*pctx = (CUcontext)ctx;
	return error;
}

CUresult sim_cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	return sim_cuCtxCreate_v2(pctx, flags, dev);
}

CUresult sim_cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
			    unsigned int flags, CUdevice dev)
{
	if (numParams < 0 || (numParams && !paramsArray))
		return CUDA_ERROR_INVALID_VALUE;
	if (numParams)
		return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
	return sim_cuCtxCreate_v2(pctx, flags, dev);
}

#if CUDA_VERSION >= 12050
CUresult sim_cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
			    CUdevice dev)
{
	if (ctxCreateParams &&
	    (ctxCreateParams->numExecAffinityParams || ctxCreateParams->cigParams))
		return CUDA_ERROR_NOT_SUPPORTED;
	return sim_cuCtxCreate_v2(pctx, flags, dev);
}
#endif

CUresult sim_cuCtxDestroy_v2(CUcontext hCtx)
{
	struct context *ctx = sim_context_get(hCtx);
	if (!ctx || ctx->primary || ctx->green)
		return CUDA_ERROR_INVALID_CONTEXT;
	ctx->refs++;
	if (sim_current() == ctx)
		pop();
	sim_context_destroy(ctx);
	unref(ctx);
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxDestroy(CUcontext ctx)
{
	return sim_cuCtxDestroy_v2(ctx);
}

/* Of before CUDA 4: the current context is used once more, and once less. */
CUresult sim_cuCtxAttach(CUcontext *pctx, unsigned int flags)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!pctx || flags)
		return CUDA_ERROR_INVALID_VALUE;
	ctx->attached++;
	*pctx = (CUcontext)ctx;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxDetach(CUcontext hCtx)
{
	struct context *ctx = sim_context_get(hCtx);
	if (!ctx || !ctx->attached)
		return sim_cuCtxDestroy_v2(hCtx);
	ctx->attached--;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxPushCurrent_v2(CUcontext hCtx)
{
	struct context *ctx = sim_context_get(hCtx);
	return ctx ? push(ctx) : hCtx ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuCtxPushCurrent(CUcontext ctx)
{
	return sim_cuCtxPushCurrent_v2(ctx);
}

CUresult sim_cuCtxPopCurrent_v2(CUcontext *pctx)
{
	struct context *ctx = sim_current();
	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (pctx)
		*pctx = (CUcontext)ctx;
	pop();
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxPopCurrent(CUcontext *pctx)
{
	return sim_cuCtxPopCurrent_v2(pctx);
}

CUresult sim_cuCtxSetCurrent(CUcontext hCtx)
{
	struct context *ctx = hCtx ? sim_context_get(hCtx) : NULL;
	if (hCtx && !ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (ctx && ctx == sim_current())
		return CUDA_SUCCESS;
	if (sim_thread()->depth)
		pop();
	return ctx ? push(ctx) : CUDA_SUCCESS;
}

CUresult sim_cuCtxGetCurrent(CUcontext *pctx)
{
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	*pctx = (CUcontext)sim_current();
	return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	struct device *device = &sim_devices[dev];
	if (!device->primary) {
		device->primary = create(dev, device->primary_flags, true);
		SIM_ALLOC_CHECK(device->primary);
	} else if (device->primary->dead) {
		CUresult error = revive(device->primary);
		if (error)
			return error;
	}
	device->primary_refs++;
	*pctx = (CUcontext)device->primary;
	return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	struct device *device = &sim_devices[dev];
	if (!device->primary_refs)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!--device->primary_refs) {
		report(device->primary);
		kill_context(device->primary);
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxRelease(CUdevice dev)
{
	return sim_cuDevicePrimaryCtxRelease_v2(dev);
}

/* The handle stays; who holds it must retain again to use it. */
CUresult sim_cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	struct device *device = &sim_devices[dev];
	if (device->primary && !device->primary->dead) {
		report(device->primary);
		kill_context(device->primary);
	}
	device->primary_refs = 0;
	return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxReset(CUdevice dev)
{
	return sim_cuDevicePrimaryCtxReset_v2(dev);
}

CUresult sim_cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
	if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	sim_devices[dev].primary_flags = flags;
	if (sim_devices[dev].primary)
		sim_devices[dev].primary->flags = flags;
	return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
	if (!sim_device_check(dev) && sim_devices[dev].primary && !sim_devices[dev].primary->dead)
		return CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
	return sim_cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

CUresult sim_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
	if (!flags || !active)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*flags = sim_devices[dev].primary_flags;
	*active = sim_devices[dev].primary && !sim_devices[dev].primary->dead;
	return CUDA_SUCCESS;
}
