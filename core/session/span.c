/* The program's own spans. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"
#include "core/record/record.h"
#include "core/session/event.h"
#include "core/session/past.h"
#include "core/session/session.h"
#include "core/session/span.h"

uint32_t ts_span_next_id(struct ts_api_thread *stack)
{
	if (ts_unlikely(!stack->ids)) {
		stack->next_id = ts_past_take(&stack->begun);
		stack->ids = TS_IDS_AT_ONCE;
	}
	stack->ids--;
	atomic_store_explicit(stack->begun, (uint8_t)(TS_IDS_AT_ONCE - stack->ids),
			      memory_order_relaxed);
	return stack->next_id++;
}

/* Its number; 0: it was lost.  Inlined: passing the spec through memory would cost a third of a
 * span's begin. */
static inline __attribute__((always_inline)) uint32_t
put_start(struct ts_ring *ring, struct ts_api_thread *stack, uint32_t parent,
	  const struct ts_span_spec *spec, uint64_t t)
{
	struct ts_rec_span_start *rec = ts_reserve(ring, 1);

	if (!rec)
		return 0;
	*rec = (struct ts_rec_span_start){
		.h = { .kind = TS_REC_SPAN_START,
		       .slots = 1,
		       .route = TS_ROUTE_API,
		       .device = TS_DEVICE_NONE,
		       .t = t,
		       .span = ts_span_next_id(stack) },
		.parent = parent,
		.name = spec->name,
		.span_kind = spec->kind,
		.step = spec->step,
		.measured = spec->measured,
		.source = spec->source,
		.note = spec->note,
	};
	ts_commit(ring, 1);
	return rec->h.span;
}

static inline __attribute__((always_inline)) void
put_frame(struct ts_api_thread *stack, const struct ts_span_spec *spec, uint32_t span,
	  uint64_t t)
{
	struct ts_thread *self = &ts_self;

	stack->frames[stack->depth++] = (struct ts_frame){
		.t = t,
		.span = span,
		.name = spec->name,
		.parent = self->span,
		.parent_step = self->step,
		.domain = spec->note.domain,
		.step = spec->step,
		.kind = spec->kind,
		.source = spec->source,
		.iteration = spec->iteration,
	};
	stack->iterations += spec->iteration;
	if (span)
		self->span = span;
	if (spec->step)
		self->step = spec->step;
}

/* No span was begun. */
static TS_COLD tstrace_span refuse(struct ts_api_thread *stack, const char *why)
{
	if (stack)
		snprintf(stack->error, sizeof(stack->error), "a span was not begun: %s", why);
	return 0;
}

/* Inlined for the same reason. */
static inline __attribute__((always_inline)) tstrace_span
begin(struct ts_ring *ring, const char *name, enum tstrace_span_kind kind, enum tstrace_step step,
      bool measured)
{
	struct ts_api_thread *stack = ts_api_thread();
	struct ts_span_spec spec = { .kind = (uint8_t)kind,
				     .step = (uint8_t)step,
				     .measured = measured };
	uint32_t span;
	uint64_t t;

	if (ts_unlikely(!stack || stack->depth == TS_MAX_DEPTH))
		return refuse(stack, "4096 are open on this thread");
	if (ts_unlikely((unsigned)kind > TSTRACE_MODULE || (unsigned)step > TSTRACE_OPTIMIZER))
		return refuse(stack, "no such kind or step");
	spec.name = ts_known_text(stack, name ? name : "(unnamed)");
	t = ts_clock_now();
	span = put_start(ring, stack, ts_self.span, &spec, t);
	if (ts_unlikely(!span))
		return refuse(stack, "no room was made in time (TSTRACE_BUFFER, TSTRACE_ON_FULL)");
	put_frame(stack, &spec, span, t);
	return span;
}

TS_EXPORT tstrace_span tstrace_begin_span(tstrace_session *session, const char *name,
					  enum tstrace_span_kind kind)
{
	struct ts_ring *ring = ts_enter_call(false);
	tstrace_span span = ring ? begin(ring, name, kind, TSTRACE_STEP_NONE, false) : 0;

	(void)session;
	ts_leave();
	return span;
}

