/* The floor: a 64-byte record with a time stamp in a ring of this thread, and nothing else.  In a
 * shared object and called through a pointer, as a hook's recorder is.  The ring overwrites itself.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define SLOTS 8192
#define FRAMES 40
#define STACKS 4096     /* a power of two */

struct record {
	uint64_t time, a, b, c, pad[4];
};

struct ring {
	struct record *slots;
	_Atomic uint64_t head;
};

struct stack {
	uint64_t hash;
	int count;
	void *frames[FRAMES];
};

static __thread struct ring ring __attribute__((tls_model("initial-exec")));
static __thread struct stack *stacks __attribute__((tls_model("initial-exec")));
static int (*backtrace_fn)(void **, int);

static void *pages(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

static inline __attribute__((always_inline)) void put(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t head = atomic_load_explicit(&ring.head, memory_order_relaxed);
	struct record *record;

	if (__builtin_expect(!ring.slots, 0))
		ring.slots = pages(SLOTS * sizeof(*ring.slots));
	record = &ring.slots[head % SLOTS];
	record->time = ticks();
	record->a = a;
	record->b = b;
	record->c = c;
	memset(record->pad, 0, sizeof(record->pad));
	atomic_store_explicit(&ring.head, head + 1, memory_order_release);
}

EXPORT void floor_event(uint64_t a, uint64_t b, uint64_t c)
{
	put(a, b, c);
}

/* An event with a duration: a time stamp at each edge, one record. */
EXPORT void floor_edges(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t begin = ticks();

	(void)c;
	put(a, b, begin);
}

/* Local scope: the program must not see libunwind's names (they slow its C++ exceptions down). */
EXPORT int floor_stack_open(void)
{
	void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);

	*(void **)&backtrace_fn = library ? dlsym(library, "unw_backtrace") : NULL;
	return backtrace_fn ? 0 : -1;
}

static uint64_t intern(void **frames, int count)
{
	uint64_t hash = 0x9e3779b97f4a7c15u;

	for (int i = 0; i < count; i++)
		hash = (hash ^ (uintptr_t)frames[i]) * 0xff51afd7ed558ccdu;
	for (uint64_t at = hash;; at++) {
		struct stack *stack = &stacks[at & (STACKS - 1)];

		if (stack->hash == hash && stack->count == count &&
		    !memcmp(stack->frames, frames, (size_t)count * sizeof(*frames)))
			return at & (STACKS - 1);
		if (!stack->count) {
			stack->hash = hash;
			stack->count = count;
			memcpy(stack->frames, frames, (size_t)count * sizeof(*frames));
			return at & (STACKS - 1);
		}
	}
}

EXPORT void floor_stack(uint64_t a)
{
	void *frames[FRAMES];

	if (!stacks)
		stacks = pages(STACKS * sizeof(*stacks));
	put(a, intern(frames, backtrace_fn(frames, FRAMES)), 0);
}
