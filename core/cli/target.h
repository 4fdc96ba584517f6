/* What stands behind the name of a program, and whether a preloaded library can work in it. */
#ifndef TS_CLI_TARGET_H
#define TS_CLI_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum ts_target_kind {
	TS_TARGET_DYNAMIC, /* traceable */
	TS_TARGET_SCRIPT,  /* traceable: the interpreter is traced */
	TS_TARGET_SHELL,   /* no known magic: a shell will be tried, as execvp(3) does */
	TS_TARGET_STATIC,
	TS_TARGET_OTHER_MACHINE,
	TS_TARGET_OTHER_LIBC,
	TS_TARGET_PRIVILEGED, /* setuid, setgid or file capabilities: the loader ignores LD_PRELOAD
			       */
	TS_TARGET_UNREADABLE, /* may still run: execute permission without read permission */
};

struct ts_target {
	enum ts_target_kind kind;
	char path[PATH_MAX];
	char interpreter[PATH_MAX]; /* of a script: kind and detail are this one's */
	char detail[PATH_MAX];	    /* the loader, or the word size and machine */
};

/* Finds `name` as execvp(3) would and looks at the file; a script's interpreter is looked at in its
 * place. Returns 0, or -ENOENT, -EACCES (not executable), -EISDIR. */
int ts_target_inspect(const char *name, struct ts_target *target);

/* True when a preloaded library will be active in it. */
bool ts_target_is_traceable(const struct ts_target *target);

/* Writes one sentence that explains the kind; an empty text for TS_TARGET_DYNAMIC. */
void ts_target_explain(const struct ts_target *target, char *text, size_t size);

#endif
