#include "core/trace/reader.h"

#include <string.h>

static bool is_blank_line(const char *line, size_t size)
{
	while (size && ts_is_space(line[size - 1]))
		size--;
	return !size;
}

int ts_reader_open(struct ts_reader *reader, const char *path)
{
	*reader = (struct ts_reader){0};
	return ts_input_open(&reader->input, path);
}

enum ts_read ts_reader_next(struct ts_reader *reader)
{
	const char *line;
	size_t size;
	int got;

	/* Of a line that is too long there is no text to look at. */
	do {
		got = ts_input_line(reader->input, &line, &size, &reader->offset, &reader->is_cut);
		if (got <= 0)
			return got ? TS_READ_FAILED : TS_READ_END;
		reader->line++;
	} while (size <= TS_LINE_MAX && is_blank_line(line, size));

	ts_pool_reset(&reader->pool);
	reader->problems.count = 0;
	reader->text = line;
	reader->size = size;
	reader->event.line = reader->line;
	if (size > TS_LINE_MAX) {
		ts_problem_add(&reader->problems, "parse_json", "the line is longer than %u MiB",
			       TS_LINE_MAX >> 20);
		return TS_READ_BAD;
	}
	if (!ts_event_scan(line, size, &reader->pool, &reader->event))
		ts_event_parse(line, size, &reader->pool, &reader->event, &reader->problems);
	if (reader->problems.count)
		return TS_READ_BAD;
	ts_event_judge(&reader->event, &reader->problems);
	return ts_problems_prevent_reading(&reader->problems) ? TS_READ_BAD : TS_READ_EVENT;
}

void ts_reader_close(struct ts_reader *reader)
{
	ts_input_close(reader->input);
	ts_pool_free(&reader->pool);
}
