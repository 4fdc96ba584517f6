/* Runs the probes again and again, side by side, and prints for each target of the project what was
 * measured, what it is compared with, and whether the target is met.
 *   bench FOLDER LIBRARY     FOLDER holds the probes, LIBRARY is libtstrace.so
 * BENCH_LTTNG: a session records the peer's tracepoint (said by tests/bench/run).  Exit status: 0
 * when all targets that could be measured are met, 1 when one is not, 2 when the bench failed. */
#include "tests/bench/bench.h"

#include <dirent.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAMPLES 512
#define KEYS 64
#define STARTS 120      /* of the idle program, each way */

extern char **environ;

static struct series {
	char key[32];
	double values[SAMPLES];
	size_t count;
} series[KEYS];
static const char *folder, *library;
static int not_met, absent;

/* --- samples --- */
static struct series *series_of(const char *key)
{
	for (int i = 0; i < KEYS; i++) {
		if (!series[i].key[0])
			snprintf(series[i].key, sizeof(series[i].key), "%s", key);
		if (!strcmp(series[i].key, key))
			return &series[i];
	}
	fprintf(stderr, "bench: more than %d keys\n", KEYS);
	exit(2);
}

static void add(const char *key, double value)
{
	struct series *s = series_of(key);

	if (s->count < SAMPLES)
		s->values[s->count++] = value;
}

static bool known(const char *key)
{
	return series_of(key)->count > 0;
}

static double sum(const char *key)
{
	struct series *s = series_of(key);
	double total = 0;

	for (size_t i = 0; i < s->count; i++)
		total += s->values[i];
	return total;
}

static double value(const char *key)
{
	struct series *s = series_of(key);

	return median(s->values, s->count);
}

/* --- running --- */

/* Run a shell command and take its "key value" lines; what else it prints is not ours. */
static int collect(const char *format, ...)
{
	char command[3 * PATH_MAX], line[256], key[32];
	double nanoseconds;
	va_list args;
	FILE *out;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	out = popen(command, "r");
	if (!out)
		return -1;
	while (fgets(line, sizeof(line), out))
		if (sscanf(line, "%31s %lf", key, &nanoseconds) == 2)
			add(key, nanoseconds);
	return pclose(out);
}

/* The recorder writes to a real file, as it does in use; bursts leave its writer time. */
#define TRACED "LD_PRELOAD=%s TSTRACE_OUTPUT=bench.%%p.jsonl TSTRACE_DEVICE=off TSTRACE_FLUSH_MS=5 "

/* A recorder that records nothing is fast: count the lines of the trace against the events made. */
static int collect_traced(const char *stacks, const char *probe, const char *mode)
{
	int failed = collect(TRACED "TSTRACE_STACKS=%s %s/%s %s %s", library, stacks, folder, probe,
			     folder, mode);

	failed |= collect("echo recorded $(cat bench.*.jsonl 2>/dev/null | wc -l)");
	return failed | collect("rm -f bench.*.jsonl");
}

static int run_probes(void)
{
	int failed = 0;

	failed |= collect_traced("0", "probe_event", "one");
	failed |= collect_traced("0", "probe_event", "two");
	failed |= collect_traced("0", "probe_span", "");
	/* Recording that ended (here: it could not begin) is what "off" costs. */
	failed |= collect("LD_PRELOAD=%s TSTRACE_OUTPUT=/dev/null/none TSTRACE_DEVICE=off "
			  "TSTRACE_STACKS=0 %s/probe_event %s one 2>/dev/null | "
			  "sed -n 's/^\\(free\\|launch\\) /off_\\1 /p'", library, folder, folder);
	failed |= collect("%s/probe_off header", folder);
	failed |= collect(TRACED "TSTRACE_STACKS=0 %s/probe_off paused; rm -f bench.*.jsonl",
			  library, folder);
	failed |= collect_traced("32", "probe_stack", "cuda one");
	failed |= collect_traced("32", "probe_stack", "cuda two");
	failed |= collect("BENCH_KEY=heap_plain %s/probe_stack %s heap one", folder, folder);
	if (getenv("BENCH_HEAPTRACK"))
		failed |=
		    collect("BENCH_KEY=heaptrack heaptrack --raw -o bench.heaptrack "
			    "%s/probe_stack %s heap one 2>/dev/null | grep '^heaptrack [0-9]'",
			    folder, folder);
	for (int i = 0; i < 5; i++) {
		failed |= collect("%s/probe_throw %s throw_plain", folder, folder);
		failed |= collect(TRACED "%s/probe_throw %s throw_traced", library, folder, folder);
	}
	return failed;
}

static double start_up(char **environment, int *status)
{
	char path[PATH_MAX], *arguments[] = { path, NULL };
	double t0 = now_ns();
	pid_t child;

	snprintf(path, sizeof(path), "%s/probe_idle", folder);
	if (posix_spawn(&child, path, NULL, NULL, arguments, environment) ||
	    waitpid(child, status, 0) < 0)
		*status = -1;
	return now_ns() - t0;
}

static void run_start_ups(void)
{
	char preload[PATH_MAX + 16], *traced[2] = { preload, NULL }, *plain[1] = { NULL };
	int status;

	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library);
	for (int i = 0; i < STARTS; i++) {
		add("start_plain", start_up(plain, &status));
		add("start_traced", start_up(traced, &status));
	}
}

/* 0 when a traced idle program starts no thread and leaves no file. */
static int idle_leaves_something(void)
{
	char command[2 * PATH_MAX + 128];

	snprintf(command, sizeof(command),
		 "mkdir idle && cd idle && LD_PRELOAD=%s %s/probe_idle threads && "
		 "test -z \"$(ls -A)\"; status=$?; cd .. && rm -rf idle; exit $status",
		 library, folder);
	return system(command);
}

