/* The rules that need the whole file: the run, spans, ops, edges and labels. */
#include "core/trace/evidence.h"
#include "core/trace/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ERROR(line, code, ...) ts_issue_add(evidence, line, true, code, __VA_ARGS__)
#define WARNING(code, ...) ts_issue_add(evidence, 0, false, code, __VA_ARGS__)
/* What a run that failed may lack. */
#define ERROR_UNLESS_FAILED(line, code, ...)                                                       \
	ts_issue_add(evidence, line, !evidence->is_failed, code, __VA_ARGS__)
#define SHORT(text) ((text).size > 80 ? 80 : (int)(text).size), (text).at

static bool encloses(const struct ts_span *span, uint64_t start, ts_time end)
{
	return span->start <= start && end <= (ts_time)span->start + span->duration;
}

static void check_absent(struct ts_evidence *evidence)
{
	const uint64_t *events = evidence->health->events;
	const struct {
		const char *code;
		uint64_t count;
		bool train_only;
	} kinds[] = {
	    {"operations_absent", events[TS_TABLE_op], false},
	    {"tensors_absent", events[TS_TABLE_tensor], false},
	    {"logical_memory_absent", events[TS_TABLE_memory], false},
	    {"physical_memory_absent", events[TS_TABLE_device_memory], false},
	    {"device_timing_absent", events[TS_TABLE_device_interval], false},
	    {"gradients_absent", events[TS_TABLE_gradient], true},
	    {"forward_absent", evidence->steps[TS_STEP_FORWARD], true},
	    {"backward_absent", evidence->steps[TS_STEP_BACKWARD], true},
	    {"optimizer_absent", evidence->steps[TS_STEP_OPTIMIZER], true},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!kinds[i].count && (evidence->is_train || !kinds[i].train_only))
			WARNING(kinds[i].code, "none recorded");
}

static void check_run(struct ts_evidence *evidence)
{
	if (evidence->has_terminal && evidence->is_failed)
		WARNING("capture_failed", "%.*s",
			(int)(evidence->reason.size > 4000 ? 4000 : evidence->reason.size),
			evidence->reason.at);
	if (evidence->roots != 1)
		ERROR(0, "root_count", "%llu spans without a parent, not 1",
		      (unsigned long long)evidence->roots);
	if (evidence->measured != 1 && !evidence->is_failed)
		ERROR(0, "measurement_count", "%llu measured spans, not 1",
		      (unsigned long long)evidence->measured);
	check_absent(evidence);
}

static void check_spans(struct ts_evidence *evidence)
{
	for (size_t i = 0; i < evidence->span_ids.count; i++) {
		const struct ts_span *span = &evidence->spans[i];
		const struct ts_span *parent =
		    span->parent == TS_MAP_NONE ? NULL : &evidence->spans[span->parent];

		if (span->line && !span->is_closed)
			ERROR_UNLESS_FAILED(span->line, "open_span", "the span never ends");
		if (parent && !parent->line)
			ERROR(span->line, "unknown_parent", "the parent span does not exist");
		else if (parent && span->is_closed && parent->is_closed &&
			 !encloses(parent, span->start, (ts_time)span->start + span->duration))
			ERROR(span->line, "child_outside_parent",
			      "the span is not inside its parent");
	}
}

/* Walks up from each span, as far as no earlier walk has been. */
static void check_cycles(struct ts_evidence *evidence)
{
	for (uint32_t walk = 1; walk <= evidence->span_ids.count; walk++) {
		uint32_t at = walk - 1;

		while (at != TS_MAP_NONE && !evidence->spans[at].walk) {
			evidence->spans[at].walk = walk;
			at = evidence->spans[at].parent;
		}
		if (at != TS_MAP_NONE && evidence->spans[at].walk == walk)
			ERROR(evidence->spans[at].line, "span_cycle",
			      "the span is its own ancestor");
	}
}

static void check_uses(struct ts_evidence *evidence)
{
	for (size_t i = 0; i < evidence->used_ids.count; i++) {
		struct ts_str id = evidence->used_ids.texts[i];
		uint32_t number = ts_map_find(&evidence->span_ids, id);

		if (number == TS_MAP_NONE || !evidence->spans[number].line)
			ERROR(evidence->used_lines[i], "unknown_span",
			      "span \"%.*s\" does not exist", SHORT(id));
	}
}

/* Ops are not kept: a trace may have many millions.  Earliest start and latest end tell which spans
 * have a stray op; its line takes a second look at the file, which only a broken trace needs. */
