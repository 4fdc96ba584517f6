/* The objects that the dynamic linker has loaded, read from their own tables.
 *
 * Not dlsym: it takes the loader's lock (a thread in another library's constructor holds it), may
 * allocate through the program's malloc, and a look-up that fails changes what the program's
 * dlerror() says.  dl_iterate_phdr does none of these.  Nothing here allocates. */
#ifndef TSTRACE_PRELOAD_ELF_H
#define TSTRACE_PRELOAD_ELF_H

#include <link.h>

#include "core/base.h"

/* A view, valid only inside the callback of ts_objects_walk. */
struct ts_object {
	uintptr_t base, low, high;      /* load bias; first and last address of the mapping */
	const char *path;               /* "" for the program */
	const char *name;               /* DT_SONAME, else the path's last part */
	unsigned index;                 /* in load order; 0 is the program */
	const ElfW(Dyn) *dynamic;
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint16_t *versions;       /* NULL: none */
	const uint32_t *gnu_hash, *sysv_hash;
};

/* `visit` returns 0 to go on; its other value ends the walk and is returned.  It must not block or
 * open libraries: the loader's list is locked. */
int ts_objects_walk(int (*visit)(const struct ts_object *object, void *data), void *data);

/* Number of loads and of unloads since the program started. */
void ts_objects_counts(unsigned long long *loads, unsigned long long *unloads);

/* Address of a function or variable that the object itself defines (its default version); NULL. */
void *ts_object_symbol(const struct ts_object *object, const char *name);

/* The object's first DT_NEEDED that begins with `prefix`; NULL. */
const char *ts_object_needs(const struct ts_object *object, const char *prefix);

/* Whether the object is the CUDA runtime or the driver (enum ts_lib), by its name. */
bool ts_object_is(const struct ts_object *object, unsigned lib);

/* Which of the two an address lies in; -1 neither. */
int ts_address_lib(const void *address);

/* Whether an address lies in any loaded object. */
bool ts_address_loaded(const void *address);

#endif
