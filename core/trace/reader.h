/* Reads a trace event by event in bounded memory: a file, a pipe or "-" (standard input), plain or
 * zstd. */
#ifndef TS_TRACE_READER_H
#define TS_TRACE_READER_H

#include "core/trace/event.h"
#include "core/trace/input.h"

struct ts_reader {
	struct ts_input *input;
	struct ts_pool pool; /* what the last event points to */
	uint64_t line;	     /* number of the last line */
	uint64_t offset;     /* where it begins in the (unpacked) file */
	const char *text;    /* the line itself, until the next is read */
	size_t size;
	bool is_cut; /* it had no '\n': the last line of the file */
	struct ts_event event;
	struct ts_problems problems; /* what is wrong with the line */
};

/* Opens the file.  Returns 0, or -errno / -EINVAL after one message to stderr that says what the
 * file is. */
int ts_reader_open(struct ts_reader *reader, const char *path);

enum ts_read {
	TS_READ_END,
	TS_READ_EVENT,	/* `event` is whole; problems, if any, are health problems */
	TS_READ_BAD,	/* the line is no event of the format: see `problems` */
	TS_READ_FAILED, /* the file could not be read on; a message went to stderr */
};

/* The next line that is not blank. */
enum ts_read ts_reader_next(struct ts_reader *reader);

void ts_reader_close(struct ts_reader *reader);

#endif
