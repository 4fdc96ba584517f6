#include "core/trace/evidence.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ts_issue_add(struct ts_evidence *evidence, uint64_t line, bool is_error, const char *code,
		  const char *format, ...)
{
	struct ts_health *health = evidence->health;
	struct ts_issue *issue;
	va_list args;

	health->issue_count++;
	if (is_error)
		health->errors++;
	else
		health->warnings++;
	if (health->kept == TS_ISSUES_MAX)
		return;
	health->issues =
	    ts_array_room(health->issues, health->kept, &health->capacity, sizeof(*health->issues));
	issue = &health->issues[health->kept];
	*issue = (struct ts_issue){.line = line, .is_error = is_error, .code = code};
	va_start(args, format);
	if (vasprintf(&issue->text, format, args) >= 0)
		health->kept++;
	va_end(args);
}

#define ERROR(line, code, ...) ts_issue_add(evidence, line, true, code, __VA_ARGS__)
#define SHORT(text) ((text).size > 80 ? 80 : (int)(text).size), (text).at

static void saw_time(struct ts_evidence *evidence, ts_time time)
{
	if (time > evidence->latest)
		evidence->latest = time;
}

/* The number of the span of that id, which is made when it is named for the first time. */
static uint32_t span_number(struct ts_evidence *evidence, struct ts_str id)
{
	size_t before = evidence->span_ids.count;
	uint32_t number = ts_map_add(&evidence->span_ids, id);

	if (number == before) {
		evidence->spans = ts_array_room(evidence->spans, before, &evidence->span_capacity,
						sizeof(*evidence->spans));
		evidence->spans[number] = (struct ts_span){.parent = TS_MAP_NONE};
	}
	return number;
}

static void on_meta(struct ts_evidence *evidence, const struct ts_event *event)
{
	const struct ts_json *labels;

	if (evidence->meta)
		ERROR(event->line, "parse_meta_repeated", "a second meta event");
	evidence->meta = ts_json_copy(event->json, &evidence->pool);
	evidence->contract = ts_json_get(evidence->meta, "capture_contract");
	evidence->is_trace9 = ts_str_is(event->meta.schema, "candle-graph/trace/9");
	evidence->is_train = event->meta.phase == TS_PHASE_TRAIN;
	labels = ts_json_get(evidence->contract, "required_semantic_labels");
	for (const struct ts_json *label = labels ? labels->list.first : NULL; label;
	     label = label->next)
		ts_map_add(&evidence->labels, label->string);
	evidence->label_spans =
	    ts_grow(evidence->label_spans, (evidence->labels.count + 1) * sizeof(uint64_t));
	memset(evidence->label_spans, 0, (evidence->labels.count + 1) * sizeof(uint64_t));
}

static void on_span_start(struct ts_evidence *evidence, const struct ts_event *event)
{
	const struct ts_ev_span_start *start = &event->span_start;
	uint32_t number = span_number(evidence, start->id), parent = TS_MAP_NONE, label;

	if (evidence->spans[number].line) {
		ERROR(event->line, "parse_duplicate_span_id", "span \"%.*s\" is started twice",
		      SHORT(start->id));
		return;
	}
	if (ts_event_has(event, span_start, parent_id))
		parent = span_number(evidence, start->parent_id);
	else
		evidence->roots++;
	evidence->spans[number].line = event->line;
	evidence->spans[number].start = start->start_ns;
	evidence->spans[number].parent = parent;
	saw_time(evidence, start->start_ns);
	evidence->measured += start->measured;
	if (ts_event_has(event, span_start, step))
		evidence->steps[start->step]++;
	label = ts_map_find(&evidence->labels, start->name);
	if (label != TS_MAP_NONE)
		evidence->label_spans[label]++;
}

static void on_span_end(struct ts_evidence *evidence, const struct ts_event *event)
{
	const struct ts_ev_span_end *end = &event->span_end;
	uint32_t number = span_number(evidence, end->id); /* may move the spans */
	struct ts_span *span = &evidence->spans[number];

	if (!span->line) {
		ERROR(event->line, "parse_span_end_unknown", "span \"%.*s\" ends before it starts",
		      SHORT(end->id));
	} else if (span->is_closed) {
		ERROR(event->line, "parse_span_end_repeated", "span \"%.*s\" ends twice",
		      SHORT(end->id));
	} else {
		span->is_closed = true;
		span->duration = end->duration_ns;
		saw_time(evidence, (ts_time)span->start + span->duration);
	}
}

