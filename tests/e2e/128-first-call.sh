# 1.28: many threads make the very first call together, or a library's constructor does: the session opens once, each
# call is recorded once, nothing spins or hangs.
. "$(dirname "$0")/lib.sh"
. "$e2e/fakes/fakes.sh"
cudart . -DFAKE_VIA_PROC
cuda . -DFAKE_ONE_SPACE
cat >main.c <<'C'
#include "fake.h"
#include <pthread.h>
#include <stdatomic.h>
#define THREADS 16
static atomic_int ready;
static int results[THREADS];
/* The barrier spins, so that all are let go within a few instructions. */
static void *first_call(void *arg)
{
	int number = (int)(intptr_t)arg;
	void *p = NULL;

	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < THREADS)
		;
	results[number] = cudaMalloc(&p, 1000 + (size_t)number);
	results[number] += cudaFree(p);
	return NULL;
}
int main(void)
{
	pthread_t threads[THREADS];
	int bad = 0;

	/* Before any thread: the runtime's own start is not made for a race. */
	if (!freopen("/dev/null", "w", stdout))
		return 99;
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, first_call, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		bad += results[i] != 0;
	}
	fprintf(stderr, "%d failed\n", bad);
	return bad;
}
C
program shared <main.c -L. -l:libcudart.so.12
program static <main.c "$fakes/fake_cudart.c" -DFAKE_VIA_PROC
LIMIT=20
for round in 1 2 3 4 5; do
	for variant in shared static; do
		rm -f $variant.jsonl
		transparent $variant ./$variant
		holds $variant.jsonl <<'PY'
assert sorted(e["bytes"] for e in t.allocs()) == list(range(1000, 1016)), t.allocs()
assert len(t.frees()) == 16 and not t.live(), t.terminal
# Who comes while another opens the unwinder goes without a stack, and that is counted.
assert set(t.terminal["lost"]) <= {"stack_unsafe"}, t.terminal
assert len({e["thread"] for e in t.allocs()}) == 16, "a number for each thread"
PY
		[ "$(ls $variant.jsonl* | wc -l)" = 1 ] || fail "more than one session: $(ls $variant.jsonl*)"
	done
done

# The same with threads that all take their function by dlsym at that moment, and from a constructor.
library libfirst.so -L. -Wl,--no-as-needed -l:libcudart.so.12 -lpthread -I "$fakes" <<'C'
#include "fake.h"
#include <pthread.h>
static void *call(void *arg)
{
	int (*alloc)(void **, size_t);
	void *p;

	*(void **)&alloc = dlsym(RTLD_DEFAULT, "cudaMalloc");
	return (void *)(intptr_t)(alloc(&p, 77) + (arg != NULL));
}
__attribute__((constructor)) static void first(void)
{
	pthread_t threads[4];
	void *result;

	if (!freopen("/dev/null", "w", stdout))
		return;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, call, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		fprintf(stderr, "%d\n", (int)(intptr_t)result);
	}
}
C
program constructor -L. -Wl,--no-as-needed -l:libfirst.so <<'C'
int main(void) { return 0; }
C
transparent constructor ./constructor
holds constructor.jsonl <<'PY'
assert [e["bytes"] for e in t.allocs()] == [77] * 4 and len({e["thread"] for e in t.allocs()}) == 4, t.allocs()
assert set(t.terminal["lost"]) <= {"stack_unsafe"}, t.terminal
PY
exit 0
