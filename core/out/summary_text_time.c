/* The tables of a report that show where time went. */
#include "core/out/errors.h"
#include "core/out/format.h"
#include "core/out/rank.h"
#include "core/out/summary.h"

#include "core/trace/demangle.h"
#include "core/trace/scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH 80

static void print_duration_titles(FILE *out, const char *count, const char *name)
{
	fprintf(out, "  %7s %10s %9s %10s %10s %10s %10s %10s  %s\n", "share", "total", count,
		"mean", "min", "p50", "p99", "max", name);
}

static void print_durations(FILE *out, const struct ts_durations *sum, uint64_t all_ns)
{
	fprintf(out, "  %7s %10s %9" PRIu64, ts_format_share(sum->total_ns, all_ns).text,
		ts_format_ns(sum->total_ns).text, sum->count);
	fprintf(
	    out, " %10s %10s %10s %10s %10s  ", ts_format_ns(ts_durations_mean(sum)).text,
	    ts_format_ns(sum->shortest_ns).text, ts_format_ns(ts_durations_quantile(sum, 500)).text,
	    ts_format_ns(ts_durations_quantile(sum, 990)).text, ts_format_ns(sum->longest_ns).text);
}

/* A row of something of which no duration is known. */
static void print_no_durations(FILE *out, uint64_t count)
{
	fprintf(out, "  %7s %10s %9" PRIu64 " %10s %10s %10s %10s %10s  ", "-", "-", count, "-",
		"-", "-", "-", "-");
}

static void print_readable(FILE *out, struct ts_str raw)
{
	char *name = ts_demangle(raw.at); /* texts of a map end in a NUL */

	ts_print_function(out, (struct ts_str){name, strlen(name)}, NAME_WIDTH);
	free(name);
}

static void print_kernel(FILE *out, const struct ts_kernel_sum *kernel, struct ts_str name,
			 uint64_t all_ns)
{
	if (kernel->device.count)
		print_durations(out, &kernel->device, all_ns);
	else
		print_no_durations(out, 0);
	print_readable(out, name);
	if (!kernel->device.count)
		fprintf(out, "  (%" PRIu64 " launches, no device record)", kernel->launches);
	else if (kernel->launches > kernel->device.count + kernel->untimed)
		fprintf(out, "  (%" PRIu64 " launches)", kernel->launches);
	if (kernel->untimed)
		fprintf(out, "  (%" PRIu64 " without times)", kernel->untimed);
	fputc('\n', out);
}

static void print_kernels(FILE *out, const struct ts_summary *summary, size_t rows)
{
	size_t count, shown, *order = ts_rank_kernels(summary, &count);
	uint64_t all_ns = ts_kernel_time(summary);

	fputs("\nKernels (time on the device; share of the time of all kernels)\n", out);
	if (!count)
		fputs("  none recorded\n", out);
	else
		print_duration_titles(out, "intervals", "kernel");
	for (shown = 0; shown < count && shown < rows; shown++)
		print_kernel(out, &summary->kernels[order[shown]],
			     summary->kernel_names.texts[order[shown]], all_ns);
	ts_print_more(out, shown, count);
	free(order);
}

static void print_api(FILE *out, const struct ts_api_sum *api, struct ts_str name, uint64_t all_ns)
{
	if (api->host.count)
		print_durations(out, &api->host, all_ns);
	else
		print_no_durations(out, api->untimed);
	ts_print_name(out, name, NAME_WIDTH);
	if (api->host.count && api->untimed)
		fprintf(out, "  (and %" PRIu64 " not timed)", api->untimed);
	if (api->errors) {
		const char *error = ts_error_name(name, api->first_error);

		fprintf(out, "  (%" PRIu64 " failed, %s", api->errors,
			api->errors == 1 ? "" : "the first with ");
		if (*error)
			fprintf(out, "%s)", error);
		else
			fprintf(out, "error %" PRIu64 ")", api->first_error);
	}
	fputc('\n', out);
}

