/* The first lines of a trace (meta, root span) and the last (open spans, measured span, root,
 * terminal). */
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "core/env.h"
#include "core/log.h"
#include "core/record/describe.h"
#include "core/record/file.h"
#include "core/record/output.h"
#include "core/record/writer.h"
#include "core/session/run.h"
#include "core/session/session.h"
#include "core/session/span.h"
#include "core/session/storage.h"
#include "core/session/window.h"

static bool saw_measured;

void ts_session_saw_measured(void)
{
	saw_measured = true;
}

static void text(const char *key, const char *value)
{
	ts_line_text(&ts_lines, key, value, strlen(value));
}

static void print_argv(void)
{
	static char buffer[8192];
	ssize_t bytes = 0, got;
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while (bytes < (ssize_t)sizeof(buffer) - 1 &&
	       (got = read(fd, buffer + bytes, sizeof(buffer) - 1 - (size_t)bytes)) > 0)
		bytes += got;
	close(fd);
	buffer[bytes] = '\0';
	for (char *p = buffer; p < buffer + bytes; p += strlen(p) + 1) {
		ts_line_raw(&ts_lines, p == buffer ? ",\"argv\":[" : ",");
		ts_line_quoted(&ts_lines, p, strlen(p));
	}
	if (bytes)
		ts_line_raw(&ts_lines, "]");
}

static void print_process(void)
{
	char value[4096] = "";
	ssize_t length;

	ts_line_word(&ts_lines, "tool", "tstrace");
	ts_line_word(&ts_lines, "version", TS_VERSION);
	ts_line_u64(&ts_lines, "pid", (uint64_t)getpid());
	ts_line_u64(&ts_lines, "ppid", (uint64_t)getppid());
	if (!gethostname(value, sizeof(value) - 1))
		text("host", value);
	if (ts_output_rank())
		text("rank", ts_output_rank());
	length = readlink("/proc/self/exe", value, sizeof(value) - 1);
	if (length > 0)
		ts_line_text(&ts_lines, "exe", value, (size_t)length);
	print_argv();
	ts_line_raw(&ts_lines, ",\"clock\":{\"source\":");
	ts_line_raw(&ts_lines, ts_clock_is_raw ? "\"tsc\"" : "\"monotonic\"");
	ts_line_u64(&ts_lines, "monotonic_ns", ts_file->start_ns);
	ts_line_u64(&ts_lines, "realtime_ns", ts_file->start_realtime_ns);
	ts_line_raw(&ts_lines, "}");
	if (*ts_file_path())
		text("recovery_file", ts_file_path());
	if (strcmp(ts_env.window, "run"))
		text("window", ts_env.window);
}

void ts_print_begin(void)
{
	saw_measured = false;
	ts_line_begin(&ts_lines, "meta");
	ts_line_word(&ts_lines, "schema", "candle-graph/trace/10");
	ts_run_print(&ts_lines);
	print_process();
	ts_describe_print(&ts_lines);
	ts_line_end(&ts_lines);
	if (ts_lines.used < sizeof(ts_file->meta_line))
		memcpy(ts_file->meta_line, ts_lines.text, ts_lines.used);
	ts_line_begin(&ts_lines, "span_start");
	ts_line_word(&ts_lines, "id", "s1");
	text("name", ts_run_entrypoint());
	ts_line_raw(&ts_lines, ",\"start_ns\":0,\"span_kind\":\"function\",\"measured\":false");
	ts_line_end(&ts_lines);
}

static void print_losses(void)
{
	static const char *const names[] = {
#define TS_LOST(name, ...) #name,
#include "core/record/lost.def"
#undef TS_LOST
	};
	bool first = true;

	for (unsigned i = 0; i < TS_LOST_CAUSES; i++) {
		uint64_t count = ts_lost_count((enum ts_lost)i);

		if (!count)
			continue;
		ts_line_raw(&ts_lines, first ? ",\"lost\":{\"" : ",\"");
		ts_line_raw(&ts_lines, names[i]);
		ts_line_raw(&ts_lines, "\":");
		ts_line_number(&ts_lines, count);
		first = false;
	}
	ts_line_raw(&ts_lines, first ? ",\"lost\":{}" : "}");
}

/* Only of a run that was not recorded whole. */
static void print_windows(const struct ts_memory_totals *memory)
{
	uint64_t windows;
	bool whole;

	windows = ts_window_count(&whole);
	if (whole)
		return;
	ts_line_u64(&ts_lines, "windows", windows);
	ts_line_u64(&ts_lines, "earlier_frees", memory->earlier_frees);
	ts_line_u64(&ts_lines, "earlier_free_bytes", memory->earlier_bytes);
}

static void print_terminal(const char *reason, uint64_t now)
{
	struct ts_memory_totals memory = ts_memory_totals();
	struct ts_storage_totals storages = ts_storage_totals();

	ts_line_begin(&ts_lines, "terminal");
	ts_line_word(&ts_lines, "outcome", reason ? "failed" : "complete");
	ts_line_u64(&ts_lines, "timestamp_ns", now);
	if (reason)
		text("reason", reason);
	print_losses();
	if (ts_interval_overhead_ns())
		ts_line_u64(&ts_lines, "overhead_ns", ts_interval_overhead_ns());
	ts_line_u64(&ts_lines, "live_bytes", memory.live_bytes);
	ts_line_u64(&ts_lines, "peak_live_bytes", memory.peak_bytes);
	memory.unmatched_frees += storages.unmatched;
	memory.earlier_frees += storages.earlier_frees;
	memory.earlier_bytes += storages.earlier_bytes;
	if (memory.unmatched_frees)
		ts_line_u64(&ts_lines, "unmatched_frees", memory.unmatched_frees);
	if (memory.failed_frees)
		ts_line_u64(&ts_lines, "failed_frees", memory.failed_frees);
	print_windows(&memory);
	ts_describe_print(&ts_lines);
	ts_line_end(&ts_lines);
}

static void print_measured(uint64_t now)
{
	uint32_t id = ts_session_take_spans(1);

	ts_line_begin(&ts_lines, "span_start");
	ts_line_raw(&ts_lines, ",\"id\":\"s");
	ts_line_number(&ts_lines, id);
	ts_line_raw(&ts_lines, "\",\"parent_id\":\"s1\"");
	text("name", "run");
	ts_line_raw(
	    &ts_lines,
	    ",\"start_ns\":0,\"span_kind\":\"function\",\"measured\":true,\"source\":\"auto\"");
	ts_line_end(&ts_lines);
	ts_line_begin(&ts_lines, "span_end");
	ts_line_raw(&ts_lines, ",\"id\":\"s");
	ts_line_number(&ts_lines, id);
	ts_line_raw(&ts_lines, "\"");
	ts_line_u64(&ts_lines, "duration_ns", now);
	ts_line_end(&ts_lines);
}

void ts_print_end(const char *reason)
{
	uint64_t now = ts_clock_elapsed_ns();

	if (now < ts_latest_time())
		now = ts_latest_time();
	/* A failed run leaves the root, and what was open, open. */
	if (!reason) {
		ts_print_open_spans(now);
		ts_range_print_open(now);
		if (!saw_measured)
			print_measured(now);
		ts_line_begin(&ts_lines, "span_end");
		ts_line_word(&ts_lines, "id", "s1");
		ts_line_u64(&ts_lines, "duration_ns", now);
		ts_line_end(&ts_lines);
	}
	print_terminal(reason, now);
}

void ts_print_cut(const char *reason)
{
	uint64_t now = ts_clock_elapsed_ns();

	print_terminal(reason, now < ts_latest_time() ? ts_latest_time() : now);
}
