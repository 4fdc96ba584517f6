/* What all verbs share: help, misuse, the end of the output. */
#include "core/cli/verb.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int ts_verb_help(const struct ts_verb *verb)
{
	printf("usage: tstrace %s %s\n\n%s.\n\n%s", verb->name, verb->args, verb->help,
	       verb->details);
	return TS_EXIT_OK;
}

int ts_verb_misuse(const struct ts_verb *verb, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "tstrace %s: ", verb->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nusage: tstrace %s %s\n", verb->name, verb->args);
	return TS_EXIT_USAGE;
}

int ts_finish_stdout(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	if (errno == EPIPE)
		return status;
	fprintf(stderr, "tstrace: writing to standard output failed: %s\n", strerror(errno));
	return TS_EXIT_USAGE;
}
