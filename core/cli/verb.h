/* The verbs of the command.  To add one: a file verb_NAME.c that exports `ts_verb_NAME`, and a row
 * in verbs.def; dispatch, `tstrace --help` and the suggestion for a misspelt verb come from the
 * table. */
#ifndef TS_CLI_VERB_H
#define TS_CLI_VERB_H

#include <stddef.h>

/* Exit statuses that every verb shares; a verb that has more says so in its details and in the man
 * page. */
enum ts_exit {
	TS_EXIT_OK = 0,
	TS_EXIT_NO = 1,	   /* the answer is no: an invalid trace */
	TS_EXIT_USAGE = 2, /* wrong usage, or a file that cannot be read */
};

struct ts_verb {
	const char *name;
	const char *args;    /* what follows the name in the usage line */
	const char *help;    /* one line, no full stop */
	const char *details; /* the body of `tstrace NAME --help`: options and exit statuses */
	int (*run)(int argc, char **argv); /* argv[0] is the verb's name; returns the exit status */
};

#define TS_VERB(name) extern const struct ts_verb ts_verb_##name;
#include "core/cli/verbs.def"
#undef TS_VERB

/* Prints the help of one verb to stdout; returns TS_EXIT_OK. */
int ts_verb_help(const struct ts_verb *verb);

/* Prints "tstrace VERB: MESSAGE" and where to find help to stderr; returns TS_EXIT_USAGE. */
int ts_verb_misuse(const struct ts_verb *verb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The word of `words` (NULL at its end) that `word` was probably meant to be, or NULL. */
const char *ts_nearest_word(const char *word, const char *const *words);

/* Flushes stdout.  Returns `status`, or TS_EXIT_USAGE with one message when what was printed did
 * not arrive (a full disk); a reader that went away is no error. */
int ts_finish_stdout(int status);

#endif
