#include "core/trace/input.h"

#include "core/trace/pool.h"
#include "core/trace/progress.h"
#include "core/trace/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define BUFFER (1u << 20)

struct ts_input {
	int fd;
	const char *path; /* for messages */
	char *buffer;
	size_t capacity;   /* without the padding */
	size_t start, end; /* the unread part of the buffer */
	uint64_t offset;   /* of `start` in the unpacked file */
	bool at_end;
	struct ts_progress progress;

	ZSTD_DStream *unpacker; /* NULL for a plain file */
	char *packed;
	ZSTD_inBuffer in;
	bool frame_open; /* the last frame has not been seen to its end */
};

/* What else might be given to us by mistake. */
static const struct {
	const char *magic;
	size_t size;
	const char *what;
} others[] = {
    {"\177ELF", 4, "an ELF program or library (did you mean `tstrace run`?)"},
    {"\x89PNG", 4, "a PNG image"},
    {"\x1f\x8b", 2, "packed by gzip; unpack it first: gzip -dc FILE | tstrace VERB -"},
    {"\xfd"
     "7zXZ",
     5, "packed by xz; unpack it first: xz -dc FILE | tstrace VERB -"},
    {"BZh", 3, "packed by bzip2; unpack it first"},
    {"PK\3\4", 4, "a zip archive"},
    {"SQLite format 3", 15, "an SQLite database"},
    {"<!DOCTYPE", 9, "an HTML page"},
    {"<html", 5, "an HTML page"},
    {"%PDF", 4, "a PDF document"},
    {"{\"traceEvents\"", 14, "a Chrome trace (an export, not the trace it was made from)"},
};

static int refuse(struct ts_input *input, int error, const char *what)
{
	ts_progress_end(&input->progress);
	fprintf(stderr, "tstrace: %s: %s\n", input->path, what);
	return error;
}

/* Reads into `into`; 0 at the end. */
static ssize_t read_some(struct ts_input *input, char *into, size_t size)
{
	ssize_t got;

	do {
		got = read(input->fd, into, size);
	} while (got < 0 && errno == EINTR);
	if (got > 0)
		ts_progress_add(&input->progress, (uint64_t)got);
	return got < 0 ? refuse(input, -errno, strerror(errno)) : got;
}

/* Unpacks into `into`; 0 at the end, also when the packed file stops in the middle (the last line
 * is then cut). */
static ssize_t unpack_some(struct ts_input *input, char *into, size_t size)
{
	ZSTD_outBuffer out = {into, size, 0};

	while (!out.pos) {
		size_t result;

		if (input->in.pos == input->in.size) {
			ssize_t got = read_some(input, input->packed, BUFFER);

			if (got < 0)
				return got;
			if (!got && input->frame_open)
				fprintf(stderr, "tstrace: %s: the zstd data stops in the middle\n",
					input->path);
			if (!got)
				return 0;
			input->in = (ZSTD_inBuffer){input->packed, (size_t)got, 0};
		}
		result = ZSTD_decompressStream(input->unpacker, &out, &input->in);
		if (ZSTD_isError(result)) {
			/* What came before the damage is good; what comes after cannot be found. */
			fprintf(stderr, "tstrace: %s: the zstd data is damaged (%s)\n", input->path,
				ZSTD_getErrorName(result));
			input->in.pos = input->in.size = 0;
			return (ssize_t)out.pos;
		}
		input->frame_open = result != 0;
	}
	return (ssize_t)out.pos;
}

/* Appends more of the file to the buffer, which grows when a line fills it.  1, 0 at the end,
 * -errno. */
static int fill(struct ts_input *input)
{
	ssize_t got;

	if (input->start) {
		memmove(input->buffer, input->buffer + input->start, input->end - input->start);
		input->end -= input->start;
		input->start = 0;
	}
	if (input->end == input->capacity) {
		input->capacity *= 2;
		input->buffer = ts_grow(input->buffer, input->capacity + TS_SCAN_PAD);
	}
	got = (input->unpacker ? unpack_some : read_some)(input, input->buffer + input->end,
							  input->capacity - input->end);
	if (got < 0)
		return (int)got;
	input->end += (size_t)got;
	input->at_end = !got;
	return got != 0;
}

