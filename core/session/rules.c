/* Patterns of range names; see rules.h.
 *
 * Not fnmatch: it may allocate, and what it takes for a character is the locale's. */
#include "core/session/rules.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/log.h"

#define RULES 32u
#define TEXT 1024u
#define ITERATION 4u

static const char *const words[] = {NULL, "forward", "backward", "optimizer", "iteration"};

static struct rule {
	const char *pattern;
	uint8_t what; /* index of words */
} rules[RULES];
static unsigned rule_count;
static char kept[TEXT]; /* the program may change its environment */
static _Atomic uint64_t counted;

bool ts_rules_any;

/* --- reading --- */

/* The character behind a [set]; NULL: it has no end. */
static const char *set_end(const char *p)
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
		if (*p == '[' && !set_end(p))
			return "a [ of the pattern has no ]";
		p = *p == '[' ? set_end(p) : p + 1 + (*p == '\\');
	}
	return NULL;
}

static const char *add(char *item)
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
	if (flaw || rule_count == RULES)
		return flaw ? flaw : "32 patterns are allowed";
	rules[rule_count++] = (struct rule){equals + 1, what};
	return NULL;
}

void ts_rules_read(const char *text)
{
	const char *first = NULL, *first_flaw = NULL;
	unsigned wrong = 0;
	char *rest = kept, *item;

	rule_count = 0;
	atomic_store(&counted, 0);
	if (strlen(text) >= sizeof(kept)) {
		ts_say("TSTRACE_NVTX_STEP is longer than %u bytes; it is not used", TEXT - 1);
		text = "";
	}
	strcpy(kept, text);
	while ((item = strsep(&rest, ";"))) {
		const char *flaw;

		while (isspace((unsigned char)*item))
			item++;
		flaw = *item ? add(item) : NULL;
		if (flaw && !wrong++) {
			first = item;
			first_flaw = flaw;
		}
	}
	if (wrong)
		ts_say("TSTRACE_NVTX_STEP: \"%s\" is not usable: %s; %u of its patterns %s left "
		       "out",
		       first, first_flaw, wrong, wrong == 1 ? "is" : "are");
	ts_rules_any = rule_count != 0;
}

/* --- matching --- */

/* Whether the set at `p` has `c`. */
static bool in_set(const char *p, unsigned char c)
{
	const char *end = set_end(p) - 1;
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
		*next = set_end(p);
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
		bool is_iteration = rules[i].what == ITERATION;

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