static bool find_strays(struct ts_evidence *evidence)
{
	bool found = false;

	for (size_t i = 0; i < evidence->span_ids.count; i++) {
		struct ts_span *span = &evidence->spans[i];

		span->has_stray_ops = span->has_ops && span->is_closed &&
				      !encloses(span, span->first_op, span->last_op);
		found |= span->has_stray_ops;
	}
	return found;
}

static void name_strays(struct ts_evidence *evidence, const char *path)
{
	struct ts_reader reader;
	enum ts_read got;

	if (!strcmp(path, "-") || ts_reader_open(&reader, path)) {
		ERROR(0, "operation_outside_span",
		      "an op is not inside its span (a file, not a pipe, tells its line)");
		return;
	}
	while ((got = ts_reader_next(&reader)) == TS_READ_EVENT || got == TS_READ_BAD) {
		const struct ts_ev_op *op = &reader.event.op;
		const struct ts_span *span;

		if (got == TS_READ_BAD || reader.event.kind != TS_TABLE_op)
			continue;
		span = &evidence->spans[ts_map_find(&evidence->span_ids, op->span_id)];
		if (span->has_stray_ops &&
		    !encloses(span, op->timestamp_ns, (ts_time)op->timestamp_ns + op->duration_ns))
			ERROR(reader.line, "operation_outside_span",
			      "the op is not inside its span");
	}
	ts_reader_close(&reader);
}

static void check_edges(struct ts_evidence *evidence)
{
	for (size_t i = 0; i < evidence->call_count; i++) {
		const struct ts_call_record *call = &evidence->calls[i];
		const struct ts_span *callee = &evidence->spans[call->callee];

		if (!evidence->spans[call->caller].line || !callee->line) {
			ERROR(call->line, "unknown_call_edge_span",
			      "a call edge names a span that does not exist");
			continue;
		}
		if (callee->parent != call->caller)
			ERROR(call->line, "call_edge_hierarchy_mismatch",
			      "the caller is not the parent of the callee");
		if (callee->is_closed && callee->duration != call->duration)
			ERROR(call->line, "call_edge_duration_mismatch",
			      "the duration is not that of the callee");
	}
	for (size_t i = 0; i < evidence->edge_tensors.count; i++) {
		struct ts_str tensor = evidence->edge_tensors.texts[i];

		if (tensor.size && ts_map_find(&evidence->tensors, tensor) == TS_MAP_NONE)
			ERROR(evidence->edge_lines[i], "unknown_data_edge_tensor",
			      "tensor \"%.*s\" is unknown", SHORT(tensor));
	}
}

/* How often `label` stands in one of the lists of the contract. */
static unsigned times_listed(const struct ts_evidence *evidence, const char *list,
			     struct ts_str label)
{
	const struct ts_json *labels = ts_json_get(evidence->contract, list);
	unsigned times = 0;

	for (const struct ts_json *item = labels ? labels->list.first : NULL; item;
	     item = item->next)
		times += ts_str_equals(item->string, label);
	return times;
}

/* GPU and CPU labels together must be the required ones, each once. */
static bool is_partition(const struct ts_evidence *evidence)
{
	static const char *const lists[] = {"gpu_expected_semantic_labels",
					    "cpu_only_semantic_labels"};
	size_t classified = 0;

	for (size_t i = 0; i < 2; i++) {
		const struct ts_json *labels = ts_json_get(evidence->contract, lists[i]);

		classified += labels ? labels->list.count : 0;
	}
	if (!classified)
		return true;
	for (size_t i = 0; i < evidence->labels.count; i++)
		if (times_listed(evidence, lists[0], evidence->labels.texts[i]) +
			times_listed(evidence, lists[1], evidence->labels.texts[i]) !=
		    1)
			return false;
	return classified == evidence->labels.count;
}

static void check_labels(struct ts_evidence *evidence)
{
	for (size_t i = 0; i < evidence->labels.count; i++) {
		struct ts_str label = evidence->labels.texts[i];
		unsigned times = times_listed(evidence, "required_semantic_labels", label);

		if (times > 1)
			ERROR_UNLESS_FAILED(0, "duplicate_required_semantic_label",
					    "\"%.*s\" is required %u times", SHORT(label), times);
		if (ts_is_blank(label))
			ERROR_UNLESS_FAILED(0, "empty_required_semantic_label",
					    "a required label is blank");
		else if (evidence->label_spans[i] != 1)
			ERROR_UNLESS_FAILED(0, "required_semantic_label_cardinality",
					    "%llu spans are named \"%.*s\", not 1",
					    (unsigned long long)evidence->label_spans[i],
					    SHORT(label));
	}
	if (!is_partition(evidence))
		ERROR_UNLESS_FAILED(0, "semantic_label_partition",
				    "not each required label is either a GPU or a CPU label");
}

