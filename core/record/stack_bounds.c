/* Which memory may be read during a walk.
 *
 * pthread_getattr_np would tell, but it allocates and reads /proc.  Instead:
 * - the initial thread's stack ends at __libc_stack_end, and the kernel keeps its growth area free
 * of mappings (the limit at exec, 128 MiB at least);
 * - glibc puts a thread's control block at the top of its stack, so that the thread pointer is the
 *   upper end; the stack reaches down from there as far as pages can be read one after the other,
 * to its guard page.  Each page is probed once in the thread's life. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/record/stack_impl.h"

#define PAGE 4096u
#define MAIN_STACK_MAX (UINT64_C(128) << 20)
#define STACK_MAX (UINT64_C(1) << 30)

extern void *__libc_stack_end; /* of the dynamic loader */

bool ts_page_readable(uint64_t address)
{
	/* The kernel copies the mask in before it looks at the impossible first argument. */
	return syscall(SYS_rt_sigprocmask, -1, address & ~UINT64_C(7), NULL, 8) != 0 &&
	       errno == EINVAL;
}

/* Whether `sp` is in the initial thread's stack (of this process or, after a fork, its parent's).
 */
static bool in_main_stack(uint64_t sp, struct ts_bounds *bounds)
{
	static _Atomic uint64_t bytes; /* the limit as the first thread saw it */
	uint64_t top = (uintptr_t)__libc_stack_end & ~UINT64_C(7), size = bytes;

	if (!size) {
		struct rlimit limit;

		size = MAIN_STACK_MAX;
		if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < size)
			size = limit.rlim_cur;
		bytes = size;
	}
	if (sp >= top || sp < top - size)
		return false;
	*bounds = (struct ts_bounds){.lo = top - size, .hi = top, .floor = top - size};
	return true;
}

void ts_bounds_init(struct ts_bounds *bounds, uint64_t sp)
{
	uint64_t top = (uintptr_t)pthread_self();

	if (in_main_stack(sp, bounds))
		return;
	bounds->hi = top;
	bounds->lo = top & ~(uint64_t)(PAGE - 1);
	bounds->floor = top > STACK_MAX ? top - STACK_MAX : 0;
}

bool ts_bounds_extend(struct ts_bounds *bounds, uint64_t sp)
{
	if (sp >= bounds->hi || sp < bounds->floor) /* perhaps its first stack was a coroutine's */
		return in_main_stack(sp, bounds);
	while (bounds->lo > sp) {
		if (!ts_page_readable(bounds->lo - PAGE)) {
			bounds->floor = bounds->lo;
			return false;
		}
		bounds->lo -= PAGE;
	}
	return true;
}
