/* A JSON line as a tree, strictly: no duplicate keys, no numbers that are not finite, UTF-8 only,
 * integers exact up to 2^64-1.  For lines that are not as the writer makes them, and for the few
 * events with nested values.  jansson is not used for this because its integers end at 2^63-1 and
 * it cannot tell -0 from 0 (both matter to the format). */
#ifndef TS_TRACE_JSON_H
#define TS_TRACE_JSON_H

#include "core/trace/scan.h"

enum ts_json_type {
	TS_JSON_NULL,
	TS_JSON_BOOLEAN,
	TS_JSON_NUMBER,
	TS_JSON_STRING,
	TS_JSON_ARRAY,
	TS_JSON_OBJECT
};

struct ts_json {
	enum ts_json_type type;
	bool truth;	      /* of a boolean */
	struct ts_str key;    /* of a member of an object */
	struct ts_json *next; /* the next member or item */
	union {
		struct ts_number number;
		struct ts_str string;
		struct {
			struct ts_json *first;
			size_t count;
		} list; /* array, object */
	};
};

/* Parses one object with white space around it.  `line` is as in scan.h, `size` is without the
 * final '\n'.  The tree lies in `pool` and points into the line.  On an error *offset is about
 * where it is. */
enum ts_scan_error ts_json_parse(const char *line, size_t size, struct ts_pool *pool,
				 struct ts_json **root, size_t *offset);

/* The member of that name, or NULL; NULL also when `object` is NULL or no object. */
const struct ts_json *ts_json_get(const struct ts_json *object, const char *key);

/* The text of a string member, or `otherwise`. */
struct ts_str ts_json_text(const struct ts_json *object, const char *key, const char *otherwise);

/* A deep copy that lives in `pool`. */
struct ts_json *ts_json_copy(const struct ts_json *value, struct ts_pool *pool);

#endif
