/* zstd, opened at run time (libtstrace links libc only); writer thread only. */
#ifndef TSTRACE_CORE_RECORD_COMPRESS_H
#define TSTRACE_CORE_RECORD_COMPRESS_H

#include "core/base.h"

/* True when libzstd was found; else says so once and the trace is written plain. */
bool ts_compress_start(void);
bool ts_compress_on(void);

/* One frame of its own for these whole lines: a killed process leaves a readable file.  *out is
 * valid until the next call.  0 or -errno. */
int ts_compress(const void *data, size_t bytes, const void **out, size_t *out_bytes);
void ts_compress_stop(void);
void ts_compress_child(void);

#endif
