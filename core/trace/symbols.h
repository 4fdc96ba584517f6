/* From module and offset to function, file and line, long after the process has ended.  A module is
 * known by its build-id: a file that has another one is not the module, whatever its path, and
 * names nothing. */
#ifndef TS_TRACE_SYMBOLS_H
#define TS_TRACE_SYMBOLS_H

#include "core/trace/stacks.h"

struct ts_symbols;

/* `debug_dir` may be NULL: one more folder that is laid out like /usr/lib/debug. */
struct ts_symbols *ts_symbols_open(const char *debug_dir);

struct ts_place {
	char *function; /* readable; NULL: not known */
	char *file;	/* NULL: not known */
	int line;
	const char *note; /* why nothing is known, or NULL: "file changed", "file missing" */
};

/* Where the call lies that returns to this frame.  The place belongs to `symbols`. */
const struct ts_place *ts_symbols_find(struct ts_symbols *symbols, const struct ts_module *module,
				       uint64_t offset);

void ts_symbols_close(struct ts_symbols *symbols);

#endif
