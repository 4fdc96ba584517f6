#include "core/env.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/nvtx_spec.h"
#include "core/window_spec.h"

#define PREFIX "TSTRACE_"

/* What the bounds of a row mean depends on its type; both ways of reading them compile for each
 * row. */
#define TEXT_DEFAULT(value, hi) (value)
#define UINT_DEFAULT(value, hi) (value)
#define SIZE_DEFAULT(value, hi) (value)
#define ENUM_DEFAULT(value, hi) (value)

struct ts_env ts_env = {
#define TS_ENV(type, NAME, field, value, lo, hi, help) .field = type##_DEFAULT(value, hi),
#include "core/env.def"
#undef TS_ENV
};

#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define TEXT_ROW(value, lo, hi) value, "text"
#define UINT_ROW(value, lo, hi) STRING(value), STRING(lo) " to " STRING(hi)
#define SIZE_ROW(value, lo, hi) STRING(value), STRING(lo) " to " STRING(hi)
#define ENUM_ROW(value, lo, hi) STRING(value), hi

const struct ts_env_row ts_env_rows[] = {
#define TS_ENV(type, NAME, field, value, lo, hi, help)                                             \
	{ PREFIX #NAME, #type, type##_ROW(value, lo, hi), help },
#include "core/env.def"
#undef TS_ENV
};
const unsigned ts_env_row_count = TS_ARRAY_SIZE(ts_env_rows);

typedef void ts_env_warn(const char *text);

static void complain(ts_env_warn *warn, const char *name, const char *value, const char *right)
{
	char text[640];

	snprintf(text, sizeof(text), "%s=%.100s is not usable: %s; the default is used", name,
		 value, right);
	warn(text);
}

static int set_text(const char **field, const char *name, const char *value, ts_env_warn *warn)
{
	(void)name;
	(void)warn;
	*field = value;
	return 0;
}

/* Decimal digits with, for sizes, a suffix K, M or G. */
static bool parse(const char *value, bool is_size, uint64_t *result)
{
	char *end;
	unsigned shift = 0;

	if (!isdigit((unsigned char)*value))
		return false;
	errno = 0;
	*result = strtoull(value, &end, 10);
	if (errno)
		return false;
	if (is_size && *end) {
		const char *units = "KMG", *unit = strchr(units, toupper((unsigned char)*end));

		if (!unit || end[1])
			return false;
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (*end || *result > UINT64_MAX >> shift)
		return false;
	*result <<= shift;
	return true;
}

static int set_number(uint64_t *field, const char *name, const char *value, uint64_t lo,
		      uint64_t hi, bool is_size, ts_env_warn *warn)
{
	char right[128];
	uint64_t number;

	if (parse(value, is_size, &number) && number >= lo && number <= hi) {
		*field = number;
		return 0;
	}
	snprintf(right, sizeof(right), "it wants a whole number from %llu to %llu%s",
		 (unsigned long long)lo, (unsigned long long)hi,
		 is_size ? ", or with K, M, G" : "");
	complain(warn, name, value, right);
	return 1;
}

static int set_enum(unsigned *field, const char *name, const char *value, const char *list,
		    ts_env_warn *warn)
{
	char right[256];
	size_t length = strlen(value);
	unsigned index = 0;

	for (const char *word = list; word; index++) {
		const char *comma = strchr(word, ',');
		size_t word_length = comma ? (size_t)(comma - word) : strlen(word);

		if (word_length == length && !memcmp(word, value, length)) {
			*field = index;
			return 0;
		}
		word = comma ? comma + 1 : NULL;
	}
	snprintf(right, sizeof(right), "it wants one of %s", list);
	complain(warn, name, value, right);
	return 1;
}

#define TEXT_SET(field, lo, hi) set_text(&ts_env.field, name, value, warn)
#define UINT_SET(field, lo, hi) set_number(&ts_env.field, name, value, lo, hi, false, warn)
#define SIZE_SET(field, lo, hi) set_number(&ts_env.field, name, value, lo, hi, true, warn)
#define ENUM_SET(field, lo, hi) set_enum(&ts_env.field, name, value, hi, warn)

/* Letters that two names share in place, to suggest the nearest for a typo. */
static const char *nearest(const char *name, size_t length)
{
	const char *best = NULL;
	int best_score = 0;

	for (unsigned i = 0; i < ts_env_row_count; i++) {
		const char *candidate = ts_env_rows[i].name + strlen(PREFIX);
		size_t other = strlen(candidate);
		int score = 0;

		for (size_t j = 0; j < length; j++)
			score += memchr(candidate, name[j], other) != NULL;
		for (size_t j = 0; j < length && j < other && name[j] == candidate[j]; j++)
			score++;
		score -= (int)(other > length ? other - length : length - other) * 2;
		if (score > best_score) {
			best_score = score;
			best = ts_env_rows[i].name;
		}
	}
	return best;
}

static int set_one(const char *variable, ts_env_warn *warn)
{
	const char *equals = strchr(variable, '='), *value, *hint;
	size_t length;
	char text[512];

	if (!equals)
		return 0;
	value = equals + 1;
	length = (size_t)(equals - variable) - strlen(PREFIX);
	const char *tail = variable + strlen(PREFIX);
#define TS_ENV(type, NAME, field, value_, lo, hi, help)                                            \
	if (length == sizeof(#NAME) - 1 && !memcmp(tail, #NAME, length)) {                         \
		const char *name = PREFIX #NAME;                                                   \
		return type##_SET(field, lo, hi);                                                  \
	}
#include "core/env.def"
#undef TS_ENV
	hint = nearest(tail, length);
	snprintf(text, sizeof(text), "unknown variable %.*s%s%s%s",
		 (int)(equals - variable) > 100 ? 100 : (int)(equals - variable), variable,
		 hint ? " (did you mean " : "", hint ? hint : "", hint ? "?)" : "");
	warn(text);
	return 1;
}

/* Bytes of a well-formed UTF-8 sequence; 0: there is none. */
static size_t utf8_length(const unsigned char *p)
{
	size_t length = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3
			: *p < 0xf5				  ? 4
								  : 0;

	for (size_t i = 1; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return length;
}

/* Bytes that are no text are replaced as the trace is written: two keys that differ only in them
 * would become one, which JSON must not have twice. */
static int check_tags(ts_env_warn *warn)
{
	const unsigned char *p = (const void *)ts_env.tags;
	size_t length;

	while (*p && (length = utf8_length(p)))
		p += length;
	if (!*p)
		return 0;
	warn("TSTRACE_TAGS is not valid UTF-8; no tag is written");
	ts_env.tags = "";
	return 1;
}

static int check_window(ts_env_warn *warn)
{
	struct ts_window_spec spec;
	const char *right;

	if (!ts_window_parse(ts_env.window, &spec, &right))
		return 0;
	complain(warn, PREFIX "WINDOW", ts_env.window, right);
	ts_env.window = "run";
	return 1;
}

/* What is wrong in it is left out, the rest is in force. */
static int check_nvtx_step(ts_env_warn *warn)
{
	struct ts_nvtx_rule rules[TS_NVTX_RULES];
	struct ts_nvtx_flaws flaws;
	static char copy[TS_NVTX_TEXT]; /* as the stack may be small */
	char text[512];

	if (strlen(ts_env.nvtx_step) >= sizeof(copy)) {
		snprintf(text, sizeof(text),
			 PREFIX "NVTX_STEP is longer than %u bytes; it is not used",
			 TS_NVTX_TEXT - 1);
		warn(text);
		ts_env.nvtx_step = "";
		return 1;
	}
	strcpy(copy, ts_env.nvtx_step);
	ts_nvtx_parse(copy, rules, &flaws);
	if (!flaws.count)
		return 0;
	snprintf(text, sizeof(text),
		 PREFIX "NVTX_STEP: \"%.200s\" is not usable: %s; %u of its patterns %s left out",
		 flaws.item, flaws.why, flaws.count, flaws.count == 1 ? "is" : "are");
	warn(text);
	return 1;
}

static void silently(const char *text)
{
	(void)text;
}

int ts_env_read(char **environment, ts_env_warn *warn)
{
	int warnings = 0;
	size_t count = 0;

	if (!warn)
		warn = silently;
	while (environment && environment[count])
		count++;
	/* Of a name that stands there twice the first counts, as for getenv: it is set last. */
	while (count--) {
		const char *variable = environment[count];

		if (strncmp(variable, PREFIX, strlen(PREFIX)) ||
		    !strncmp(variable, PREFIX "SIM_", strlen(PREFIX "SIM_")))
			continue;
		warnings += set_one(variable, warn);
	}
	return warnings + check_tags(warn) + check_window(warn) + check_nvtx_step(warn);
}

bool ts_env_has(char **environment, const char *name, const char *value)
{
	for (; environment && *environment; environment++) {
		const char *p = *environment, *q = name;

		while (*q && *p == *q) {
			p++;
			q++;
		}
		/* Of a name that stands there twice the first counts. */
		if (!*q && *p == '=')
			return ts_same(p + 1, value);
	}
	return false;
}
