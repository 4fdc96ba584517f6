# 1.12: an allocator that is preloaded as well, before or after us, looks its functions up with dlsym inside its own
# calls; a library calls CUDA in a constructor that runs before ours.  Nothing hangs or recurses, and a hook that is warm
# allocates nothing.
. "$(dirname "$0")/lib.sh"
. "$e2e/fakes/fakes.sh"
[ -z "$sanitizer" ] || skip "a sanitizer brings an allocator of its own"
cudart . -DFAKE_VIA_PROC
cuda .

library libmymalloc.so <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* What is asked for while the look-up is under way comes from here. */
static char early[1 << 16];
static size_t used;
static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static __thread int looking;
_Thread_local unsigned long my_allocations;     /* the program reads it */
static void *from_early(size_t bytes)
{
	void *p = early + used;

	used += (bytes + 15) & ~(size_t)15;
	return used <= sizeof(early) ? p : NULL;
}
static int is_early(const void *p)
{
	return (const char *)p >= early && (const char *)p < early + sizeof(early);
}
#define LOOK_UP(next, name)                                                                        \
	do {                                                                                       \
		if (!next && !looking) {                                                           \
			looking = 1;                                                               \
			*(void **)&next = dlsym(RTLD_NEXT, name);                                  \
			(void)dlerror();                                                           \
			looking = 0;                                                               \
		}                                                                                  \
	} while (0)
void *malloc(size_t bytes)
{
	LOOK_UP(next_malloc, "malloc");
	my_allocations++;
	return next_malloc ? next_malloc(bytes) : from_early(bytes);
}
void *calloc(size_t count, size_t bytes)
{
	LOOK_UP(next_calloc, "calloc");
	my_allocations++;
	return next_calloc ? next_calloc(count, bytes) : from_early(count * bytes);
}
void *realloc(void *p, size_t bytes)
{
	void *moved;

	LOOK_UP(next_realloc, "realloc");
	my_allocations++;
	if (next_realloc && !is_early(p))
		return next_realloc(p, bytes);
	moved = malloc(bytes);
	if (moved && p)
		memcpy(moved, p, bytes < (size_t)(early + sizeof(early) - (char *)p) ? bytes : (size_t)(early + sizeof(early) - (char *)p));
	return moved;
}
void free(void *p)
{
	LOOK_UP(next_free, "free");
	if (p && !is_early(p) && next_free)
		next_free(p);
}
C
# Its constructor runs before those of what is preloaded first.
library libearly.so -L. -l:libcudart.so.12 <<'C'
#include <stddef.h>
int cudaMalloc(void **p, size_t bytes), cudaFree(void *p);
int early_result = -1;
__attribute__((constructor)) static void early(void)
{
	void *p = 0;

	early_result = cudaMalloc(&p, 111);
	early_result += cudaFree(p);
}
C
program main -L. -Wl,--no-as-needed -l:libearly.so -l:libcudart.so.12 <<'C'
#include "fake.h"
extern int early_result;
extern _Thread_local unsigned long my_allocations __attribute__((weak));
int main(void)
{
	static char out[1 << 14];
	unsigned long before = 0, after = 0;
	void *p;

	setvbuf(stdout, out, _IOFBF, sizeof(out));
	printf("early: %d\n", early_result);
	for (int i = 0; i < 100; i++) {
		if (i == 50 && &my_allocations)
			before = my_allocations;
		if (cudaMalloc(&p, 222) || cudaFree(p) || cudaMemcpyAsync(p, p, 16, 3, NULL))
			return 1;
	}
	if (&my_allocations)
		after = my_allocations;
	printf("%lu allocations in warm calls\n", after - before);
	return 0;
}
C
run ./main >plain 2>&1 || fail "untraced"
run env LD_PRELOAD="$T/libmymalloc.so" ./main >out 2>&1 && cmp plain out || fail "with the allocator alone"
grep -q '^early: 0$' plain && grep -q '^0 allocations in warm calls$' plain || { cat plain; fail "not the test that was meant"; }
for order in "$T/libmymalloc.so $B/libtstrace.so" "$B/libtstrace.so $T/libmymalloc.so" "$B/libtstrace.so"; do
	for stacks in 0 32; do
		rm -f order.jsonl
		preload=$order TSTRACE_STACKS=$stacks traced order.jsonl ./main >out 2>err || { cat err; fail "status $?: $order"; }
		cmp plain out && [ ! -s err ] || { cat err; fail "another output: $order"; }
		valid order.jsonl
		holds order.jsonl <<'PY'
assert Counter(e["bytes"] for e in t.allocs()) == {111: 1, 222: 100}, Counter(e["bytes"] for e in t.allocs())
assert len(t.frees()) == 101 and not t.live() and len(t.of("op", api="cudaMemcpyAsync")) == 100
assert not t.terminal["lost"], t.terminal
PY
	done
done
exit 0
