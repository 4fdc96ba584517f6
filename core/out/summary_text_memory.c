#include "core/out/errors.h"
#include "core/out/format.h"
#include "core/out/summary.h"

#include "core/trace/scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STACKS_SHOWN 5
#define FRAMES_SHOWN 12
#define MARGIN 8 /* of a frame */

static void print_text(FILE *out, const char *text)
{
	ts_print_name(out, (struct ts_str){text, strlen(text)}, 200);
}

/* One function of a frame.  Paths are from the trace: they go through the printer of names. */
static void print_place(FILE *out, const struct ts_module *module, const struct ts_frame *frame,
			const struct ts_place *place, int margin)
{
	const char *base = module ? strrchr(module->path.at, '/') : NULL;

	fprintf(out, "%*s", margin, "");
	if (place->function)
		ts_print_function(out, (struct ts_str){place->function, strlen(place->function)},
				  80);
	else if (module)
		print_text(out, base ? base + 1 : module->path.at);
	if (!place->function)
		fprintf(out, module ? "+0x%" PRIx64 : "0x%" PRIx64 " (no module)", frame->offset);
	if (place->file) {
		fputs(" at ", out);
		print_text(out, place->file);
		fprintf(out, ":%d", place->line);
	} else if (place->function && base) {
		fputs(" in ", out);
		print_text(out, base + 1);
	}
	if (place->into)
		fputs(" (inlined)", out);
	if (place->note)
		fprintf(out, " (%s)", place->note);
	fputc('\n', out);
}

static void print_frame(FILE *out, const struct ts_summary *summary, struct ts_symbols *symbols,
			const struct ts_frame *frame, int margin)
{
	const struct ts_module *module = ts_stacks_module(&summary->stacks, frame->module);
	const struct ts_place *place = ts_symbols_find(symbols, module, frame->offset);

	for (; place; place = place->into)
		print_place(out, module, frame, place, margin);
}

static void print_stack(FILE *out, const struct ts_summary *summary, struct ts_symbols *symbols,
			size_t number, int margin)
{
	const struct ts_stack *stack;
	size_t shown;

	if (number >= summary->stacks.ids.count) {
		fprintf(out, "%*s(no call stack recorded)\n", margin, "");
		return;
	}
	stack = &summary->stacks.stacks[number];
	if (!stack->frames)
		fprintf(out, "%*s(stack %" PRIu64 ": its frames are not in the trace)\n", margin,
			"", stack->id);
	for (shown = 0; shown < stack->count && shown < FRAMES_SHOWN; shown++)
		print_frame(out, summary, symbols, &stack->frames[shown], margin);
	if (shown < stack->count)
		fprintf(out, "%*s... and %zu more frames\n", margin, "", stack->count - shown);
	else if (stack->end.size) {
		fprintf(out, "%*s(", margin, "");
		ts_print_name(out, stack->end, 40);
		fputs(")\n", out);
	}
}

static void print_held(FILE *out, uint64_t bytes, uint64_t count)
{
	fprintf(out, "%s in %" PRIu64 " allocation%s\n", ts_format_bytes(bytes).text, count,
		count == 1 ? "" : "s");
}

/* The stacks that hold most, at the peak or at the end. */
static void print_stacks(FILE *out, const struct ts_summary *summary, struct ts_symbols *symbols,
			 const struct ts_live_scope *scope, bool at_peak)
{
	size_t shown, count,
	    *order = (at_peak ? ts_rank_peak_stacks : ts_rank_live_stacks)(scope, &count);

	for (shown = 0; shown < count && shown < STACKS_SHOWN; shown++) {
		const struct ts_live_share *stack = ts_stack_share(scope, order[shown]);

		fputs("    ", out);
		print_held(out, at_peak ? stack->peak_bytes : stack->live_bytes,
			   at_peak ? stack->peak_count : stack->live_count);
		print_stack(out, summary, symbols, order[shown], MARGIN);
	}
	if (shown < count)
		fprintf(out, "    ... and %zu more stacks (--json for all)\n", count - shown);
	free(order);
}

static void print_group(FILE *out, const struct ts_live_group *group, struct ts_str name)
{
	fprintf(out, "  %11" PRIu64 " %12s %12s %12s %9" PRIu64 "  ", group->allocations,
		ts_format_bytes(group->allocated_bytes).text,
		ts_format_bytes(group->peak_bytes).text, ts_format_bytes(group->live_bytes).text,
		group->live_count);
	ts_print_name(out, name, 40);
	fputc('\n', out);
}

