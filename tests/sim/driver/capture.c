/* Stream capture: operations of a capturing stream become nodes; events carry a capture to others.
 */
#include "graph.h"
#include <stdlib.h>
#include <string.h>

static struct capture *captures; /* going on */
static uint64_t next_id = 1;

bool sim_capturing(const struct stream *stream)
{
	return stream->capture != NULL;
}

CUresult sim_capture_check(struct stream *stream)
{
	return stream->capture && stream->capture->status == CU_STREAM_CAPTURE_STATUS_INVALIDATED
		   ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
		   : CUDA_SUCCESS;
}

void sim_capture_invalidate(struct stream *stream)
{
	if (stream->capture)
		stream->capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

/* The legacy stream waits for blocking streams, which a capture cannot express. */
static CUresult implicit(struct stream *stream, bool invalidate)
{
	CUresult result = CUDA_SUCCESS;
	if (!stream->legacy || !stream->obj.ctx->ncaptures)
		return result;
	for (struct capture *c = captures; c; c = c->next)
		for (struct stream *s = c->streams; s; s = s->capture_next)
			if (s->obj.ctx == stream->obj.ctx && s->blocking) {
				if (invalidate)
					c->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
				result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
			}
	return result;
}

CUresult sim_capture_implicit(struct stream *stream)
{
	return implicit(stream, true);
}

CUresult sim_capture_unsafe(void)
{
	struct sim_thread *self = sim_thread();
	CUresult result = CUDA_SUCCESS;
	if (self->capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
		return result;
	for (struct capture *c = captures; c; c = c->next) {
		bool mine = c->thread == self && c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
		bool global = c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
			      self->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
		if (!mine && !global)
			continue;
		c->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
		result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	return result;
}

void sim_capture_drop(struct capture *capture)
{
	if (capture && !--capture->refs)
		free(capture);
}

static int set_deps(struct node ***to, size_t *nto, struct node *const *deps, size_t ndeps)
{
	struct node **copy = malloc((ndeps + 1) * sizeof *copy);
	if (!copy)
		return -1;
	if (ndeps)
		memcpy(copy, deps, ndeps * sizeof *copy);
	free(*to);
	*to = copy;
	*nto = ndeps;
	return 0;
}

static void join(struct stream *stream, struct capture *capture)
{
	stream->capture = capture;
	stream->capture_next = capture->streams;
	capture->streams = stream;
	capture->refs++;
	stream->obj.ctx->ncaptures++;
}

void sim_capture_leave(struct stream *stream)
{
	struct capture *capture = stream->capture;
	if (!capture)
		return;
	struct stream **link = &capture->streams;
	while (*link && *link != stream)
		link = &(*link)->capture_next;
	if (*link)
		*link = stream->capture_next;
	stream->capture = NULL;
	stream->obj.ctx->ncaptures--;
	free(stream->deps);
	stream->deps = NULL;
	stream->ndeps = 0;
	if (stream == capture->origin) {
		capture->origin = NULL;
		struct capture **all = &captures;
		while (*all && *all != capture)
			all = &(*all)->next;
		if (*all)
			*all = capture->next;
		while (capture->streams)
			sim_capture_leave(capture->streams);
		if (capture->own_graph && capture->graph)
			sim_graph_destroy(capture->graph);
		capture->graph = NULL;
	}
	sim_capture_drop(capture);
}

CUresult sim_capture_begin(struct stream *stream, CUstreamCaptureMode mode, struct graph *graph,
			   struct node *const *deps, size_t ndeps)
{
	if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->legacy)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	struct capture *c = calloc(1, sizeof *c);
	SIM_ALLOC_CHECK(c);
	c->graph = graph ? graph : sim_graph_new();
	if (!c->graph || set_deps(&stream->deps, &stream->ndeps, deps, ndeps)) {
		free(c);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	c->own_graph = !graph;
	c->id = next_id++;
	c->mode = mode;
	c->origin = stream;
	c->status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	c->thread = sim_thread();
	c->next = captures;
	captures = c;
	join(stream, c);
	return CUDA_SUCCESS;
}

struct node *sim_capture_add(struct stream *stream, CUgraphNodeType type)
{
	struct node *node = sim_node_add(stream->capture->graph, type, stream->deps, stream->ndeps);
	if (node && set_deps(&stream->deps, &stream->ndeps, &node, 1))
		return NULL;
	return node;
}

CUresult sim_capture_event(struct stream *stream, struct event *event)
{
	if (set_deps(&event->deps, &event->ndeps, stream->deps, stream->ndeps))
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->capture = stream->capture;
	event->capture->refs++;
	return CUDA_SUCCESS;
}

static CUresult merge_deps(struct stream *stream, const struct event *event)
{
	size_t n = stream->ndeps;
	struct node **all = malloc((n + event->ndeps + 1) * sizeof *all);
	SIM_ALLOC_CHECK(all);
	if (n)
		memcpy(all, stream->deps, n * sizeof *all);
	for (size_t i = 0; i < event->ndeps; i++) {
		size_t j = 0;
		while (j < n && all[j] != event->deps[i])
			j++;
		if (j == n)
			all[n++] = event->deps[i];
	}
	free(stream->deps);
	stream->deps = all;
	stream->ndeps = n;
	return CUDA_SUCCESS;
}

CUresult sim_capture_wait(struct stream *stream, struct event *event)
{
	struct capture *capture = event->capture;
	if (!capture) {
		if (!event->mark)
			return CUDA_SUCCESS;
		sim_capture_invalidate(stream);
		return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	}
	if (!capture->origin)
		return CUDA_ERROR_CAPTURED_EVENT;
	if (capture->status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (stream->legacy) {
		capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	if (!stream->capture) {
		if (set_deps(&stream->deps, &stream->ndeps, event->deps, event->ndeps))
			return CUDA_ERROR_OUT_OF_MEMORY;
		join(stream, capture);
		return CUDA_SUCCESS;
	}
	if (stream->capture != capture) {
		capture->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
		sim_capture_invalidate(stream);
		return CUDA_ERROR_STREAM_CAPTURE_MERGE;
	}
	return merge_deps(stream, event);
}

/* Nodes that must run before those of `stream` can end: marked. */
static void mark_before(struct node **deps, size_t ndeps, struct node **stack)
{
	size_t depth = 0;
	for (size_t i = 0; i < ndeps; i++)
		if (!deps[i]->visited) {
			deps[i]->visited = true;
			stack[depth++] = deps[i];
		}
	while (depth) {
		struct node *node = stack[--depth];
		for (size_t i = 0; i < node->ndeps; i++)
			if (!node->deps[i]->visited) {
				node->deps[i]->visited = true;
				stack[depth++] = node->deps[i];
			}
	}
}

static CUresult joined(struct capture *c)
{
	struct node **stack = malloc((c->graph->nnodes + 1) * sizeof *stack);
	SIM_ALLOC_CHECK(stack);
	for (struct node *n = c->graph->nodes; n; n = n->next)
		n->visited = false;
	mark_before(c->origin->deps, c->origin->ndeps, stack);
	free(stack);
	for (struct stream *s = c->streams; s; s = s->capture_next)
		for (size_t i = 0; i < s->ndeps; i++)
			if (!s->deps[i]->visited)
				return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
	CUresult error;
	struct stream *s = sim_stream_get(hStream, &error);
	if (!s)
		return error;
	struct capture *c = s->capture;
	if (!c)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (c->origin != s) {
		c->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	}
	if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED && c->thread != sim_thread())
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	error = c->status == CU_STREAM_CAPTURE_STATUS_ACTIVE
		    ? joined(c)
		    : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	struct graph *graph = c->graph;
	bool own = c->own_graph && graph; /* not one that the capture was added to */
	if (!error)
		c->graph = NULL; /* the caller's from here on */
	sim_capture_leave(s);
	if (phGraph)
		*phGraph = error ? NULL : (CUgraph)graph;
	else if (!error && own)
		sim_graph_destroy(graph);
	return error;
}

CUresult sim_cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
	CUresult error;
	struct stream *s = sim_stream_get(hStream, &error);
	return s ? sim_capture_begin(s, mode, NULL, NULL, 0) : error;
}

CUresult sim_cuStreamBeginCapture(CUstream hStream)
{
	return sim_cuStreamBeginCapture_v2(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult sim_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	struct sim_thread *self = sim_thread();
	if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	CUstreamCaptureMode old = self->capture_mode;
	self->capture_mode = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
	CUresult error;
	struct stream *s = sim_stream_get(hStream, &error);
	if (!s || !captureStatus)
		return s ? CUDA_ERROR_INVALID_VALUE : error;
	/* It only asks: the capture goes on. */
	error = implicit(s, false);
	if (!error)
		*captureStatus = s->capture ? s->capture->status : CU_STREAM_CAPTURE_STATUS_NONE;
	return error;
}