TS_EXPORT tstrace_span tstrace_begin_step_span(tstrace_session *session, const char *name,
					       enum tstrace_step step, enum tstrace_span_kind kind)
{
	struct ts_ring *ring = ts_enter_call(false);
	tstrace_span span = ring ? begin(ring, name, kind, step, false) : 0;

	(void)session;
	ts_leave();
	return span;
}

TS_EXPORT tstrace_span tstrace_begin_measurement(tstrace_session *session, const char *name)
{
	struct ts_ring *ring = ts_enter_call(false);
	tstrace_span span = 0;

	(void)session;
	if (ring && ts_session_claim_measured()) {
		span = begin(ring, name, TSTRACE_FUNCTION, TSTRACE_STEP_NONE, true);
		if (!span)
			ts_session_disclaim_measured();
	} else if (ring) {
		refuse(ts_api_thread(), "a session has exactly one measured region");
		ts_say_once("a second measured region was begun; a session has exactly one");
	}
	ts_leave();
	return span;
}

/* A span that was not recorded has no end. */
static bool put_end(struct ts_ring *ring, struct ts_api_thread *stack, const struct ts_frame *frame,
		    uint64_t t, bool late)
{
	struct ts_rec_span_end *rec = frame->span && ring ? ts_reserve(ring, 1) : NULL;

	if (!rec)
		return !frame->span;
	*rec = (struct ts_rec_span_end){ .h = { .kind = TS_REC_SPAN_END,
						.slots = 1,
						.route = TS_ROUTE_API,
						.device = TS_DEVICE_NONE,
						.t = t,
						.span = frame->span },
					 .late = late };
	ts_commit(ring, 1);
	ts_past_put(stack, frame->span, frame->parent, frame->t, t);
	return true;
}

/* End the innermost one, and with it those that only waited for it. */
static bool end_top(struct ts_ring *ring, struct ts_api_thread *stack, uint64_t t)
{
	bool put = true, late = false;
	struct ts_frame *top;

	do {
		top = &stack->frames[--stack->depth];
		put = put_end(ring, stack, top, t, late) && put;
		stack->iterations -= top->iteration;
		ts_self.span = top->parent;
		ts_self.step = top->parent_step;
		late = true;
	} while (stack->depth && stack->frames[stack->depth - 1].popped);
	return put;
}

/* What was begun inside the window ends when it ends. */
struct ts_ring *ts_span_ring(void)
{
	int state = atomic_load_explicit(&ts_recording, memory_order_relaxed);

	return state == TS_REC_ON || state == TS_REC_OFF ? ts_self.ring : NULL;
}

static TS_COLD int refuse_end(tstrace_span span)
{
	struct ts_api_thread *stack = ts_api_thread();

	if (stack)
		snprintf(stack->error, sizeof(stack->error),
			 "span %llu is not the innermost open one of this thread",
			 (unsigned long long)span);
	return -EINVAL;
}

static int end(struct ts_ring *ring, tstrace_span span)
{
	struct ts_api_thread *stack = ts_self.spans;

	if (!span)
		return 0;
	if (ts_unlikely(!stack || !stack->depth || stack->frames[stack->depth - 1].span != span))
		return refuse_end(span);
	return end_top(ring, stack, ts_clock_now()) ? 0 : -ENOBUFS;
}

TS_EXPORT int tstrace_end_span(tstrace_session *session, tstrace_span span)
{
	struct ts_ring *ring = span ? ts_enter_call(false) : ts_enter();
	int result;

	(void)session;
	if (!ring && ts_self.depth == 1)
		ring = ts_span_ring();
	result = ring ? end(ring, span) : 0;
	ts_leave();
	return result;
}

