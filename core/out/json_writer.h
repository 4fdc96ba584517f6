/* Writes JSON to a stream: strings escaped, commas and ends in their places. */
#ifndef TS_OUT_JSON_WRITER_H
#define TS_OUT_JSON_WRITER_H

#include "core/trace/pool.h"

#include <stdbool.h>
#include <stdio.h>

struct ts_json_writer {
	FILE *out;
	int depth;
	bool needs_comma;
};

/* `key` is NULL for an item of an array and for the outermost value. */
void ts_json_open(struct ts_json_writer *writer, const char *key, char bracket); /* '{' or '[' */
void ts_json_close(struct ts_json_writer *writer, char bracket);		 /* '}' or ']' */
void ts_json_put_u64(struct ts_json_writer *writer, const char *key, uint64_t value);
void ts_json_put_f64(struct ts_json_writer *writer, const char *key,
		     double value); /* not finite: null */
void ts_json_put_bool(struct ts_json_writer *writer, const char *key, bool value);
void ts_json_put_str(struct ts_json_writer *writer, const char *key, struct ts_str value);
void ts_json_put_text(struct ts_json_writer *writer, const char *key,
		      const char *value); /* NULL: null */

#endif
