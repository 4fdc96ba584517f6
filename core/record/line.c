#include "core/record/line.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_ROOM (1u << 20)

static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

/* Room for `bytes` more, or false: then the line is given up. */
static bool grow(struct ts_lines *lines, size_t bytes)
{
	size_t room = lines->room ? lines->room : FIRST_ROOM;
	void *text;

	while (room - lines->used < bytes)
		room *= 2;
	text = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED) {
		lines->broken = true;
		return false;
	}
	if (lines->text) {
		memcpy(text, lines->text, lines->used);
		munmap(lines->text, lines->room);
	}
	lines->text = text;
	lines->room = room;
	return true;
}

static inline bool need(struct ts_lines *lines, size_t bytes)
{
	return ts_likely(lines->room - lines->used >= bytes) || grow(lines, bytes);
}

static inline void put(struct ts_lines *lines, const char *text, size_t bytes)
{
	if (need(lines, bytes)) {
		memcpy(lines->text + lines->used, text, bytes);
		lines->used += bytes;
	}
}

static inline void put_key(struct ts_lines *lines, const char *key)
{
	size_t bytes = strlen(key);

	if (!need(lines, bytes + 4))
		return;
	lines->text[lines->used++] = ',';
	lines->text[lines->used++] = '"';
	memcpy(lines->text + lines->used, key, bytes);
	lines->used += bytes;
	lines->text[lines->used++] = '"';
	lines->text[lines->used++] = ':';
}

void ts_line_begin(struct ts_lines *lines, const char *kind)
{
	lines->used = lines->whole;
	lines->broken = false;
	put(lines, "{\"kind\":\"", 9);
	put(lines, kind, strlen(kind));
	put(lines, "\"", 1);
}

void ts_line_end(struct ts_lines *lines)
{
	put(lines, "}\n", 2);
	if (lines->broken) {
		lines->used = lines->whole;
		return;
	}
	lines->whole = lines->used;
	lines->count++;
}

/* Bytes of the valid UTF-8 sequence at p, 0 when there is none. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	static const unsigned char low[] = { 0xe0, 0xed, 0xf0, 0xf4 };
	size_t bytes = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	if (!bytes || bytes > left)
		return 0;
	for (size_t i = 1; i < bytes; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* No overlong forms, no surrogates, nothing above U+10FFFF. */
	if ((p[0] == low[0] && p[1] < 0xa0) || (p[0] == low[1] && p[1] > 0x9f) ||
	    (p[0] == low[2] && p[1] < 0x90) || (p[0] == low[3] && p[1] > 0x8f))
		return 0;
	return bytes;
}

static size_t escape(unsigned char *out, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	const char *names = "\bb\tt\nn\ff\rr\"\"\\\\";

	out[0] = '\\';
	for (; *names; names += 2) {
		if ((unsigned char)names[0] == c) {
			out[1] = (unsigned char)names[1];
			return 2;
		}
	}
	memcpy(out + 1, "u00", 3);
	out[4] = (unsigned char)hex[c >> 4];
	out[5] = (unsigned char)hex[c & 15];
	return 6;
}

/* Quoted; true when a byte had to be replaced. */
static bool put_quoted(struct ts_lines *lines, const char *text, size_t bytes)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + bytes;
	bool replaced = false;
	unsigned char *out;

	if (!need(lines, bytes * 6 + 2))
		return false;
	out = lines->text + lines->used;
	*out++ = '"';
	while (p < end) {
		size_t length;

		if (ts_likely(*p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\')) {
			*out++ = *p++;
		} else if (*p < 0x80) {
			out += escape(out, *p++);
		} else if ((length = utf8_length(p, (size_t)(end - p)))) {
			memcpy(out, p, length);
			out += length;
			p += length;
		} else {
			memcpy(out, "\xef\xbf\xbd", 3);
			out += 3;
			p++;
			replaced = true;
		}
	}
	*out++ = '"';
	lines->used = (size_t)(out - lines->text);
	return replaced;
}

void ts_line_text(struct ts_lines *lines, const char *key, const char *text, size_t bytes)
{
	put_key(lines, key);
	if (!put_quoted(lines, text, bytes))
		return;
	put(lines, ",\"", 2);
	put(lines, key, strlen(key));
	put(lines, "_hex\":\"", 7);
	ts_line_hex_bytes(lines, text, bytes);
	put(lines, "\"", 1);
}

void ts_line_word(struct ts_lines *lines, const char *key, const char *word)
{
	put_key(lines, key);
	put(lines, "\"", 1);
	put(lines, word, strlen(word));
	put(lines, "\"", 1);
}

void ts_line_number(struct ts_lines *lines, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	while (value >= 100) {
		at -= 2;
		memcpy(digits + at, digit_pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		at -= 2;
		memcpy(digits + at, digit_pairs + value * 2, 2);
	} else {
		digits[--at] = (char)('0' + value);
	}
	put(lines, digits + at, sizeof(digits) - at);
}

void ts_line_u64(struct ts_lines *lines, const char *key, uint64_t value)
{
	put_key(lines, key);
	ts_line_number(lines, value);
}

void ts_line_i64(struct ts_lines *lines, const char *key, int64_t value)
{
	put_key(lines, key);
	if (value < 0)
		put(lines, "-", 1);
	ts_line_number(lines, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void ts_line_hex_number(struct ts_lines *lines, uint64_t value)
{
	char digits[18];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	digits[--at] = 'x';
	digits[--at] = '0';
	put(lines, digits + at, sizeof(digits) - at);
}

void ts_line_hex(struct ts_lines *lines, const char *key, uint64_t value)
{
	put_key(lines, key);
	put(lines, "\"", 1);
	ts_line_hex_number(lines, value);
	put(lines, "\"", 1);
}

void ts_line_bool(struct ts_lines *lines, const char *key, bool value)
{
	put_key(lines, key);
	ts_line_raw(lines, value ? "true" : "false");
}

void ts_line_u32s(struct ts_lines *lines, const char *key, const uint32_t *values, unsigned count)
{
	put_key(lines, key);
	for (unsigned i = 0; i < count; i++) {
		put(lines, i ? "," : "[", 1);
		ts_line_number(lines, values[i]);
	}
	ts_line_raw(lines, count ? "]" : "[]");
}

void ts_line_f64(struct ts_lines *lines, const char *key, double value)
{
	char text[40];
	int length = snprintf(text, sizeof(text), "%.17g", value);

	put_key(lines, key);
	/* The program's locale decides what printf takes for the point. */
	for (int i = 0; i < length; i++)
		if (!strchr("0123456789+-eE", text[i]))
			text[i] = '.';
	put(lines, text, (size_t)length);
}

void ts_line_bytes(struct ts_lines *lines, const void *text, size_t bytes)
{
	put(lines, text, bytes);
}

void ts_line_raw(struct ts_lines *lines, const char *text)
{
	put(lines, text, strlen(text));
}

void ts_line_quoted(struct ts_lines *lines, const char *text, size_t bytes)
{
	put_quoted(lines, text, bytes);
}

void ts_line_hex_bytes(struct ts_lines *lines, const void *data, size_t bytes)
{
	const unsigned char *p = data;

	if (!need(lines, bytes * 2))
		return;
	for (size_t i = 0; i < bytes; i++) {
		lines->text[lines->used++] = (unsigned char)"0123456789abcdef"[p[i] >> 4];
		lines->text[lines->used++] = (unsigned char)"0123456789abcdef"[p[i] & 15];
	}
}
