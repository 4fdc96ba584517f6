/* Events: marks on timelines that the host can see. */
#include "graph.h"
#include <stdlib.h>

static uint32_t next_id = 1;

struct event *sim_event_get(CUevent handle)
{
	return sim_object_get(handle, OBJ_EVENT);
}

CUresult sim_cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	const unsigned known =
	    CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
	if (!phEvent || (Flags & ~known) ||
	    ((Flags & CU_EVENT_INTERPROCESS) && !(Flags & CU_EVENT_DISABLE_TIMING)))
		return CUDA_ERROR_INVALID_VALUE;
	struct event *event = sim_object_new(OBJ_EVENT, sizeof *event, ctx);
	SIM_ALLOC_CHECK(event);
	event->flags = Flags;
	event->id = next_id++;
	*phEvent = (CUevent)event;
	return CUDA_SUCCESS;
}

static void forget_record(struct event *event)
{
	sim_mark_drop(event->mark);
	event->mark = NULL;
	free(event->deps);
	event->deps = NULL;
	event->ndeps = 0;
	sim_capture_drop(event->capture);
	event->capture = NULL;
}

CUresult sim_cuEventDestroy_v2(CUevent hEvent)
{
	struct event *event = sim_event_get(hEvent);
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	forget_record(event);
	sim_object_drop(event);
	return CUDA_SUCCESS;
}

CUresult sim_cuEventDestroy(CUevent hEvent)
{
	return sim_cuEventDestroy_v2(hEvent);
}

CUresult sim_cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
	CUresult error;
	struct stream *s = sim_stream_get(hStream, &error);
	struct event *event = sim_event_get(hEvent);
	if (!s)
		return error;
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
		return CUDA_ERROR_INVALID_VALUE;
	if (s->obj.ctx->device != event->obj.ctx->device)
		return CUDA_ERROR_INVALID_HANDLE;
	if (sim_capturing(s)) {
		if (flags & CU_EVENT_RECORD_EXTERNAL) {
			struct node *node = sim_capture_add(s, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
			SIM_ALLOC_CHECK(node);
			node->event = hEvent;
			return CUDA_SUCCESS;
		}
		error = sim_capture_check(s);
		if (error)
			return error;
		forget_record(event);
		return sim_capture_event(s, event);
	}
	error = sim_capture_implicit(s);
	if (error)
		return error;
	struct op *op = sim_op_new(0);
	SIM_ALLOC_CHECK(op);
	struct mark *mark = sim_op_mark(op);
	forget_record(event);
	event->mark = mark;
	event->stream_id = s->id;
	sim_fill_activity(&op->work, SIM_EVENT, s);
	op->work.sync_event_id = event->id;
	op->report = true;
	sim_submit(s, op);
	return CUDA_SUCCESS;
}

CUresult sim_cuEventRecord(CUevent hEvent, CUstream hStream)
{
	return sim_cuEventRecordWithFlags(hEvent, hStream, 0);
}

/* An event that the host may ask: not one of a capture, and not while a capture forbids it. */
static CUresult askable(CUevent handle, struct event **event)
{
	*event = sim_event_get(handle);
	if (!*event)
		return CUDA_ERROR_INVALID_HANDLE;
	return (*event)->capture ? CUDA_ERROR_CAPTURED_EVENT : sim_capture_unsafe();
}

CUresult sim_cuEventQuery(CUevent hEvent)
{
	struct event *event;
	CUresult error = askable(hEvent, &event);
	if (error)
		return error;
	return !event->mark || sim_mark_passed(event->mark) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult sim_cuEventSynchronize(CUevent hEvent)
{
	struct event *event;
	CUresult error = askable(hEvent, &event);
	if (error)
		return error;
	uint64_t start = sim_now();
	uint32_t id = event->id;
	if (event->mark)
		sim_mark_wait(event->mark);
	sim_report_sync(1, NULL, start, id);
	return CUDA_SUCCESS;
}

CUresult sim_cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
	struct event *start = sim_event_get(hStart), *end = sim_event_get(hEnd);
	if (!start || !end)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!pMilliseconds)
		return CUDA_ERROR_INVALID_VALUE;
	if (start->capture || end->capture)
		return CUDA_ERROR_CAPTURED_EVENT;
	if (!start->mark || !end->mark || ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) ||
	    start->obj.ctx->device != end->obj.ctx->device)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!sim_mark_passed(start->mark) || !sim_mark_passed(end->mark))
		return CUDA_ERROR_NOT_READY;
	*pMilliseconds = (float)((double)(int64_t)(end->mark->time - start->mark->time) * 1e-6);
	return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12080
CUresult sim_cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
	return sim_cuEventElapsedTime(pMilliseconds, hStart, hEnd);
}
#endif
