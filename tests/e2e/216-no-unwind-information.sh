# 2.16: a call from made code that has no unwind information and has changed the frame pointer, and a program built
# without such tables: no fault, the event is kept, the stack ends there and says so.
. "$(dirname "$0")/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "machine code for x86-64"
sim_program jit <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
typedef int call(void **, unsigned long);
int main(void)
{
	/* push rbx, rbp; mov ebp, 7; sub rsp, 8; call rdx; add rsp, 8; pop rbp, rbx; ret */
	static const unsigned char code[] = { 0x53, 0x55, 0xbd, 7, 0, 0, 0, 0x48, 0x83, 0xec, 8, 0xff, 0xd2,
					      0x48, 0x83, 0xc4, 8, 0x5d, 0x5b, 0xc3 };
	unsigned char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*thunk)(void **, unsigned long, call *);
	void *p;
	memcpy(page, code, sizeof(code));
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	memcpy(&thunk, &page, sizeof(thunk));
	for (int i = 0; i < 100; i++)
		if (thunk(&p, 64, cudaMalloc) || cudaFree(p))
			return 9;
	puts("done");
	return 0;
}
C
transparent jit ./jit
holds jit.jsonl <<'PY'
assert len(t.allocs()) == len(t.frees()) == 100 and t.terminal["lost"] == {}, t.terminal
taken = [e for e in t.allocs() if "frames" in e]
assert taken and all(e["frames_end"] == "no_unwind_info" for e in taken), taken
assert taken[0]["frames"][0].startswith("0+"), taken[0]["frames"]       # in no module
PY
sim_program bare -O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables <<'C'
#include <stdio.h>
static __attribute__((noinline)) int down(int depth)
{
	void *p = 0;
	int result = depth ? down(depth - 1) : cudaMalloc(&p, 64) || cudaFree(p);
	__asm__ volatile("" : : : "memory");
	return result;
}
int main(void)
{
	for (int i = 0; i < 100; i++)
		if (down(i % 10))
			return 9;
	puts("done");
	return 0;
}
C
transparent bare ./bare
holds bare.jsonl <<'PY'
assert len(t.allocs()) == len(t.frees()) == 100 and t.terminal["lost"] == {}, t.terminal
taken = [e for e in t.of("memory") if "frames" in e]
assert taken and all(e["frames_end"] == "no_unwind_info" and e["frames"] for e in taken), taken
PY
exit 0
