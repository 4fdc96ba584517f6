#include "core/nvtx_spec.h"

#include <ctype.h>
#include <string.h>

static const char *const words[] = {NULL, "forward", "backward", "optimizer", "iteration"};

const char *ts_nvtx_set_end(const char *p)
{
	p += p[1] == '!' || p[1] == '^' ? 2 : 1;
	return (p = *p ? strchr(p + 1, ']') : NULL) ? p + 1 : NULL;
}

static const char *pattern_flaw(const char *p)
{
	if (!*p)
		return "the pattern is empty";
	while (*p) {
		if (*p == '\\' && !p[1])
			return "the pattern ends with a backslash";
		if (*p == '[' && !ts_nvtx_set_end(p))
			return "a [ of the pattern has no ]";
		p = *p == '[' ? ts_nvtx_set_end(p) : p + 1 + (*p == '\\');
	}
	return NULL;
}

static const char *add(char *item, struct ts_nvtx_rule *rules, unsigned *count)
{
	char *equals = strchr(item, '=');
	const char *flaw;
	uint8_t what = 1;

	if (!equals)
		return "a = is missing";
	*equals = '\0';
	while (what < TS_ARRAY_SIZE(words) && strcmp(words[what], item))
		what++;
	*equals = '=';
	if (what == TS_ARRAY_SIZE(words))
		return "it wants forward=, backward=, optimizer= or iteration=";
	flaw = pattern_flaw(equals + 1);
	if (flaw || *count == TS_NVTX_RULES)
		return flaw ? flaw : "32 patterns are allowed";
	rules[(*count)++] = (struct ts_nvtx_rule){equals + 1, what};
	return NULL;
}

unsigned ts_nvtx_parse(char *text, struct ts_nvtx_rule rules[TS_NVTX_RULES],
		       struct ts_nvtx_flaws *flaws)
{
	unsigned count = 0;
	char *item;

	*flaws = (struct ts_nvtx_flaws){0};
	while ((item = strsep(&text, ";"))) {
		const char *flaw;

		while (isspace((unsigned char)*item))
			item++;
		flaw = *item ? add(item, rules, &count) : NULL;
		if (flaw && !flaws->count++) {
			flaws->item = item;
			flaws->why = flaw;
		}
	}
	return count;
}
