/* Timelines: when each operation of a stream runs.
 *
 * An operation whose predecessors have known times is placed at once: its start and end are
 * computed, its effect happens, its record is reported.  Behind a host function (or a stream wait
 * value) times are unknown: operations queue up, and sim_pump() places them when what they wait for
 * is done.  One worker thread a stream runs host functions, in stream order; it leaves when idle.
 */
#include "sim.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define WORKER_IDLE_NS 100000000u
#define POLL_US 50

static pthread_cond_t marks = PTHREAD_COND_INITIALIZER;
static struct stream *blocked;
static bool progress;
static unsigned delivering; /* workers that tell an observer what they have done */

struct mark *sim_mark_ref(struct mark *mark)
{
	if (mark)
		mark->refs++;
	return mark;
}

void sim_mark_drop(struct mark *mark)
{
	if (mark && !--mark->refs)
		free(mark);
}

struct op *sim_op_new(uint64_t duration)
{
	struct op *op = calloc(1, sizeof *op);
	if (op)
		op->duration = duration;
	return op;
}

void sim_op_drop(struct op *op)
{
	if (op->drop)
		op->drop(op);
	for (unsigned i = 0; i < op->nwaits; i++)
		sim_mark_drop(op->waits[i]);
	free(op->waits);
	sim_mark_drop(op->mark);
	free(op);
}

void sim_op_wait(struct op *op, struct mark *mark)
{
	struct mark **grown = mark ? realloc(op->waits, (op->nwaits + 1) * sizeof *grown) : NULL;
	if (!grown)
		return;
	op->waits = grown;
	op->waits[op->nwaits++] = sim_mark_ref(mark);
}

struct mark *sim_op_mark(struct op *op)
{
	if (!op->mark) {
		op->mark = calloc(1, sizeof *op->mark);
		if (!op->mark)
			return NULL;
		op->mark->refs = 1;
	}
	return sim_mark_ref(op->mark);
}

static bool polled(const struct op *op)
{
	if (!op->poll)
		return true;
	bool wide = op->poll_flags & SIM_POLL_WIDE;
	uint64_t now =
	    wide ? __atomic_load_n((const uint64_t *)(const void *)op->poll, __ATOMIC_ACQUIRE)
		 : __atomic_load_n(op->poll, __ATOMIC_ACQUIRE);
	switch (op->poll_flags & 3) {
	case CU_STREAM_WAIT_VALUE_EQ:
		return now == op->poll_value;
	case CU_STREAM_WAIT_VALUE_AND:
		return now & op->poll_value;
	case CU_STREAM_WAIT_VALUE_NOR:
		return wide ? ~(now | op->poll_value) != 0
			    : (uint32_t) ~(now | op->poll_value) != 0;
	default:
		return wide ? (int64_t)(now - op->poll_value) >= 0
			    : (int32_t)(uint32_t)(now - op->poll_value) >= 0;
	}
}

