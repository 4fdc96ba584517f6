/* How NVTX finds this library without a variable being set.
 *
 * Its code asks getenv for NVTX_INJECTION64_PATH and nothing else that a preloaded library could
 * answer: what it declares weak binds inside the program.  Setting the variable would show in the
 * program's environment and be handed to its children; so this one question is answered, when
 * nobody set the variable, with the path under which the library is loaded already. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/env.h"
#include "preload/nvtx.h"
#include "preload/real.h"

typedef char *getenv_function(const char *name);

static _Atomic(getenv_function *) next_getenv;

/* Allocators ask for variables before any constructor ran, where a look-up might wait for ever. */
static char *search(const char *name)
{
	for (char **variable = environ; variable && *variable; variable++) {
		char *p = *variable;
		const char *q = name;

		while (*q && *p == *q) {
			p++;
			q++;
		}
		if (!*q && *p == '=')
			return p + 1;
	}
	return NULL;
}

bool ts_nvtx_is_off(void)
{
	return getauxval(AT_SECURE) || ts_env_has(environ, "TSTRACE_NVTX", "off");
}

static TS_COLD char *own_path(void)
{
	Dl_info info;

	if (ts_nvtx_is_off() || !dladdr((const void *)(uintptr_t)ts_nvtx_is_off, &info))
		return NULL;
	return (char *)(uintptr_t)info.dli_fname;
}

TS_EXPORT char *getenv(const char *name)
{
	getenv_function *next = atomic_load_explicit(&next_getenv, memory_order_acquire);
	char *value = next ? next(name) : search(name);

	if (ts_unlikely(!value && name[0] == 'N' && ts_same(name, "NVTX_INJECTION64_PATH")))
		value = own_path();
	return value;
}

__attribute__((constructor(102))) static void start(void)
{
	atomic_store_explicit(&next_getenv, (getenv_function *)ts_real_next("getenv"),
			      memory_order_release);
}
