#include "core/trace/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ONES 0x0101010101010101u
#define HIGHS 0x8080808080808080u

/* Nonzero when one of the 8 bytes needs a closer look: quote, backslash, control character or not
 * ASCII. */
static uint64_t special_bytes(uint64_t word)
{
	uint64_t quote = word ^ (ONES * '"'), slash = word ^ (ONES * '\\');

	return ((word - ONES * 0x20) | (quote - ONES) | (slash - ONES) | word) & HIGHS;
}

/* The index of the first byte in memory whose high bit is set. */
static unsigned first_byte(uint64_t highs)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (unsigned)__builtin_ctzll(highs) / 8;
#else
#error "special_bytes needs little-endian words"
#endif
}

bool ts_str_equals(struct ts_str a, struct ts_str b)
{
	return a.size == b.size && !memcmp(a.at, b.at, a.size);
}

bool ts_str_is(struct ts_str a, const char *b)
{
	return a.size == strlen(b) && !memcmp(a.at, b, a.size);
}

/* The length of the UTF-8 character at `text`, or 0 when it is not valid. */
static size_t utf8_length(const unsigned char *text, size_t left)
{
	unsigned first = text[0];
	size_t length = first < 0x80   ? 1
			: first < 0xc2 ? 0
			: first < 0xe0 ? 2
			: first < 0xf0 ? 3
			: first < 0xf5 ? 4
				       : 0;

	if (length > left)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Too long forms, surrogates, and what lies above U+10FFFF. */
	if ((first == 0xe0 && text[1] < 0xa0) || (first == 0xed && text[1] > 0x9f) ||
	    (first == 0xf0 && text[1] < 0x90) || (first == 0xf4 && text[1] > 0x8f))
		return 0;
	return length;
}

size_t ts_utf8_check(const char *text, size_t size)
{
	size_t at = 0;

	while (at < size) {
		uint64_t word;
		size_t length;

		if (size - at >= sizeof(word)) {
			memcpy(&word, text + at, sizeof(word));
			if (!(word & HIGHS)) {
				at += sizeof(word);
				continue;
			}
		}
		length = utf8_length((const unsigned char *)text + at, size - at);
		if (!length)
			break;
		at += length;
	}
	return at;
}

/* White space beyond ASCII, as UTF-8. */
static size_t wide_space(const char *at, size_t left)
{
	static const char *const spaces[] = {
	    "\xc2\x85",	    "\xc2\xa0",	    "\xe1\x9a\x80", "\xe2\x80\xa8", "\xe2\x80\xa9",
	    "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80", NULL,
	};

	for (const char *const *space = spaces; *space; space++) {
		size_t length = strlen(*space);

		if (left >= length && !memcmp(at, *space, length))
			return length;
	}
	/* U+2000 to U+200A */
	if (left >= 3 && !memcmp(at, "\xe2\x80", 2) && (unsigned char)at[2] >= 0x80 &&
	    (unsigned char)at[2] <= 0x8a)
		return 3;
	return 0;
}

bool ts_is_blank(struct ts_str text)
{
	for (size_t i = 0; i < text.size;) {
		size_t length = 1;

		if (text.at[i] != ' ' && (text.at[i] < '\t' || text.at[i] > '\r'))
			length = wide_space(text.at + i, text.size - i);
		if (!length)
			return false;
		i += length;
	}
	return true;
}

