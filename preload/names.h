/* Kernel names by what a launch names: the host stub of a <<<>>> kernel, or a driver handle. */
#ifndef TSTRACE_PRELOAD_NAMES_H
#define TSTRACE_PRELOAD_NAMES_H

#include "core/base.h"

/* A compiled-in kernel, told by the program's start-up code.  The text is the program's and lives
 * as long as the object that the stub is in. */
void ts_name_stub(const void *stub, const char *name);

/* The caller got `handle` for the kernel `name` of a module or library (name is copied), for the
 * stub `stub`, or for the same kernel as `other`. */
void ts_name_handle(uint64_t handle, const char *name);
void ts_name_handle_of_stub(uint64_t handle, const void *stub);
void ts_name_handle_same(uint64_t handle, uint64_t other);

/* Arena text of the kernel's raw name, 0 unknown.  `driver`: the handle is the driver's, so the
 * driver may be asked.  Depth 1 or more.  Keeps errno. */
uint32_t ts_name_of(uint64_t handle, bool driver);

/* A module or library went: its handles may come again for other kernels. */
void ts_names_unloaded(void);

/* An object was unmapped: its stubs went. */
void ts_names_code_gone(void);

void ts_names_child(void);

#endif
