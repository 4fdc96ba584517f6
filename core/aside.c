#include "core/aside.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#define PAGE 4096u

#if defined(__x86_64__)
/* Every register that a called function may change is named; the stack pointer waits in rbx. */
__attribute__((noinline)) static void call_on(void *top, void (*fn)(void *), void *arg)
{
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "callq *%[fn]\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(arg), [top] "+r"(top), [fn] "+r"(fn)
			 :
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0",
			   "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
			   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
}
#else
static void call_on(void *top, void (*fn)(void *), void *arg)
{
	(void)top;
	fn(arg);
}
#endif

static int make(struct ts_aside *aside)
{
	void *map = mmap(NULL, aside->bytes, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (map == MAP_FAILED)
		return -errno;
	if (mprotect((char *)map + PAGE, aside->bytes - PAGE, PROT_READ | PROT_WRITE)) {
		munmap(map, aside->bytes);
		return -ENOMEM;
	}
	aside->stack = map;
	return 0;
}

int ts_aside_run(struct ts_aside *aside, void (*fn)(void *), void *arg)
{
	int error = aside->stack ? 0 : make(aside);
	sigset_t all, before;

	if (error)
		return error;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	call_on(aside->stack + aside->bytes, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return 0;
}

void ts_aside_free(struct ts_aside *aside)
{
	if (aside->stack)
		munmap(aside->stack, aside->bytes);
	aside->stack = NULL;
}
