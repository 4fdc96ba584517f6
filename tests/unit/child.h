/* For tests whose scenarios run in a child process: checks there, and the simulated driver. */
#ifndef TSTRACE_TESTS_UNIT_CHILD_H
#define TSTRACE_TESTS_UNIT_CHILD_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* cmocka's assertions belong to the parent: a child says what is wrong and ends.  With the text of
 * the last refused call, where tstrace.h is there. */
#ifdef TSTRACE_H
#define CHILD_ERROR tstrace_error()
#else
#define CHILD_ERROR ""
#endif
#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: %s %s\n", __FILE__, __LINE__, #what, CHILD_ERROR); \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* The simulated driver of this build, by dlopen; NULL, and said why, when it is not built. */
static inline void *child_driver(void)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 32);
	void *driver;

	if (length <= 0)
		return NULL;
	path[length] = '\0';
	strcpy(strrchr(path, '/'), "/../sim/libcuda.so.1");
	driver = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!driver)
		puts("the simulated driver is not built");
	return driver;
}

#endif
