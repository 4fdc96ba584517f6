/* What a trace does not tell: the first part of a report. */
#include "core/out/format.h"
#include "core/out/summary.h"

#include <inttypes.h>
#include <string.h>

#define WIDTH 200 /* of a text from the trace */

/* Words in lines of 100 columns, under what they are about. */
static void print_wrapped(FILE *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t size = strcspn(text, " ");

		if (!column || column + 1 + size > 100)
			column = (size_t)fprintf(out, column ? "\n    " : "    ") - (column > 0);
		else
			column += (size_t)fprintf(out, " ");
		column += fwrite(text, 1, size, out);
		text += size + (text[size] == ' ');
	}
	fputc('\n', out);
}

/* What the writer counted as lost; true when there is something. */
static bool print_lost(FILE *out, const struct ts_summary *summary)
{
	const struct ts_json *item = NULL;
	bool any = false;

	while ((item = ts_summary_next_loss(summary, item))) {
		struct ts_lost_cause cause = ts_lost_find(item->key);

		any = true;
		fprintf(out, "  %" PRIu64 " ", item->number.whole);
		ts_print_name(out, item->key, WIDTH);
		if (*cause.what)
			fprintf(out, ": %s", cause.what);
		if (*cause.variable)
			fprintf(out, " (see %s)", cause.variable);
		fputc('\n', out);
		if (*cause.advice)
			print_wrapped(out, cause.advice);
	}
	return any;
}

/* Device work that no hook saw the launch of. */
static bool print_unknown_launches(FILE *out, const struct ts_summary *summary)
{
	uint64_t lost = ts_summary_lost_events(summary);

	if (!summary->unknown_launches)
		return false;
	if (ts_summary_is_bypassed(summary))
		fprintf(out,
			"  BYPASSED: %" PRIu64 " of %" PRIu64
			" device intervals have no launch that tstrace saw, with %" PRIu64
			" API calls seen:\n  the program reached CUDA round the hooks "
			"(RTLD_DEEPBIND, a private loader), or its launches were lost\n",
			summary->unknown_launches, summary->intervals, summary->calls);
	else if (lost >= summary->unknown_launches)
		fprintf(out,
			"  %" PRIu64 " of %" PRIu64
			" device intervals have no launch: the launches are among the events that "
			"were\n  dropped, see above\n",
			summary->unknown_launches, summary->intervals);
	else
		fprintf(
		    out,
		    "  %" PRIu64
		    " device intervals have no launch that tstrace saw: launched before "
		    "tracing began, by a\n  route round the hooks (RTLD_DEEPBIND), or by a call "
		    "that was lost\n",
		    summary->unknown_launches);
	return true;
}

/* The first and the last event of a trace, and what lies between. */
static bool print_missing(FILE *out, const struct ts_summary *summary)
{
	if (!ts_summary_has_events(summary))
		fputs("  the file holds no event: the run was cut off before its first line was "
		      "written, or has not come to it\n",
		      out);
	else if (!summary->meta)
		fputs("  the trace has no begin: its first line (meta) is missing, and what else "
		      "stood before is not known\n",
		      out);
	if (ts_summary_has_events(summary) && !summary->terminal)
		fputs("  the trace has no end: the run was cut off, or is still going on\n", out);
	return !summary->meta || !summary->terminal;
}

void ts_summary_text_losses(FILE *out, const struct ts_summary *summary)
{
	bool any = false;

	fputs(ts_summary_is_partial(summary) ? "Losses (this report is PARTIAL)\n" : "Losses\n",
	      out);
	any |= print_missing(out, summary);
	if (summary->is_cut) {
		any = true;
		fprintf(out,
			"  line %" PRIu64 " (byte %" PRIu64
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
		ts_print_name(
		    out, (struct ts_str){summary->first_bad.text, strlen(summary->first_bad.text)},
		    WIDTH);
		fputc('\n', out);
	}
	any |= print_lost(out, summary);
	any |= print_unknown_launches(out, summary);
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
