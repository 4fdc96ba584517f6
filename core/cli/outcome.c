#include "core/cli/outcome.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TOLD 8 /* files; the job of a hundred ranks need not fill the screen */

/* Appends a part of the template as a glob pattern. */
static char *append(char *out, const char *part, size_t length)
{
	for (const char *end = part + length; part < end; part++) {
		if (part[0] == '%' && part + 1 < end) {
			part++;
			*out++ = *part == '%' ? '%' : '*';
			continue;
		}
		if (strchr("*?[\\", *part))
			*out++ = '\\';
		*out++ = *part;
	}
	*out = '\0';
	return out;
}

/* The writer appends .zst when it compresses, and keeps an older file by a number: before .jsonl
 * where the name has it, else at the end. */
static int find(const char *template, glob_t *hits)
{
	static const char *const forms[][2] = {
	    {"", ""}, {"", ".zst"}, {".[0-9]*", ""}, {".[0-9]*", ".zst"}, {"", ".zst.[0-9]*"}};
	const char *slash = strrchr(template, '/');
	const char *rest = strstr(slash ? slash : template, ".jsonl");
	size_t stem = rest ? (size_t)(rest - template) : strlen(template);
	char *pattern = malloc(2 * strlen(template) + 32);
	int flags = 0;

	if (!pattern)
		return -1;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		char *out = append(pattern, template, stem);

		out = stpcpy(out, forms[i][0]);
		out = append(out, template + stem, strlen(template + stem));
		strcpy(out, forms[i][1]);
		if (glob(pattern, flags, NULL, hits) == GLOB_NOSPACE)
			break;
		flags = GLOB_APPEND;
	}
	free(pattern);
	return 0;
}

/* One file may fit several forms. */
static bool is_repeated(const glob_t *hits, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(hits->gl_pathv[i], hits->gl_pathv[index]))
			return true;
	return false;
}

static bool is_since(const struct timespec *time, const struct timespec *since, time_t slack)
{
	if (time->tv_sec + slack != since->tv_sec)
		return time->tv_sec + slack > since->tv_sec;
	return time->tv_nsec >= since->tv_nsec;
}

bool ts_outcome_tell(const char *template, const struct timespec *since, FILE *out)
{
	glob_t hits = {0};
	bool found = false;
	size_t told = 0;

	if (find(template, &hits))
		return true;
	for (size_t i = 0; i < hits.gl_pathc; i++) {
		struct stat st;

		if (stat(hits.gl_pathv[i], &st))
			continue;
		/* The clock of a file server may be behind ours: such a file is not named, but
		 * nobody is told that there is none. */
		if (!S_ISREG(st.st_mode) || is_since(&st.st_mtim, since, 1))
			found = true;
		if (!S_ISREG(st.st_mode) || !is_since(&st.st_mtim, since, 0) ||
		    is_repeated(&hits, i))
			continue;
		if (told++ < TOLD)
			fprintf(out, "tstrace run: trace: %s\n", hits.gl_pathv[i]);
	}
	if (told > TOLD)
		fprintf(out, "tstrace run: ... and %zu more traces\n", told - TOLD);
	globfree(&hits);
	return found;
}
