#include "core/out/format.h"
#include "core/out/summary.h"

#include "core/trace/demangle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH 64

static void print_str(FILE *out, struct ts_str text)
{
	ts_print_name(out, text, 200);
}

/* What the writer counted as lost; true when there is something. */
static bool print_lost(FILE *out, const struct ts_json *lost)
{
	bool any = false;

	for (const struct ts_json *item = lost && lost->type == TS_JSON_OBJECT ? lost->list.first
									       : NULL;
	     item; item = item->next) {
		struct ts_lost_cause cause = ts_lost_find(item->key);

		if (item->type != TS_JSON_NUMBER || !item->number.is_whole || !item->number.whole)
			continue;
		any = true;
		fprintf(out, "  %" PRIu64 " ", item->number.whole);
		print_str(out, item->key);
		if (*cause.what)
			fprintf(out, ": %s", cause.what);
		if (*cause.variable)
			fprintf(out, " (see %s)", cause.variable);
		fputc('\n', out);
	}
	return any;
}

static void print_losses(FILE *out, const struct ts_summary *summary)
{
	const struct ts_json *lost = ts_json_get(summary->terminal, "lost");
	bool any = false;

	fputs("Losses\n", out);
	if (!summary->terminal && summary->lines) {
		any = true;
		fputs(
		    "  PARTIAL: the trace has no end: the run was cut off, or is still going on\n",
		    out);
	}
	if (summary->is_cut) {
		any = true;
		fprintf(out,
			"  PARTIAL: line %" PRIu64 " (byte %" PRIu64
			" of the file) is cut off and was left out\n",
			summary->cut_line, summary->cut_offset);
	}
	if (summary->bad_lines) {
		any = true;
		fprintf(out,
			"  %" PRIu64
			" lines are no events and were skipped; the first is line %" PRIu64
			" (byte %" PRIu64 "): ",
			summary->bad_lines, summary->first_bad.line, summary->first_bad.offset);
		print_str(
		    out, (struct ts_str){summary->first_bad.text, strlen(summary->first_bad.text)});
		fputc('\n', out);
	}
	any |= print_lost(out, lost);
	if (summary->later_sessions) {
		any = true;
		fprintf(out,
			"  %" PRIu64
			" more sessions in this file: their events are counted with the first\n",
			summary->later_sessions);
	}
	if (summary->outliers) {
		any = true;
		fprintf(out, "  %" PRIu64 " device intervals with absurd times were left out\n",
			summary->outliers);
	}
	if (!any)
		fputs("  none recorded\n", out);
}

static void print_command(FILE *out, const struct ts_summary *summary)
{
	const struct ts_json *argv = ts_json_get(summary->meta, "argv");

	for (const struct ts_json *item = argv && argv->type == TS_JSON_ARRAY ? argv->list.first
									      : NULL;
	     item; item = item->next) {
		if (item->type != TS_JSON_STRING)
			continue;
		if (item != argv->list.first)
			fputc(' ', out);
		print_str(out, item->string);
	}
	if (!argv)
		print_str(out, ts_json_text(summary->meta, "entrypoint", "unknown"));
}

static void print_head(FILE *out, const struct ts_summary *summary, const char *path)
{
	struct ts_str reason, backend = ts_summary_backend(summary, &reason);

	fprintf(out, "Trace     ");
	print_str(out, (struct ts_str){path, strlen(path)});
	fputs("\nProgram   ", out);
	print_command(out, summary);
	fputs("\nDevice    ", out);
	print_str(out, ts_json_text(summary->meta, "device", "unknown"));
	if (ts_summary_is_simulated(summary))
		fputs("  SIMULATED: no GPU was used, kernels computed nothing, device times are "
		      "invented",
		      out);
	fputs("\nBackend   ", out);
	print_str(out, backend.size ? backend : (struct ts_str){"unknown", 7});
	if (reason.size) {
		fputs(": ", out);
		print_str(out, reason);
	}
	fputs("\nOutcome   ", out);
	print_str(out, ts_json_text(summary->terminal, "outcome", "unknown"));
	if (ts_json_text(summary->terminal, "reason", "").size) {
		fputs(": ", out);
		print_str(out, ts_json_text(summary->terminal, "reason", ""));
	}
	if (summary->terminal)
		fprintf(out, " after %s", ts_format_ns(summary->end_ns).text);
	fputs("\n\n", out);
}

static void print_more(FILE *out, size_t shown, size_t all)
{
	if (shown < all)
		fprintf(out, "  ... and %zu more (--rows, or --json for all)\n", all - shown);
}

static void print_no_device(FILE *out, const struct ts_summary *summary)
{
	const char *reasons[6];
	size_t count = ts_no_device_reasons(summary, reasons, 6);

	fprintf(out,
		"  MISSING: %" PRIu64
		" launches were recorded and no device interval. Likely reasons:\n",
		summary->launches);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "    - %s\n", reasons[i]);
}

static void print_durations(FILE *out, const struct ts_durations *sum)
{
	fprintf(out, "%9" PRIu64 " %12s %12s %12s %12s  ", sum->count,
		ts_format_ns(sum->total_ns).text,
		ts_format_ns(sum->count ? sum->total_ns / sum->count : 0).text,
		ts_format_ns(sum->shortest_ns).text, ts_format_ns(sum->longest_ns).text);
}

