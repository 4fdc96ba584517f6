/* NVTX, the annotations that programs already have, versions 2 and 3.
 *
 * Each copy of its code (a program's, a library's, libnvToolsExt) asks the environment for a tool's
 * library at its first call, opens it and calls InitializeInjectionNvtx2, which puts our functions
 * into that copy's table. */
#ifndef TSTRACE_PRELOAD_NVTX_H
#define TSTRACE_PRELOAD_NVTX_H

#include <wchar.h>

#include "core/base.h"
#include "core/record/line.h"

/* TSTRACE_NVTX=off, or nothing may be done on behalf of the environment. */
bool ts_nvtx_is_off(void);

/* --- texts that NVTX gives handles for; kept for the process's life, also in a forked child --- */

enum ts_nvtx_kind { TS_NVTX_DOMAIN = 1, TS_NVTX_STRING, TS_NVTX_CATEGORY };

struct ts_nvtx_text {
	const struct ts_nvtx_text *next;
	const void *domain;             /* NULL: the default one */
	uint32_t kind;                  /* enum ts_nvtx_kind */
	uint32_t number;                /* of a category */
	char text[];
};

/* Keep a text: the same one gives the same handle.  NULL: there is no more room, or no text.  Any
 * thread, also in a signal handler; takes no lock, allocates nothing, keeps errno. */
const struct ts_nvtx_text *ts_nvtx_keep(enum ts_nvtx_kind kind, const void *domain,
					uint32_t number, const char *text);

/* What a handle stands for; NULL when it is not one of ours. */
const struct ts_nvtx_text *ts_nvtx_text(enum ts_nvtx_kind kind, const void *handle);

/* The newest name of a category; NULL: it has none. */
const struct ts_nvtx_text *ts_nvtx_category(const void *domain, uint32_t number);

/* UTF-8, NUL terminated, in a line that is nothing else now; NULL without memory.  What is no
 * character becomes U+FFFD. */
const char *ts_nvtx_utf8(struct ts_lines *line, const wchar_t *text);

#endif
