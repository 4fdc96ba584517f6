/* Calling a function on a stack of ours.
 *
 * A thread of the program may have 16 KiB of stack, of which a deep call chain of ours, of the
 * loader or of libunwind would overflow.  It stays the same thread: locks that it holds, the
 * loader's say, remain its own, which a helper thread would wait for. */
#ifndef TSTRACE_CORE_ASIDE_H
#define TSTRACE_CORE_ASIDE_H

#include "core/base.h"

struct ts_aside {
	char *stack;            /* NULL: not yet made; its lowest page stays without access */
	size_t bytes;           /* a multiple of the page size */
};

/* Run fn(arg) with all signals blocked: a handler of the program must not run on a stack it does
 * not know.  0, or -errno when there is no memory for the stack and fn was not called. */
int ts_aside_run(struct ts_aside *aside, void (*fn)(void *), void *arg);

void ts_aside_free(struct ts_aside *aside);

#endif