/* What there was when it failed: the last row of the failure that is told. */
static void print_live_then(FILE *out, const struct ts_summary *summary, struct ts_symbols *symbols,
			    const struct ts_failed_allocation *failed, bool is_repeated)
{
	const char *before = "      live then: ";

	if (failed->has_device_live) {
		fprintf(out, "%s%s (%" PRIu64 " bytes) on ", before,
			ts_format_bytes(failed->device_live_bytes).text, failed->device_live_bytes);
		ts_print_name(out, failed->device, 30);
		before = "; ";
	}
	if (failed->has_live) {
		fprintf(out, "%s%s (%" PRIu64 " bytes) on all devices and the host", before,
			ts_format_bytes(failed->live_bytes).text, failed->live_bytes);
		before = "; ";
	}
	if (failed->has_free) {
		fprintf(out, "%s%s free", *before == ';' ? before : "      ",
			ts_format_bytes(failed->free_bytes).text);
		if (failed->capacity_bytes)
			fprintf(out, " of %s", ts_format_bytes(failed->capacity_bytes).text);
		fputs(" by the driver's word", out);
	}
	if (failed->has_device_live || failed->has_live || failed->has_free)
		fputc('\n', out);
	if (!failed->largest_count && is_repeated)
		fputs("      the largest live stacks were taken with a failure just before\n", out);
	if (failed->largest_count) {
		fputs("      the largest live stacks then", out);
		if (failed->has_device_live) {
			fputs(" on ", out);
			ts_print_name(out, failed->device, 30);
		}
		fputs(":\n", out);
	}
	for (size_t i = 0; i < failed->largest_count && i < STACKS_SHOWN; i++) {
		fputs("        ", out);
		print_held(out, failed->largest[i].bytes, failed->largest[i].count);
		print_stack(out, summary, symbols, failed->largest[i].stack, MARGIN + 4);
	}
}

static void print_asked(FILE *out, const struct ts_failed_allocation *failed)
{
	fprintf(out, "%s asked for (%" PRIu64 " bytes, ", ts_format_bytes(failed->bytes).text,
		failed->bytes);
	ts_print_name(out, failed->kind, 30);
	fputs(" on ", out);
	ts_print_name(out, failed->device, 30);
	fputs(") by ", out);
	ts_print_name(out, failed->api, 60);
}

/* All that failed with one error, and the first of them. */
static void print_error(FILE *out, const struct ts_summary *summary, struct ts_symbols *symbols,
			const struct ts_failed_error *error)
{
	const struct ts_failed_allocation *first = &error->first;
	const char *name = ts_error_name(first->api, first->error);
	const char *meaning = ts_error_meaning(first->api, first->error);

	/* One error of the runtime for two causes. */
	if (!strcmp(name, "cudaErrorInsufficientDriver") && ts_cuda_text(summary, "driver").size)
		meaning = "the driver is too old";
	fprintf(out, "  %" PRIu64 " allocation%s failed: ", error->count,
		error->count == 1 ? "" : "s");
	if (*meaning)
		fprintf(out, "%s (%s)", meaning, name);
	else if (*name)
		fputs(name, out);
	else
		fprintf(out, "error %" PRIu64, first->error);
	fputs("\n    the first: ", out);
	print_asked(out, first);
	fprintf(out, ", at %s\n", ts_format_ns(first->timestamp_ns).text);
	print_stack(out, summary, symbols, first->stack, MARGIN);
}

/* The recorder looks at most once in 10 ms for the largest stacks of a device. */
static bool has_told(const struct ts_summary *summary, size_t index)
{
	const struct ts_failed_allocation *failed = &summary->failed[index];

	for (size_t i = 0; i < index; i++)
		if (summary->failed[i].largest_count &&
		    ts_str_equals(summary->failed[i].device, failed->device))
			return true;
	return false;
}

/* With what was live then only where memory was short. */
static void print_failed(FILE *out, const struct ts_summary *summary, struct ts_symbols *symbols,
			 size_t rows)
{
	uint64_t told = 0;
	size_t shown;

	fputs("\nFailed allocations\n", out);
	if (!summary->failed_count)
		fputs("  none recorded\n", out);
	for (size_t i = 0; i < summary->failed_error_count; i++) {
		if (summary->failed_errors[i].first.error == TS_ERROR_OUT_OF_MEMORY)
			continue;
		print_error(out, summary, symbols, &summary->failed_errors[i]);
		told += summary->failed_errors[i].count;
	}
	for (shown = 0; shown < summary->failed_kept && shown < rows; shown++) {
		const struct ts_failed_allocation *failed = &summary->failed[shown];

		fputs("  ", out);
		print_asked(out, failed);
		fprintf(out, ", error %s, at %s\n",
			ts_format_error(failed->api, failed->error).text,
			ts_format_ns(failed->timestamp_ns).text);
		print_stack(out, summary, symbols, failed->stack, MARGIN);
		print_live_then(out, summary, symbols, failed, has_told(summary, shown));
	}
	told += shown;
	if (told < summary->failed_count)
		fprintf(out, "  ... and %" PRIu64 " more, the largest of all asked for %s\n",
			summary->failed_count - told,
			ts_format_bytes(summary->failed_bytes_largest).text);
}

