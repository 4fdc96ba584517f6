/* Streams: life, properties, order. */
#include "graph.h"
#include <stdlib.h>
#include <string.h>

#define LOWEST 0
#define HIGHEST (-5)

static uint64_t next_id = 1; /* 0 is no stream; legacy and per-thread streams take part too */

static int clamp(int priority)
{
	return priority > LOWEST ? LOWEST : priority < HIGHEST ? HIGHEST : priority;
}

struct stream *sim_stream_new(struct context *ctx, unsigned flags, int priority)
{
	struct stream *s = sim_object_new(OBJ_STREAM, sizeof *s, ctx);
	if (!s)
		return NULL;
	s->id = next_id++;
	s->flags = flags;
	s->priority = clamp(priority);
	s->blocking = !(flags & CU_STREAM_NON_BLOCKING);
	s->last = &s->head;
	s->refs = 1;
	ctx->refs++;
	pthread_cond_init(&s->wake, NULL);
	return s;
}

void sim_stream_unref(struct stream *stream)
{
	if (--stream->refs)
		return;
	struct context *ctx = stream->obj.ctx;
	pthread_cond_destroy(&stream->wake);
	free(stream->deps);
	free(stream);
	if (!--ctx->refs)
		free(ctx);
}

static struct stream *thread_stream(struct context *ctx)
{
	struct sim_thread *self = sim_thread();
	for (unsigned i = 0; i < self->nstreams; i++)
		if (self->streams[i].ctx == ctx && !self->streams[i].stream->gone)
			return self->streams[i].stream;
	struct thread_stream *grown = realloc(self->streams, (self->nstreams + 1) * sizeof *grown);
	if (!grown)
		return NULL;
	self->streams = grown;
	struct stream *stream = sim_stream_new(ctx, 0, 0);
	if (!stream)
		return NULL;
	stream->per_thread = true;
	stream->refs++; /* the thread's own: it outlives the context's */
	self->streams[self->nstreams++] = (struct thread_stream){ctx, stream};
	return stream;
}

struct stream *sim_stream_get(CUstream handle, CUresult *error)
{
	struct sim_thread *self = sim_thread();
	if (!handle)
		handle = self->per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
	if (handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
		struct context *ctx;
		*error = sim_current_check(&ctx);
		if (*error)
			return NULL;
		struct stream *s = handle == CU_STREAM_LEGACY ? ctx->legacy : thread_stream(ctx);
		*error = s ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
		return s;
	}
	struct stream *s = sim_object_get(handle, OBJ_STREAM);
	*error = s ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
	return s;
}

/* The handle dies at once, the timeline when its last operation is done. */
void sim_stream_destroy(struct stream *stream)
{
	sim_capture_leave(stream);
	sim_object_forget(stream);
	stream->gone = true;
	sim_stream_unref(stream);
}

CUresult sim_stream_create(CUstream *out, struct context *ctx, unsigned flags, int priority)
{
	struct stream *s = sim_stream_new(ctx, flags, priority);
	SIM_ALLOC_CHECK(s);
	struct sim_activity work;
	sim_fill_activity(&work, SIM_STREAM, s);
	work.address = (uintptr_t)s;
	work.memory_op = 1;
	work.value = flags;
	work.start_ns = work.end_ns = sim_now();
	sim_report(&work);
	*out = (CUstream)s;
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!phStream || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING))
		return CUDA_ERROR_INVALID_VALUE;
	return sim_stream_create(phStream, ctx, flags, priority);
}

CUresult sim_cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
	return sim_cuStreamCreateWithPriority(phStream, Flags, 0);
}

