#include "core/cli/outcome.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Turns a template into a glob pattern; the writer may append a suffix (.zst, or a number to keep
 * an older file). */
static char *pattern_of(const char *template)
{
	char *pattern = malloc(2 * strlen(template) + 2), *out = pattern;

	if (!pattern)
		return NULL;
	for (; *template; template ++) {
		if (template[0] == '%' && template[1]) {
			template ++;
			*out++ = *template == '%' ? '%' : '*';
			continue;
		}
		if (strchr("*?[\\", *template))
			*out++ = '\\';
		*out++ = *template;
	}
	*out++ = '*';
	*out = '\0';
	return pattern;
}

bool ts_outcome_has_trace(const char *template, const struct timespec *since)
{
	char *pattern = pattern_of(template);
	bool found = false;
	glob_t hits;

	if (!pattern)
		return true; /* not known: say nothing */
	if (!glob(pattern, GLOB_NOSORT, NULL, &hits)) {
		for (size_t i = 0; i < hits.gl_pathc && !found; i++) {
			struct stat st;

			/* File times come from a clock that ticks coarsely, hence the second of
			 * slack. */
			found =
			    !stat(hits.gl_pathv[i], &st) && st.st_mtim.tv_sec + 1 >= since->tv_sec;
		}
		globfree(&hits);
	}
	free(pattern);
	return found;
}