static bool waited(const struct op *op)
{
	for (unsigned i = 0; i < op->nwaits; i++)
		if (!op->waits[i]->done)
			return false;
	return true;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t start_of(struct stream *stream, const struct op *op)
{
	uint64_t start = later(sim_now(), stream->tail);
	struct context *ctx = stream->obj.ctx;
	if (stream->legacy)
		start = later(start, ctx->blocking_tail);
	else if (stream->blocking)
		start = later(start, ctx->legacy->tail);
	for (unsigned i = 0; i < op->nwaits; i++)
		start = later(start, op->waits[i]->time);
	return start;
}

static void finish(struct stream *stream, struct op *op, uint64_t start, uint64_t end)
{
	struct context *ctx = stream->obj.ctx;
	op->start = start;
	op->end = end;
	stream->tail = end;
	ctx->latest = later(ctx->latest, end);
	if (stream->blocking && !stream->legacy)
		ctx->blocking_tail = later(ctx->blocking_tail, end);
	if (op->run)
		op->run(op);
	if (op->report) {
		op->work.start_ns = start;
		op->work.end_ns = end;
		sim_report(&op->work);
	}
	if (op->mark) {
		op->mark->done = true;
		op->mark->time = end;
		progress = true;
		pthread_cond_broadcast(&marks);
	}
	sim_op_drop(op);
}

static void place(struct stream *stream, struct op *op)
{
	uint64_t start = start_of(stream, op);
	finish(stream, op, start, start + op->duration);
}

static struct op *pop(struct stream *stream)
{
	struct op *op = stream->head;
	stream->head = op->next;
	if (!stream->head)
		stream->last = &stream->head;
	return op;
}

/* Who waits for the work goes on before it is told. */
static void deliver(void)
{
	delivering++;
	sim_thread()->delivers = true;
	sim_unlock();
	sim_deliver();
	sim_lock();
	sim_thread()->delivers = false;
	delivering--;
	pthread_cond_broadcast(&marks);
}

EXPORT void tstrace_sim_settle(void)
{
	sim_lock();
	while (delivering && !sim_thread()->delivers)
		sim_cond_wait(&marks, 0);
	sim_unlock();
}

static void run_host(struct stream *stream, struct op *op)
{
	uint64_t start = start_of(stream, op);
	sim_unlock();
	sim_sleep_until(start);
	if (op->callback)
		op->callback(stream->legacy ? NULL : (CUstream)stream, CUDA_SUCCESS, op->host_data);
	else
		op->host(op->host_data);
	sim_lock();
	pop(stream);
	finish(stream, op, start, later(sim_now(), start));
	sim_pump();
	deliver();
}

static void *worker(void *data)
{
	struct stream *stream = data;
	sim_lock();
	for (;;) {
		struct op *op = stream->head;
		if (op && waited(op) && (op->host || op->callback)) {
			run_host(stream, op);
		} else if (op && waited(op) && !polled(op)) {
			sim_unlock();
			usleep(POLL_US);
			sim_lock();
		} else if (op && waited(op)) {
			sim_pump();
			deliver();
		} else if (!sim_cond_wait(&stream->wake, sim_now() + WORKER_IDLE_NS) &&
			   !stream->head) {
			break;
		}
	}
	stream->worker = false;
	sim_stream_unref(stream);
	sim_unlock();
	return NULL;
}

static void wake_worker(struct stream *stream)
{
	if (stream->worker) {
		pthread_cond_signal(&stream->wake);
		return;
	}
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all); /* signals are for the program's own threads */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	stream->worker = !pthread_create(&thread, &attr, worker, stream);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	stream->refs += stream->worker;
}

static bool advance(struct stream *stream)
{
	bool moved = false;
	while (stream->head && !stream->head->host && !stream->head->callback &&
	       waited(stream->head) && polled(stream->head)) {
		place(stream, pop(stream));
		moved = true;
	}
	if (stream->head && waited(stream->head))
		wake_worker(stream);
	return moved;
}

void sim_pump(void)
{
	do {
		progress = false;
		for (struct stream *s = blocked; s; s = s->blocked_next)
			if (advance(s))
				progress = true;
	} while (progress);
	for (struct stream **link = &blocked; *link;) {
		struct stream *s = *link;
		if (s->head) {
			link = &s->blocked_next;
			continue;
		}
		*link = s->blocked_next;
		s->blocked = false;
		sim_stream_unref(s);
	}
}

static void append(struct stream *stream, struct op *op)
{
	op->next = NULL;
	*stream->last = op;
	stream->last = &op->next;
	if (!stream->blocked) {
		stream->blocked = true;
		stream->blocked_next = blocked;
		blocked = stream;
		stream->refs++;
	}
}

/* Everything submitted to the stream so far. */
struct mark *sim_stream_mark(struct stream *stream)
{
	struct op *op = sim_op_new(0);
	struct mark *mark = op ? sim_op_mark(op) : NULL;
	if (!mark) {
		free(op);
		return NULL;
	}
	if (stream->head) {
		append(stream, op);
		return mark;
	}
	mark->done = true;
	mark->time = stream->tail;
	sim_op_drop(op);
	return mark;
}

