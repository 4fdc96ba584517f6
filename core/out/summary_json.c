#include "core/out/json_writer.h"
#include "core/out/summary.h"

#include "core/trace/demangle.h"
#include "core/trace/scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OPEN(key, bracket) ts_json_open(json, key, bracket)
#define CLOSE(bracket) ts_json_close(json, bracket)
#define U64(key, value) ts_json_put_u64(json, key, value)
#define STR(key, value) ts_json_put_str(json, key, value)
#define TEXT(key, value) ts_json_put_text(json, key, value)
#define BOOL(key, value) ts_json_put_bool(json, key, value)

static void put_losses(struct ts_json_writer *json, const struct ts_summary *summary)
{
	const struct ts_json *lost = ts_json_get(summary->terminal, "lost");

	OPEN("losses", '{');
	BOOL("terminal_missing", !summary->terminal);
	BOOL("last_line_cut", summary->is_cut);
	if (summary->is_cut) {
		U64("cut_line", summary->cut_line);
		U64("cut_offset_bytes", summary->cut_offset);
	}
	U64("bad_lines", summary->bad_lines);
	U64("unknown_kinds", summary->unknown_kinds);
	if (summary->bad_lines) {
		U64("first_bad_line", summary->first_bad.line);
		TEXT("first_bad_code", summary->first_bad.code);
		TEXT("first_bad_message", summary->first_bad.text);
	}
	U64("later_sessions", summary->later_sessions);
	U64("absurd_intervals", summary->outliers);
	OPEN("lost", '[');
	for (const struct ts_json *item = lost && lost->type == TS_JSON_OBJECT ? lost->list.first
									       : NULL;
	     item; item = item->next) {
		struct ts_lost_cause cause = ts_lost_find(item->key);

		if (item->type != TS_JSON_NUMBER || !item->number.is_whole || !item->number.whole)
			continue;
		OPEN(NULL, '{');
		STR("cause", item->key);
		U64("count", item->number.whole);
		TEXT("what", cause.what);
		TEXT("variable", cause.variable);
		CLOSE('}');
	}
	CLOSE(']');
	CLOSE('}');
}

static void put_head(struct ts_json_writer *json, const struct ts_summary *summary,
		     const char *path)
{
	struct ts_str reason, backend = ts_summary_backend(summary, &reason);

	TEXT("schema", "tstrace/summary/1");
	TEXT("trace", path);
	BOOL("partial", !summary->terminal || summary->is_cut || summary->bad_lines);
	put_losses(json, summary);
	STR("run_id", ts_json_text(summary->meta, "run_id", ""));
	STR("entrypoint", ts_json_text(summary->meta, "entrypoint", ""));
	STR("device", ts_json_text(summary->meta, "device", ""));
	BOOL("simulated", ts_summary_is_simulated(summary));
	STR("backend", backend);
	STR("backend_reason", reason);
	STR("outcome", ts_json_text(summary->terminal, "outcome", "unknown"));
	STR("reason", ts_json_text(summary->terminal, "reason", ""));
	U64("end_ns", summary->end_ns);
	OPEN("events", '{');
	for (int kind = 0; kind < TS_EVENT_KINDS; kind++)
		if (summary->events[kind])
			U64(ts_tables[kind].name, summary->events[kind]);
	CLOSE('}');
}

static void put_durations(struct ts_json_writer *json, const struct ts_durations *sum)
{
	U64("count", sum->count);
	U64("total_ns", sum->total_ns);
	U64("average_ns", sum->count ? sum->total_ns / sum->count : 0);
	U64("shortest_ns", sum->shortest_ns);
	U64("longest_ns", sum->longest_ns);
}

static void put_kernels(struct ts_json_writer *json, const struct ts_summary *summary)
{
	size_t count, *order = ts_rank_kernels(summary, &count);

	OPEN("kernels", '[');
	for (size_t i = 0; i < count; i++) {
		struct ts_str raw = summary->kernel_names.texts[order[i]];
		char *name = ts_demangle(raw.at);

		OPEN(NULL, '{');
		TEXT("name", name);
		STR("raw_name", raw);
		U64("launches", summary->kernels[order[i]].launches);
		put_durations(json, &summary->kernels[order[i]].device);
		CLOSE('}');
		free(name);
	}
	CLOSE(']');
	free(order);
}

