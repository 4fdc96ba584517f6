# 1.01, 1.10: a runtime that reaches the driver by cuGetProcAddress gives the same events, once each, linked into the
# program, as a library, or both in one process; each event says by which route it came.
. "$(dirname "$0")/lib.sh"
. "$e2e/fakes/fakes.sh"
cuda .
cudart . -DFAKE_VIA_PROC
cat >main.c <<'C'
#include "fake.h"
int main(void)
{
	void *p[3];

	for (int i = 0; i < 3; i++)
		printf("%d\n", cudaMalloc(&p[i], (size_t)(i + 1) << 20));
	for (int i = 0; i < 3; i++)
		printf("%d\n", cudaFree(p[i]));
	return 0;
}
C
program shared <main.c -L. -l:libcudart.so.12
program static <main.c "$fakes/fake_cudart.c" -DFAKE_VIA_PROC
transparent shared ./shared
transparent static ./static
for name in shared static; do
	holds $name.jsonl $name <<'PY'
assert [e["bytes"] for e in t.allocs()] == [1 << 20, 2 << 20, 3 << 20], t.allocs()
assert len(t.frees()) == 3 and not t.live()
runtime = args[0] == "shared"
assert {e["api"] for e in t.allocs()} == {"cudaMalloc" if runtime else "cuMemAlloc_v2"}, t.allocs()
assert {e["route"] for e in t.allocs()} == {"symbol" if runtime else "proc"}, t.allocs()
assert not t.terminal["lost"], t.terminal
PY
done

# One copy in the program and another one in a plug-in.
library plugin.so -L. -l:libcudart.so.12 <<'C'
int cudaMalloc(void **p, unsigned long bytes), cudaFree(void *p);
int plugin(void) { void *p; return cudaMalloc(&p, 77) + cudaFree(p); }
C
program both "$fakes/fake_cudart.c" -DFAKE_VIA_PROC '-DFAKE_TAG="built in"' -I "$fakes" <<'C'
#include "fake.h"
int main(void)
{
	void *p, *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
	int (*call)(void);

	*(void **)&call = dlsym(plugin, "plugin");
	printf("%d\n", cudaMalloc(&p, 55));
	printf("%d\n", call());
	return cudaFree(p);
}
C
transparent both ./both
holds both.jsonl <<'PY'
assert sorted((e["bytes"], e["api"]) for e in t.allocs()) == [(55, "cuMemAlloc_v2"), (77, "cudaMalloc")], t.allocs()
assert len(t.frees()) == 2 and not t.live()
assert len({e["route"] for e in t.allocs()}) == 2, t.allocs()
PY
