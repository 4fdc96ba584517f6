/* The smallest parts of JSON text.  Every line that is scanned ends in a '\n' (the input layer sees
 * to it) with at least TS_SCAN_PAD readable bytes behind it, so that no function here needs to
 * count. */
#ifndef TS_TRACE_SCAN_H
#define TS_TRACE_SCAN_H

#include "core/trace/pool.h"

#include <stdbool.h>

#define TS_SCAN_PAD 64

enum ts_scan_error {
	TS_SCAN_OK = 0,
	TS_SCAN_SYNTAX,
	TS_SCAN_NON_FINITE, /* NaN, Infinity, or a number beyond the range of a double */
	TS_SCAN_DUPLICATE,  /* a key twice in one object */
	TS_SCAN_UTF8,
	TS_SCAN_NUL,
	TS_SCAN_SURROGATE, /* \ud800 to \udfff without its other half */
	TS_SCAN_NOT_OBJECT,
};

/* A string whose opening quote lies at *at.  Moves *at behind the closing quote.  The text lies in
 * the line, or in `pool` when it had escapes.  A lone surrogate is decoded as three bytes and noted
 * in *lone.  With `check_utf8` bad UTF-8 is an error, else the caller has checked the line. */
enum ts_scan_error ts_scan_string(const char **at, struct ts_pool *pool, struct ts_str *text,
				  bool check_utf8, bool *lone);

struct ts_number {
	double real;
	uint64_t whole;
	bool is_whole; /* a plain non-negative integer up to 2^64-1; whole holds it */
};

enum ts_scan_error ts_scan_number(const char **at, struct ts_number *number);

/* The offset of the first byte that is not valid UTF-8, or `size`. */
size_t ts_utf8_check(const char *text, size_t size);

/* Strict UTF-8 text without characters that Unicode calls white space is not blank. */
bool ts_is_blank(struct ts_str text);

static inline bool ts_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool ts_str_equals(struct ts_str a, struct ts_str b);
bool ts_str_is(struct ts_str a, const char *b);

#endif
