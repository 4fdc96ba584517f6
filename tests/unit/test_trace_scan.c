/* The fast scanner takes a line only when the strict parser finds the same in it. */
#include "core/trace/event.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After the headers that it relies on. */
#include <cmocka.h>

#define VECTORS "tests/vectors"
#define MUTATIONS 40 /* of each line */

/* A line as the input layer hands it over. */
static char *padded(const char *text, size_t size)
{
	char *line = malloc(size + 1 + TS_SCAN_PAD);

	memcpy(line, text, size);
	line[size] = '\n';
	memset(line + size + 1, 0, TS_SCAN_PAD);
	return line;
}

static bool same_items(const struct ts_field *field, const void *a, const void *b)
{
	const struct ts_u64s *x = a, *y = b;
	const struct ts_strs *s = a, *t = b;

	if (x->count != y->count)
		return false;
	if (field->type == TS_TYPE_U64S)
		return !x->count || !memcmp(x->at, y->at, x->count * sizeof(*x->at));
	for (size_t i = 0; i < s->count; i++)
		if (!ts_str_equals(s->at[i], t->at[i]))
			return false;
	return true;
}

static bool same_value(const struct ts_field *field, const struct ts_event *a,
		       const struct ts_event *b)
{
	const char *x = (const char *)&a->meta + field->offset,
		   *y = (const char *)&b->meta + field->offset;

	switch (field->type) {
	case TS_TYPE_STR:
		return ts_str_equals(*(const struct ts_str *)x, *(const struct ts_str *)y);
	case TS_TYPE_U64:
	case TS_TYPE_F64:
		return !memcmp(x, y, 8);
	case TS_TYPE_BOOL:
	case TS_TYPE_ENUM:
		return *x == *y;
	default:
		return same_items(field, x, y);
	}
}

/* Returns 1 when the fast scanner took the line. */
static int compare(const char *line, size_t size)
{
	struct ts_event fast = {0}, strict = {0};
	struct ts_problems problems = {.count = 0};
	struct ts_pool pool = {0};
	bool taken = ts_event_scan(line, size, &pool, &fast);

	if (taken) {
		ts_event_parse(line, size, &pool, &strict, &problems);
		if (problems.count)
			print_error("%s: %.*s\n", problems.at[0].code, (int)size, line);
		assert_int_equal(problems.count, 0);
		assert_int_equal(fast.kind, strict.kind);
		assert_int_equal(fast.has, strict.has);
		assert_int_equal(fast.unknown, strict.unknown);
		for (unsigned i = 0; i < ts_tables[fast.kind].count; i++)
			if (fast.has >> i & 1)
				assert_true(
				    same_value(&ts_tables[fast.kind].fields[i], &fast, &strict));
	}
	ts_pool_free(&pool);
	return taken;
}

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % limit;
}

static void mutate(const char *text, size_t size)
{
	static const char bytes[] = "\"\\{}[],:0123456789eE.-+ntfu \t\r\xff\xc3\x80\x01";
	char *line = padded(text, size);

	for (uint32_t changes = 1 + random_below(2); changes; changes--)
		line[random_below((uint32_t)size)] = bytes[random_below(sizeof(bytes) - 1)];
	compare(line, size);
	free(line);
}

static void read_vector(const char *path, unsigned *taken, unsigned *lines)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;
	ssize_t size;

	assert_non_null(file);
	while ((size = getline(&text, &room, file)) > 1) {
		char *line = padded(text, (size_t)size - 1);

		*taken += (unsigned)compare(line, (size_t)size - 1);
		++*lines;
		for (int i = 0; i < MUTATIONS; i++)
			mutate(text, (size_t)size - 1);
		free(line);
	}
	free(text);
	fclose(file);
}

