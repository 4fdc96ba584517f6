/* libcupti, opened at run time. */
#ifndef TSTRACE_CUPTI_LIBRARY_H
#define TSTRACE_CUPTI_LIBRARY_H

#include <cuda.h>
#include <cupti.h>

#include "core/base.h"

/* The functions in use; all NULL before cupti_library_open. */
struct cupti_api {
#define TS_CUPTI(need, name) __typeof__(&name) name;
#include "cupti/functions.def"
#undef TS_CUPTI
};
extern struct cupti_api cupti_api;

/* Find libcupti, open it, fill cupti_api.  The order of the search is in library.c.  `why` (at
 * least 256 bytes) gets one line when it fails.  Once, from start(); may change dlerror() of the
 * thread only by clearing it.  A pointer, so that unit tests can put a scripted library in its
 * place. 0, -ENOENT (none found), -ENOSYS (a required function is missing). */
extern int (*cupti_library_open)(char *why, size_t bytes);

/* Path of the opened library, "" before; lives for ever. */
const char *cupti_library_path(void);

/* "CUPTI_ERROR_... (39)" of a result, into `text`. */
const char *cupti_result_text(CUptiResult result, char *text, size_t bytes);

/* A function of `handle`, by the C library's own dlsym; NULL when there is none. */
void *device_symbol(void *handle, const char *name);

/* Path and major number of a loaded library whose file name begins with `stem` ("libcudart.so.");
 * the major is 0 when none is loaded. */
int device_loaded_major(const char *stem, char *path, size_t bytes);

#endif
