/* Values for JSON output by jansson, which is slow but careful: for reports, not for traces. */
#ifndef TS_OUT_JSON_VALUE_H
#define TS_OUT_JSON_VALUE_H

#include "core/trace/pool.h"

#include <jansson.h>
#include <stdio.h>

/* jansson's integers end at 2^63-1: a larger number becomes a string of its digits. */
json_t *ts_json_u64(uint64_t value);

/* Bytes that are no UTF-8 become U+FFFD.  A text of NULL becomes null. */
json_t *ts_json_str(struct ts_str value);
json_t *ts_json_string(const char *value);

/* part / whole; null when there is no whole. */
json_t *ts_json_ratio(uint64_t part, uint64_t whole);

/* Prints the value and a newline, and gives it back.  Without memory for a value the command ends
 * here: a report that lacks something must not look whole. */
void ts_json_print(json_t *value, FILE *out);

#endif
