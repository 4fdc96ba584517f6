/* Streams, capture and events. */
#include "tests/sim/runtime/runtime.h"

RT_API(cudaStreamCreate, (cudaStream_t *stream), (stream))
{
	return stream ? (int)d->cuStreamCreate(stream, CU_STREAM_DEFAULT)
		      : (int)cudaErrorInvalidValue;
}

RT_API(cudaStreamCreateWithFlags, (cudaStream_t *stream, unsigned int flags), (stream, flags))
{
	return stream ? (int)d->cuStreamCreate(stream, flags) : (int)cudaErrorInvalidValue;
}

RT_API(cudaStreamCreateWithPriority, (cudaStream_t *stream, unsigned int flags, int priority),
       (stream, flags, priority))
{
	if (!stream)
		return cudaErrorInvalidValue;
	return d->cuStreamCreateWithPriority(stream, flags, priority);
}

RT_API(cudaStreamDestroy, (cudaStream_t stream), (stream))
{
	/* The default streams belong to the runtime. */
	if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
		return cudaErrorInvalidResourceHandle;
	return d->cuStreamDestroy(stream);
}

RT_API_PTSZ(cudaStreamGetPriority, (cudaStream_t stream, int *priority), (stream, priority))
{
	return d->cuStreamGetPriority(stream, priority);
}

RT_API_PTSZ(cudaStreamGetFlags, (cudaStream_t stream, unsigned int *flags), (stream, flags))
{
	return d->cuStreamGetFlags(stream, flags);
}

RT_API_PTSZ(cudaStreamGetId, (cudaStream_t stream, unsigned long long *id), (stream, id))
{
	return d->cuStreamGetId(stream, id);
}

RT_API_PTSZ(cudaStreamGetDevice, (cudaStream_t stream, int *device), (stream, device))
{
	return d->cuStreamGetDevice(stream, device);
}

RT_API_PTSZ(cudaStreamSynchronize, (cudaStream_t stream), (stream))
{
	return d->cuStreamSynchronize(stream);
}

RT_API_PTSZ(cudaStreamQuery, (cudaStream_t stream), (stream))
{
	return d->cuStreamQuery(stream);
}

RT_API_PTSZ(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
	    (stream, event, flags))
{
	return d->cuStreamWaitEvent(stream, event, flags);
}

RT_API_PTSZ(cudaStreamAddCallback, (cudaStream_t stream, cudaStreamCallback_t callback, void *user,
	    unsigned int flags), (stream, callback, user, flags))
{
	/* The two callback types differ only in the name of the error's enum. */
	return d->cuStreamAddCallback(stream, (CUstreamCallback)(void *)callback, user, flags);
}

RT_API_PTSZ(cudaStreamAttachMemAsync, (cudaStream_t stream, void *ptr, size_t length,
	    unsigned int flags), (stream, ptr, length, flags))
{
	return d->cuStreamAttachMemAsync(stream, RT_PTR(ptr), length, flags);
}

RT_API_PTSZ(cudaStreamCopyAttributes, (cudaStream_t dst, cudaStream_t src), (dst, src))
{
	return d->cuStreamCopyAttributes(dst, src);
}

RT_API_PTSZ(cudaStreamGetAttribute, (cudaStream_t stream, cudaLaunchAttributeID id,
	    cudaLaunchAttributeValue *value), (stream, id, value))
{
	return d->cuStreamGetAttribute(stream, (CUstreamAttrID)id, (CUstreamAttrValue *)value);
}

RT_API_PTSZ(cudaStreamSetAttribute, (cudaStream_t stream, cudaLaunchAttributeID id,
	    const cudaLaunchAttributeValue *value), (stream, id, value))
{
	return d->cuStreamSetAttribute(stream, (CUstreamAttrID)id,
				       (const CUstreamAttrValue *)value);
}

/* --- capture
 * --------------------------------------------------------------------------------------- */

RT_API_PTSZ(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
	    (stream, mode))
{
	return d->cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode);
}

RT_API_PTSZ(cudaStreamBeginCaptureToGraph, (cudaStream_t stream, cudaGraph_t graph,
	    const cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges, size_t n,
	    enum cudaStreamCaptureMode mode), (stream, graph, nodes, edges, n, mode))
{
	return d->cuStreamBeginCaptureToGraph(stream, graph, nodes, (const CUgraphEdgeData *)edges,
					      n, (CUstreamCaptureMode)mode);
}

RT_API_PTSZ(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph), (stream, graph))
{
	return d->cuStreamEndCapture(stream, graph);
}

RT_API_PTSZ(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
	    (stream, status))
{
	return d->cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)status);
}

RT_API_DRIVER(cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode *mode), (mode))
{
	return d->cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode);
}

/* --- events
 * ---------------------------------------------------------------------------------------- */

RT_API(cudaEventCreate, (cudaEvent_t *event), (event))
{
	return event ? (int)d->cuEventCreate(event, CU_EVENT_DEFAULT) : (int)cudaErrorInvalidValue;
}

RT_API(cudaEventCreateWithFlags, (cudaEvent_t *event, unsigned int flags), (event, flags))
{
	return event ? (int)d->cuEventCreate(event, flags) : (int)cudaErrorInvalidValue;
}

RT_API_PTSZ(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
{
	return d->cuEventRecord(event, stream);
}

RT_API_PTSZ(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned int flags),
	    (event, stream, flags))
{
	return d->cuEventRecordWithFlags(event, stream, flags);
}

RT_API(cudaEventQuery, (cudaEvent_t event), (event))
{
	return d->cuEventQuery(event);
}

RT_API(cudaEventSynchronize, (cudaEvent_t event), (event))
{
	return d->cuEventSynchronize(event);
}

RT_API(cudaEventDestroy, (cudaEvent_t event), (event))
{
	return d->cuEventDestroy(event);
}

RT_API(cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t end), (ms, start, end))
{
	return ms ? (int)d->cuEventElapsedTime(ms, start, end) : (int)cudaErrorInvalidValue;
}