/* Reads the file to its end; 0 or -errno. */
static int gather(struct ts_evidence *evidence, const char *path, bool allow_truncated)
{
	struct ts_reader reader;
	enum ts_read got;
	bool is_cut = false;
	int error = ts_reader_open(&reader, path);

	if (error)
		return error;
	while ((got = ts_reader_next(&reader)) == TS_READ_EVENT || got == TS_READ_BAD) {
		bool is_readable = got == TS_READ_EVENT;

		is_cut = reader.is_cut;
		if (is_cut && !allow_truncated) {
			reader.problems.count = 0;
			ts_problem_add(&reader.problems, "parse_missing_newline",
				       "the last line does not end in a newline");
			is_readable = false;
		}
		if (is_cut && allow_truncated && !is_readable)
			break;
		for (size_t i = 0; i < reader.problems.count && i < TS_PROBLEMS_MAX; i++)
			ERROR(reader.line, reader.problems.at[i].code, "%s",
			      reader.problems.at[i].text);
		evidence->all_lines_read &= is_readable;
		if (is_readable)
			ts_evidence_add(evidence, &reader.event);
	}
	ts_reader_close(&reader);
	if (got == TS_READ_FAILED)
		return -EIO;
	if (evidence->all_lines_read && !evidence->accepted)
		ERROR(0, "parse_empty", "the file holds no event");
	else if (allow_truncated && (is_cut || !evidence->has_terminal))
		WARNING("truncated_tail", "the file stops early");
	else if (evidence->all_lines_read && !evidence->has_terminal)
		ERROR(0, "parse_terminal_missing",
		      "the terminal event is missing: the process was killed by a signal, left "
		      "by a system call of its own, or still runs");
	return 0;
}

/* Leaves only the parse errors; true when there are some. */
static bool keep_parse_errors(struct ts_health *health)
{
	size_t kept = 0;
	bool found = false;

	for (size_t i = 0; i < health->kept && !found; i++)
		found = !strncmp(health->issues[i].code, "parse_", 6);
	if (!found)
		return false;
	for (size_t i = 0; i < health->kept; i++) {
		struct ts_issue *issue = &health->issues[i];

		if (!strncmp(issue->code, "parse_", 6)) {
			health->issues[kept++] = *issue;
			continue;
		}
		free(issue->text);
		health->issue_count--;
		health->errors -= issue->is_error;
		health->warnings -= !issue->is_error;
	}
	health->kept = kept;
	return true;
}

/* By line; merge sort, since the order within a line must stay. */
static void sort_issues(struct ts_issue *issues, struct ts_issue *scratch, size_t count)
{
	size_t half = count / 2, a = 0, b = half;

	if (count < 2)
		return;
	sort_issues(issues, scratch, half);
	sort_issues(issues + half, scratch, count - half);
	for (size_t i = 0; i < count; i++) {
		bool from_first = a < half && (b == count || issues[a].line <= issues[b].line);

		scratch[i] = issues[from_first ? a++ : b++];
	}
	memcpy(issues, scratch, count * sizeof(*issues));
}

static void judge(struct ts_evidence *evidence, const char *path)
{
	check_run(evidence);
	check_spans(evidence);
	check_cycles(evidence);
	check_uses(evidence);
	if (find_strays(evidence))
		name_strays(evidence, path);
	check_edges(evidence);
	ts_health_memory(evidence);
	ts_health_gradients(evidence);
	check_labels(evidence);
}

int ts_health_check(const char *path, bool allow_truncated, struct ts_health *health)
{
	struct ts_evidence evidence = {.health = health, .all_lines_read = true, .is_failed = true};
	int error;

	*health = (struct ts_health){0};
	error = gather(&evidence, path, allow_truncated);
	if (!error) {
		struct ts_issue *scratch;

		health->parse_error = keep_parse_errors(health);
		if (!health->parse_error)
			judge(&evidence, path);
		scratch = ts_grow(NULL, (health->kept + 1) * sizeof(*scratch));
		if (health->kept)
			sort_issues(health->issues, scratch, health->kept);
		free(scratch);
		health->valid = !health->errors;
		health->complete = !health->parse_error && !evidence.is_failed;
	}
	ts_evidence_free(&evidence);
	return error;
}

void ts_health_free(struct ts_health *health)
{
	for (size_t i = 0; i < health->kept; i++)
		free(health->issues[i].text);
	free(health->issues);
}
