/* From module and offset to function, file and line, long after the process has ended.  A module is
 * known by its build-id: a file that has another one is not the module, whatever its path, and
 * names nothing. */
#ifndef TS_TRACE_SYMBOLS_H
#define TS_TRACE_SYMBOLS_H

#include "core/trace/stacks.h"

struct ts_symbols;

/* `debug_path` may be NULL: more folders that are laid out like /usr/lib/debug, with ':' between
 * them. */
struct ts_symbols *ts_symbols_open(const char *debug_path);

struct ts_place {
	char *function; /* readable; NULL: not known */
	char *file;	/* NULL: not known */
	int line;
	const char *note;      /* why nothing is known, or NULL: "file changed", "file missing" */
	struct ts_place *into; /* the function that this one was inlined into, at the line of that
				* call; NULL: it was not inlined */
};

/* Where the call of this frame lies: innermost the function that stands in the source.  The place
 * belongs to `symbols`. */
const struct ts_place *ts_symbols_find(struct ts_symbols *symbols, const struct ts_module *module,
				       uint64_t offset);

void ts_symbols_close(struct ts_symbols *symbols);

#endif
