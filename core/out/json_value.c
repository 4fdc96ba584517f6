#include "core/out/json_value.h"

#include "core/trace/scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static json_t *checked(json_t *value)
{
	if (!value) {
		fputs("tstrace: out of memory\n", stderr);
		exit(2);
	}
	return value;
}

json_t *ts_json_u64(uint64_t value)
{
	char digits[24];

	if (value <= INT64_MAX)
		return checked(json_integer((json_int_t)value));
	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	return checked(json_string(digits));
}

json_t *ts_json_str(struct ts_str value)
{
	size_t valid = ts_utf8_check(value.at, value.size), size = 0;
	json_t *string;
	char *text;

	if (valid == value.size)
		return checked(json_stringn_nocheck(value.at, value.size));
	text = ts_grow(NULL, value.size * 3);
	for (size_t at = 0; at < value.size; at++) {
		valid = ts_utf8_check(value.at + at, value.size - at);
		memcpy(text + size, value.at + at, valid);
		size += valid;
		at += valid;
		if (at < value.size) {
			memcpy(text + size, "\xef\xbf\xbd", 3);
			size += 3;
		}
	}
	string = checked(json_stringn_nocheck(text, size));
	free(text);
	return string;
}

json_t *ts_json_string(const char *value)
{
	return value ? ts_json_str((struct ts_str){value, strlen(value)}) : json_null();
}

json_t *ts_json_ratio(uint64_t part, uint64_t whole)
{
	return whole ? checked(json_real((double)part / (double)whole)) : json_null();
}

void ts_json_print(json_t *value, FILE *out)
{
	checked(value);
	/* A failure to write is found by who closes the stream. */
	json_dumpf(value, out, JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
	fputc('\n', out);
	json_decref(value);
}
