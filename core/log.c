#include "core/log.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

struct line {
	char text[1024];
	size_t length;
};

static void add(struct line *line, const char *text, size_t length)
{
	size_t room = sizeof(line->text) - 1 - line->length;

	if (length > room)
		length = room;
	memcpy(line->text + line->length, text, length);
	line->length += length;
}

static void add_number(struct line *line, unsigned long value, unsigned base, bool negative)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	if (negative)
		digits[--at] = '-';
	add(line, digits + at, sizeof(digits) - at);
}

/* One conversion, after the percent sign; returns where it ends. */
static const char *convert(struct line *line, const char *f, va_list *args)
{
	bool is_long = false;
	long number;
	const char *text;

	while (*f == 'l' || *f == 'z') {
		is_long = true;
		f++;
	}
	switch (*f) {
	case 's':
		text = va_arg(*args, const char *);
		text = text ? text : "(null)";
		add(line, text, strlen(text));
		break;
	case 'd':
		number = is_long ? va_arg(*args, long) : va_arg(*args, int);
		add_number(line, number < 0 ? 0 - (unsigned long)number : (unsigned long)number, 10,
			   number < 0);
		break;
	case 'u':
	case 'x':
		add_number(line, is_long ? va_arg(*args, unsigned long) : va_arg(*args, unsigned),
			   *f == 'x' ? 16 : 10, false);
		break;
	case 'p':
		add(line, "0x", 2);
		add_number(line, (unsigned long)va_arg(*args, void *), 16, false);
		break;
	case 'c':
		add(line, (char[]){ (char)va_arg(*args, int) }, 1);
		break;
	case '\0':
		return f;
	default:
		add(line, f, 1);
	}
	return f + 1;
}

void ts_say(const char *format, ...)
{
	struct line line = { .length = 0 };
	int saved = errno;
	va_list args;

	add(&line, "tstrace: ", 9);
	va_start(args, format);
	while (*format) {
		size_t plain = strcspn(format, "%");

		add(&line, format, plain);
		format += plain;
		if (*format == '%')
			format = convert(&line, format + 1, &args);
	}
	va_end(args);
	line.text[line.length++] = '\n';
	/* A closed or full stderr is not ours to mend. */
	if (write(STDERR_FILENO, line.text, line.length) < 0)
		errno = 0;
	errno = saved;
}

const char *ts_errno_text(int error)
{
	const char *text = strerrordesc_np(error < 0 ? -error : error);

	return text ? text : "unknown error";
}
