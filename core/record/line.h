/* JSON lines, formatted by hand into one growing buffer.
 *
 * Only the writer thread, and the finishing thread after it ended.  No malloc: the memory is
 * mapped. */
#ifndef TSTRACE_CORE_RECORD_LINE_H
#define TSTRACE_CORE_RECORD_LINE_H

#include "core/base.h"

struct ts_lines {
	unsigned char *text;
	size_t used;            /* bytes of whole lines and of the line under way */
	size_t whole;           /* bytes of whole lines */
	size_t room;
	uint64_t count;         /* whole lines ever */
	bool broken;            /* memory ran out: the line under way will be dropped */
};

/* {"kind":"<kind>" ... } newline.  `kind` and keys are plain words that need no escape. */
void ts_line_begin(struct ts_lines *lines, const char *kind);
void ts_line_end(struct ts_lines *lines);

/* Key and value.  Text that is no valid UTF-8 has each bad byte replaced by U+FFFD and is followed
 * by
 * "<key>_hex" with all its bytes, so that nothing is lost. */
void ts_line_text(struct ts_lines *lines, const char *key, const char *text, size_t bytes);
void ts_line_word(struct ts_lines *lines, const char *key, const char *word);
void ts_line_u64(struct ts_lines *lines, const char *key, uint64_t value);
void ts_line_i64(struct ts_lines *lines, const char *key, int64_t value);
void ts_line_hex(struct ts_lines *lines, const char *key, uint64_t value);      /* "0x1f" */
void ts_line_bool(struct ts_lines *lines, const char *key, bool value);
void ts_line_u32s(struct ts_lines *lines, const char *key, const uint32_t *values, unsigned count);

/* %.17g with a point whatever the locale; must be finite. */
void ts_line_f64(struct ts_lines *lines, const char *key, double value);

/* Pieces of nested values: text as it is; a quoted string; a number. */
void ts_line_raw(struct ts_lines *lines, const char *text);
void ts_line_bytes(struct ts_lines *lines, const void *text, size_t bytes);
void ts_line_quoted(struct ts_lines *lines, const char *text, size_t bytes);
void ts_line_number(struct ts_lines *lines, uint64_t value);
void ts_line_hex_number(struct ts_lines *lines, uint64_t value);        /* 0x1f, no quotes */
void ts_line_hex_bytes(struct ts_lines *lines, const void *data, size_t bytes);

#endif