/* Looks at the first bytes. */
static int recognise(struct ts_input *input)
{
	static const char zstd[] = "\x28\xb5\x2f\xfd";
	size_t size;
	int got = 1;

	while (input->end < 16 && got > 0)
		got = fill(input);
	if (got < 0)
		return got;
	size = input->end;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (size >= others[i].size &&
		    !memcmp(input->buffer, others[i].magic, others[i].size)) {
			fprintf(stderr, "tstrace: %s: this is no trace but %s\n", input->path,
				others[i].what);
			return -EINVAL;
		}
	if (size < 4 || memcmp(input->buffer, zstd, 4))
		return 0;
	input->packed = ts_grow(NULL, input->capacity > BUFFER ? input->capacity : BUFFER);
	memcpy(input->packed, input->buffer, size);
	input->in = (ZSTD_inBuffer){input->packed, size, 0};
	input->unpacker = ZSTD_createDStream();
	if (!input->unpacker)
		return refuse(input, -ENOMEM, "no memory to unpack it");
	input->start = input->end = 0;
	input->at_end = false;
	return 0;
}

int ts_input_open(struct ts_input **result, const char *path)
{
	struct ts_input *input = ts_grow(NULL, sizeof(*input));
	struct stat st;
	int error;

	*input = (struct ts_input){.path = path, .capacity = BUFFER};
	*result = input;
	input->buffer = ts_grow(NULL, input->capacity + TS_SCAN_PAD);
	input->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (input->fd < 0)
		error = refuse(input, -errno, strerror(errno));
	else if (!fstat(input->fd, &st) && S_ISDIR(st.st_mode))
		error = refuse(input, -EISDIR, "this is a directory; name a trace file in it");
	else
		error = recognise(input);
	ts_progress_begin(&input->progress, input->fd);
	if (error) {
		ts_input_close(input);
		*result = NULL;
	}
	return error;
}

/* Reads over the rest of a line that is too long; returns its whole size. */
static int drop_long_line(struct ts_input *input, const char **line, size_t *size)
{
	size_t total = 0;
	int got;

	for (;;) {
		char *newline =
		    memchr(input->buffer + input->start, '\n', input->end - input->start);
		size_t part =
		    (newline ? (size_t)(newline - input->buffer) + 1 : input->end) - input->start;

		total += part;
		input->start += part;
		if (newline)
			break;
		got = fill(input);
		if (got < 0)
			return got;
		if (!got)
			break;
	}
	*line = input->buffer;
	*size = total;
	input->offset += total;
	return 1;
}

int ts_input_line(struct ts_input *input, const char **line, size_t *size, uint64_t *offset,
		  bool *is_cut)
{
	size_t searched = 0;
	char *newline;
	int got;

	*offset = input->offset;
	*is_cut = false;
	while (!(newline = memchr(input->buffer + input->start + searched, '\n',
				  input->end - input->start - searched))) {
		searched = input->end - input->start;
		if (searched > TS_LINE_MAX)
			return drop_long_line(input, line, size);
		got = input->at_end ? 0 : fill(input);
		if (got < 0)
			return got;
		if (got)
			continue;
		if (!searched)
			return 0;
		newline = input->buffer + input->end;
		*newline = '\n';
		*is_cut = true;
		break;
	}
	*line = input->buffer + input->start;
	*size = (size_t)(newline - *line);
	input->start += *size + !*is_cut;
	input->offset += *size + !*is_cut;
	return 1;
}

void ts_input_close(struct ts_input *input)
{
	if (!input)
		return;
	ts_progress_end(&input->progress);
	if (input->fd > STDIN_FILENO)
		close(input->fd);
	ZSTD_freeDStream(input->unpacker);
	free(input->packed);
	free(input->buffer);
	free(input);
}