static void on_op(struct ts_evidence *evidence, const struct ts_event *event)
{
	const struct ts_ev_op *op = &event->op;
	uint32_t number = span_number(evidence, op->span_id); /* may move the spans */
	struct ts_span *span = &evidence->spans[number];
	ts_time end = (ts_time)op->timestamp_ns + op->duration_ns;

	if (!span->has_ops || op->timestamp_ns < span->first_op)
		span->first_op = op->timestamp_ns;
	if (end > span->last_op)
		span->last_op = end;
	span->has_ops = true;
	saw_time(evidence, end);
	for (size_t i = 0; i < op->inputs.count; i++)
		ts_map_add(&evidence->tensors, op->inputs.at[i]);
	if (ts_event_has(event, op, output))
		ts_map_add(&evidence->tensors, op->output);
}

static void on_memory(struct ts_evidence *evidence, const struct ts_event *event)
{
	const struct ts_ev_memory *memory = &event->memory;
	struct ts_pool scratch = {0};
	struct ts_memory_record *record;

	evidence->memory = ts_array_room(evidence->memory, evidence->memory_count,
					 &evidence->memory_capacity, sizeof(*evidence->memory));
	record = &evidence->memory[evidence->memory_count++];
	*record = (struct ts_memory_record){
	    .timestamp = memory->timestamp_ns,
	    .line = event->line,
	    .bytes = memory->bytes,
	    .storage = ts_map_add(&evidence->storages,
				  ts_pair_text(&scratch, memory->device, memory->storage_id)),
	    .tensor = ts_map_add(&evidence->memory_tensors, memory->tensor_id),
	    .is_alloc = memory->action == TS_ACTION_ALLOC,
	};
	ts_pool_free(&scratch);
	saw_time(evidence, memory->timestamp_ns);
}

static void on_gradient(struct ts_evidence *evidence, const struct ts_event *event)
{
	const struct ts_ev_gradient *gradient = &event->gradient;
	size_t before = evidence->gradient_ids.count;
	struct ts_pool scratch = {0};

	evidence->gradients =
	    ts_array_room(evidence->gradients, evidence->gradient_count,
			  &evidence->gradient_capacity, sizeof(*evidence->gradients));
	evidence->gradients[evidence->gradient_count++] = (struct ts_gradient_record){
	    .line = event->line,
	    .key = ts_map_add(&evidence->gradient_keys,
			      ts_pair_text(&scratch, gradient->root, gradient->key)),
	    .state = gradient->state,
	};
	ts_pool_free(&scratch);
	ts_map_add(&evidence->gradient_ids, gradient->event_id);
	if (evidence->gradient_ids.count == before)
		ERROR(event->line, "duplicate_gradient_event_id", "\"%.*s\" is used twice",
		      SHORT(gradient->event_id));
}

static void on_edge_tensor(struct ts_evidence *evidence, struct ts_str tensor, uint64_t line)
{
	size_t before = evidence->edge_tensors.count;

	if (ts_map_add(&evidence->edge_tensors, tensor) != before)
		return;
	evidence->edge_lines =
	    ts_array_room(evidence->edge_lines, before, &evidence->edge_capacity, sizeof(uint64_t));
	evidence->edge_lines[before] = line;
}

static void on_call(struct ts_evidence *evidence, const struct ts_event *event)
{
	const struct ts_ev_call_edge *edge = &event->call_edge;

	evidence->calls = ts_array_room(evidence->calls, evidence->call_count,
					&evidence->call_capacity, sizeof(*evidence->calls));
	evidence->calls[evidence->call_count++] = (struct ts_call_record){
	    .line = event->line,
	    .duration = edge->host_duration_ns,
	    .caller = span_number(evidence, edge->from_span),
	    .callee = span_number(evidence, edge->to_span),
	};
}

