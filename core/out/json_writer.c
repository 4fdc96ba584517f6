#include "core/out/json_writer.h"

#include "core/trace/scan.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_escaped(FILE *out, struct ts_str text)
{
	size_t at = 0;

	fputc('"', out);
	while (at < text.size) {
		size_t valid = at + ts_utf8_check(text.at + at, text.size - at);

		for (; at < valid; at++) {
			unsigned char c = (unsigned char)text.at[at];

			if (c == '"' || c == '\\')
				fprintf(out, "\\%c", c);
			else if (c < 0x20 || c == 0x7f)
				fprintf(out, "\\u%04x", c);
			else
				fputc(c, out);
		}
		if (at < text.size) { /* a byte that is no UTF-8: U+FFFD */
			fputs("\xef\xbf\xbd", out);
			at++;
		}
	}
	fputc('"', out);
}

static void begin(struct ts_json_writer *writer, const char *key)
{
	if (writer->needs_comma)
		fputc(',', writer->out);
	if (writer->depth) {
		fputc('\n', writer->out);
		for (int i = 0; i < writer->depth; i++)
			fputs("  ", writer->out);
	}
	if (key) {
		put_escaped(writer->out, (struct ts_str){key, strlen(key)});
		fputs(": ", writer->out);
	}
	writer->needs_comma = true;
}

void ts_json_open(struct ts_json_writer *writer, const char *key, char bracket)
{
	begin(writer, key);
	fputc(bracket, writer->out);
	writer->depth++;
	writer->needs_comma = false;
}

void ts_json_close(struct ts_json_writer *writer, char bracket)
{
	bool is_empty = !writer->needs_comma;

	writer->depth--;
	if (!is_empty) {
		fputc('\n', writer->out);
		for (int i = 0; i < writer->depth; i++)
			fputs("  ", writer->out);
	}
	fputc(bracket, writer->out);
	if (!writer->depth)
		fputc('\n', writer->out);
	writer->needs_comma = true;
}

void ts_json_put_u64(struct ts_json_writer *writer, const char *key, uint64_t value)
{
	begin(writer, key);
	fprintf(writer->out, "%" PRIu64, value);
}

void ts_json_put_f64(struct ts_json_writer *writer, const char *key, double value)
{
	begin(writer, key);
	if (isfinite(value))
		fprintf(writer->out, "%.17g", value);
	else
		fputs("null", writer->out);
}

void ts_json_put_bool(struct ts_json_writer *writer, const char *key, bool value)
{
	begin(writer, key);
	fputs(value ? "true" : "false", writer->out);
}

void ts_json_put_str(struct ts_json_writer *writer, const char *key, struct ts_str value)
{
	begin(writer, key);
	put_escaped(writer->out, value);
}

void ts_json_put_text(struct ts_json_writer *writer, const char *key, const char *value)
{
	begin(writer, key);
	if (value)
		put_escaped(writer->out, (struct ts_str){value, strlen(value)});
	else
		fputs("null", writer->out);
}