TS_EXPORT int tstrace_record_completed_host_span(tstrace_session *session, const char *name,
						 enum tstrace_span_kind kind, uint64_t start_ns,
						 uint64_t duration_ns, tstrace_span *span)
{
	struct ts_rec_span_done *rec;
	struct ts_event event;
	uint64_t end;
	uint32_t text;
	int error;

	(void)session;
	if (span)
		*span = 0;
	if (!ts_event_begin(&event, "span_start"))
		return 0;
	if (!duration_ns || (unsigned)kind > TSTRACE_MODULE)
		return ts_event_refuse(&event, -EINVAL, "a completed span needs a duration_ns of "
							"more than 0, and one of the three kinds");
	if (__builtin_add_overflow(start_ns, duration_ns, &end) || end > ts_event_now(&event))
		return ts_event_refuse(&event, -ERANGE, "a completed span must have ended by now");
	error = ts_event_written(&event);
	if (error)
		return error;
	text = ts_known_text(event.thread, name ? name : "(unnamed)");
	rec = text ? ts_reserve(event.ring, 2) : NULL;
	if (!rec)
		return ts_event_refuse(&event, -ENOBUFS, "no room for a span was made in time");
	*rec = (struct ts_rec_span_done){
		.h = { .kind = TS_REC_SPAN_DONE,
		       .slots = 2,
		       .route = TS_ROUTE_API,
		       .device = TS_DEVICE_NONE,
		       .t = event.t,
		       .span = ts_span_next_id(event.thread) },
		.start_ns = start_ns,
		.duration_ns = duration_ns,
		.t_start = event.t,
		.name = text,
		.span_kind = (uint8_t)kind,
	};
	if (span)
		*span = rec->h.span;
	ts_past_put(event.thread, rec->h.span, TSTRACE_ROOT, start_ns | TS_PAST_NS,
		    end | TS_PAST_NS);
	ts_commit(event.ring, 2);
	return ts_event_drop(&event);
}

/* --- NVTX --- */

uint32_t ts_span_push(struct ts_ring *ring, const struct ts_span_spec *spec)
{
	struct ts_api_thread *stack = ts_api_thread();
	uint64_t t;
	uint32_t span = 0;

	if (!stack || stack->depth == TS_MAX_DEPTH) {
		if (stack)
			stack->beyond++;
		if (ring)
			ts_lost(TS_LOST_spans, 1);
		return 0;
	}
	t = ring ? ts_clock_now() : 0;
	if (ring)
		span = put_start(ring, stack, ts_self.span, spec, t);
	put_frame(stack, spec, span, t);
	return span;
}

/* The frame at `at` ends; all above it are NVTX's, of other domains.  They are ended, innermost
 * first, and go on in its parent. */
static void cut(struct ts_ring *ring, struct ts_api_thread *stack, uint32_t at, uint64_t t)
{
	struct ts_thread *self = &ts_self;
	uint32_t depth = stack->depth;

	for (uint32_t i = depth; i-- > at;)
		put_end(ring, stack, &stack->frames[i], t, false);
	self->span = stack->frames[at].parent;
	self->step = stack->frames[at].parent_step;
	stack->iterations -= stack->frames[at].iteration;
	stack->depth = at;
	for (uint32_t i = at + 1; i < depth; i++) {
		struct ts_frame old = stack->frames[i];
		uint64_t continues = old.span;
		struct ts_span_spec spec = {
			.name = old.name,
			.kind = old.kind,
			.step = old.step,
			.source = old.source,
			.iteration = old.iteration,
			.note = { .domain = old.domain, .payload_type = TS_PAYLOAD_CONTINUES },
		};
		uint32_t span = 0;

		memcpy(spec.note.payload, &continues, sizeof(continues));
		stack->iterations -= old.iteration;
		if (old.span && ring)
			span = put_start(ring, stack, self->span, &spec, t);
		put_frame(stack, &spec, span, t);
	}
}

bool ts_span_pop(uint32_t domain, bool *iteration)
{
	struct ts_api_thread *stack = ts_self.spans;
	struct ts_ring *ring = ts_span_ring();
	bool cuttable = true;
	struct ts_frame *frame;
	uint32_t i;

	if (!stack)
		return false;
	if (stack->beyond) {
		stack->beyond--;
		return true;
	}
	for (i = stack->depth; i > 0; i--) {
		frame = &stack->frames[i - 1];
		if (frame->source == TS_SPAN_NVTX && frame->domain == domain && !frame->popped)
			break;
		cuttable = cuttable && frame->source == TS_SPAN_NVTX && !frame->popped;
	}
	if (!i)
		return false;
	*iteration = frame->iteration;
	if (!cuttable) {
		frame->popped = true;
		return true;
	}
	if (i == stack->depth)
		end_top(ring, stack, ring ? ts_clock_now() : 0);
	else
		cut(ring, stack, i - 1, ring ? ts_clock_now() : 0);
	return true;
}
