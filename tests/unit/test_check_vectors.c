/* Every vector of tests/vectors gets the verdict and exactly the set of codes that the manifest
 * states. */
#include "core/trace/health.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After the headers that it relies on. */
#include <cmocka.h>

#define VECTORS "tests/vectors"

static json_t *manifest;

static bool is_expected(const json_t *codes, const char *code)
{
	size_t index;
	const json_t *item;

	json_array_foreach(codes, index,
			   item) if (!strcmp(json_string_value(item), code)) return true;
	return false;
}

static bool is_reported(const struct ts_health *health, const char *code)
{
	for (size_t i = 0; i < health->kept; i++)
		if (!strcmp(health->issues[i].code, code))
			return true;
	return false;
}

/* Counts what differs, so that one run names every vector that fails. */
static int compare(const json_t *vector)
{
	const char *file = json_string_value(json_object_get(vector, "file"));
	const json_t *codes = json_object_get(vector, "codes"), *item;
	struct ts_health health;
	char path[512];
	size_t index;
	int differences = 0;

	snprintf(path, sizeof(path), VECTORS "/%s", file);
	assert_int_equal(ts_health_check(path, false, &health), 0);
	if (health.valid != json_is_true(json_object_get(vector, "valid")))
		differences++, print_error("%s: valid is %d\n", file, health.valid);
	if (health.complete != json_is_true(json_object_get(vector, "complete")))
		differences++, print_error("%s: complete is %d\n", file, health.complete);
	for (size_t i = 0; i < health.kept; i++)
		if (!is_expected(codes, health.issues[i].code))
			differences++,
			    print_error("%s: unexpected %s\n", file, health.issues[i].code);
	json_array_foreach(codes, index, item) if (!is_reported(&health, json_string_value(item)))
	    differences++,
	    print_error("%s: missing %s\n", file, json_string_value(item));
	ts_health_free(&health);
	return differences;
}

static void test_vectors(void **state)
{
	size_t index;
	const json_t *vector;
	int differences = 0;

	(void)state;
	assert_true(json_array_size(manifest) > 100);
	json_array_foreach(manifest, index, vector) differences += compare(vector);
	assert_int_equal(differences, 0);
}

/* A file that is not there is no verdict. */
static void test_missing_file(void **state)
{
	struct ts_health health;

	(void)state;
	assert_true(ts_health_check(VECTORS "/no-such-file.jsonl", false, &health) < 0);
	assert_int_equal(health.kept, 0);
	ts_health_free(&health);
}

/* With allow_truncated the vector without a terminal is a failed run, and nothing worse. */
static void test_allow_truncated(void **state)
{
	struct ts_health health;

	(void)state;
	assert_int_equal(ts_health_check(VECTORS "/order-no-terminal.jsonl", true, &health), 0);
	assert_true(health.valid);
	assert_false(health.complete);
	assert_true(is_reported(&health, "truncated_tail"));
	ts_health_free(&health);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_vectors),
	    cmocka_unit_test(test_missing_file),
	    cmocka_unit_test(test_allow_truncated),
	};

	manifest = json_load_file(VECTORS "/manifest.json", 0, NULL);
	if (!manifest) {
		fputs(VECTORS "/manifest.json is not there: run this from the root of the tree\n",
		      stderr);
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
