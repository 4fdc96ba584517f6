/* Lines formatted by hand, against the C library and jansson. */
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After the headers that it relies on. */
#include <cmocka.h>
#include <jansson.h>

#include "core/record/line.h"

static struct ts_lines lines;

/* The line under way as JSON; the buffer is empty afterwards. */
static json_t *take(void)
{
	json_error_t error;
	json_t *object;

	ts_line_end(&lines);
	assert_int_equal(lines.whole, lines.used);
	assert_int_equal(lines.text[lines.used - 1], '\n');
	object = json_loadb((const char *)lines.text, lines.used,
			    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	if (!object)
		fail_msg("%s: %.*s", error.text, (int)lines.used, (const char *)lines.text);
	lines.whole = lines.used = 0;
	return object;
}

static void test_numbers(void **state)
{
	static const uint64_t values[] = {0,
					  1,
					  9,
					  10,
					  99,
					  100,
					  101,
					  999,
					  1000,
					  UINT64_C(1) << 53,
					  (UINT64_C(1) << 53) + 1,
					  INT64_MAX,
					  UINT64_MAX - 1,
					  UINT64_MAX};
	char expected[64];

	(void)state;
	for (size_t i = 0; i < TS_ARRAY_SIZE(values); i++) {
		ts_line_begin(&lines, "k");
		ts_line_u64(&lines, "v", values[i]);
		ts_line_hex(&lines, "h", values[i]);
		ts_line_end(&lines);
		snprintf(expected, sizeof(expected), "\"v\":%" PRIu64 ",\"h\":\"0x%" PRIx64 "\"}\n",
			 values[i], values[i]);
		assert_int_equal(lines.used, strlen("{\"kind\":\"k\",") + strlen(expected));
		assert_memory_equal(lines.text + strlen("{\"kind\":\"k\","), expected,
				    strlen(expected));
		lines.used = lines.whole = 0;
	}
	ts_line_begin(&lines, "k");
	ts_line_i64(&lines, "v", INT64_MIN);
	ts_line_end(&lines);
	assert_memory_equal(lines.text, "{\"kind\":\"k\",\"v\":-9223372036854775808}\n",
			    lines.used);
	lines.used = lines.whole = 0;
}

static void test_doubles_in_any_locale(void **state)
{
	static const double values[] = {0.0,	-0.0,	     1.5,  0.1, 1e308,
					5e-324, -123456.789, 1e-7, 3e20};
	static const char *const locales[] = {"C", "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
					      "de_DE"};

	(void)state;
	for (size_t l = 0; l < TS_ARRAY_SIZE(locales); l++) {
		if (!setlocale(LC_ALL, locales[l]))
			continue;
		for (size_t i = 0; i < TS_ARRAY_SIZE(values); i++) {
			char *end;
			double back;

			ts_line_begin(&lines, "k");
			ts_line_f64(&lines, "v", values[i]);
			ts_line_end(&lines);
			assert_null(memchr(lines.text + strlen("{\"kind\":\"k\",\"v\":"), ',',
					   lines.used - 17));
			setlocale(LC_ALL, "C");
			back = strtod((const char *)lines.text + strlen("{\"kind\":\"k\",\"v\":"),
				      &end);
			assert_int_equal(*end, '}');
			assert_true(back == values[i] && signbit(back) == signbit(values[i]));
			setlocale(LC_ALL, locales[l]);
			lines.used = lines.whole = 0;
		}
	}
	setlocale(LC_ALL, "C");
}

/* Every byte, alone and between letters: what comes out is valid, and the same where it was valid.
 */
static void test_every_byte(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 256; c++) {
		const char text[] = {'a', (char)c, 'b'};
		json_t *object, *value;

		ts_line_begin(&lines, "k");
		ts_line_text(&lines, "v", text, sizeof(text));
		object = take();
		value = json_object_get(object, "v");
		if (c < 0x80) {
			assert_int_equal(json_string_length(value), 3);
			assert_memory_equal(json_string_value(value), text, 3);
			assert_null(json_object_get(object, "v_hex"));
		} else {
			char hex[8];

			snprintf(hex, sizeof(hex), "61%02x62", c);
			assert_string_equal(json_string_value(value), "a\xef\xbf\xbd"
								      "b");
			assert_string_equal(json_string_value(json_object_get(object, "v_hex")),
					    hex);
		}
		json_decref(object);
	}
}

/* Random bytes: jansson refuses bad UTF-8, and takes the raw text exactly where ours is unchanged.
 */
static void test_random_bytes(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[12];
		size_t bytes = (size_t)round % sizeof(text);
		json_t *object, *raw;
		bool is_changed;

		for (size_t i = 0; i < bytes; i++) {
			seed = seed * 1664525 + 1013904223;
			/* Mostly bytes that begin or continue characters. */
			text[i] =
			    (char)(seed >> 30 ? 0x80 | (seed >> 20 & 0x7f) : seed >> 20 & 0x7f);
		}
		ts_line_begin(&lines, "k");
		ts_line_text(&lines, "v", text, bytes);
		object = take();
		is_changed = json_object_get(object, "v_hex") != NULL;
		raw = json_stringn(text, bytes);
		assert_int_equal(is_changed, raw == NULL);
		if (raw)
			assert_true(json_equal(raw, json_object_get(object, "v")));
		json_decref(raw);
		json_decref(object);
	}
}

static void test_a_long_text_grows_the_buffer(void **state)
{
	size_t bytes = 3u << 20;
	char *text = malloc(bytes);
	json_t *object;

	(void)state;
	memset(text, '"', bytes);
	ts_line_begin(&lines, "k");
	ts_line_text(&lines, "v", text, bytes);
	object = take();
	assert_int_equal(json_string_length(json_object_get(object, "v")), bytes);
	json_decref(object);
	free(text);
}

static void test_arrays(void **state)
{
	const uint32_t values[] = {1, UINT32_MAX, 0};
	json_t *object;

	(void)state;
	ts_line_begin(&lines, "k");
	ts_line_u32s(&lines, "some", values, 3);
	ts_line_u32s(&lines, "none", values, 0);
	object = take();
	assert_int_equal(json_array_size(json_object_get(object, "some")), 3);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(object, "some"), 1)),
			 UINT32_MAX);
	assert_int_equal(json_array_size(json_object_get(object, "none")), 0);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_doubles_in_any_locale),
	    cmocka_unit_test(test_every_byte),
	    cmocka_unit_test(test_random_bytes),
	    cmocka_unit_test(test_a_long_text_grows_the_buffer),
	    cmocka_unit_test(test_arrays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