static void put_apis(struct ts_json_writer *json, const struct ts_summary *summary)
{
	size_t count, *order = ts_rank_apis(summary, &count);

	OPEN("apis", '[');
	for (size_t i = 0; i < count; i++) {
		OPEN(NULL, '{');
		STR("name", summary->api_names.texts[order[i]]);
		put_durations(json, &summary->apis[order[i]].host);
		U64("errors", summary->apis[order[i]].errors);
		U64("bytes", summary->apis[order[i]].bytes);
		CLOSE('}');
	}
	CLOSE(']');
	free(order);
}

static void put_stream(struct ts_json_writer *json, struct ts_stream_sum *sum)
{
	U64("intervals", sum->intervals);
	U64("kernels", sum->kernels);
	U64("copies", sum->copies);
	U64("sets", sum->sets);
	U64("others", sum->others);
	U64("busy_ns", ts_intervals_union(&sum->busy));
	BOOL("busy_is_exact", !sum->busy.late);
	U64("sum_of_durations_ns", sum->sum_ns);
	U64("first_start_ns", sum->first_ns);
	U64("last_end_ns", sum->last_ns);
	U64("bytes", sum->bytes);
}

static void put_devices(struct ts_json_writer *json, struct ts_summary *summary)
{
	const char *reasons[6];
	size_t count;

	OPEN("devices", '[');
	for (size_t i = 0; i < summary->device_names.count; i++) {
		OPEN(NULL, '{');
		STR("device", summary->devices[i].device);
		put_stream(json, &summary->devices[i]);
		OPEN("streams", '[');
		for (size_t j = 0; j < summary->stream_names.count; j++) {
			if (!ts_str_equals(summary->streams[j].device, summary->devices[i].device))
				continue;
			OPEN(NULL, '{');
			U64("context", summary->streams[j].context);
			STR("stream", summary->streams[j].stream);
			put_stream(json, &summary->streams[j]);
			CLOSE('}');
		}
		CLOSE(']');
		CLOSE('}');
	}
	CLOSE(']');
	U64("launches", summary->launches);
	U64("device_intervals", summary->intervals);
	U64("untimed_device_records", summary->untimed);
	U64("unknown_launches", summary->unknown_launches);
	U64("clock_error_ns", summary->clock_error_ns);
	BOOL("device_records_missing", summary->launches && !summary->intervals);
	OPEN("device_records_missing_reasons", '[');
	count = summary->launches && !summary->intervals ? ts_no_device_reasons(summary, reasons, 6)
							 : 0;
	for (size_t i = 0; i < count; i++)
		TEXT(NULL, reasons[i]);
	CLOSE(']');
}

static void put_frame(struct ts_json_writer *json, const struct ts_summary *summary,
		      struct ts_symbols *symbols, const struct ts_frame *frame)
{
	const struct ts_module *module = ts_stacks_module(&summary->stacks, frame->module);
	const struct ts_place *place = ts_symbols_find(symbols, module, frame->offset);
	static const struct ts_str unknown = {"", 0};
	char offset[24];

	snprintf(offset, sizeof(offset), "0x%" PRIx64, frame->offset);
	OPEN(NULL, '{');
	STR("module", module ? module->path : unknown);
	STR("build_id", module ? module->build_id : unknown);
	TEXT("offset", offset);
	TEXT("function", place->function);
	TEXT("file", place->file);
	if (place->file)
		U64("line", (uint64_t)place->line);
	if (place->note)
		TEXT("note", place->note);
	CLOSE('}');
}

static void put_stack(struct ts_json_writer *json, const struct ts_summary *summary,
		      struct ts_symbols *symbols, size_t number)
{
	const struct ts_stack *stack =
	    number < summary->stacks.ids.count ? &summary->stacks.stacks[number] : NULL;

	OPEN("frames", '[');
	for (size_t i = 0; stack && i < stack->count; i++)
		put_frame(json, summary, symbols, &stack->frames[i]);
	CLOSE(']');
	if (stack && stack->end.size)
		STR("frames_end", stack->end);
}

static void put_stacks(struct ts_json_writer *json, const struct ts_summary *summary,
		       struct ts_symbols *symbols, bool at_peak)
{
	size_t count,
	    *order = (at_peak ? ts_rank_peak_stacks : ts_rank_live_stacks)(summary, &count);

