/* The table of environment variables: each type, its bounds, and what is said about mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* After the headers that it relies on. */
#include <cmocka.h>

#include "core/env.h"

static char warning[1024];
static int warnings;

static void remember(const char *text)
{
	strncpy(warning, text, sizeof(warning) - 1);
	warnings++;
}

/* Read one setting over the defaults; returns the number of warnings. */
static int set(const char *setting)
{
	static struct ts_env defaults;
	static bool is_kept;
	char *environment[] = {(char *)"PATH=/bin", (char *)(uintptr_t)setting, NULL};
	int result;

	if (!is_kept)
		defaults = ts_env;
	is_kept = true;
	ts_env = defaults;
	warnings = 0;
	warning[0] = '\0';
	result = ts_env_read(environment, remember);
	assert_int_equal(result, warnings);
	return result;
}

static void test_good_values(void **state)
{
	(void)state;
	assert_int_equal(set("TSTRACE_OUTPUT=/x/%p"), 0);
	assert_string_equal(ts_env.output, "/x/%p");
	assert_int_equal(set("TSTRACE_STACKS=0"), 0);
	assert_int_equal(ts_env.stacks, 0);
	assert_int_equal(set("TSTRACE_STACKS=256"), 0);
	assert_int_equal(ts_env.stacks, 256);
	assert_int_equal(set("TSTRACE_BUFFER=2M"), 0);
	assert_int_equal(ts_env.buffer, 2 << 20);
	assert_int_equal(set("TSTRACE_BUFFER=64k"), 0);
	assert_int_equal(ts_env.buffer, 64 << 10);
	assert_int_equal(set("TSTRACE_ON_FULL=drop"), 0);
	assert_int_equal(ts_env.on_full, 1);
	assert_int_equal(set("TSTRACE_CAPTURE_STEP=18446744073709551615"), 0);
	assert_true(ts_env.capture_step == UINT64_MAX);
	assert_int_equal(set("TSTRACE_SIM_ANYTHING=1"), 0); /* the simulated device's */
	assert_int_equal(set("TSTRACEX=1"), 0);		    /* not ours */
}

static void test_bad_values_keep_the_default(void **state)
{
	static const char *const bad[] = {
	    "TSTRACE_STACKS=257",
	    "TSTRACE_STACKS=",
	    "TSTRACE_STACKS=-1",
	    "TSTRACE_STACKS= 5",
	    "TSTRACE_STACKS=5x",
	    "TSTRACE_STACKS=0x10",
	    "TSTRACE_STACKS=18446744073709551616",
	    "TSTRACE_BUFFER=1",
	    "TSTRACE_BUFFER=4G",
	    "TSTRACE_BUFFER=1MB",
	    "TSTRACE_BUFFER=99999999999999999999G",
	    "TSTRACE_BUFFER=18014398509481984K",
	    "TSTRACE_ON_FULL=dro",
	    "TSTRACE_ON_FULL=wait,drop",
	    "TSTRACE_ON_FULL=",
	    "TSTRACE_DEVICE=CUPTI",
	};

	(void)state;
	for (size_t i = 0; i < TS_ARRAY_SIZE(bad); i++) {
		assert_int_equal(set(bad[i]), 1);
		/* The warning names the variable as it was set. */
		assert_non_null(strstr(warning, bad[i]));
		assert_int_equal(ts_env.stacks, 32);
		assert_int_equal(ts_env.buffer, 512 << 10);
		assert_int_equal(ts_env.on_full, 0);
		assert_int_equal(ts_env.device, 0);
	}
}

static void test_tags_are_text(void **state)
{
	static const char *const bad[] = {
	    "TSTRACE_TAGS=a\xff=1,a\xfe=2", "TSTRACE_TAGS=k=\xc3",	"TSTRACE_TAGS=\xc0\x80=1",
	    "TSTRACE_TAGS=\xed\xa0\x80=1",	 "TSTRACE_TAGS=\xf4\x90\x80\x80=1",
	};

	(void)state;
	for (size_t i = 0; i < TS_ARRAY_SIZE(bad); i++) {
		assert_int_equal(set(bad[i]), 1);
		assert_non_null(strstr(warning, "TSTRACE_TAGS is not valid UTF-8"));
		assert_string_equal(ts_env.tags, "");
	}
	assert_int_equal(set("TSTRACE_TAGS=gr\xc3\xb6\xc3\x9f" "e=\xf0\x9f\x98\x80"), 0);
	assert_string_equal(ts_env.tags, "gr\xc3\xb6\xc3\x9f" "e=\xf0\x9f\x98\x80");
}

static void test_unknown_names(void **state)
{
	static char long_name[4096] = "TSTRACE_";

	(void)state;
	assert_int_equal(set("TSTRACE_STACK=5"), 1);
	assert_non_null(strstr(warning, "did you mean TSTRACE_STACKS?"));
	assert_int_equal(set("TSTRACE_OUTPT=5"), 1);
	assert_non_null(strstr(warning, "did you mean TSTRACE_OUTPUT?"));
	assert_int_equal(set("TSTRACE_=5"), 1);
	memset(long_name + 8, 'Q', sizeof(long_name) - 20);
	strcat(long_name, "=1");
	assert_int_equal(set(long_name), 1);
	assert_true(strlen(warning) < 400);
}

static void test_table(void **state)
{
	(void)state;
	assert_true(ts_env_row_count >= 15);
	for (unsigned i = 0; i < ts_env_row_count; i++) {
		assert_memory_equal(ts_env_rows[i].name, "TSTRACE_", 8);
		assert_true(strlen(ts_env_rows[i].help) > 10);
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(ts_env_rows[i].name, ts_env_rows[j].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good_values),
	    cmocka_unit_test(test_bad_values_keep_the_default),
	    cmocka_unit_test(test_tags_are_text),
	    cmocka_unit_test(test_unknown_names),
	    cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
