#include "core/base.h"

#include <dlfcn.h>
#include <sys/resource.h>

/* Where no preload replaces dlsym (the command, unit tests) libc's own is the right one. */
void *(*ts_libc_dlsym)(void *handle, const char *name) = dlsym;

int ts_fd_lowest(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > TS_FD_LOWEST_MAX)
		return TS_FD_LOWEST_MAX;
	return (int)(limit.rlim_cur - limit.rlim_cur / 8);
}
