/* Host functions and callbacks: run by the stream's worker thread, in stream order. */
#include "graph.h"

static CUresult enqueue(CUstream handle, CUhostFn fn, CUstreamCallback callback, void *data)
{
	CUresult error;
	struct stream *stream = sim_stream_get(handle, &error);
	if (!stream)
		return error;
	if (!fn && !callback)
		return CUDA_ERROR_INVALID_VALUE;
	error = sim_capture_implicit(stream);
	if (error)
		return error;
	if (sim_capturing(stream)) {
		if (callback) {
			sim_capture_invalidate(stream);
			return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
		}
		error = sim_capture_check(stream);
		if (error)
			return error;
		struct node *node = sim_capture_add(stream, CU_GRAPH_NODE_TYPE_HOST);
		SIM_ALLOC_CHECK(node);
		node->host = (CUDA_HOST_NODE_PARAMS){.fn = fn, .userData = data};
		return CUDA_SUCCESS;
	}
	struct op *op = sim_op_new(0);
	SIM_ALLOC_CHECK(op);
	op->host = fn;
	op->callback = callback;
	op->host_data = data;
	sim_fill_activity(&op->work, SIM_HOST_NODE, stream);
	op->report = true;
	sim_submit(stream, op);
	return CUDA_SUCCESS;
}

CUresult sim_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
	return enqueue(hStream, fn, NULL, userData);
}

CUresult sim_cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData,
				 unsigned int flags)
{
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	return enqueue(hStream, NULL, callback, userData);
}