CUresult sim_cuStreamDestroy_v2(CUstream hStream)
{
	struct stream *s = sim_object_get(hStream, OBJ_STREAM);
	if (!s || s->legacy || s->per_thread)
		return CUDA_ERROR_INVALID_HANDLE;
	if (s->capture)
		sim_capture_invalidate(s);
	sim_stream_destroy(s);
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamDestroy(CUstream hStream)
{
	return sim_cuStreamDestroy_v2(hStream);
}

/* A stream that may be asked how far it is: not one that captures, which the question ends. */
static struct stream *askable(CUstream handle, CUresult *error)
{
	struct stream *s = sim_stream_get(handle, error);
	if (!s)
		return NULL;
	if (sim_capturing(s)) {
		sim_capture_invalidate(s);
		*error = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
		return NULL;
	}
	*error = sim_capture_implicit(s);
	return *error ? NULL : s;
}

CUresult sim_cuStreamSynchronize(CUstream hStream)
{
	CUresult error;
	struct stream *s = askable(hStream, &error);
	if (!s)
		return error;
	uint64_t start = sim_now();
	s->refs++;
	error = sim_stream_wait(s);
	sim_report_sync(3, s, start, 0);
	sim_stream_unref(s);
	return error;
}

CUresult sim_cuStreamQuery(CUstream hStream)
{
	CUresult error;
	struct stream *s = askable(hStream, &error);
	if (!s)
		return error;
	uint64_t tail = s->tail, now = sim_now();
	if (s->legacy && s->obj.ctx->blocking_tail > tail)
		tail = s->obj.ctx->blocking_tail;
	return s->head || tail > now ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult sim_cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
	CUresult error;
	struct stream *s = sim_stream_get(hStream, &error);
	struct event *event = sim_event_get(hEvent);
	if (!s)
		return error;
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (Flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
		return CUDA_ERROR_INVALID_VALUE;
	if (event->capture || sim_capturing(s))
		return sim_capture_wait(s, event);
	error = sim_capture_implicit(s);
	if (error || !event->mark)
		return error;
	struct op *op = sim_op_new(0);
	SIM_ALLOC_CHECK(op);
	sim_op_wait(op, event->mark);
	sim_submit(s, op);
	sim_report_sync(2, s, sim_now(), event->id);
	return CUDA_SUCCESS;
}

/* What a stream says of itself: one value, through an out-parameter. */
#define PROPERTY(function, type, value)                                                            \
	CUresult sim_##function(CUstream hStream, type *out)                                       \
	{                                                                                          \
		CUresult error;                                                                    \
		const struct stream *s = sim_stream_get(hStream, &error);                          \
		if (!s || !out)                                                                    \
			return s ? CUDA_ERROR_INVALID_VALUE : error;                               \
		*out = value;                                                                      \
		return CUDA_SUCCESS;                                                               \
	}

PROPERTY(cuStreamGetPriority, int, s->priority)
PROPERTY(cuStreamGetFlags, unsigned int, s->flags)
PROPERTY(cuStreamGetId, unsigned long long, s->id)
PROPERTY(cuStreamGetCtx, CUcontext, (CUcontext)s->obj.ctx)
#if CUDA_VERSION >= 12050
PROPERTY(cuStreamGetGreenCtx, CUgreenCtx, (CUgreenCtx)s->obj.ctx->green)

/* Of a green context's stream the green context, of another the context. */
CUresult sim_cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
	CUgreenCtx green = NULL;
	CUresult error = sim_cuStreamGetGreenCtx(hStream, &green);
	if (!error && green && pGreenCtx) {
		*pGreenCtx = green;
		if (pCtx)
			*pCtx = NULL;
		return CUDA_SUCCESS;
	}
	if (!error)
		error = sim_cuStreamGetCtx(hStream, pCtx);
	if (!error && pGreenCtx)
		*pGreenCtx = NULL;
	return error;
}
#endif
#if CUDA_VERSION >= 12080
PROPERTY(cuStreamGetDevice, CUdevice, s->obj.ctx->device)
#endif

static bool stream_attribute(CUstreamAttrID attr)
{
	return attr == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW ||
	       attr == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY ||
	       attr == CU_LAUNCH_ATTRIBUTE_PRIORITY ||
	       attr == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ||
	       attr == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
}

CUresult sim_cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue *value)
{
	CUresult error;
	const struct stream *s = sim_stream_get(hStream, &error);
	if (!s)
		return error;
	if (!value || !stream_attribute(attr))
		return CUDA_ERROR_INVALID_VALUE;
	*value = s->attrs[attr];
	if (attr == CU_LAUNCH_ATTRIBUTE_PRIORITY)
		value->priority = s->priority;
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
				  const CUstreamAttrValue *param)
{
	CUresult error;
	struct stream *s = sim_stream_get(hStream, &error);
	if (!s)
		return error;
	if (!param || !stream_attribute(attr))
		return CUDA_ERROR_INVALID_VALUE;
	if (attr == CU_LAUNCH_ATTRIBUTE_PRIORITY)
		s->priority = clamp(param->priority);
	s->attrs[attr] = *param;
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamCopyAttributes(CUstream dstStream, CUstream srcStream)
{
	CUresult error;
	struct stream *dst = sim_stream_get(dstStream, &error);
	struct stream *src = dst ? sim_stream_get(srcStream, &error) : NULL;
	if (!src)
		return error;
	memcpy(dst->attrs, src->attrs, sizeof dst->attrs);
	return CUDA_SUCCESS;
}