static void on_terminal(struct ts_evidence *evidence, const struct ts_event *event)
{
	evidence->has_terminal = true;
	evidence->is_failed = event->terminal.outcome == TS_OUTCOME_FAILED;
	if (evidence->is_failed)
		evidence->reason = ts_pool_copy(&evidence->pool, event->terminal.reason);
	if (event->terminal.timestamp_ns < evidence->latest)
		ERROR(event->line, "parse_terminal_precedes_evidence",
		      "the terminal is at %llu ns, evidence goes on",
		      (unsigned long long)event->terminal.timestamp_ns);
}

/* Remembers who named a span first. */
static void use_span(struct ts_evidence *evidence, struct ts_str id, uint64_t line)
{
	size_t before = evidence->used_ids.count;

	if (ts_map_add(&evidence->used_ids, id) != before)
		return;
	evidence->used_lines =
	    ts_array_room(evidence->used_lines, before, &evidence->used_capacity, sizeof(uint64_t));
	evidence->used_lines[before] = line;
}

static void dispatch(struct ts_evidence *evidence, const struct ts_event *event)
{
	switch (event->kind) {
	case TS_TABLE_meta:
		on_meta(evidence, event);
		break;
	case TS_TABLE_span_start:
		on_span_start(evidence, event);
		break;
	case TS_TABLE_span_end:
		on_span_end(evidence, event);
		break;
	case TS_TABLE_op:
		use_span(evidence, event->op.span_id, event->line);
		on_op(evidence, event);
		break;
	case TS_TABLE_tensor:
		use_span(evidence, event->tensor.span_id, event->line);
		ts_map_add(&evidence->tensors, event->tensor.tensor_id);
		break;
	case TS_TABLE_tensor_stats:
		use_span(evidence, event->tensor_stats.span_id, event->line);
		if (evidence->is_trace9)
			ERROR(event->line, "parse_stats_under_trace9",
			      "trace/9 has no tensor_stats");
		break;
	case TS_TABLE_memory:
		use_span(evidence, event->memory.span_id, event->line);
		on_memory(evidence, event);
		break;
	case TS_TABLE_device_memory:
		saw_time(evidence, event->device_memory.timestamp_ns);
		break;
	case TS_TABLE_device_interval: /* has a clock of its own */
		use_span(evidence, event->device_interval.span_id, event->line);
		break;
	case TS_TABLE_gradient:
		on_gradient(evidence, event);
		break;
	case TS_TABLE_call_edge:
		on_call(evidence, event);
		break;
	case TS_TABLE_data_edge:
		on_edge_tensor(evidence, event->data_edge.from_tensor, event->line);
		on_edge_tensor(evidence, event->data_edge.to_tensor, event->line);
		break;
	case TS_TABLE_terminal:
		on_terminal(evidence, event);
		break;
	default:
		break;
	}
}

void ts_evidence_add(struct ts_evidence *evidence, const struct ts_event *event)
{
	evidence->health->events[event->kind]++;
	evidence->health->extra_keys[event->kind] += event->unknown;
	evidence->accepted++;
	if (!evidence->all_lines_read)
		return;
	if (evidence->has_terminal) {
		ERROR(event->line, "parse_after_terminal", "an event behind the terminal event");
		return;
	}
	if (event->kind != TS_TABLE_meta && evidence->accepted == 1)
		ERROR(event->line, "parse_meta_not_first", "the first event is not meta");
	dispatch(evidence, event);
}

void ts_evidence_free(struct ts_evidence *evidence)
{
	struct ts_map *maps[] = {
	    &evidence->span_ids,       &evidence->used_ids,	 &evidence->labels,
	    &evidence->tensors,	       &evidence->edge_tensors,	 &evidence->storages,
	    &evidence->memory_tensors, &evidence->gradient_keys, &evidence->gradient_ids,
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		ts_map_free(maps[i]);
	free(evidence->spans);
	free(evidence->used_lines);
	free(evidence->label_spans);
	free(evidence->edge_lines);
	free(evidence->calls);
	free(evidence->memory);
	free(evidence->gradients);
	ts_pool_free(&evidence->pool);
}
