/* Patterns of range names; see rules.h.
 *
 * Not fnmatch: it may allocate, and what it takes for a character is the locale's. */
#include "core/session/rules.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/nvtx_spec.h"

static struct ts_nvtx_rule rules[TS_NVTX_RULES];
static unsigned rule_count;
static char kept[TS_NVTX_TEXT]; /* the program may change its environment */
static _Atomic uint64_t counted;

bool ts_rules_any;

void ts_rules_read(const char *text)
{
	struct ts_nvtx_flaws flaws;

	atomic_store(&counted, 0);
	snprintf(kept, sizeof(kept), "%s", text);
	rule_count = ts_nvtx_parse(kept, rules, &flaws);
	ts_rules_any = rule_count != 0;
}

/* --- matching --- */

/* Whether the set at `p` has `c`. */
static bool in_set(const char *p, unsigned char c)
{
	const char *end = ts_nvtx_set_end(p) - 1;
	bool negated = p[1] == '!' || p[1] == '^', found = false;

	for (p += negated ? 2 : 1; p < end; p++) {
		unsigned char low = (unsigned char)p[0], high = low;

		if (p[1] == '-' && p + 2 < end) {
			high = (unsigned char)p[2];
			p += 2;
		}
		found = found || (c >= low && c <= high);
	}
	return found != negated;
}

/* One character of the pattern, not *; its end in *next. */
static bool one(const char *p, char c, const char **next)
{
	if (*p == '[') {
		*next = ts_nvtx_set_end(p);
		return in_set(p, (unsigned char)c);
	}
	if (*p == '\\') {
		*next = p + 2;
		return p[1] == c;
	}
	*next = p + 1;
	return *p == '?' || *p == c;
}

static bool matches(const char *p, const char *text)
{
	const char *star = NULL, *behind = NULL, *next;

	while (*text) {
		if (*p == '*') {
			star = ++p;
			behind = text;
		} else if (*p && one(p, *text, &next)) {
			p = next;
			text++;
		} else if (star) {
			p = star;
			text = ++behind;
		} else {
			return false;
		}
	}
	while (*p == '*')
		p++;
	return !*p;
}

/* The last number in it; false: there is none, or it has more than 19 digits. */
static bool number_in(const char *name, uint64_t *number)
{
	size_t end = strlen(name), begin;

	while (end && !isdigit((unsigned char)name[end - 1]))
		end--;
	for (begin = end; begin && isdigit((unsigned char)name[begin - 1]);)
		begin--;
	*number = 0;
	for (size_t i = begin; i < end && end - begin < 20; i++)
		*number = *number * 10 + (uint64_t)(name[i] - '0');
	return end > begin && end - begin < 20;
}

struct ts_named ts_rules_match(const char *name, bool may_iterate)
{
	struct ts_named named = {0};

	for (unsigned i = 0; i < rule_count; i++) {
		bool is_iteration = rules[i].what == TS_NVTX_ITERATION;

		if ((is_iteration ? !may_iterate || named.is_iteration : named.step != 0) ||
		    !matches(rules[i].pattern, name))
			continue;
		if (is_iteration)
			named.is_iteration = true;
		else
			named.step = rules[i].what;
	}
	if (named.is_iteration && !number_in(name, &named.iteration))
		named.iteration = atomic_fetch_add(&counted, 1) + 1;
	return named;
}
