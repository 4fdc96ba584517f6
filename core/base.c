#include "core/base.h"

#include <dlfcn.h>

/* Where no preload replaces dlsym (the command, unit tests) libc's own is the right one. */
void *(*ts_libc_dlsym)(void *handle, const char *name) = dlsym;
