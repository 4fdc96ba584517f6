/* tstrace run: starts a program with the library preloaded and gets out of its way. */
#include "core/cli/child.h"
#include "core/cli/outcome.h"
#include "core/cli/preload.h"
#include "core/cli/target.h"
#include "core/cli/verb.h"
#include "core/env.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* As env(1), nohup(1) and others: what fails here is told apart from what fails in the program. */
enum { EXIT_OWN_FAILURE = 125, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

struct options {
	const char *output;
	bool sim, in_place;
};

static const char details[] =
    "  -o, --output TEMPLATE  file to write (sets TSTRACE_OUTPUT): %p pid, %h host, %e program, %r "
    "rank,\n"
    "                         %t start time, %% a percent sign; default tstrace.%e.%p.jsonl\n"
    "      --sim              run on the simulated device instead of a GPU; PROG must have the "
    "shared CUDA\n"
    "                         runtime (nvcc -cudart shared; the default of nvcc is static) or load "
    "the driver\n"
    "      --exec             become the program instead of waiting for it (the trace is not named "
    "at the end)\n"
    "\n"
    "At the end the traces are named on standard error.  A file that exists is never overwritten: "
    "its name is given\n"
    "a number (out.1.jsonl).\n"
    "\n"
    "What LD_PRELOAD holds stays and comes first, libtstrace.so after it.  The exit status is that "
    "of PROG, and a\n"
    "signal that kills PROG kills tstrace; 125 tstrace itself failed, 126 PROG cannot be run, 127 "
    "it was not found.\n"
    "`tstrace env` lists the variables that shape the recording.\n";

/* Returns the index of PROG in argv, or 0 after a message. */
static int parse(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
	    {"output", required_argument, NULL, 'o'},
	    {"sim", no_argument, NULL, 's'},
	    {"exec", no_argument, NULL, 'x'},
	    {"help", no_argument, NULL, 'h'},
	    {0},
	};
	int letter;

	optind = 1;
	opterr = 0;
	/* "+": options after PROG are the program's. */
	while ((letter = getopt_long(argc, argv, "+:o:h", longs, NULL)) != -1) {
		switch (letter) {
		case 'o':
			options->output = optarg;
			break;
		case 's':
			options->sim = true;
			break;
		case 'x':
			options->in_place = true;
			break;
		case 'h':
			exit(ts_finish_stdout(ts_verb_help(&ts_verb_run)));
		case ':':
			ts_verb_misuse(&ts_verb_run, "%s needs a value", argv[optind - 1]);
			return 0;
		default:
			ts_verb_misuse(&ts_verb_run, "option %s is not known", argv[optind - 1]);
			return 0;
		}
	}
	if (optind >= argc) {
		ts_verb_misuse(&ts_verb_run, "no program is given");
		return 0;
	}
	return optind;
}

static int refuse(const char *name, int error)
{
	if (error == -ENOENT) {
		fprintf(stderr,
			strchr(name, '/') ? "tstrace run: %s: there is no such file\n"
					  : "tstrace run: %s: not found in PATH\n",
			name);
		return EXIT_NOT_FOUND;
	}
	if (error == -EACCES)
		fprintf(stderr, "tstrace run: %s: may not be executed (no execute permission)\n",
			name);
	else
		fprintf(stderr, "tstrace run: %s: %s\n", name, strerror(-error));
	return EXIT_CANNOT_RUN;
}

/* exec reports ENOENT also when the file is there and its loader or interpreter is not. */
static int exec_failed(const struct ts_target *target, int error)
{
	const char *needed = target->interpreter[0] ? target->interpreter : target->detail;

	if (error == ENOENT && !access(target->path, F_OK)) {
		fprintf(stderr, "tstrace run: %s: its loader or interpreter %s%sis missing\n",
			target->path, needed, *needed ? " " : "");
		return EXIT_CANNOT_RUN;
	}
	return refuse(target->path, -error);
}

/* Sets up the environment; says what the user has to know before the program runs. */
static int prepare(const struct options *options, const struct ts_target *target)
{
	struct ts_preload preload;
	char why[3 * PATH_MAX];

	ts_target_explain(target, why, sizeof(why));
	if (why[0])
		fprintf(stderr, "tstrace run: %s\n", why);
	if (!ts_target_is_traceable(target))
		return 0;
	if (ts_preload_find(&preload, options->sim))
		return -ENOENT;
	if (options->sim)
		fputs("tstrace run: simulated device: no GPU is used, kernels compute nothing, "
		      "times are invented\n",
		      stderr);
	if (options->output && setenv("TSTRACE_OUTPUT", options->output, 1))
		return -ENOMEM;
	return ts_preload_set_environment(&preload);
}

static int run_and_wait(const struct ts_target *target, char **argv)
{
	struct timespec start;
	pid_t pid;
	int status = 0, error;

	/* The traced process warns; here only the name of the file is wanted. */
	ts_env_read(environ, NULL);
	clock_gettime(CLOCK_REALTIME_COARSE, &start);
	error = ts_child_run(target->path, argv, &pid, &status);
	if (error)
		return exec_failed(target, -error);
	if (ts_target_is_traceable(target) && !ts_outcome_tell(ts_env.output, &start, stderr))
		fprintf(stderr,
			"tstrace run: nothing was captured in %s: no CUDA call of %s reached "
			"libtstrace.so; it made none, loaded CUDA with RTLD_DEEPBIND, or names "
			"its trace itself (tstrace_open)%s\n",
			ts_env.output, argv[0],
			target->kind == TS_TARGET_DYNAMIC
			    ? ""
			    : ", or in children with a cleaned environment");
	ts_child_pass_on(status);
}

static int run(int argc, char **argv)
{
	struct options options = {0};
	struct ts_target target;
	int first = parse(argc, argv, &options), error;

	if (!first)
		return EXIT_OWN_FAILURE;
	error = ts_target_inspect(argv[first], &target);
	if (error)
		return refuse(argv[first], error);
	if (prepare(&options, &target))
		return EXIT_OWN_FAILURE;
	if (!options.in_place)
		return run_and_wait(&target, argv + first);
	execvp(target.path, argv + first);
	return exec_failed(&target, errno);
}

const struct ts_verb ts_verb_run = {
    .name = "run",
    .args = "[-o TEMPLATE] [--sim] [--exec] [--] PROG [ARGS]",
    .help = "run a program and record what it does with the GPU",
    .details = details,
    .run = run,
};
