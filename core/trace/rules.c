/* The rules of the format that need one event only. */
#include "core/trace/event.h"

#include <math.h>
#include <string.h>

static bool is_sound_identity(const struct ts_json *identity)
{
	static const char *const texts[] = {
	    "workload_id", "model_id",	   "config_id",		"data_id", "seed_policy",
	    "precision",   "device_state", "implementation_id", "pair_id",
	};
	static const char *const counts[] = {"physical_batch", "accumulation_steps"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct ts_str text = ts_json_text(identity, texts[i], NULL);

		if (text.at && ts_is_blank(text))
			return false;
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const struct ts_json *count = ts_json_get(identity, counts[i]);

		if (count && count->number.is_whole && !count->number.whole)
			return false;
	}
	return true;
}

static void judge_meta(const struct ts_ev_meta *meta, struct ts_problems *problems)
{
	if (!ts_str_is(meta->schema, "candle-graph/trace/10") &&
	    !ts_str_is(meta->schema, "candle-graph/trace/9"))
		ts_problem_add(
		    problems, "parse_schema", "schema \"%.*s\" is not candle-graph/trace/10 (or 9)",
		    meta->schema.size > 60 ? 60 : (int)meta->schema.size, meta->schema.at);
	if (ts_is_blank(meta->run_id) || ts_is_blank(meta->correlation_id) ||
	    ts_is_blank(meta->entrypoint) || ts_is_blank(meta->timestamp) ||
	    ts_is_blank(meta->device) || meta->warmup_steps >= meta->capture_step ||
	    !is_sound_identity(meta->comparison_identity))
		ts_problem_add(problems, "run_provenance",
			       "a part of the run's identity is blank or zero, or warmup_steps "
			       "is not below capture_step");
}

static bool is_shape_product(const struct ts_ev_tensor_stats *stats)
{
	uint64_t product = 1;

	for (size_t i = 0; i < stats->shape.count; i++)
		if (__builtin_mul_overflow(product, stats->shape.at[i], &product))
			return false;
	return product == stats->elements;
}

static void judge_stats(const struct ts_ev_tensor_stats *stats, struct ts_problems *problems)
{
	if (ts_is_blank(stats->label))
		ts_problem_add(problems, "parse_stats_label", "the label is blank");
	if (!is_shape_product(stats))
		ts_problem_add(problems, "parse_stats_elements",
			       "elements is not the product of the shape");
	if (stats->non_finite > stats->elements)
		ts_problem_add(problems, "parse_stats_non_finite",
			       "non_finite is more than elements");
	if (stats->rms < 0 || stats->abs_max < 0)
		ts_problem_add(problems, "parse_stats_negative", "rms or abs_max is negative");
}

static bool is_norm_consistent(const struct ts_event *event)
{
	const struct ts_ev_gradient *gradient = &event->gradient;
	bool has_norm = ts_event_has(event, gradient, norm);

	switch (gradient->state) {
	case TS_GRADIENT_PRESENT:
		return has_norm && gradient->norm > 0;
	case TS_GRADIENT_ZERO:
		return has_norm && gradient->norm == 0 && !signbit(gradient->norm);
	default:
		return !has_norm;
	}
}

static void judge_gradient(const struct ts_event *event, struct ts_problems *problems)
{
	if (!event->gradient.event_id.size)
		ts_problem_add(problems, "empty_gradient_event_id", "event_id is empty");
	if (ts_is_blank(event->gradient.key))
		ts_problem_add(problems, "empty_gradient_parameter_key", "key is blank");
	if (!is_norm_consistent(event))
		ts_problem_add(problems, "gradient_state_norm_inconsistent",
			       "present needs a norm above 0, zero needs 0, the others none");
}

static void judge_terminal(const struct ts_event *event, struct ts_problems *problems)
{
	bool has_reason = ts_event_has(event, terminal, reason);

	if (event->terminal.outcome == TS_OUTCOME_COMPLETE && has_reason)
		ts_problem_add(problems, "parse_complete_with_failure_reason",
			       "a complete run has no reason");
	if (event->terminal.outcome == TS_OUTCOME_FAILED &&
	    (!has_reason || ts_is_blank(event->terminal.reason)))
		ts_problem_add(problems, "parse_failed_without_reason",
			       "a failed run needs a reason");
}

void ts_event_judge(const struct ts_event *event, struct ts_problems *problems)
{
	switch (event->kind) {
	case TS_TABLE_meta:
		judge_meta(&event->meta, problems);
		break;
	case TS_TABLE_tensor_stats:
		judge_stats(&event->tensor_stats, problems);
		break;
	case TS_TABLE_device_memory:
		if (!ts_event_has(event, device_memory, used_bytes) &&
		    !ts_event_has(event, device_memory, free_bytes) &&
		    !ts_event_has(event, device_memory, reserved_bytes) &&
		    !ts_event_has(event, device_memory, capacity_bytes))
			ts_problem_add(problems, "empty_device_memory_sample",
				       "the sample has no value");
		break;
	case TS_TABLE_device_interval:
		if (!event->device_interval.duration_ns)
			ts_problem_add(problems, "empty_device_interval",
				       "the interval lasts 0 ns");
		break;
	case TS_TABLE_gradient:
		judge_gradient(event, problems);
		break;
	case TS_TABLE_data_edge:
		if (!event->data_edge.from_tensor.size || !event->data_edge.to_tensor.size)
			ts_problem_add(problems, "empty_data_edge_endpoint", "one end is empty");
		break;
	case TS_TABLE_terminal:
		judge_terminal(event, problems);
		break;
	default:
		break;
	}
}
