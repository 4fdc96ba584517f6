/* dlsym, for our names on explicit handles only.
 *
 * All else leaves by a jump, not a call: glibc takes the return address for the caller, and decides
 * by it what RTLD_NEXT and RTLD_DEFAULT mean. */
#include <dlfcn.h>

#include "core/record/record.h"
#include "preload/elf.h"
#include "preload/real.h"

struct search {
	uintptr_t address;
	bool is_tool;
};

static int see_tool(const struct ts_object *object, void *data)
{
	static const char *const tools[] = { "libcupti", "libnvperf", "libtstrace", "libcuda." };
	struct search *search = data;

	if (search->address < object->low || search->address >= object->high)
		return 0;
	for (size_t i = 0; i < TS_ARRAY_SIZE(tools); i++)
		search->is_tool |= ts_begins(object->name, tools[i]);
	return 1;
}

/* CUPTI's own calls and the driver's look-ups in itself are not the program's. */
static bool is_tool(void *caller)
{
	struct search search = { .address = (uintptr_t)caller };

	ts_objects_walk(see_tool, &search);
	return search.is_tool;
}

static void find_libc_dlsym(void)
{
	static _Atomic int found;

	if (atomic_load_explicit(&found, memory_order_acquire))
		return;
#if defined(TS_SANITIZED)
	/* A sanitizer's own dl_iterate_phdr cannot be called while its runtime starts. */
	ts_libc_dlsym = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!ts_libc_dlsym)
		ts_libc_dlsym =
		    (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
#else
	ts_libc_dlsym = (void *(*)(void *, const char *))ts_real_next("dlsym");
#endif
	atomic_store_explicit(&found, 1, memory_order_release);
}

/* Where no CUDA is loaded there is nothing of that name, though we export it: a program that asks
 * whether it is there must not be told so. */
#define ABSENT ((void *)1)

static bool is_ours(const void *address)
{
	/* From the linker: the beginning and the end of this library. */
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	extern const char _end[] __attribute__((visibility("hidden")));

	return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

static void *next_after_us(const char *name)
{
	void *found = ts_libc_dlsym(RTLD_NEXT, name);

	return found ? found : ABSENT;
}

/* What to hand out, NULL: libc answers, or ABSENT.  Called by the assembly below. */
__attribute__((used, visibility("hidden"))) void *ts_dlsym_filter(void *handle, const char *name,
								  void *caller)
{
	enum ts_fn fn;
	void *real;

	find_libc_dlsym();
	if (!name || (!ts_begins(name, "cu") && !ts_begins(name, "__cuda")))
		return NULL;
	fn = ts_fn_find(name);
	if (fn == TS_FN_none || is_tool(caller))
		return NULL;
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT)
		return ts_bind(fn, caller) ? NULL : next_after_us(name);
	real = ts_libc_dlsym(handle, name);
	if (is_ours(real) && !ts_bind(fn, caller))
		return next_after_us(name);
	/* Found in something that only has the same name, or in us: the program gets what it found.
	 */
	if (!real || ts_address_lib(real) != ts_fn_facts[fn].lib)
		return NULL;
	if (!ts_real_hold(&ts_real_dlsym[fn], real)) {
		ts_lost(TS_LOST_uncaptured_route, 1);
		return NULL;
	}
	return ts_hook_dlsym[fn];
}

#if defined(__x86_64__)
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n"
	"	endbr64\n"
	"	pushq %rdi\n"
	"	pushq %rsi\n"
	"	movq 16(%rsp), %rdx\n"
	"	subq $8, %rsp\n"
	"	call ts_dlsym_filter\n"
	"	addq $8, %rsp\n"
	"	popq %rsi\n"
	"	popq %rdi\n"
	"	testq %rax, %rax\n"
	"	jz 1f\n"
	"	cmpq $1, %rax\n"
	"	jne 2f\n"
	"	xorl %eax, %eax\n"
	"2:	ret\n"
	"1:	movq ts_libc_dlsym(%rip), %rax\n"
	"	jmp *%rax\n"
	".size dlsym, .-dlsym\n");
#else
/* A sibling call at -O2 keeps the caller's return address as well, but nothing enforces it. */
TS_EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
	void *hook = ts_dlsym_filter(handle, name, __builtin_return_address(0));

	if (hook)
		return hook == ABSENT ? NULL : hook;
	return ts_libc_dlsym(handle, name);
}
#endif

/* Preloaded or linked, our dlsym is the one that this very reference is bound to; opened by the
 * driver, we are not in the global scope and it is libc's. */
static int see_first(const struct ts_object *object, void *data)
{
	bool *ours = data;

	*ours = (uintptr_t)ts_hooks_reachable - object->low < object->high - object->low;
	return *ours || ts_begins(object->name, "libc.so.");
}

/* What is preloaded or linked comes before libc in the order of the loader's search, what was
 * opened later behind it. */
bool ts_hooks_reachable(void)
{
	bool ours = false;

	ts_objects_walk(see_first, &ours);
	return ours;
}

__attribute__((constructor(101))) static void start(void)
{
	find_libc_dlsym();
	ts_real_start();
}
