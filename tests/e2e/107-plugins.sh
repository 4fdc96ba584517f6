# 1.07, 1.08, 1.26: a plug-in that brings the runtime with it, opened RTLD_LOCAL or RTLD_DEEPBIND; a runtime that is closed
# while another copy is opened.
. "$(dirname "$0")/lib.sh"
. "$e2e/fakes/fakes.sh"
cudart .
library libplug.so -L. -l:libcudart.so.12 <<'C'
int cudaMalloc(void **p, unsigned long bytes), cudaFree(void *p);
int plugin(void) { void *p = 0; int e = cudaMalloc(&p, 4096); return e ? e : cudaFree(p); }
C
program host <<'C'
#include "fake.h"
int main(int argc, char **argv)
{
	void *plug = dlopen("libplug.so", RTLD_NOW | RTLD_LOCAL | (argc > 1 ? RTLD_DEEPBIND : 0));
	int (*plugin)(void);

	(void)argv;
	*(void **)&plugin = dlsym(plug, "plugin");
	printf("%d\n", plugin());
	return 0;
}
C
transparent local ./host
holds local.jsonl <<'PY'
assert [(e["bytes"], e["api"]) for e in t.allocs()] == [(4096, "cudaMalloc")] and not t.live()
PY
# Bound to the runtime before us, its calls cannot be seen there; the program must run as it does.
# (A sanitizer's runtime refuses RTLD_DEEPBIND by itself.)
if [ -z "$sanitizer" ]; then
	run ./host deep >plain 2>&1 || fail "deepbind: untraced"
	traced deep.jsonl ./host deep >out 2>&1 || fail "deepbind: does not run"
	cmp plain out || fail "deepbind: another output"
fi

mkdir a b
cudart a '-DFAKE_TAG="a"'
cudart b '-DFAKE_TAG="b"'
program reopen <<'C'
#include "fake.h"
static int use(const char *path)
{
	void *p, *runtime = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*alloc)(void **, size_t), (*give_back)(void *), e;

	*(void **)&alloc = dlsym(runtime, "cudaMalloc");
	*(void **)&give_back = dlsym(runtime, "cudaFree");
	e = alloc(&p, 64);
	e |= give_back(p);
	dlclose(runtime);
	return e | (dlopen(path, RTLD_NOW | RTLD_NOLOAD) ? 100 : 0);
}
int main(void)
{
	for (int i = 0; i < 3; i++)
		printf("%d %d\n", use("./a/libcudart.so.12"), use("./b/libcudart.so.12"));
	return 0;
}
C
transparent reopen ./reopen
grep -q 100 reopen.out && fail "the copies were not unloaded"
holds reopen.jsonl <<'PY'
assert len(t.allocs()) == 6 and len(t.frees()) == 6 and not t.live(), t.allocs()
assert not t.terminal["lost"], t.terminal
PY
exit 0
