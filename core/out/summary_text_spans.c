/* The tables of a report that show the program's own parts: spans and iterations. */
#include "core/out/format.h"
#include "core/out/summary.h"

#include <inttypes.h>
#include <stdlib.h>

#define NAME_WIDTH 80

static void print_span(FILE *out, const struct ts_span_sum *sum)
{
	const struct ts_durations *host = &sum->host;

	if (host->count)
		fprintf(out, "  %10s %9" PRIu64 " %10s %10s %10s",
			ts_format_ns(host->total_ns).text, sum->calls,
			ts_format_ns(ts_durations_mean(host)).text,
			ts_format_ns(host->shortest_ns).text, ts_format_ns(host->longest_ns).text);
	else
		fprintf(out, "  %10s %9" PRIu64 " %10s %10s %10s", "-", sum->calls, "-", "-", "-");
	fprintf(out, " %10s %9" PRIu64 " %-9s  ",
		sum->intervals ? ts_format_ns(sum->busy.folded).text : "-", sum->intervals,
		*ts_step_name(sum->step) ? ts_step_name(sum->step) : "-");
	ts_print_name(out, sum->name, NAME_WIDTH);
	if (sum->open_at_end)
		fprintf(out, "  (%" PRIu64 " open at the end)", sum->open_at_end);
	if (sum->unended)
		fprintf(out, "  (%" PRIu64 " without an end, not timed)", sum->unended);
	if (sum->parts)
		fprintf(out, "  (in %" PRIu64 " parts)", sum->calls + sum->parts);
	if (sum->busy.late)
		fprintf(out, "  (busy is inexact: %" PRIu64 " records came very late)",
			sum->busy.late);
	fputc('\n', out);
}

static void print_spans(FILE *out, const struct ts_summary *summary, size_t rows)
{
	const struct ts_spans *spans = &summary->spans;
	size_t count, shown, *order;

	fputs("\nSpans (time on the host; busy: union of the device work launched inside)\n", out);
	if (!ts_spans_any(spans)) {
		fputs("  none recorded\n", out);
		return;
	}
	fprintf(out, "  %10s %9s %10s %10s %10s %10s %9s %-9s  %s\n", "total", "calls", "mean",
		"min", "max", "busy", "intervals", "step", "span");
	order = ts_rank_spans(summary, &count);
	for (shown = 0; shown < count && shown < rows; shown++)
		print_span(out, &spans->sums[order[shown]]);
	free(order);
	ts_print_more(out, shown, count);
	if (spans->absurd)
		fprintf(out, "  %" PRIu64 " spans with absurd times were left out of the times\n",
			spans->absurd);
}

static void print_ends(FILE *out, const char *what, const struct ts_durations *sum)
{
	if (!sum->count)
		return;
	fprintf(out, "  %10s %9" PRIu64, ts_format_ns(ts_durations_mean(sum)).text, sum->count);
	fprintf(out, " %10s %10s %10s %10s  %s\n", ts_format_ns(sum->shortest_ns).text,
		ts_format_ns(ts_durations_quantile(sum, 500)).text,
		ts_format_ns(ts_durations_quantile(sum, 990)).text,
		ts_format_ns(sum->longest_ns).text, what);
}

static void print_iterations(FILE *out, const struct ts_summary *summary)
{
	const struct ts_iterations *set = &summary->spans.iterations;

	fputs("\nIterations (by the events that carry their number)\n", out);
	if (!set->any) {
		fputs("  none recorded\n", out);
		return;
	}
	if (set->folded)
		fprintf(out, "  %" PRIu64 " iteration%s", set->folded, set->folded == 1 ? "" : "s");
	else
		fputs("  no iteration with times", out);
	fprintf(out, ", with numbers from %" PRIu64 " to %" PRIu64 "\n", set->lowest, set->highest);
	if (set->folded)
		fprintf(out, "  %10s %9s %10s %10s %10s %10s\n", "mean", "count", "min", "p50",
			"p99", "max");
	print_ends(out, "from the first event of one to that of the next", &set->periods);
	print_ends(out, "from the first event of one to the end of its last", &set->extents);
	if (set->late)
		fprintf(out, "  (inexact: %" PRIu64 " events came very late)\n", set->late);
}

void ts_summary_text_spans(FILE *out, const struct ts_summary *summary, size_t rows)
{
	print_spans(out, summary, rows);
	print_iterations(out, summary);
}