	OPEN(at_peak ? "peak_stacks" : "live_at_end_stacks", '[');
	for (size_t i = 0; i < count; i++) {
		const struct ts_live_stack *stack = ts_live_stack_at(summary, order[i]);

		OPEN(NULL, '{');
		U64("bytes", at_peak ? stack->peak_bytes : stack->live_bytes);
		U64("allocations", at_peak ? stack->peak_count : stack->live_count);
		put_stack(json, summary, symbols, order[i]);
		CLOSE('}');
	}
	CLOSE(']');
	free(order);
}

static void put_group(struct ts_json_writer *json, const struct ts_live_group *group)
{
	U64("allocations", group->allocations);
	U64("allocated_bytes", group->allocated_bytes);
	U64("frees", group->frees);
	U64("peak_bytes", group->peak_bytes);
	U64("peak_ns", group->peak_ns);
	U64("live_at_end_bytes", group->live_bytes);
	U64("live_at_end_allocations", group->live_count);
}

static void put_groups(struct ts_json_writer *json, const char *key, const char *label,
		       const struct ts_map *names, const struct ts_live_group *groups)
{
	OPEN(key, '[');
	for (size_t i = 0; i < names->count; i++) {
		OPEN(NULL, '{');
		STR(label, names->texts[i]);
		put_group(json, &groups[i]);
		CLOSE('}');
	}
	CLOSE(']');
}

static void put_failed(struct ts_json_writer *json, const struct ts_summary *summary,
		       struct ts_symbols *symbols)
{
	U64("failed_allocation_count", summary->failed_count);
	U64("failed_allocation_largest_bytes", summary->failed_bytes_largest);
	OPEN("failed_allocations", '[');
	for (size_t i = 0; i < summary->failed_count && i < TS_FAILED_KEPT; i++) {
		const struct ts_failed_allocation *failed = &summary->failed[i];

		OPEN(NULL, '{');
		STR("api", failed->api);
		STR("kind", failed->kind);
		STR("device", failed->device);
		U64("asked_bytes", failed->bytes);
		U64("error", failed->error);
		U64("timestamp_ns", failed->timestamp_ns);
		put_stack(json, summary, symbols, failed->stack);
		CLOSE('}');
	}
	CLOSE(']');
}

static void put_samples(struct ts_json_writer *json, const struct ts_summary *summary)
{
	OPEN("device_memory", '[');
	for (size_t i = 0; i < summary->sample_names.count; i++) {
		const struct ts_samples *samples = &summary->samples[i];

		OPEN(NULL, '{');
		STR("device", summary->sample_names.texts[i]);
		U64("samples", samples->count);
		U64("samples_at_failed_allocations", samples->at_failures);
		if (samples->has_used)
			U64("most_used_bytes", samples->most_used_bytes);
		if (samples->has_free)
			U64("least_free_bytes", samples->least_free_bytes);
		if (samples->capacity_bytes)
			U64("capacity_bytes", samples->capacity_bytes);
		CLOSE('}');
	}
	CLOSE(']');
}

static void put_memory(struct ts_json_writer *json, const struct ts_summary *summary,
		       struct ts_symbols *symbols)
{
	const struct ts_json *unmatched = ts_json_get(summary->terminal, "unmatched_frees");
	const struct ts_live *live = &summary->live;

	OPEN("memory", '{');
	put_group(json, &live->all);
	put_groups(json, "by_kind", "kind", &live->kinds, live->by_kind);
	put_groups(json, "by_device", "device", &live->devices, live->by_device);
	put_stacks(json, summary, symbols, true);
	put_stacks(json, summary, symbols, false);
	U64("ended_by_reset", live->reset_count);
	U64("ended_by_reset_bytes", live->reset_bytes);
	U64("inferred_frees", live->inferred_frees);
	U64("restored_allocations", live->restored);
	U64("unpaired_frees", live->unpaired_frees);
	U64("unmatched_frees",
	    unmatched && unmatched->type == TS_JSON_NUMBER ? unmatched->number.whole : 0);
	U64("disordered_events", live->disordered);
	put_failed(json, summary, symbols);
	put_samples(json, summary);
	CLOSE('}');
}

void ts_summary_json(FILE *out, struct ts_summary *summary, struct ts_symbols *symbols,
		     const char *path)
{
	struct ts_json_writer writer = {.out = out}, *json = &writer;

	OPEN(NULL, '{');
	put_head(json, summary, path);
	put_kernels(json, summary);
	put_apis(json, summary);
	put_devices(json, summary);
	put_memory(json, summary, symbols);
	CLOSE('}');
}