static void print_readable(FILE *out, struct ts_str raw)
{
	char *name = ts_demangle(raw.at); /* texts of a map end in a NUL */

	ts_print_name(out, (struct ts_str){name, strlen(name)}, NAME_WIDTH);
	free(name);
}

static void print_kernels(FILE *out, const struct ts_summary *summary, size_t rows)
{
	size_t count, shown, *order = ts_rank_kernels(summary, &count);

	fputs("\nKernels\n", out);
	if (!count)
		fputs("  none recorded\n", out);
	else
		fprintf(out, "  %9s %12s %12s %12s %12s  %s\n", "intervals", "total", "average",
			"shortest", "longest", "kernel");
	for (shown = 0; shown < count && shown < rows; shown++) {
		const struct ts_kernel_sum *kernel = &summary->kernels[order[shown]];

		fputs("  ", out);
		print_durations(out, &kernel->device);
		print_readable(out, summary->kernel_names.texts[order[shown]]);
		if (!kernel->device.count)
			fprintf(out, "  (%" PRIu64 " launches, no device record)",
				kernel->launches);
		fputc('\n', out);
	}
	print_more(out, shown, count);
	free(order);
}

static void print_apis(FILE *out, const struct ts_summary *summary, size_t rows)
{
	size_t count, shown, *order = ts_rank_apis(summary, &count);

	fputs("\nAPI calls (time on the host)\n", out);
	if (!count)
		fputs("  none recorded\n", out);
	else
		fprintf(out, "  %9s %12s %12s %12s %12s  %s\n", "calls", "total", "average",
			"shortest", "longest", "call");
	for (shown = 0; shown < count && shown < rows; shown++) {
		const struct ts_api_sum *api = &summary->apis[order[shown]];

		fputs("  ", out);
		print_durations(out, &api->host);
		print_readable(out, summary->api_names.texts[order[shown]]);
		if (api->errors)
			fprintf(out, "  (%" PRIu64 " failed)", api->errors);
		fputc('\n', out);
	}
	print_more(out, shown, count);
	free(order);
}

static void print_stream(FILE *out, struct ts_stream_sum *sum)
{
	uint64_t busy = ts_intervals_union(&sum->busy);

	fprintf(out, "%9" PRIu64 " %12s %9s %12s  ", sum->intervals, ts_format_ns(busy).text,
		ts_format_share(busy, sum->last_ns - sum->first_ns).text,
		ts_format_ns(sum->sum_ns).text);
	fprintf(out, "%" PRIu64 " kernels, %" PRIu64 " copies, %" PRIu64 " sets", sum->kernels,
		sum->copies, sum->sets);
	if (sum->others)
		fprintf(out, ", %" PRIu64 " others", sum->others);
	if (sum->busy.late)
		fprintf(out, " (busy time inexact: %" PRIu64 " records came very late)",
			sum->busy.late);
	fputc('\n', out);
}

static void print_devices(FILE *out, struct ts_summary *summary)
{
	fputs("\nDevices and streams\n", out);
	if (!summary->device_names.count) {
		if (summary->launches)
			print_no_device(out, summary);
		else
			fputs("  none recorded\n", out);
	} else {
		fprintf(out,
			"  %9s %12s %9s %12s  (busy: union of intervals, %% of first start to last "
			"end; sum counts overlaps twice)\n",
			"intervals", "busy", "busy", "sum");
	}
	for (size_t i = 0; i < summary->device_names.count; i++) {
		fputs("  ", out);
		print_str(out, summary->devices[i].device);
		fputs("\n  ", out);
		print_stream(out, &summary->devices[i]);
		for (size_t j = 0; j < summary->stream_names.count; j++) {
			struct ts_stream_sum *stream = &summary->streams[j];

			if (!ts_str_equals(stream->device, summary->devices[i].device))
				continue;
			fprintf(out, "    context %" PRIu64 " stream ", stream->context);
			print_str(out, stream->stream);
			fputs("\n  ", out);
			print_stream(out, stream);
		}
	}
	if (summary->untimed)
		fprintf(out,
			"  %" PRIu64
			" device records have no usable times: counted here, in no sum\n",
			summary->untimed);
	if (summary->unknown_launches)
		fprintf(out, "  %" PRIu64 " device intervals: launch unknown\n",
			summary->unknown_launches);
	if (summary->clock_error_ns)
		fprintf(out, "  device times are known to +-%s against host times\n",
			ts_format_ns(summary->clock_error_ns).text);
}

void ts_summary_text(FILE *out, struct ts_summary *summary, struct ts_symbols *symbols,
		     const char *path, size_t rows)
{
	print_head(out, summary, path);
	print_losses(out, summary);
	if (!summary->lines || !summary->meta)
		fputs("\nno events\n", out);
	print_kernels(out, summary, rows);
	print_apis(out, summary, rows);
	print_devices(out, summary);
	ts_summary_text_memory(out, summary, symbols, rows);
}
