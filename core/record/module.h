/* Which loaded file an address belongs to, and its entry in the arena.
 *
 * Files are found by glibc's _dl_find_object (2.35), which takes no lock.  Older glibc has only
 * dl_iterate_phdr, which takes the loader's: a stack that meets it held for long is given up and
 * counted. */
#ifndef TSTRACE_CORE_RECORD_MODULE_H
#define TSTRACE_CORE_RECORD_MODULE_H

#include <stdint.h>

#include "core/base.h"

/* A loaded file (dynamic shared object), as the loader tells; valid while it stays loaded. */
struct ts_dso {
	uint64_t start, end;   /* its mapping, holes included */
	uint64_t base;	       /* load bias */
	uint64_t eh_frame_hdr; /* 0: none */
	const char *name;      /* the loader's name: "" is the program */
};

struct ts_segment {
	uint64_t start, end; /* whole pages */
};
#define TS_SEGMENTS 8

/* False: no loaded file has this address.  Takes no lock (see above), signal-safe. */
bool ts_dso_find(uint64_t pc, struct ts_dso *object);

/* Parts of the file's mapping that can be read; returns how many, at most TS_SEGMENTS. */
unsigned ts_dso_segments(const struct ts_dso *object, struct ts_segment *segments);

/* The arena id of a file that is on the caller's stack, added when new; 0 when the arena is full.
 * With the stack lock. */
uint32_t ts_module_id(const struct ts_dso *object);

/* Files have gone: from now on an id is given again only to the very same file.  With the stack
 * lock. */
void ts_modules_doubt(void);

/* Whether any file was unloaded since the last call.  Takes the loader's lock: for a thread that
 * was just in the loader.  Any thread, without the stack lock. */
bool ts_modules_went(void);

/* In the child of a fork: the arena is a new one, its ids too. */
void ts_modules_forget(void);

#endif
