/* The trace's file: its name, and whole lines written to it.
 *
 * Opening is done by the thread that opens the session; writing by the writer thread. */
#ifndef TSTRACE_CORE_RECORD_OUTPUT_H
#define TSTRACE_CORE_RECORD_OUTPUT_H

#include "core/base.h"

#define TS_PATH_MAX 4096

/* Expand a TSTRACE_OUTPUT template (%p %h %e %r %t %%) into an absolute path; unknown tokens stay
 * and are warned about.  `cwd` is where the user stood.  0 or -ENAMETOOLONG, -EINVAL (empty). */
int ts_output_expand(const char *template, const char *cwd, char path[TS_PATH_MAX]);

/* Create the file, and its parent directories; an existing file is never touched: .1, .2 ... before
 * the extension are tried.  path is updated.  0 or -errno, with one line on stderr. */
int ts_output_open(char path[TS_PATH_MAX], bool zstd); /* keeps `path`: it must stay valid */

/* Close and remove it again: the session could not be opened after all. */
void ts_output_discard(const char *path);

/* Write whole lines.  After the first failure nothing is written any more: returns that -errno,
 * having said so once; the file then ends with a whole line. */
int ts_output_write(const void *lines, size_t bytes, uint64_t count);

/* After a failure, once more, at the very end: there may be room again for these last lines. */
void ts_output_last(const void *lines, size_t bytes);

/* Lines that may be the last, or be taken back: only in a regular file.  False: none were
 * written. */
bool ts_output_hold(const void *lines, size_t bytes);
void ts_output_take_back(void);

/* Make what was written readable by others now (end a compressed frame); to_disk: fsync. */
int ts_output_flush(bool to_disk);
void ts_output_close(void);
int ts_output_error(void);      /* the sticky -errno, 0 when all is well */

/* Child of a fork: close the inherited descriptor, write nothing. */
void ts_output_child(void);

const char *ts_output_rank(void);       /* rank from the launcher's variables, or NULL */
const char *ts_output_program(void);    /* base name of the executable */

#endif
