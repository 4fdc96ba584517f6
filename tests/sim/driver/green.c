/* Green contexts: some of a device's multiprocessors as a context of its own.  Kernels take the
 * time they always take; what a program sees is the partition, the context and its streams. */
#include "sim.h"
#include <stdlib.h>
#include <string.h>

#if CUDA_VERSION >= 12040
#define SMS 64	    /* as CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT says */
#define PARTITION 8 /* multiprocessors that belong together */

struct description {
	struct object obj;
	unsigned sms;
};
struct green {
	struct object obj;
	struct context *ctx;
	unsigned sms;
	uint64_t id;
};
static uint64_t next_id = 1;

static CUresult describe(CUdevResource *resource, CUdevResourceType type, unsigned sms)
{
	if (!resource)
		return CUDA_ERROR_INVALID_VALUE;
	if (type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_RESOURCE_TYPE;
	memset(resource, 0, sizeof *resource);
	resource->type = CU_DEV_RESOURCE_TYPE_SM;
	resource->sm.smCount = sms;
#if CUDA_VERSION >= 13000
	resource->sm.minSmPartitionSize = PARTITION;
	resource->sm.smCoscheduledAlignment = PARTITION;
#endif
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetDevResource(CUdevice device, CUdevResource *resource,
				    CUdevResourceType type)
{
	return sim_device_check(device) ? CUDA_ERROR_INVALID_DEVICE : describe(resource, type, SMS);
}

CUresult sim_cuCtxGetDevResource(CUcontext hCtx, CUdevResource *resource, CUdevResourceType type)
{
	const struct context *ctx = sim_context_get(hCtx);
	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	return describe(resource, type, ctx->green ? ctx->green->sms : SMS);
}

CUresult sim_cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource *resource,
				      CUdevResourceType type)
{
	const struct green *green = sim_object_get(hCtx, OBJ_GREEN);
	return green ? describe(resource, type, green->sms) : CUDA_ERROR_INVALID_HANDLE;
}

/* Without an array the number of groups is wanted. */
CUresult sim_cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *nbGroups,
					 const CUdevResource *input, CUdevResource *remaining,
					 unsigned int useFlags, unsigned int minCount)
{
	const unsigned known = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
			       CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
	if (!nbGroups || !input || (useFlags & ~known))
		return CUDA_ERROR_INVALID_VALUE;
	if (input->type != CU_DEV_RESOURCE_TYPE_SM)
		return CUDA_ERROR_INVALID_RESOURCE_TYPE;
	unsigned all = input->sm.smCount;
	if (!minCount || minCount > all)
		return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
	unsigned each = (minCount + PARTITION - 1) / PARTITION * PARTITION, groups = all / each;
	if (result && *nbGroups < groups)
		groups = *nbGroups;
	for (unsigned i = 0; result && i < groups; i++)
		describe(&result[i], CU_DEV_RESOURCE_TYPE_SM, each);
	if (remaining) {
		describe(remaining, CU_DEV_RESOURCE_TYPE_SM, all - groups * each);
		if (!remaining->sm.smCount)
			remaining->type = CU_DEV_RESOURCE_TYPE_INVALID;
	}
	*nbGroups = groups;
	return CUDA_SUCCESS;
}

/* A description is never given back by the API. */
CUresult sim_cuDevResourceGenerateDesc(CUdevResourceDesc *phDesc, CUdevResource *resources,
				       unsigned int nbResources)
{
	unsigned sms = 0;
	if (!phDesc || !resources || !nbResources)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < nbResources; i++) {
		if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM)
			return CUDA_ERROR_INVALID_RESOURCE_TYPE;
		sms += resources[i].sm.smCount;
	}
	if (!sms || sms > SMS)
		return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
	struct description *d = sim_object_new(OBJ_GREEN_DESC, sizeof *d, NULL);
	SIM_ALLOC_CHECK(d);
	d->sms = sms;
	*phDesc = (CUdevResourceDesc)d;
	return CUDA_SUCCESS;
}

