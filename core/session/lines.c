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
#include "core/session/session.h"

static bool saw_measured;

void ts_session_saw_measured(void)
{
	saw_measured = true;
}

static void text(const char *key, const char *value)
{
	ts_line_text(&ts_lines, key, value, strlen(value));
}

static bool is_blank(const char *value)
{
	return value[strspn(value, " \t\r\n\v\f")] == '\0';
}

static const char *entrypoint(void)
{
	return is_blank(ts_env.entrypoint) ? ts_output_program() : ts_env.entrypoint;
}

static void print_time(void)
{
	time_t seconds = (time_t)(ts_file->start_realtime_ns / 1000000000u);
	char value[80];
	struct tm t;

	gmtime_r(&seconds, &t);
	snprintf(value, sizeof(value), "%04d-%02d-%02dT%02d:%02d:%02d.%03uZ", t.tm_year + 1900,
		 t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec,
		 (unsigned)(ts_file->start_realtime_ns / 1000000u % 1000u));
	text("timestamp", value);
}

static void print_run(void)
{
	static const char *const phases[] = { "train", "infer" };
	uint64_t step = ts_env.capture_step, warmup = ts_env.warmup_steps;
	char value[512];

	snprintf(value, sizeof(value), "run-%d-%llu", (int)getpid(),
		 (unsigned long long)ts_file->start_realtime_ns);
	text("run_id", value);
	if (warmup >= step) {
		ts_say("TSTRACE_WARMUP_STEPS=%lu must be less than TSTRACE_CAPTURE_STEP=%lu; %lu "
		       "is used",
		       (unsigned long)warmup, (unsigned long)step, (unsigned long)(step - 1));
		warmup = step - 1;
	}
	snprintf(value, sizeof(value), "%.400s/%s-%llu", entrypoint(),
		 ts_env.phase ? "inference" : "update", (unsigned long long)step);
	text("correlation_id", is_blank(ts_env.correlation_id) ? value : ts_env.correlation_id);
	text("entrypoint", entrypoint());
	ts_line_word(&ts_lines, "phase", phases[ts_env.phase]);
	print_time();
	ts_line_u64(&ts_lines, "capture_step", step);
	ts_line_u64(&ts_lines, "warmup_steps", warmup);
	ts_line_word(&ts_lines, "device", "cuda:0");
	ts_line_bool(&ts_lines, "measured_region_device_synchronized", false);
	ts_line_word(&ts_lines, "timing_mode", "host");
}

static void print_contract(void)
{
	ts_line_raw(
	    &ts_lines,
	    ",\"capture_contract\":{\"measurement_scope\":\"profiled_work\",\"operations\":"
	    "\"partial\","
	    "\"activations\":\"none\",\"tensors\":\"none\",\"gradients\":\"none\","
	    "\"logical_memory\":\"partial\",\"physical_memory\":\"partial\",\"device_timing\":");
	ts_line_raw(&ts_lines, ts_device_kind == TS_BACKEND_OFF ? "\"none\"" : "\"partial\"");
	ts_line_raw(&ts_lines,
		    ",\"required_semantic_labels\":[],\"gpu_expected_semantic_labels\":[],"
		    "\"cpu_only_semantic_labels\":[]}");
}

#define MAX_TAGS 64

/* key=value,key=value; sorted by key, a later one of the same key wins. */
static void print_tags(void)
{
	struct tag {
		const char *key;
		size_t key_bytes, bytes;
	} tags[MAX_TAGS], hold;
	const struct tag simulated = { "simulated=true", 9, 14 };
	size_t count = 0, at;

	if (ts_describe_simulated())
		tags[count++] = simulated;
	for (const char *p = ts_env.tags; *p && count < MAX_TAGS;) {
		size_t bytes = strcspn(p, ","), key_bytes = strcspn(p, "=,");

		if (key_bytes == 0 || p[key_bytes] != '=') {
			if (bytes)
				ts_say("TSTRACE_TAGS: \"%s\" is not key=value and is left out", p);
		} else {
			hold = (struct tag){ p, key_bytes, bytes };
			for (at = 0; at < count; at++)
				if (tags[at].key_bytes == key_bytes &&
				    !memcmp(tags[at].key, p, key_bytes))
					break;
			if (at == count)
				count++;
			tags[at] = hold;
		}
		p += bytes + (p[bytes] == ',');
	}
	/* Not the user's to say. */
	if (ts_describe_simulated())
		tags[0] = simulated;
	for (size_t i = 1; i < count; i++) {
		hold = tags[i];
		for (at = i; at > 0 && strncmp(tags[at - 1].key, hold.key, hold.key_bytes + 1) > 0;
		     at--)
			tags[at] = tags[at - 1];
		tags[at] = hold;
	}
	ts_line_raw(&ts_lines, ",\"tags\":{");
	for (size_t i = 0; i < count; i++) {
		ts_line_raw(&ts_lines, i ? "," : "");
		ts_line_quoted(&ts_lines, tags[i].key, tags[i].key_bytes);
		ts_line_raw(&ts_lines, ":");
		ts_line_quoted(&ts_lines, tags[i].key + tags[i].key_bytes + 1,
			       tags[i].bytes - tags[i].key_bytes - 1);
	}
	ts_line_raw(&ts_lines, "}");
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
}

void ts_print_begin(void)
{
	saw_measured = false;
	ts_line_begin(&ts_lines, "meta");
	ts_line_word(&ts_lines, "schema", "candle-graph/trace/10");
	print_run();
	print_contract();
	print_tags();
	print_process();
	ts_describe_print(&ts_lines);
	ts_line_end(&ts_lines);
	if (ts_lines.used < sizeof(ts_file->meta_line))
		memcpy(ts_file->meta_line, ts_lines.text, ts_lines.used);
	ts_line_begin(&ts_lines, "span_start");
	ts_line_word(&ts_lines, "id", "s1");
	text("name", entrypoint());
	ts_line_raw(&ts_lines, ",\"start_ns\":0,\"span_kind\":\"function\",\"measured\":false");
	ts_line_end(&ts_lines);
}

static void print_losses(void)
{
	static const char *const names[] = {
#define TS_LOST(name, variable, help) #name,
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

static void print_terminal(const char *reason, uint64_t now)
{
	struct ts_memory_totals memory = ts_memory_totals();

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
	if (memory.unmatched_frees)
		ts_line_u64(&ts_lines, "unmatched_frees", memory.unmatched_frees);
	if (memory.failed_frees)
		ts_line_u64(&ts_lines, "failed_frees", memory.failed_frees);
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
