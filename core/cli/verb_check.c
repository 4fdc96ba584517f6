/* tstrace check: is a trace valid by the rules of its format? */
#include "core/cli/verb.h"
#include "core/out/format.h"
#include "core/out/json_value.h"
#include "core/trace/health.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char details[] =
    "Prints LINE:CODE:MESSAGE for each problem (line 0: the file as a whole) and a verdict.  A "
    "code that begins with\n"
    "parse_ makes the file unreadable for a strict reader.  FILE may be packed by zstd; - is "
    "standard input.\n"
    "\n"
    "      --json             print one JSON object instead\n"
    "      --allow-truncated  judge a file that stops early like a run that failed\n"
    "\n"
    "Exit status: 0 valid, 1 invalid, 2 not readable or wrong usage.\n";

static json_t *counts_of(const uint64_t *counts)
{
	json_t *object = json_object();

	for (int kind = 0; kind < TS_EVENT_KINDS; kind++) {
		uint64_t count = counts[kind];

		if (kind == TS_TABLE_call_edge || kind == TS_TABLE_data_edge)
			continue;
		if (kind == TS_TABLE_edge)
			count += counts[TS_TABLE_call_edge] + counts[TS_TABLE_data_edge];
		if (count)
			json_object_set_new(object, ts_table_name((enum ts_table)kind),
					    ts_json_u64(count));
	}
	return object;
}

static void print_json(const struct ts_health *health)
{
	json_t *issues = json_array();

	for (size_t i = 0; i < health->kept; i++) {
		const struct ts_issue *issue = &health->issues[i];

		json_array_append_new(issues, json_pack("{s:o,s:s,s:o,s:o}", "line",
							ts_json_u64(issue->line), "severity",
							issue->is_error ? "error" : "warning",
							"code", ts_json_string(issue->code),
							"message", ts_json_string(issue->text)));
	}
	ts_json_print(
	    json_pack("{s:b,s:b,s:b,s:o,s:o,s:o,s:o,s:o,s:o}", "valid", health->valid, "complete",
		      health->complete, "parse_error", health->parse_error, "errors",
		      ts_json_u64(health->errors), "warnings", ts_json_u64(health->warnings),
		      "issue_count", ts_json_u64(health->issue_count), "issues", issues, "counts",
		      counts_of(health->events), "extra_keys", counts_of(health->extra_keys)),
	    stdout);
}

static void print_text(const struct ts_health *health)
{
	for (size_t i = 0; i < health->kept; i++) {
		const struct ts_issue *issue = &health->issues[i];

		/* A message may quote the trace: it must not steer a terminal nor make lines. */
		printf("%" PRIu64 ":%s:", issue->line, issue->code);
		ts_print_plain(stdout, (struct ts_str){issue->text, strlen(issue->text)});
		putchar('\n');
	}
	if (health->kept < health->issue_count)
		fprintf(stderr, "tstrace check: %zu more problems are not listed\n",
			health->issue_count - health->kept);
	printf("valid: %s, complete: %s, errors: %" PRIu64 ", warnings: %" PRIu64 "\n",
	       health->valid ? "yes" : "no", health->complete ? "yes" : "no", health->errors,
	       health->warnings);
}

static int run(int argc, char **argv)
{
	static const struct option longs[] = {
	    {"json", no_argument, NULL, 'j'},
	    {"allow-truncated", no_argument, NULL, 't'},
	    {"help", no_argument, NULL, 'h'},
	    {0},
	};
	bool json = false, allow_truncated = false;
	struct ts_health health;
	int letter, status;

	opterr = 0;
	optind = 1;
	while ((letter = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (letter == 'h')
			return ts_finish_stdout(ts_verb_help(&ts_verb_check));
		if (letter == '?')
			return ts_verb_misuse(&ts_verb_check, "option %s is not known",
					      argv[optind - 1]);
		json |= letter == 'j';
		allow_truncated |= letter == 't';
	}
	if (argc - optind != 1)
		return ts_verb_misuse(&ts_verb_check, argc == optind
							  ? "no file is given"
							  : "more than one file is given");
	signal(SIGPIPE, SIG_IGN);
	if (ts_health_check(argv[optind], allow_truncated, &health)) {
		ts_health_free(&health);
		return TS_EXIT_USAGE;
	}
	(json ? print_json : print_text)(&health);
	status = health.valid ? TS_EXIT_OK : TS_EXIT_NO;
	ts_health_free(&health);
	return ts_finish_stdout(status);
}

const struct ts_verb ts_verb_check = {
    .name = "check",
    .args = "[--json] [--allow-truncated] FILE",
    .help = "say whether a trace is valid",
    .details = details,
    .run = run,
};
