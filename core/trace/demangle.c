/* The demangler is the one of the C++ runtime, opened when the first mangled name comes: the
 * command itself needs no C++ and works without it. */
#include "core/trace/demangle.h"

#include "core/trace/pool.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangler(const char *name, char *buffer, size_t *size, int *status);

static demangler *find_demangler(void)
{
	static demangler *found;
	static int tried;
	void *runtime;

	if (tried)
		return found;
	tried = 1;
	runtime = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	if (!runtime)
		runtime = dlopen("libc++abi.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (runtime)
		*(void **)&found = dlsym(runtime, "__cxa_demangle");
	return found;
}

char *ts_demangle(const char *name)
{
	char *readable = NULL, *copy;
	int status;

	if (!strncmp(name, "_Z", 2) && find_demangler())
		readable = find_demangler()(name, NULL, NULL, &status);
	if (readable)
		return readable;
	copy = ts_grow(NULL, strlen(name) + 1);
	return memcpy(copy, name, strlen(name) + 1);
}
