#include "core/out/format.h"

#include "core/trace/scan.h"

#include <string.h>

struct ts_short ts_format_ns(uint64_t ns)
{
	struct ts_short out;

	if (ns < 1000)
		snprintf(out.text, sizeof(out.text), "%llu ns", (unsigned long long)ns);
	else if (ns < 1000000)
		snprintf(out.text, sizeof(out.text), "%.3f us", (double)ns / 1e3);
	else if (ns < 1000000000)
		snprintf(out.text, sizeof(out.text), "%.3f ms", (double)ns / 1e6);
	else
		snprintf(out.text, sizeof(out.text), "%.3f s", (double)ns / 1e9);
	return out;
}

struct ts_short ts_format_bytes(uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	struct ts_short out;
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(out.text, sizeof(out.text), "%llu B", (unsigned long long)bytes);
		return out;
	}
	for (; value >= 1024 && unit < 5; unit++)
		value /= 1024;
	snprintf(out.text, sizeof(out.text), "%.2f %s", value, units[unit]);
	return out;
}

struct ts_short ts_format_share(uint64_t part, uint64_t whole)
{
	struct ts_short out = {"-"};

	if (whole)
		snprintf(out.text, sizeof(out.text), "%.1f %%",
			 100.0 * (double)part / (double)whole);
	return out;
}

struct ts_short ts_format_rate(uint64_t bytes, uint64_t ns)
{
	struct ts_short out = {"-"};

	double rate = ns ? (double)bytes / (double)ns : 0; /* 1 byte/ns is 10^9 bytes/s */

	if (ns)
		snprintf(out.text, sizeof(out.text), rate < 0.1 ? "%.3f MB/s" : "%.3f GB/s",
			 rate < 0.1 ? rate * 1000 : rate);
	return out;
}

void ts_print_more(FILE *out, size_t shown, size_t all)
{
	if (shown < all)
		fprintf(out, "  ... and %zu more (--rows, or --json for all)\n", all - shown);
}

/* Bytes of the first `columns` characters; every character counts as one column. */
static size_t bytes_of(struct ts_str name, size_t columns)
{
	size_t at = 0;

	for (; at < name.size; at++)
		if ((name.at[at] & 0xc0) != 0x80 && !columns--)
			break;
	return at;
}

static void print_part(FILE *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		/* U+0080 to U+009f steer terminals too. */
		if (c == 0xc2 && i + 1 < size && (unsigned char)text[i + 1] < 0xa0)
			i++, c = '?';
		fputc(c < 0x20 || c == 0x7f ? '?' : c, out);
	}
}

void ts_print_plain(FILE *out, struct ts_str text)
{
	for (size_t at = 0; at < text.size; at++) {
		size_t valid = ts_utf8_check(text.at + at, text.size - at);

		print_part(out, text.at + at, valid);
		at += valid;
		if (at < text.size)
			fputc('?', out);
	}
}

static size_t columns_of(struct ts_str name)
{
	size_t columns = 0;

	for (size_t i = 0; i < name.size; i++)
		columns += (name.at[i] & 0xc0) != 0x80;
	return columns;
}

/* Without the list of parameters at its end, if there is one. */
static struct ts_str without_parameters(struct ts_str name)
{
	size_t depth = 0;

	if (!name.size || name.at[name.size - 1] != ')')
		return name;
	for (size_t i = name.size; i-- > 1;) {
		depth += name.at[i] == ')';
		if (name.at[i] == '(' && !--depth)
			return (struct ts_str){name.at, i};
	}
	return name;
}

int ts_print_function(FILE *out, struct ts_str name, int width)
{
	if (columns_of(name) > (size_t)width) {
		name = without_parameters(name);
		if (name.size > 5 && !memcmp(name.at, "void ", 5))
			name = (struct ts_str){name.at + 5, name.size - 5};
	}
	return ts_print_name(out, name, width);
}

int ts_print_name(FILE *out, struct ts_str name, int width)
{
	size_t columns, head, start;

	if (!name.size)
		name = (struct ts_str){"(unnamed)", 9};
	if (ts_utf8_check(name.at, name.size) != name.size)
		name = (struct ts_str){"(name is not UTF-8)", 19};
	columns = columns_of(name);
	if (columns <= (size_t)width) {
		print_part(out, name.at, name.size);
		return (int)columns;
	}
	/* The ends tell more than the middle: the function's name, and its last template arguments.
	 */
	head = (size_t)width * 2 / 3;
	print_part(out, name.at, bytes_of(name, head));
	fputs("...", out);
	start = bytes_of(name, columns - ((size_t)width - head - 3));
	print_part(out, name.at + start, name.size - start);
	return width;
}