static void print_samples(FILE *out, const struct ts_summary *summary)
{
	fputs("\nDevice memory as the driver reports it (samples, TSTRACE_MEMORY_MS apart)\n", out);
	if (!summary->sample_names.count)
		fputs("  none recorded\n", out);
	for (size_t i = 0; i < summary->sample_names.count; i++) {
		const struct ts_samples *samples = &summary->samples[i];

		fputs("  ", out);
		ts_print_name(out, summary->sample_names.texts[i], 40);
		fprintf(out, ": %" PRIu64 " sample%s", samples->count,
			samples->count == 1 ? "" : "s");
		if (samples->has_used)
			fprintf(out, ", at most %s used",
				ts_format_bytes(samples->most_used_bytes).text);
		if (samples->has_free)
			fprintf(out, ", at least %s free",
				ts_format_bytes(samples->least_free_bytes).text);
		if (samples->capacity_bytes)
			fprintf(out, ", %s in all", ts_format_bytes(samples->capacity_bytes).text);
		fputc('\n', out);
	}
}

static void print_oddities(FILE *out, const struct ts_summary *summary)
{
	const struct ts_json *unmatched = ts_json_get(summary->terminal, "unmatched_frees");
	const struct ts_live *live = &summary->live;

	if (live->reset_count)
		fprintf(
		    out,
		    "  %" PRIu64
		    " allocations (%s) were ended by a reset of the device or context: no leaks\n",
		    live->reset_count, ts_format_bytes(live->reset_bytes).text);
	if (live->inferred_frees)
		fprintf(out,
			"  %" PRIu64
			" frees were not seen as calls (the address was given out again)\n",
			live->inferred_frees);
	if (live->restored)
		fprintf(out, "  %" PRIu64 " allocations live on because their free failed\n",
			live->restored);
	if (live->unpaired_frees)
		fprintf(out, "  %" PRIu64 " frees have no allocation in the trace\n",
			live->unpaired_frees);
	if (live->disordered)
		fprintf(out,
			"  %" PRIu64
			" events came too late to be put in order: the peak is inexact\n",
			live->disordered);
	if (unmatched && unmatched->type == TS_JSON_NUMBER && unmatched->number.whole)
		fprintf(out,
			"  %" PRIu64
			" frees of memory from before tracing began, or of no allocation\n",
			unmatched->number.whole);
}

static void print_groups(FILE *out, const struct ts_live *live)
{
	fprintf(out, "  %11s %12s %12s %12s %9s  %s\n", "allocations", "allocated", "peak",
		"live at end", "(count)", "kind, device");
	for (size_t i = 0; i < live->kinds.count; i++)
		print_group(out, &live->by_kind[i], live->kinds.texts[i]);
	for (size_t i = 0; i < live->devices.count; i++)
		print_group(out, &live->by_device[i].sum, live->devices.texts[i]);
	if (live->devices.count > 1)
		print_group(out, &live->all.sum, (struct ts_str){"all together", 12});
}

/* When one device held most, in what kinds, and by which stacks. */
static void print_peak(FILE *out, const struct ts_summary *summary, struct ts_symbols *symbols,
		       const struct ts_live_scope *scope, struct ts_str device)
{
	const char *before = ": ";

	fputs("\nPeak on ", out);
	ts_print_name(out, device, 40);
	fprintf(out, ": %s at %s", ts_format_bytes(scope->sum.peak_bytes).text,
		ts_format_ns(scope->sum.peak_ns).text);
	for (size_t i = 0; i < scope->kind_count; i++) {
		if (!scope->by_kind[i].peak_bytes)
			continue;
		fprintf(out, "%s%s ", before, ts_format_bytes(scope->by_kind[i].peak_bytes).text);
		ts_print_name(out, summary->live.kinds.texts[i], 30);
		before = ", ";
	}
	fputs("; by call stack\n", out);
	print_stacks(out, summary, symbols, scope, true);
}

void ts_summary_text_memory(FILE *out, struct ts_summary *summary, struct ts_symbols *symbols,
			    size_t rows)
{
	const struct ts_live *live = &summary->live;

	fputs("\nMemory by kind and device\n", out);
	if (!live->all.sum.allocations) {
		fputs("  none recorded\n", out);
	} else {
		print_groups(out, live);
		for (size_t i = 0; i < live->devices.count; i++)
			print_peak(out, summary, symbols, &live->by_device[i],
				   live->devices.texts[i]);
		fprintf(out, "\nLive at the end%s: ",
			summary->terminal ? " (leaks)" : " of the file (the run was cut off)");
		print_held(out, live->all.sum.live_bytes, live->all.sum.live_count);
		print_stacks(out, summary, symbols, &live->all, false);
	}
	print_oddities(out, summary);
	print_failed(out, summary, symbols, rows);
	print_samples(out, summary);
}