static void test_scanner_agrees_with_parser(void **state)
{
	struct dirent **entries;
	unsigned taken = 0, lines = 0;
	int count = scandir(VECTORS, &entries, NULL, alphasort);

	(void)state;
	assert_true(count > 100);
	for (int i = 0; i < count; i++) {
		char path[512];

		snprintf(path, sizeof(path), VECTORS "/%s", entries[i]->d_name);
		if (strstr(path, ".jsonl"))
			read_vector(path, &taken, &lines);
		free(entries[i]);
	}
	free(entries);
	/* All but meta, terminal and what is deliberately odd go the fast way. */
	assert_true(taken > lines * 3 / 4);
}

static enum ts_scan_error number_of(const char *text, struct ts_number *number, size_t *used)
{
	char *line = padded(text, strlen(text));
	const char *at = line;
	enum ts_scan_error error = ts_scan_number(&at, number);

	*used = (size_t)(at - line);
	free(line);
	return error;
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t whole;
	} wholes[] = {
	    {"0", 0},
	    {"7", 7},
	    {"9007199254740993", 9007199254740993u},
	    {"9999999999999999999", 9999999999999999999u},
	    {"18446744073709551615", UINT64_MAX},
	};
	static const char *const reals[] = {
	    "-0", "-1", "1.5", "1e3", "18446744073709551616", "99999999999999999999", "0.0"};
	static const char *const refused[] = {"-", "-x", ".5", "-Infinity", "1e999"};
	struct ts_number number;
	size_t used;

	(void)state;
	for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++) {
		assert_int_equal(number_of(wholes[i].text, &number, &used), TS_SCAN_OK);
		assert_true(number.is_whole && number.whole == wholes[i].whole);
		assert_int_equal(used, strlen(wholes[i].text));
	}
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
		assert_int_equal(number_of(reals[i], &number, &used), TS_SCAN_OK);
		assert_false(number.is_whole);
		assert_true(number.real == strtod(reals[i], NULL));
		assert_int_equal(used, strlen(reals[i]));
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_int_not_equal(number_of(refused[i], &number, &used), TS_SCAN_OK);
	/* A leading zero ends the number; what follows is no JSON. */
	assert_int_equal(number_of("01", &number, &used), TS_SCAN_OK);
	assert_int_equal(used, 1);
}

static void check_string(const char *json, const char *text, size_t size)
{
	char *line = padded(json, strlen(json));
	const char *at = line;
	struct ts_pool pool = {0};
	struct ts_str found;
	bool lone = false;

	assert_int_equal(ts_scan_string(&at, &pool, &found, true, &lone), TS_SCAN_OK);
	assert_int_equal(found.size, size);
	assert_memory_equal(found.at, text, size);
	assert_false(lone);
	assert_int_equal(at - line, strlen(json));
	ts_pool_free(&pool);
	free(line);
}

static void test_strings(void **state)
{
	(void)state;
	check_string("\"\"", "", 0);
	check_string("\"plain text, longer than a word\"", "plain text, longer than a word", 30);
	check_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
	check_string("\"\\u0000x\"", "\0x", 2);
	check_string("\"\\u00e9\\u20ac\\ud83d\\ude00\"", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9);
	check_string("\"gr\xc3\xb6\xc3\x9f"
		     "e\"",
		     "gr\xc3\xb6\xc3\x9f"
		     "e",
		     7);
}

static void test_utf8(void **state)
{
	static const char *const bad[] = {
	    "\x80",
	    "\xc0\x80",
	    "\xc1\xbf",
	    "\xe0\x9f\xbf",
	    "\xed\xa0\x80",
	    "\xf0\x8f\xbf\xbf",
	    "\xf4\x90\x80\x80",
	    "\xf5",
	    "\xe2\x82",
	    "\xff",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[16];
		int size = snprintf(text, sizeof(text), "ab%s", bad[i]);

		assert_int_equal(ts_utf8_check(text, (size_t)size), 2);
	}
	assert_int_equal(ts_utf8_check("a\xf4\x8f\xbf\xbf", 5), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_scanner_agrees_with_parser),
	    cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_strings),
	    cmocka_unit_test(test_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
