/* Preloaded before everything else: what a runtime asks the driver for, and whose function it is
 *given. One line on descriptor 9 a look-up: dlsym NAME FILE SYMBOL OFFSET proc NAME VERSION FLAGS
 *RESULT STATUS FILE SYMBOL OFFSET FILE is the object that the answer lies in, SYMBOL the exported
 *name at exactly that address ("-" none). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef int get_proc_v2(const char *, void **, int, unsigned long long, int *);
typedef int get_proc(const char *, void **, int, unsigned long long);
static get_proc_v2 *next_v2, *nested_v2;
static get_proc *nested_v1;
static void *(*next_dlsym)(void *, const char *);

/* The next one in line, the traced library's or libc's.  (dlvsym itself would not find one without
 * a version.) */
__attribute__((constructor)) static void start(void)
{
	void *(*libc_dlsym)(void *, const char *) =
	    (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");

	next_dlsym = (void *(*)(void *, const char *))libc_dlsym(RTLD_NEXT, "dlsym");
}

static void line(const char *format, ...)
{
	char text[512];
	int length, saved = errno;
	va_list args;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (write(9, text, (size_t)length) != length)
		_exit(99);
	errno = saved;
}

/* " FILE SYMBOL OFFSET" of an address. */
static const char *where(const void *address, char *text, size_t bytes)
{
	Dl_info info;
	const char *file;

	if (!address || !dladdr(address, &info)) {
		snprintf(text, bytes, "- - 0");
		return text;
	}
	file = strrchr(info.dli_fname, '/');
	snprintf(text, bytes, "%s %s %lx", file ? file + 1 : info.dli_fname,
		 info.dli_sname && info.dli_saddr == address ? info.dli_sname : "-",
		 (unsigned long)((const char *)address - (const char *)info.dli_fbase));
	return text;
}

static int ask(get_proc_v2 *next, const char *name, void **pfn, int version,
	       unsigned long long flags, int *status);

static int told_first(const char *name, void **pfn, int version, unsigned long long flags,
		      int *status)
{
	return ask(next_v2, name, pfn, version, flags, status);
}

static int told_nested(const char *name, void **pfn, int version, unsigned long long flags,
		       int *status)
{
	return ask(nested_v2, name, pfn, version, flags, status);
}

static int told_nested_v1(const char *name, void **pfn, int version, unsigned long long flags)
{
	char text[256];
	int result = nested_v1(name, pfn, version, flags);

	line("proc %s %d %llu %d - %s\n", *name ? name : "-", version, flags, result,
	     where(pfn ? *pfn : NULL, text, sizeof(text)));
	return result;
}

static int ask(get_proc_v2 *next, const char *name, void **pfn, int version,
	       unsigned long long flags, int *status)
{
	char text[256];
	int result = next(name, pfn, version, flags, status);

	line("proc %s %d %llu %d %d %s\n", *name ? name : "-", version, flags, result,
	     status ? *status : -1, where(pfn && !result ? *pfn : NULL, text, sizeof(text)));
	/* A look-up fetched through a look-up is watched as well. */
	if (!result && pfn && *pfn && !strcmp(name, "cuGetProcAddress")) {
		if (version >= 12000) {
			nested_v2 = (get_proc_v2 *)*pfn;
			*pfn = (void *)told_nested;
		} else {
			nested_v1 = (get_proc *)*pfn;
			*pfn = (void *)told_nested_v1;
		}
	}
	return result;
}

EXPORT void *dlsym(void *handle, const char *name)
{
	char text[256];
	void *found;

	if (!next_dlsym)
		start();
	if (strncmp(name, "cu", 2))
		return next_dlsym(handle, name); /* a jump: the caller stays the caller */
	found = next_dlsym(handle, name);
	line("dlsym %s %s\n", name, where(found, text, sizeof(text)));
	if (!found || strcmp(name, "cuGetProcAddress_v2"))
		return found;
	next_v2 = (get_proc_v2 *)found;
	return (void *)told_first;
}
