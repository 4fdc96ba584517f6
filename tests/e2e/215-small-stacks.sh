# 2.15: the first CUDA call of a program comes from a thread with the smallest stack there is, also the exit; and a
# stack that is deep is cut off and says so.
. "$(dirname "$0")/lib.sh"
sim_program deep <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static __attribute__((noinline)) int down(int depth)
{
	void *p = 0;
	int result = depth ? down(depth - 1) : cudaMalloc(&p, 64) || cudaFree(p);
	__asm__ volatile("" : : : "memory");    /* no tail call */
	return result;
}
static void *run(void *depth) { return down(*(int *)depth) ? depth : 0; }
int main(int argc, char **argv)
{
	int depth = atoi(argv[argc - 1]);
	pthread_attr_t attributes;
	pthread_t thread;
	void *bad;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 20);
	pthread_create(&thread, &attributes, run, &depth);
	pthread_join(thread, &bad);
	puts(bad ? "bad" : "good");
	return 0;
}
C
transparent deep ./deep 100000
holds deep.jsonl <<'PY'
assert t.terminal["lost"] == {}, t.terminal
events = t.of("memory")
assert len(events) == 2, events
taken = [e for e in events if "frames" in e]
assert taken and all(e["frames_end"] == "truncated" and len(e["frames"]) > 8 for e in taken), events
PY
[ -z "$sanitizer" ] || exit 0   # their own checks need more than such a thread has
sim_program small <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int exits;
static void use(void)
{
	void *p = 0;
	for (int i = 0; i < 10; i++)
		if (cudaMalloc(&p, 64) || cudaFree(p) || cudaDeviceSynchronize())
			puts("bad");
}
static void *run(void *arg)
{
	use();
	if (exits)
		exit(0);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, strtoul(argv[1], 0, 0)))
		return 2;
	exits = argc > 2;
	atexit(use);
	puts("begin");
	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, &attributes, run, 0);
		pthread_join(thread, 0);
	}
	puts("end");
	return 0;
}
C
for backend in auto event off; do
	for stacks in 0 32; do
		export TSTRACE_DEVICE=$backend TSTRACE_STACKS=$stacks
		for size in "$(getconf PTHREAD_STACK_MIN)" 20480; do
			transparent small.$backend.$stacks.$size ./small $size
			transparent exits.$backend.$stacks.$size ./small $size exits
			holds small.$backend.$stacks.$size.jsonl <<'PY'
assert t.terminal["lost"] == {} and len(t.allocs()) == 40, t.terminal
PY
		done
	done
done
# How much more of the caller's stack is used than without us: painted before, looked at after.
export TSTRACE_STACKS=32
sim_program depth <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define ROOM (1 << 18)
static char *stack;
static __attribute__((noinline)) void use(void)
{
	void *p = 0;
	if (cudaMalloc(&p, 64) || cudaFree(p) || cudaDeviceSynchronize())
		_Exit(9);
}
static void *run(void *arg)
{
	char *low = stack + 8192, *here = __builtin_frame_address(0);
	memset(low, 0x5a, here - 512 - low);
	use();
	while (*low == 0x5a)
		low++;
	printf("%ld\n", here - low);
	return arg;
}
int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	stack = mmap(0, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, ROOM);
	pthread_create(&thread, &attributes, run, 0);
	pthread_join(thread, 0);
	return 0;
}
C
plain=$(run ./depth)
for backend in auto event off; do
	deep=$(TSTRACE_DEVICE=$backend traced depth.$backend.jsonl ./depth)
	echo "$backend: $deep bytes of stack, untraced $plain"
	[ "$deep" -le $((plain + 4096)) ] && [ "$deep" -le 8192 ] || fail "$backend: too much of the caller's stack"
done
exit 0