static void print_calls(FILE *out, const struct ts_api_table *table, const char *what, size_t rows)
{
	size_t count, shown, *order = ts_rank_apis(table, &count);
	uint64_t all_ns = ts_api_time(table);

	if (!count)
		fputs("  none recorded\n", out);
	else
		print_duration_titles(out, "calls", what);
	for (shown = 0; shown < count && shown < rows; shown++)
		print_api(out, &table->sums[order[shown]], table->names.texts[order[shown]],
			  all_ns);
	ts_print_more(out, shown, count);
	free(order);
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

static void print_stream(FILE *out, const struct ts_stream_sum *sum)
{
	const struct ts_durations *gaps = &sum->busy.gaps;
	uint64_t busy = sum->busy.folded;

	fprintf(out, "  %7s %10s %10s", ts_format_share(busy, sum->last_ns - sum->first_ns).text,
		ts_format_ns(busy).text, ts_format_ns(sum->sum_ns).text);
	fprintf(out, " %10s %8" PRIu64 " %10s %10s", ts_format_ns(gaps->total_ns).text, gaps->count,
		gaps->count ? ts_format_ns(ts_durations_quantile(gaps, 500)).text : "-",
		gaps->count ? ts_format_ns(gaps->longest_ns).text : "-");
	fprintf(out, " %8" PRIu64 " %7" PRIu64 " %7" PRIu64 "  ", sum->kernels, sum->copies,
		sum->sets);
	if (sum->stream.at)
		fprintf(out, "  context %" PRIu64 " stream ", sum->context);
	ts_print_name(out, sum->stream.at ? sum->stream : sum->device, 40);
	if (sum->others)
		fprintf(out, "  (and %" PRIu64 " others)", sum->others);
	if (sum->busy.late)
		fprintf(out, "  (inexact: %" PRIu64 " records came very late)", sum->busy.late);
	fputc('\n', out);
}

static uint64_t weigh_stream(const void *context, size_t index)
{
	const struct ts_summary *summary = context;

	return summary->streams[index].busy.folded;
}

static void print_device(FILE *out, const struct ts_summary *summary,
			 const struct ts_stream_sum *device, size_t rows)
{
	size_t streams, count = 0;
	size_t *order = ts_rank(summary->stream_names.count, weigh_stream, summary, 0, &streams);

	print_stream(out, device);
	for (size_t i = 0; i < streams; i++) {
		const struct ts_stream_sum *stream = &summary->streams[order[i]];

		if (!ts_str_equals(stream->device, device->device))
			continue;
		if (count++ < rows)
			print_stream(out, stream);
	}
	free(order);
	ts_print_more(out, rows, count);
	if (device->busy.gaps.count) {
		fputs("  the longest gap of ", out);
		ts_print_name(out, device->device, 40);
		fprintf(out, " begins at %s\n", ts_format_ns(device->busy.longest_gap_from).text);
	}
}

static void print_devices(FILE *out, const struct ts_summary *summary, size_t rows)
{
	fputs("\nDevices and streams\n", out);
	if (!summary->device_names.count && summary->launches)
		print_no_device(out, summary);
	else if (!summary->device_names.count)
		fputs("  none recorded\n", out);
	else
		fprintf(out,
			"  (busy: union of the intervals; idle: the gaps between them, from the "
			"first start to the last end; share: busy\n"
			"  in busy and idle; sum: all durations, counts overlaps several times)\n"
			"  %7s %10s %10s %10s %8s %10s %10s %8s %7s %7s  %s\n",
			"share", "busy", "sum", "idle", "gaps", "p50 gap", "max gap", "kernels",
			"copies", "sets", "device, its streams");
	for (size_t i = 0; i < summary->device_names.count; i++)
		print_device(out, summary, &summary->devices[i], rows);
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

static void print_copies(FILE *out, const struct ts_summary *summary)
{
	bool any = false;

	fputs("\nCopies and sets\n", out);
	for (size_t i = 0; i < TS_COPIES; i++) {
		const struct ts_copy_sum *sum = &summary->copies[i];

		if (!sum->device.count)
			continue;
		if (!any)
			fprintf(out,
				"  (on the device; 1 GB/s is 10^9 bytes in a second of copying)\n"
				"  %9s %11s %10s %13s %10s %10s %10s  %s\n",
				"intervals", "bytes", "total", "rate", "mean", "min", "max",
				"direction");
		any = true;
		fprintf(out, "  %9" PRIu64 " %11s %10s %13s", sum->device.count,
			ts_format_bytes(sum->bytes).text, ts_format_ns(sum->device.total_ns).text,
			ts_format_rate(sum->bytes, sum->device.total_ns).text);
		fprintf(out, " %10s %10s %10s  ",
			ts_format_ns(ts_durations_mean(&sum->device)).text,
			ts_format_ns(sum->device.shortest_ns).text,
			ts_format_ns(sum->device.longest_ns).text);
		for (const char *c = ts_copy_name(i); *c; c++)
			fputc(*c == '_' ? ' ' : *c, out);
		fputc('\n', out);
	}
	if (!any)
		fputs("  none recorded\n", out);
}

void ts_summary_text_time(FILE *out, const struct ts_summary *summary, size_t rows)
{
	print_kernels(out, summary, rows);
	fputs(
	    "\nAPI calls (time on the host; calls that allocate or free are counted, not timed)\n",
	    out);
	print_calls(out, &summary->apis, "call", rows);
	if (summary->operations.names.count) {
		fputs("\nOperations (recorded by the program; time on the host)\n", out);
		print_calls(out, &summary->operations, "operation", rows);
	}
	print_devices(out, summary, rows);
	print_copies(out, summary);
}
