/* Lines of a file that may be packed, through one buffer that is used again and again. */
#ifndef TS_TRACE_INPUT_H
#define TS_TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No event comes near it; it bounds what a file without line ends can take. */
#define TS_LINE_MAX (64u << 20)

struct ts_input;

/* Opens `path` ("-" is standard input) and looks at how it begins: zstd is unpacked, what is
 * plainly something else is refused with its name.  Returns 0 or -errno; the message has then been
 * printed. */
int ts_input_open(struct ts_input **input, const char *path);

/* The next line without its '\n'.  `*line` is valid until the next call; line[size] is always a
 * '\n' with TS_SCAN_PAD readable bytes behind it.  Of a line longer than TS_LINE_MAX only the size
 * is right.  Returns 1, 0 at the end, or -errno after a message. */
int ts_input_line(struct ts_input *input, const char **line, size_t *size, uint64_t *offset,
		  bool *is_cut);

void ts_input_close(struct ts_input *input);

#endif
