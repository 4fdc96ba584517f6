#include "core/out/format.h"
#include "core/out/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void print_str(FILE *out, struct ts_str text)
{
	ts_print_name(out, text, 200);
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

static void print_devices(FILE *out, const struct ts_summary *summary)
{
	fputs("\nDevice    ", out);
	print_str(out, ts_json_text(summary->meta, "device", "unknown"));
	if (ts_summary_is_simulated(summary))
		fputs("  SIMULATED: no GPU was used, kernels computed nothing, device times are "
		      "invented",
		      out);
	for (int i = 0; i < 64; i++) {
		char key[24];
		struct ts_str name;

		snprintf(key, sizeof(key), "device_%d", i);
		name = ts_cuda_text(summary, key);
		if (!name.size)
			continue;
		fprintf(out, "\n          cuda:%d is ", i);
		print_str(out, name);
	}
}

static void print_versions(FILE *out, const struct ts_summary *summary)
{
	static const char *const keys[] = {"driver", "runtime", "cupti"};
	const char *before = "\nCUDA      ";

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct ts_str version = ts_cuda_text(summary, keys[i]);

		if (!version.size)
			continue;
		fprintf(out, "%s%s ", before, keys[i]);
		print_str(out, version);
		before = ", ";
	}
}

static void print_run(FILE *out, const struct ts_summary *summary)
{
	const struct ts_json *pid = ts_json_get(summary->meta, "pid");
	uint64_t threads = ts_summary_threads(summary);

	fputs("\nRun       ", out);
	print_str(out, ts_json_text(summary->meta, "run_id", "unknown"));
	if (ts_json_text(summary->meta, "host", "").size) {
		fputs(" on ", out);
		print_str(out, ts_json_text(summary->meta, "host", ""));
	}
	if (pid && pid->type == TS_JSON_NUMBER)
		fprintf(out, ", process %" PRIu64, pid->number.whole);
	fputs(", begun ", out);
	print_str(out, ts_json_text(summary->meta, "timestamp", "unknown"));
	if (summary->calls)
		fprintf(out, ", %" PRIu64 " CUDA calls by %" PRIu64 " thread%s", summary->calls,
			threads, threads == 1 ? "" : "s");
}

static void print_backend(FILE *out, const struct ts_summary *summary)
{
	struct ts_str reason, backend = ts_summary_backend(summary, &reason);

	fputs("\nBackend   ", out);
	print_str(out, backend.size ? backend : (struct ts_str){"unknown", 7});
	if (reason.size) {
		fputs(": ", out);
		print_str(out, reason);
	}
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Why there was no window, by what TSTRACE_WINDOW waited for. */
static void print_no_window(FILE *out, const struct ts_summary *summary)
{
	static const char *const reasons[][2] = {
	    {"profiler", "the program did not call cudaProfilerStart"},
	    {"api", "the program did not call tstrace_resume"},
	    {"iterations", "no such iteration began (tstrace_step, TSTRACE_NVTX_STEP)"},
	    {"after", "the run ended before"},
	    {"signal", "no signal came, or the program has that one"},
	};
	struct ts_str spec = ts_json_text(summary->meta, "window", "");

	fputs("\nRecorded  nothing: no window opened", out);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		size_t length = strlen(reasons[i][0]);

		if (spec.size < length || memcmp(spec.at, reasons[i][0], length))
			continue;
		fputs("; TSTRACE_WINDOW=", out);
		ts_print_name(out, spec, 60);
		fprintf(out, ": %s", reasons[i][1]);
	}
}

static void print_windows(FILE *out, const struct ts_summary *summary)
{
	const struct ts_windows *w = &summary->windows;
	uint64_t whole = w->opened - w->is_cut;

	if (!ts_windows_any(w))
		return;
	if (!w->opened) {
		print_no_window(out, summary);
		return;
	}
	fputs("\nRecorded  ", out);
	if (whole)
		fprintf(out, "%s in %" PRIu64 " window%s", ts_format_ns(w->recorded_ns).text, whole,
			plural(whole));
	if (w->is_cut)
		fprintf(out, "%sfrom %s to where the trace is cut", whole ? ", and " : "",
			ts_format_ns(w->open_since_ns).text);
	if (*w->cause)
		fprintf(out, " (%s)", w->cause);
	if (w->has_live)
		fprintf(out, "; when the first opened %s in %" PRIu64 " allocation%s were alive",
			ts_format_bytes(w->live_bytes).text, w->live_blocks,
			plural(w->live_blocks));
	if (w->earlier_frees)
		fprintf(out, "; %" PRIu64 " free%s inside (%s) of what was older",
			w->earlier_frees, plural(w->earlier_frees),
			ts_format_bytes(w->earlier_bytes).text);
}

static void print_head(FILE *out, const struct ts_summary *summary, const char *path)
{
	fputs("Trace     ", out);
	print_str(out, (struct ts_str){path, strlen(path)});
	fputs("\nProgram   ", out);
	print_command(out, summary);
	if (summary->meta)
		print_run(out, summary);
	print_devices(out, summary);
	print_versions(out, summary);
	print_backend(out, summary);
	fputs("\nOutcome   ", out);
	print_str(out, ts_json_text(summary->terminal, "outcome", "unknown"));
	if (ts_json_text(summary->terminal, "reason", "").size) {
		fputs(": ", out);
		print_str(out, ts_json_text(summary->terminal, "reason", ""));
	}
	if (summary->terminal)
		fprintf(out, " after %s", ts_format_ns(summary->end_ns).text);
	print_windows(out, summary);
	fputs("\n\n", out);
}

/* More than a begin and an end. */
static bool has_work(const struct ts_summary *summary)
{
	for (int kind = 0; kind < TS_EVENT_KINDS; kind++)
		if (summary->events[kind] && kind != TS_TABLE_meta && kind != TS_TABLE_terminal)
			return true;
	return false;
}

void ts_summary_text(FILE *out, struct ts_summary *summary, struct ts_symbols *symbols,
		     const char *path, size_t rows)
{
	print_head(out, summary, path);
	ts_summary_text_losses(out, summary);
	if (!has_work(summary))
		fputs("\nno events\n", out);
	ts_summary_text_spans(out, summary, rows);
	ts_summary_text_time(out, summary, rows);
	ts_summary_text_memory(out, summary, symbols, rows);
}
