/* Words that every part of tstrace uses. */
#ifndef TSTRACE_CORE_BASE_H
#define TSTRACE_CORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ts_likely(x) __builtin_expect(!!(x), 1)
#define ts_unlikely(x) __builtin_expect(!!(x), 0)
#define TS_COLD __attribute__((cold, noinline))
#define TS_EXPORT __attribute__((visibility("default")))
#define TS_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Comparing names without the C library: before a sanitizer's runtime is ready, and in the middle
 * of relocation, its string functions cannot be called. */
static inline bool ts_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static inline bool ts_begins(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix) {
		text++;
		prefix++;
	}
	return !*prefix;
}

/* The dlsym of libc, never an interposed one.  Set by the preload's constructor, or lazily at the
 * first use; any thread. */
extern __attribute__((visibility("hidden"))) void *(*ts_libc_dlsym)(void *handle, const char *name);

/* The lowest descriptor that tstrace takes for itself, so that the program's own keep the numbers
 * they would have without us: 512, or the upper eighth where the process's limit is no higher.  Any
 * thread. */
#define TS_FD_LOWEST_MAX 512
int ts_fd_lowest(void);

#endif