static void legacy_rule(struct stream *stream, struct op *op)
{
	struct context *ctx = stream->obj.ctx;
	if (stream->legacy) {
		for (struct stream *s = blocked; s; s = s->blocked_next)
			if (s->obj.ctx == ctx && s->blocking && s != stream && s->head) {
				struct mark *mark = sim_stream_mark(s);
				sim_op_wait(op, mark);
				sim_mark_drop(mark);
			}
	} else if (stream->blocking && ctx->legacy->head) {
		struct mark *mark = sim_stream_mark(ctx->legacy);
		sim_op_wait(op, mark);
		sim_mark_drop(mark);
	}
}

void sim_submit(struct stream *stream, struct op *op)
{
	legacy_rule(stream, op);
	if (!stream->head && !op->host && !op->callback && waited(op) && polled(op)) {
		place(stream, op);
		return;
	}
	append(stream, op);
	sim_pump();
}

bool sim_mark_passed(const struct mark *mark)
{
	return mark->done && mark->time <= sim_now();
}

void sim_mark_wait(struct mark *mark)
{
	if (!mark)
		return;
	sim_mark_ref(mark);
	while (!mark->done)
		sim_cond_wait(&marks, 0);
	uint64_t time = mark->time;
	sim_mark_drop(mark);
	if (time <= sim_now())
		return;
	sim_unlock();
	sim_sleep_until(time);
	sim_lock();
}

CUresult sim_stream_wait(struct stream *stream)
{
	struct mark *mark;
	struct context *ctx = stream->obj.ctx;
	stream->refs++;	      /* somebody may destroy it meanwhile */
	if (stream->legacy) { /* done when the streams are that it waits for */
		struct op *op = sim_op_new(0);
		mark = op ? sim_op_mark(op) : NULL;
		if (op)
			sim_submit(stream, op);
	} else {
		mark = sim_stream_mark(stream);
	}
	sim_mark_wait(mark);
	sim_mark_drop(mark);
	bool dead = ctx->dead;
	sim_stream_unref(stream);
	if (!mark)
		return CUDA_ERROR_OUT_OF_MEMORY;
	return dead ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

/* All work of a context, also of streams whose handle is gone already. */
void sim_context_wait(struct context *ctx)
{
	struct mark **marks_of;
	size_t n = 0;
	for (struct stream *s = blocked; s; s = s->blocked_next)
		n += s->obj.ctx == ctx && s->head;
	marks_of = n ? calloc(n, sizeof *marks_of) : NULL;
	n = 0;
	for (struct stream *s = blocked; s && marks_of; s = s->blocked_next)
		if (s->obj.ctx == ctx && s->head)
			marks_of[n++] = sim_stream_mark(s);
	for (size_t i = 0; marks_of && i < n; i++) {
		sim_mark_wait(marks_of[i]);
		sim_mark_drop(marks_of[i]);
	}
	free(marks_of);
	uint64_t latest = ctx->latest;
	if (latest > sim_now()) {
		sim_unlock();
		sim_sleep_until(latest);
		sim_lock();
	}
}

void sim_fill_activity(struct sim_activity *work, enum sim_activity_kind kind,
		       struct stream *stream)
{
	struct sim_thread *thread = sim_thread();
	struct context *ctx = stream ? stream->obj.ctx : sim_current();
	*work = (struct sim_activity){
	    .kind = kind,
	    .correlation = thread->outer,
	    .process_id = (uint32_t)getpid(),
	    .thread_id = thread->tid,
	    .stream_id = stream ? (uint32_t)stream->id : UINT32_MAX,
	    .device_id = ctx ? (uint32_t)ctx->device : 0,
	    .context_id = ctx ? ctx->id : 0,
	};
}

void sim_report_sync(int type, struct stream *stream, uint64_t start, uint32_t event)
{
	if (!sim_observed())
		return;
	struct sim_activity work;
	sim_fill_activity(&work, SIM_SYNC, stream);
	work.sync_type = (uint8_t)type;
	work.sync_event_id = event;
	work.start_ns = start;
	work.end_ns = sim_now();
	sim_report(&work);
}