static int hex_unit(const char *at)
{
	int unit = 0;

	for (int i = 0; i < 4; i++) {
		char c = at[i];
		int digit = c >= '0' && c <= '9'		 ? c - '0'
			    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
								 : -1;

		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

static char *put_utf8(char *out, unsigned code)
{
	if (code < 0x80) {
		*out++ = (char)code;
	} else if (code < 0x800) {
		*out++ = (char)(0xc0 | code >> 6);
		*out++ = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		*out++ = (char)(0xe0 | code >> 12);
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
		*out++ = (char)(0x80 | (code & 0x3f));
	} else {
		*out++ = (char)(0xf0 | code >> 18);
		*out++ = (char)(0x80 | (code >> 12 & 0x3f));
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
		*out++ = (char)(0x80 | (code & 0x3f));
	}
	return out;
}

/* One escape, *at on the character behind the backslash.  NULL when there is no such escape. */
static char *unescape(const char **at, char *out, bool *lone)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *known;
	int unit, low;

	if (**at != 'u') {
		known = **at ? strchr(from, **at) : NULL;
		if (!known)
			return NULL;
		*out++ = to[known - from];
		++*at;
		return out;
	}
	unit = hex_unit(*at + 1);
	if (unit < 0)
		return NULL;
	*at += 5;
	if (unit < 0xd800 || unit > 0xdfff)
		return put_utf8(out, (unsigned)unit);
	if (unit < 0xdc00 && (*at)[0] == '\\' && (*at)[1] == 'u') {
		low = hex_unit(*at + 2);
		if (low >= 0xdc00 && low <= 0xdfff) {
			*at += 6;
			return put_utf8(out, 0x10000u + ((unsigned)unit - 0xd800u) * 0x400u +
						 ((unsigned)low - 0xdc00u));
		}
	}
	*lone = true;
	return put_utf8(out, (unsigned)unit);
}

/* A string with escapes or other than ASCII text in it; `end` is where the plain part stops. */
static enum ts_scan_error scan_rich_string(const char **at, const char *end, struct ts_pool *pool,
					   struct ts_str *text, bool check_utf8, bool *lone)
{
	const char *start = *at + 1, *from = start;
	bool has_escape = false, has_high = false;
	char *copy, *out;

	for (; *end != '"'; end++) {
		if ((unsigned char)*end < 0x20)
			return TS_SCAN_SYNTAX;
		has_high |= (*end & 0x80) != 0;
		if (*end == '\\') {
			has_escape = true;
			if ((unsigned char)*++end < 0x20)
				return TS_SCAN_SYNTAX;
		}
	}
	*at = end + 1;
	*text = (struct ts_str){start, (size_t)(end - start)};
	if (has_high && check_utf8 && ts_utf8_check(start, text->size) != text->size)
		return TS_SCAN_UTF8;
	if (!has_escape)
		return TS_SCAN_OK;
	copy = out = ts_pool_get(pool, text->size + 1); /* no escape grows */
	while (from < end) {
		if (*from != '\\') {
			*out++ = *from++;
			continue;
		}
		from++;
		out = unescape(&from, out, lone);
		if (!out)
			return TS_SCAN_SYNTAX;
	}
	*text = (struct ts_str){copy, (size_t)(out - copy)};
	return TS_SCAN_OK;
}

enum ts_scan_error ts_scan_string(const char **at, struct ts_pool *pool, struct ts_str *text,
				  bool check_utf8, bool *lone)
{
	const char *start = *at + 1, *end = start;
	uint64_t word, special;

	for (;; end += sizeof(word)) {
		memcpy(&word, end, sizeof(word));
		special = special_bytes(word);
		if (special)
			break;
	}
	/* A borrow reaches only the bytes behind the first one that is special. */
	end += first_byte(special);
	if (*end != '"')
		return scan_rich_string(at, end, pool, text, check_utf8, lone);
	*text = (struct ts_str){start, (size_t)(end - start)};
	*at = end + 1;
	return TS_SCAN_OK;
}

static bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* A number with a sign, a fraction, an exponent or many digits. */
static enum ts_scan_error scan_long_number(const char **at, struct ts_number *number)
{
	const char *start = *at, *end = start;

	if (*end == '-')
		end++;
	if (!is_digit(*end))
		return strncmp(end, "Infinity", 8) ? TS_SCAN_SYNTAX : TS_SCAN_NON_FINITE;
	if (*end == '0')
		end++;
	else
		while (is_digit(*end))
			end++;
	if (*end == '.' && is_digit(end[1]))
		for (end++; is_digit(*end);)
			end++;
	if (*end == 'e' || *end == 'E') {
		const char *exponent = end + 1;

		if (*exponent == '+' || *exponent == '-')
			exponent++;
		if (is_digit(*exponent))
			for (end = exponent; is_digit(*end);)
				end++;
	}
	number->is_whole = false;
	number->real = strtod(start, NULL);
	*at = end;
	return isfinite(number->real) ? TS_SCAN_OK : TS_SCAN_NON_FINITE;
}

enum ts_scan_error ts_scan_number(const char **at, struct ts_number *number)
{
	const char *end = *at;
	uint64_t whole = 0;

	/* 19 digits always fit; a 20th may overflow. */
	while (is_digit(*end) && end - *at < 19)
		whole = whole * 10 + (uint64_t)(*end++ - '0');
	if (is_digit(*end)) {
		uint64_t digit = (uint64_t)(*end++ - '0');

		if (is_digit(*end) || __builtin_mul_overflow(whole, (uint64_t)10, &whole) ||
		    __builtin_add_overflow(whole, digit, &whole))
			return scan_long_number(at, number);
	}
	if (end == *at || *end == '.' || *end == 'e' || *end == 'E' ||
	    (**at == '0' && end - *at > 1))
		return scan_long_number(at, number);
	number->is_whole = true;
	number->whole = whole;
	number->real = (double)whole;
	*at = end;
	return TS_SCAN_OK;
}
