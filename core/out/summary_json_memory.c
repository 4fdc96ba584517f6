/* The memory of a summary, for programs. */
#include "core/out/errors.h"
#include "core/out/json_value.h"
#include "core/out/summary.h"

#include <inttypes.h>
#include <stdlib.h>

#define U64 ts_json_u64
#define STR ts_json_str
#define TEXT ts_json_string

/* The functions of one frame, from the innermost: those that were inlined come first. */
static void put_frame(json_t *frames, const struct ts_summary *summary, struct ts_symbols *symbols,
		      const struct ts_frame *frame)
{
	static const struct ts_str unknown = {"", 0};
	const struct ts_module *module = ts_stacks_module(&summary->stacks, frame->module);
	const struct ts_place *place = ts_symbols_find(symbols, module, frame->offset);
	char offset[24];

	snprintf(offset, sizeof(offset), "0x%" PRIx64, frame->offset);
	for (; place; place = place->into) {
		json_t *item = json_pack(
		    "{s:o,s:o,s:s,s:o,s:o}", "module", STR(module ? module->path : unknown),
		    "build_id", STR(module ? module->build_id : unknown), "offset", offset,
		    "function", TEXT(place->function), "file", TEXT(place->file));

		if (place->file)
			json_object_set_new(item, "line", json_integer(place->line));
		if (place->into)
			json_object_set_new(item, "inlined", json_true());
		if (place->note)
			json_object_set_new(item, "note", TEXT(place->note));
		json_array_append_new(frames, item);
	}
}

/* Adds the frames of a stack to an object. */
static json_t *with_stack(json_t *object, const struct ts_summary *summary,
			  struct ts_symbols *symbols, size_t number)
{
	const struct ts_stack *stack =
	    number < summary->stacks.ids.count ? &summary->stacks.stacks[number] : NULL;
	json_t *frames = json_array();

	for (size_t i = 0; stack && i < stack->count; i++)
		put_frame(frames, summary, symbols, &stack->frames[i]);
	json_object_set_new(object, "frames", frames);
	if (stack && stack->end.size)
		json_object_set_new(object, "frames_end", STR(stack->end));
	return object;
}

static json_t *share_of(uint64_t bytes, uint64_t count)
{
	return json_pack("{s:o,s:o}", "bytes", U64(bytes), "allocations", U64(count));
}

static json_t *stacks_of(const struct ts_summary *summary, struct ts_symbols *symbols,
			 const struct ts_live_scope *scope, bool at_peak)
{
	size_t count, *order = (at_peak ? ts_rank_peak_stacks : ts_rank_live_stacks)(scope, &count);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct ts_live_share *share = ts_stack_share(scope, order[i]);
		json_t *item = share_of(at_peak ? share->peak_bytes : share->live_bytes,
					at_peak ? share->peak_count : share->live_count);

		json_array_append_new(list, with_stack(item, summary, symbols, order[i]));
	}
	free(order);
	return list;
}

static void put_group(json_t *object, const struct ts_live_group *group)
{
	json_object_set_new(object, "allocations", U64(group->allocations));
	json_object_set_new(object, "allocated_bytes", U64(group->allocated_bytes));
	json_object_set_new(object, "frees", U64(group->frees));
	json_object_set_new(object, "peak_bytes", U64(group->peak_bytes));
	json_object_set_new(object, "peak_ns", U64(group->peak_ns));
	json_object_set_new(object, "live_at_end_bytes", U64(group->live_bytes));
	json_object_set_new(object, "live_at_end_allocations", U64(group->live_count));
}

static json_t *kinds_of(const struct ts_live *live)
{
	json_t *list = json_array();

	for (size_t i = 0; i < live->kinds.count; i++) {
		json_t *item = json_pack("{s:o}", "kind", STR(live->kinds.texts[i]));

		put_group(item, &live->by_kind[i]);
		json_array_append_new(list, item);
	}
	return list;
}

/* What a scope's peak was made of. */
static json_t *peak_kinds_of(const struct ts_live *live, const struct ts_live_scope *scope)
{
	json_t *list = json_array();

	for (size_t i = 0; i < scope->kind_count; i++) {
		json_t *item;

		if (!scope->by_kind[i].peak_bytes)
			continue;
		item = share_of(scope->by_kind[i].peak_bytes, scope->by_kind[i].peak_count);
		json_object_set_new(item, "kind", STR(live->kinds.texts[i]));
		json_array_append_new(list, item);
	}
	return list;
}

static json_t *devices_of(const struct ts_summary *summary, struct ts_symbols *symbols)
{
	const struct ts_live *live = &summary->live;
	json_t *list = json_array();

	for (size_t i = 0; i < live->devices.count; i++) {
		const struct ts_live_scope *scope = &live->by_device[i];
		json_t *item = json_pack("{s:o}", "device", STR(live->devices.texts[i]));

		put_group(item, &scope->sum);
		json_object_set_new(item, "peak_kinds", peak_kinds_of(live, scope));
		json_object_set_new(item, "peak_stacks", stacks_of(summary, symbols, scope, true));
		json_array_append_new(list, item);
	}
	return list;
}

