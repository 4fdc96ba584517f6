/* The command `tstrace`: finds the verb and hands over to it. */
#include "core/cli/verb.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static const struct ts_verb *const verbs[] = {
#define TS_VERB(name) &ts_verb_##name,
#include "core/cli/verbs.def"
#undef TS_VERB
    NULL,
};

static const char *const words[] = {
#define TS_VERB(name) #name,
#include "core/cli/verbs.def"
#undef TS_VERB
    "help", "version", "--help", "--version", NULL,
};

static int usage(FILE *out)
{
	fprintf(out, "usage: tstrace VERB [ARGUMENTS]\n\n"
		     "Records what a CUDA program does with the GPU and reads the traces.\n\n");
	for (const struct ts_verb *const *verb = verbs; *verb; verb++)
		fprintf(out, "  %-9s %s\n", (*verb)->name, (*verb)->help);
	fprintf(out, "  %-9s %s\n  %-9s %s\n", "help", "explain one verb", "version",
		"print the version");
	fprintf(out, "\n`tstrace VERB --help` explains one verb; tstrace(1) is the manual.\n");
	return out == stdout ? TS_EXIT_OK : TS_EXIT_USAGE;
}

static const struct ts_verb *find(const char *name)
{
	for (const struct ts_verb *const *verb = verbs; *verb; verb++)
		if (!strcmp((*verb)->name, name))
			return *verb;
	return NULL;
}

static int unknown(const char *word)
{
	const char *nearest = ts_nearest_word(word, words);

	if (nearest)
		fprintf(stderr, "tstrace: there is no verb '%s'; did you mean '%s'?\n", word,
			nearest);
	else
		fprintf(stderr, "tstrace: there is no verb '%s'; `tstrace --help` lists them\n",
			word);
	return TS_EXIT_USAGE;
}

static int help(int argc, char **argv)
{
	const struct ts_verb *verb;

	if (argc < 3 || !strcmp(argv[2], "help") || !strcmp(argv[2], "version"))
		return usage(stdout);
	verb = find(argv[2]);
	return verb ? ts_verb_help(verb) : unknown(argv[2]);
}

int main(int argc, char **argv)
{
	const struct ts_verb *verb;

	/* LC_NUMERIC stays "C": numbers are read and printed with a point wherever we run. */
	setlocale(LC_CTYPE, "");
	if (argc < 2)
		return usage(stderr);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return ts_finish_stdout(help(argc, argv));
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") ||
	    !strcmp(argv[1], "version")) {
		puts("tstrace " TS_VERSION);
		return ts_finish_stdout(TS_EXIT_OK);
	}
	verb = find(argv[1]);
	if (!verb)
		return unknown(argv[1]);
	if (argc > 2 && !strcmp(argv[2], "--help"))
		return ts_finish_stdout(ts_verb_help(verb));
	return verb->run(argc - 1, argv + 1);
}