/* --- the table --- */
static void verdict(const char *id, const char *what, double measured, const char *against,
		    double other, double ratio, double target)
{
	bool met = ratio <= target;

	printf("%-4s %-30s %9.1f  %-26s %9.1f  %7.2f  <= %-6.2f %s\n", id, what, measured, against,
	       other, ratio, target, met ? "met" : "not met");
	not_met += !met;
}

static void missing(const char *id, const char *what, const char *why)
{
	printf("%-4s %-30s not measured: %s\n", id, what, why);
	absent++;
}

static void versus(const char *id, const char *what, const char *key, const char *against,
		   const char *other, double target)
{
	if (!known(key))
		missing(id, what, "the probe gave no figure");
	else if (!known(other))
		missing(id, what, against);
	else
		verdict(id, what, value(key), against, value(other), value(key) / value(other),
			target);
}

static void absolute(const char *id, const char *what, const char *key, double target)
{
	if (known(key))
		verdict(id, what, value(key), "(ns a call)", value(key), value(key), target);
	else
		missing(id, what, "the probe gave no figure");
}

/* A launch has a duration: two clock reads by design.  Said beside the target, not in its place. */
static void print_two_edges(void)
{
	if (known("launch") && known("floor_edges"))
		printf("P1   %-30s %9.1f  %-26s %9.1f  %7.2f  (no target: two clock reads, one "
		       "record)\n",
		       "", value("launch"), "floor with two edges", value("floor_edges"),
		       value("launch") / value("floor_edges"));
}

static void print_events(void)
{
	static const struct {
		const char *key, *name;
	} events[] = {
		{ "span_begin", "span begin" }, { "span_end", "span end" }, { "free", "free" },
		{ "launch", "launch" },
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if (!known(events[i].key)) {
			missing("P1", events[i].name, "this build has no public span functions");
			continue;
		}
		versus("P1", events[i].name, events[i].key, "floor: ring record", "floor", 1.5);
		versus("P1", "", events[i].key, known("lttng") ? "LTTng-UST tracepoint"
			: "peer LTTng-UST is absent", "lttng", 0.2);
	}
	print_two_edges();
	versus("P3", "free, 2 threads", "free_2", "1 thread", "free", 1.1);
	versus("P3", "launch, 2 threads", "launch_2", "1 thread", "launch", 1.1);
	versus("P2", "span, begin and end", "span_pair", known("tracy") ? "Tracy ZoneScoped"
		: "peer Tracy is absent", "tracy", 1.2);
	absolute("P4", "tstrace.h, no library", "off_header", 3);
	absolute("P4", "tstrace.h, paused", "paused_span", 3);
	absolute("P4", "launch, paused", "paused_launch", 3);
	absolute("P4", "allocation, paused", "paused_alloc", 3);
	absolute("P4", "free, paused", "paused_free", 3);
	absolute("P4", "free, recording off", "off_free", 3);
	absolute("P4", "launch, recording off", "off_launch", 3);
}

/* Each with the target of the first release and the final one. */
static void print_stacks(void)
{
	const char *unw = known("unw") ? "unw_backtrace+intern+ring" : "libunwind is absent";

	versus("P5", "allocation, stack of 30", "alloc", unw, "unw", 0.75);
	versus("P5", "  final target", "alloc", unw, "unw", 0.6);
	if (known("heaptrack") && known("pair") && known("heap_plain")) {
		double other = value("heaptrack") - value("heap_plain");
		double ratio = value("pair") / other;

		verdict("P5", "alloc+free, stack of 30", value("pair"), "heaptrack malloc+free",
			other, ratio, 0.5);
		verdict("P5", "  final target", value("pair"), "heaptrack malloc+free", other,
			ratio, 0.35);
	} else {
		missing("P5", "alloc+free, stack of 30", "peer heaptrack is absent");
	}
	versus("P5", "allocation, 2 threads", "alloc_2", "1 thread", "alloc", 1.2);
}

/* Events that the traced probes made, and lines of their traces. */
static void print_recorded(void)
{
	bool met = sum("made") > 0 && sum("recorded") >= sum("made");

	printf("     %-30s %9.0f  %-26s %9.0f  %s\n", "events in the traces", sum("recorded"),
	       "events made", sum("made"), met ? "met" : "not met: the figures above do not count");
	not_met += !met;
}

static void print_process(int idle)
{
	double more = value("start_traced") - value("start_plain");

	versus("P6", "C++ throw and catch", "throw_traced", "without the preload", "throw_plain",
	       1.1);
	verdict("P10", "start-up, us", value("start_traced") / 1e3, "without, us",
		value("start_plain") / 1e3, more / 1e6, 1.0);
	printf("P10  %-30s %s\n", "no thread, no file", idle ? "not met" : "met");
	not_met += idle != 0;
}

int main(int argc, char **argv)
{
	int failed = 0, idle;

	if (argc < 3)
		return 2;
	folder = argv[1];
	library = argv[2];
	for (int turn = 0; turn < 2 && !failed; turn++) {
		failed = run_probes();
		run_start_ups();
	}
	idle = idle_leaves_something();
	if (failed)
		fprintf(stderr, "bench: a probe failed\n");
	printf("%-4s %-30s %9s  %-26s %9s  %7s  %-9s\n", "", "nanoseconds an event", "tstrace",
	       "compared with", "", "ratio", "target");
	print_events();
	print_stacks();
	print_recorded();
	print_process(idle);
	printf(
	    "%d not met, %d not measured.  Ratio of P4: nanoseconds; of P10: milliseconds more.\n",
	    not_met, absent);
	if (failed)
		return 2;
	return not_met > 0;
}