static json_t *failed_of(const struct ts_summary *summary, struct ts_symbols *symbols,
			 const struct ts_failed_allocation *failed)
{
	json_t *item = json_pack("{s:o,s:o,s:o,s:o,s:o,s:s,s:o}", "api", STR(failed->api), "kind",
				 STR(failed->kind), "device", STR(failed->device), "asked_bytes",
				 U64(failed->bytes), "error", U64(failed->error), "error_name",
				 ts_error_name(failed->api, failed->error), "timestamp_ns",
				 U64(failed->timestamp_ns));
	json_t *largest = json_array();

	if (failed->has_live)
		json_object_set_new(item, "live_bytes", U64(failed->live_bytes));
	if (failed->has_device_live)
		json_object_set_new(item, "device_live_bytes", U64(failed->device_live_bytes));
	if (failed->has_free) {
		json_object_set_new(item, "free_bytes", U64(failed->free_bytes));
		json_object_set_new(item, "capacity_bytes", U64(failed->capacity_bytes));
	}
	for (size_t i = 0; i < failed->largest_count; i++)
		json_array_append_new(
		    largest,
		    with_stack(share_of(failed->largest[i].bytes, failed->largest[i].count),
			       summary, symbols, failed->largest[i].stack));
	json_object_set_new(item, "largest_live", largest);
	return with_stack(item, summary, symbols, failed->stack);
}

static json_t *errors_of(const struct ts_summary *summary, struct ts_symbols *symbols)
{
	json_t *list = json_array();

	for (size_t i = 0; i < summary->failed_error_count; i++) {
		const struct ts_failed_error *error = &summary->failed_errors[i];
		const struct ts_failed_allocation *first = &error->first;

		json_array_append_new(
		    list, json_pack("{s:o,s:s,s:o,s:o,s:o}", "error", U64(first->error),
				    "error_name", ts_error_name(first->api, first->error), "count",
				    U64(error->count), "largest_bytes", U64(error->largest_bytes),
				    "first", failed_of(summary, symbols, first)));
	}
	return list;
}

static json_t *samples_of(const struct ts_summary *summary)
{
	json_t *list = json_array();

	for (size_t i = 0; i < summary->sample_names.count; i++) {
		const struct ts_samples *samples = &summary->samples[i];
		json_t *item =
		    json_pack("{s:o,s:o,s:o}", "device", STR(summary->sample_names.texts[i]),
			      "samples", U64(samples->count), "samples_at_failed_allocations",
			      U64(samples->at_failures));

		if (samples->has_used)
			json_object_set_new(item, "most_used_bytes", U64(samples->most_used_bytes));
		if (samples->has_free)
			json_object_set_new(item, "least_free_bytes",
					    U64(samples->least_free_bytes));
		if (samples->capacity_bytes)
			json_object_set_new(item, "capacity_bytes", U64(samples->capacity_bytes));
		json_array_append_new(list, item);
	}
	return list;
}

static void put_oddities(json_t *memory, const struct ts_summary *summary)
{
	const struct ts_json *unmatched = ts_json_get(summary->terminal, "unmatched_frees");
	const struct ts_live *live = &summary->live;

	json_object_set_new(memory, "ended_by_reset", U64(live->reset_count));
	json_object_set_new(memory, "ended_by_reset_bytes", U64(live->reset_bytes));
	json_object_set_new(memory, "inferred_frees", U64(live->inferred_frees));
	json_object_set_new(memory, "restored_allocations", U64(live->restored));
	json_object_set_new(memory, "unpaired_frees", U64(live->unpaired_frees));
	json_object_set_new(
	    memory, "unmatched_frees",
	    U64(unmatched && unmatched->type == TS_JSON_NUMBER ? unmatched->number.whole : 0));
	json_object_set_new(memory, "disordered_events", U64(live->disordered));
}

json_t *ts_summary_json_memory(const struct ts_summary *summary, struct ts_symbols *symbols)
{
	const struct ts_live *live = &summary->live;
	json_t *memory = json_object(), *failed = json_array();

	put_group(memory, &live->all.sum);
	json_object_set_new(memory, "by_kind", kinds_of(live));
	json_object_set_new(memory, "by_device", devices_of(summary, symbols));
	json_object_set_new(memory, "peak_kinds", peak_kinds_of(live, &live->all));
	json_object_set_new(memory, "peak_stacks", stacks_of(summary, symbols, &live->all, true));
	json_object_set_new(memory, "live_at_end_stacks",
			    stacks_of(summary, symbols, &live->all, false));
	put_oddities(memory, summary);
	json_object_set_new(memory, "failed_allocation_count", U64(summary->failed_count));
	json_object_set_new(memory, "failed_allocation_largest_bytes",
			    U64(summary->failed_bytes_largest));
	for (size_t i = 0; i < summary->failed_kept; i++)
		json_array_append_new(failed, failed_of(summary, symbols, &summary->failed[i]));
	json_object_set_new(memory, "failed_allocations", failed);
	json_object_set_new(memory, "failed_allocation_errors", errors_of(summary, symbols));
	json_object_set_new(memory, "device_memory", samples_of(summary));
	return memory;
}
