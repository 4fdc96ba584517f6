/* tstrace summary: what the program did with the GPU. */
#include "core/cli/verb.h"
#include "core/env.h"
#include "core/out/summary.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static const char details[] =
    "Losses come first, then time by span, kernel, call, device and stream, then memory.\n"
    "FILE may be packed by zstd; - is standard input.  Lines that are no events are counted and "
    "skipped.\n"
    "Sizes are binary (1 KiB = 1024 bytes).\n"
    "\n"
    "      --json           print one JSON object instead; keys carry their unit\n"
    "      --rows N         rows of each table in the text (default 20)\n"
    "      --debug-dir DIR  look for separate debug files there first (laid out like "
    "/usr/lib/debug; DIR:DIR... are\n"
    "                       several; TSTRACE_DEBUG_PATH adds to them)\n"
    "\n"
    "Exit status: 0 a summary was printed, also of a damaged trace; 2 not readable, not a trace, "
    "or wrong usage.\n";

struct options {
	bool json;
	size_t rows;
	const char *debug_dir;
};

/* Returns 0, -1 when help was asked for, or a status after a message. */
static int parse(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
	    {"json", no_argument, NULL, 'j'},
	    {"rows", required_argument, NULL, 'r'},
	    {"debug-dir", required_argument, NULL, 'd'},
	    {"help", no_argument, NULL, 'h'},
	    {0},
	};
	unsigned long rows;
	char *end;
	int letter;

	opterr = 0;
	optind = 1;
	while ((letter = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
		switch (letter) {
		case 'j':
			options->json = true;
			break;
		case 'd':
			options->debug_dir = optarg;
			break;
		case 'r':
			errno = 0;
			rows = strtoul(optarg, &end, 10);
			if (errno || *end || end == optarg || *optarg == '-' || !rows)
				return ts_verb_misuse(&ts_verb_summary,
						      "--rows needs a number from 1, not '%s'",
						      optarg);
			options->rows = rows;
			break;
		case 'h':
			return -1;
		case ':':
			return ts_verb_misuse(&ts_verb_summary, "%s needs a value",
					      argv[optind - 1]);
		default:
			return ts_verb_misuse(&ts_verb_summary, "option %s is not known",
					      argv[optind - 1]);
		}
	}
	if (argc - optind != 1)
		return ts_verb_misuse(&ts_verb_summary, argc == optind
							    ? "no file is given"
							    : "more than one file is given");
	return 0;
}

/* --debug-dir comes before the folders of the variable. */
static struct ts_symbols *open_symbols(const char *debug_dir)
{
	const char *variable;
	struct ts_symbols *symbols;
	char *path = NULL;

	ts_env_read(environ, NULL);
	variable = ts_env.debug_path;
	if (!debug_dir || !*variable)
		return ts_symbols_open(debug_dir ? debug_dir : variable);
	if (asprintf(&path, "%s:%s", debug_dir, variable) < 0)
		path = NULL;
	symbols = ts_symbols_open(path ? path : debug_dir);
	free(path);
	return symbols;
}

static int run(int argc, char **argv)
{
	struct options options = {.rows = 20};
	int status = parse(argc, argv, &options);
	struct ts_symbols *symbols;
	struct ts_summary summary;

	if (status)
		return status < 0 ? ts_finish_stdout(ts_verb_help(&ts_verb_summary)) : status;
	signal(SIGPIPE, SIG_IGN);
	if (ts_summary_read(&summary, argv[optind])) {
		ts_summary_free(&summary);
		return TS_EXIT_USAGE;
	}
	symbols = open_symbols(options.debug_dir);
	if (options.json)
		ts_summary_json(stdout, &summary, symbols, argv[optind]);
	else
		ts_summary_text(stdout, &summary, symbols, argv[optind], options.rows);
	ts_symbols_close(symbols);
	ts_summary_free(&summary);
	return ts_finish_stdout(TS_EXIT_OK);
}

const struct ts_verb ts_verb_summary = {
    .name = "summary",
    .args = "[--json] [--rows N] [--debug-dir DIR] FILE",
    .help = "show what the program did with the GPU: losses, time, memory",
    .details = details,
    .run = run,
};
