/* Hooks into the process's life: what unmaps code, and what ends the program without its exit
 * handlers. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include <pthread.h>

#include "core/record/device.h"
#include "core/record/file.h"
#include "core/record/record.h"
#include "core/record/stack.h"
#include "preload/context.h"
#include "preload/elf.h"
#include "preload/names.h"
#include "preload/proc.h"
#include "preload/real.h"

extern char **environ;

/* The child of a vfork shares our memory but is another process: it must not end the parent's
 * session. */
static bool is_own_process(void)
{
	return ts_file && ts_file->pid == getpid();
}

#define NEXT(name)                                                                                 \
	static _Atomic(__typeof__(&name)) next_;                                                   \
	__typeof__(&name) next = atomic_load(&next_);                                              \
	if (!next)                                                                                 \
		atomic_store(&next_, next = (__typeof__(&name))ts_real_next(#name))

TS_EXPORT int dlclose(void *handle)
{
	unsigned long long loads, before = 0, after = 0;
	int result;

	NEXT(dlclose);
	ts_objects_counts(&loads, &before);
	result = next(handle);
	ts_objects_counts(&loads, &after);
	if (before != after) {
		ts_stack_code_changed();
		ts_real_unloaded();
		ts_context_unloaded();
		ts_proc_unloaded();
		ts_names_code_gone();
	}
	return result;
}

static void before_exec(void)
{
	if (is_own_process())
		ts_record_before_exec();
}

TS_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	NEXT(execve);
	before_exec();
	return next(path, argv, envp);
}

TS_EXPORT int execv(const char *path, char *const argv[])
{
	NEXT(execv);
	before_exec();
	return next(path, argv);
}

TS_EXPORT int execvp(const char *file, char *const argv[])
{
	NEXT(execvp);
	before_exec();
	return next(file, argv);
}

TS_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	NEXT(execvpe);
	before_exec();
	return next(file, argv, envp);
}

TS_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	NEXT(fexecve);
	before_exec();
	return next(fd, argv, envp);
}

/* The arguments of the l-forms as an array, in the caller's frame: they come up to a NULL. */
#define COLLECT(argv, first)                                                                       \
	va_list args_;                                                                             \
	size_t count_ = 1;                                                                         \
	va_start(args_, first);                                                                    \
	while (va_arg(args_, char *))                                                              \
		count_++;                                                                          \
	va_end(args_);                                                                             \
	char *argv[count_ + 1];                                                                    \
	va_start(args_, first);                                                                    \
	argv[0] = (char *)(uintptr_t)first;                                                        \
	for (size_t i_ = 1; i_ <= count_; i_++)                                                    \
		argv[i_] = va_arg(args_, char *)

TS_EXPORT int execl(const char *path, const char *first, ...)
{
	COLLECT(argv, first);
	va_end(args_);
	return execv(path, argv);
}

TS_EXPORT int execlp(const char *file, const char *first, ...)
{
	COLLECT(argv, first);
	va_end(args_);
	return execvp(file, argv);
}

TS_EXPORT int execle(const char *path, const char *first, ...)
{
	char **envp;

	COLLECT(argv, first);
	envp = va_arg(args_, char **);
	va_end(args_);
	return execve(path, argv, envp);
}

TS_EXPORT __attribute__((noreturn)) void _exit(int status)
{
	NEXT(_exit);
	if (is_own_process())
		ts_record_finish(NULL, true);
	next(status);
	__builtin_unreachable();
}

TS_EXPORT __attribute__((noreturn)) void _Exit(int status)
{
	NEXT(_Exit);
	if (is_own_process())
		ts_record_finish(NULL, true);
	next(status);
	__builtin_unreachable();
}

static void at_quick_exit_finish(void)
{
	if (is_own_process())
		ts_record_finish(NULL, true);
}

static void in_child(void)
{
	ts_context_child();
	ts_names_child();
}

__attribute__((constructor(102))) static void start(void)
{
	/* Registered first, so called last: after the program's own handlers. */
	at_quick_exit(at_quick_exit_finish);
	pthread_atfork(NULL, NULL, in_child);
	ts_driver_function = ts_real_driver;
}
