/* The program's own spans: the calls of tstrace.h. */
#include "core/tstrace.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "core/log.h"
#include "core/record/arena.h"
#include "core/record/record.h"
#include "core/session/session.h"

#define MAX_DEPTH 4096u         /* nested spans of a thread; deeper ones are refused */

/* What the thread goes back to when a span ends. */
struct frame {
	uint32_t span, parent, parent_step;
};

/* A name that the thread used before, by its address: usually a literal. */
struct known_name {
	const char *name;
	const char *kept;       /* the arena's copy */
	uint32_t text;
};

#define NAMES 64u               /* a power of two */
#define IDS_AT_ONCE 64u /* the shared counter is touched once for so many spans of a thread */

struct stack {
	uint32_t depth;
	uint32_t next_id, ids;  /* ids of this thread that are still to be given out */
	struct known_name names[NAMES];
	struct frame frames[MAX_DEPTH];
};

static struct stack *stack_of(struct ts_thread *self)
{
	void *memory;

	if (!self->spans) {
		memory = mmap(NULL, sizeof(struct stack), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		self->spans = memory == MAP_FAILED ? NULL : memory;
	}
	return self->spans;
}

void ts_session_thread_end(void)
{
	if (ts_self.spans)
		munmap(ts_self.spans, sizeof(struct stack));
	ts_self.spans = NULL;
}

static uint32_t next_id(struct stack *stack)
{
	if (ts_unlikely(!stack->ids)) {
		stack->next_id = ts_session_take_spans(IDS_AT_ONCE);
		stack->ids = IDS_AT_ONCE;
	}
	stack->ids--;
	return stack->next_id++;
}

/* The arena's number of a name.  What lies at an address may have changed: it is compared. */
static uint32_t text_of(struct stack *stack, const char *name)
{
	struct known_name *known = &stack->names[((uintptr_t)name ^ (uintptr_t)name >> 6) % NAMES];

	if (ts_unlikely(known->name != name || strcmp(name, known->kept))) {
		const struct ts_entry *entry;
		uint32_t text = ts_arena_text(name);

		entry = ts_arena_get(text);
		if (!entry)
			return 0;
		*known = (struct known_name){ name, (const char *)entry->data, text };
	}
	return known->text;
}

static tstrace_span begin(struct ts_ring *ring, const char *name, enum tstrace_span_kind kind,
			  enum tstrace_step step, bool measured)
{
	struct ts_thread *self = &ts_self;
	struct stack *stack = stack_of(self);
	struct ts_rec_span_start *rec;
	uint32_t id, text;
	uint64_t t;

	if (!stack || stack->depth == MAX_DEPTH)
		return 0;
	id = next_id(stack);
	text = text_of(stack, name ? name : "(unnamed)");
	t = ts_stamp(ring);
	rec = ts_reserve(ring, 1);
	if (!rec)
		return 0;
	*rec = (struct ts_rec_span_start){
		.h = { .kind = TS_REC_SPAN_START,
		       .slots = 1,
		       .route = TS_ROUTE_API,
		       .device = TS_DEVICE_NONE,
		       .t = t,
		       .span = id },
		.parent = self->span,
		.name = text,
		.span_kind = (uint8_t)kind,
		.step = (uint8_t)step,
		.measured = measured,
	};
	ts_commit(ring, 1);
	stack->frames[stack->depth++] = (struct frame){ id, self->span, self->step };
	self->span = id;
	if (step)
		self->step = (uint32_t)step;
	return id;
}

TS_EXPORT tstrace_span tstrace_begin_span(tstrace_session *session, const char *name,
					  enum tstrace_span_kind kind)
{
	struct ts_ring *ring = ts_enter();
	tstrace_span span =
	    ring && !session ? begin(ring, name, kind, TSTRACE_STEP_NONE, false) : 0;

	ts_leave();
	return span;
}

TS_EXPORT tstrace_span tstrace_begin_step_span(tstrace_session *session, const char *name,
					       enum tstrace_step step, enum tstrace_span_kind kind)
{
	struct ts_ring *ring = ts_enter();
	tstrace_span span = ring && !session ? begin(ring, name, kind, step, false) : 0;

	ts_leave();
	return span;
}

TS_EXPORT tstrace_span tstrace_begin_measurement(tstrace_session *session, const char *name)
{
	struct ts_ring *ring = ts_enter();
	tstrace_span span = 0;

	if (ring && !session) {
		if (ts_session_claim_measured())
			span = begin(ring, name, TSTRACE_FUNCTION, TSTRACE_STEP_NONE, true);
		else
			ts_say_once(
			    "a second measured region was begun; a session has exactly one");
	}
	ts_leave();
	return span;
}

static int end(struct ts_ring *ring, tstrace_span span)
{
	struct ts_thread *self = &ts_self;
	struct stack *stack = self->spans;
	struct ts_rec_span_end *rec;
	struct frame *top;
	uint64_t t;

	if (!span)
		return 0;
	if (!stack || !stack->depth || stack->frames[stack->depth - 1].span != span)
		return -EINVAL;
	top = &stack->frames[stack->depth - 1];
	t = ts_stamp(ring);
	rec = ts_reserve(ring, 1);
	if (rec) {
		*rec = (struct ts_rec_span_end){ .h = { .kind = TS_REC_SPAN_END,
							.slots = 1,
							.route = TS_ROUTE_API,
							.device = TS_DEVICE_NONE,
							.t = t,
							.span = (uint32_t)span } };
		ts_commit(ring, 1);
	}
	self->span = top->parent;
	self->step = top->parent_step;
	stack->depth--;
	return rec ? 0 : -ENOBUFS;
}

TS_EXPORT int tstrace_end_span(tstrace_session *session, tstrace_span span)
{
	struct ts_ring *ring = ts_enter();
	int result = ring && !session ? end(ring, span) : 0;

	ts_leave();
	return result;
}

TS_EXPORT uint64_t tstrace_elapsed_ns(tstrace_session *session)
{
	uint64_t ns = 0;

	(void)session;
	/* A signal handler that interrupted us must not wait for what it interrupted. */
	if (ts_self.depth++ == 0 && ts_record_open() == 0)
		ns = ts_clock_elapsed_ns();
	ts_self.depth--;
	return ns;
}

TS_EXPORT int tstrace_flush(tstrace_session *session)
{
	(void)session;
	return ts_record_flush(10000, true);
}

TS_EXPORT int tstrace_finish(tstrace_session *session, const char **path)
{
	struct stack *stack = ts_self.spans;

	(void)session;
	if (stack && stack->depth) {
		ts_say("finish: %u spans of this thread are still open; end them first",
		       stack->depth);
		return -EBUSY;
	}
	if (path)
		*path = ts_record_path();
	return ts_record_finish(NULL, false);
}

TS_EXPORT int tstrace_finish_failed(tstrace_session *session, const char *reason, const char **path)
{
	(void)session;
	/* A trace whose reason is blank is not valid. */
	if (!reason || !reason[strspn(reason, " \t\r\n\v\f")])
		return -EINVAL;
	if (path)
		*path = ts_record_path();
	return ts_record_finish(reason, false);
}

TS_EXPORT const char *tstrace_path(tstrace_session *session)
{
	(void)session;
	return ts_record_path();
}
