/* Hooks into the process's life: what unmaps code, and what ends the program without its exit
 * handlers. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/record/device.h"
#include "core/record/file.h"
#include "core/record/record.h"
#include "core/record/stack.h"
#include "core/session/step.h"
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

/* Whether `file` is there to be run: else ending the trace and taking that back would be in vain.
 * `search`: in PATH, unless it names a folder. */
static bool is_there(const char *file, bool search)
{
	const char *folder = getenv("PATH");
	char path[1024];

	if (!file)
		return false;
	if (!search || strchr(file, '/'))
		return !access(file, X_OK);
	if (!folder)
		return true;
	for (;;) {
		int length = (int)strcspn(folder, ":");

		/* What does not fit is not looked for. */
		if (snprintf(path, sizeof(path), "%.*s%s%s", length, folder, length ? "/" : "",
			     file) >= (int)sizeof(path) ||
		    !access(path, X_OK))
			return true;
		if (!folder[length])
			return false;
		folder += length + 1;
	}
}

static bool before_exec(const char *file, bool search)
{
	int saved = errno;
	bool may_end = is_own_process() && is_there(file, search) && ts_record_may_end();

	errno = saved;
	return may_end;
}

static int after_exec(bool may_end, int result)
{
	/* Not in the child of daemon(3). */
	if (may_end && is_own_process())
		ts_record_goes_on();
	return result;
}

TS_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	bool may_end;

	NEXT(execve);
	may_end = before_exec(path, false);
	return after_exec(may_end, next(path, argv, envp));
}

TS_EXPORT int execv(const char *path, char *const argv[])
{
	bool may_end;

	NEXT(execv);
	may_end = before_exec(path, false);
	return after_exec(may_end, next(path, argv));
}

TS_EXPORT int execvp(const char *file, char *const argv[])
{
	bool may_end;

	NEXT(execvp);
	may_end = before_exec(file, true);
	return after_exec(may_end, next(file, argv));
}

TS_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	bool may_end;

	NEXT(execvpe);
	may_end = before_exec(file, true);
	return after_exec(may_end, next(file, argv, envp));
}

TS_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	bool may_end;

	NEXT(fexecve);
	may_end = is_own_process() && fcntl(fd, F_GETFD) >= 0 && ts_record_may_end();
	return after_exec(may_end, next(fd, argv, envp));
}

/* The parent ends inside, by an _exit that does not pass through us. */
TS_EXPORT int daemon(int nochdir, int noclose)
{
	bool may_end;

	NEXT(daemon);
	may_end = is_own_process() && ts_record_may_end();
	return after_exec(may_end, next(nochdir, noclose));
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
		ts_record_finish(NULL);
	next(status);
	__builtin_unreachable();
}

TS_EXPORT __attribute__((noreturn)) void _Exit(int status)
{
	NEXT(_Exit);
	if (is_own_process())
		ts_record_finish(NULL);
	next(status);
	__builtin_unreachable();
}

static void at_quick_exit_finish(void)
{
	if (is_own_process())
		ts_record_finish(NULL);
}

static void in_child(void)
{
	ts_context_child();
	ts_names_child();
}

static void at_step_end(struct ts_ring *ring)
{
	ts_memory_record(ring, 3);
}

void (*const ts_step_checkpoint)(struct ts_ring *ring) = at_step_end;
void *(*ts_driver_function)(const char *symbol) = ts_real_driver;

__attribute__((constructor(102))) static void start(void)
{
	/* Registered first, so called last: after the program's own handlers. */
	at_quick_exit(at_quick_exit_finish);
	pthread_atfork(NULL, NULL, in_child);
}