CUresult sim_cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev,
			      unsigned int flags)
{
	const struct description *d = sim_object_get(desc, OBJ_GREEN_DESC);
	CUcontext primary;
	if (!phCtx || !d || flags != CU_GREEN_CTX_DEFAULT_STREAM)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = sim_cuDevicePrimaryCtxRetain(&primary, dev);
	if (error)
		return error;
	struct green *green = sim_object_new(OBJ_GREEN, sizeof *green, NULL);
	struct context *ctx = green ? sim_context_new(dev, 0) : NULL;
	if (!ctx) {
		if (green)
			sim_object_drop(green);
		sim_cuDevicePrimaryCtxRelease_v2(dev);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	green->ctx = ctx;
	green->sms = d->sms;
	green->id = next_id++;
	ctx->green = green;
	*phCtx = (CUgreenCtx)green;
	return CUDA_SUCCESS;
}

/* Memory is the primary context's and outlives the share. */
static void give_memory_back(struct context *from, struct context *to)
{
	for (struct object *next, *o = from->objects; o; o = next) {
		next = o->next;
		if (o->type != OBJ_ALLOC)
			continue;
		sim_object_disown(o);
		sim_object_own(o, to);
	}
}

CUresult sim_cuGreenCtxDestroy(CUgreenCtx hCtx)
{
	struct green *green = sim_object_get(hCtx, OBJ_GREEN);
	if (!green)
		return CUDA_ERROR_INVALID_HANDLE;
	struct context *ctx = green->ctx;
	int device = ctx->device;
	sim_object_forget(green);
	if (sim_devices[device].primary && !sim_devices[device].primary->dead)
		give_memory_back(ctx, sim_devices[device].primary);
	ctx->green = NULL;
	sim_context_destroy(ctx);
	free(green);
	return sim_cuDevicePrimaryCtxRelease_v2(device);
}

CUresult sim_cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx)
{
	const struct green *green = sim_object_get(hCtx, OBJ_GREEN);
	if (!green || !pContext)
		return green ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*pContext = (CUcontext)green->ctx;
	return CUDA_SUCCESS;
}

/* An event after all that the context was given so far. */
CUresult sim_cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
	struct context *ctx = sim_context_get(hCtx);
	struct event *event = sim_event_get(hEvent);
	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!event || event->obj.ctx->device != ctx->device)
		return CUDA_ERROR_INVALID_HANDLE;
	if (ctx->ncaptures)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	for (struct object *o = ctx->objects; o; o = o->next) {
		struct stream *s = (struct stream *)o;
		if (o->type != OBJ_STREAM || s == ctx->legacy)
			continue;
		struct op *op = sim_op_new(0);
		SIM_ALLOC_CHECK(op);
		struct mark *mark = sim_stream_mark(s);
		if (mark)
			sim_op_wait(op, mark);
		sim_mark_drop(mark);
		sim_submit(ctx->legacy, op);
	}
	return sim_cuEventRecord(hEvent, (CUstream)ctx->legacy);
}

/* What the context is given from now on runs after the event. */
CUresult sim_cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
	struct context *ctx = sim_context_get(hCtx);
	struct event *event = sim_event_get(hEvent);
	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (ctx->ncaptures || event->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	for (struct object *o = ctx->objects; o && event->mark; o = o->next) {
		if (o->type != OBJ_STREAM)
			continue;
		struct op *op = sim_op_new(0);
		SIM_ALLOC_CHECK(op);
		sim_op_wait(op, event->mark);
		sim_submit((struct stream *)o, op);
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent)
{
	const struct green *green = sim_object_get(hCtx, OBJ_GREEN);
	return green ? sim_cuCtxRecordEvent((CUcontext)green->ctx, hEvent)
		     : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent)
{
	const struct green *green = sim_object_get(hCtx, OBJ_GREEN);
	return green ? sim_cuCtxWaitEvent((CUcontext)green->ctx, hEvent)
		     : CUDA_ERROR_INVALID_HANDLE;
}
#endif

#if CUDA_VERSION >= 12050
CUresult sim_cuGreenCtxStreamCreate(CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags,
				    int priority)
{
	const struct green *green = sim_object_get(greenCtx, OBJ_GREEN);
	if (!green)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!phStream || flags != CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_stream_create(phStream, green->ctx, flags, priority);
}
#endif

#if CUDA_VERSION >= 13000
CUresult sim_cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long *greenCtxId)
{
	const struct green *green = sim_object_get(greenCtx, OBJ_GREEN);
	if (!green || !greenCtxId)
		return green ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*greenCtxId = green->id;
	return CUDA_SUCCESS;
}
#endif
