# 1.26: a runtime is opened, used, closed and really unmapped, then another copy is opened elsewhere.  No pointer into the
# first is used again, and the second is traced as well; so is a copy that is open beside another, or it is counted.
. "$(dirname "$0")/lib.sh"
export TSTRACE_DEVICE=off LD_LIBRARY_PATH=$T

cat >runtime.c <<'C'
#include <stdint.h>
#include <stddef.h>
char padding[PADDING] = { 1 };
int cudaMalloc(void **p, size_t n) { static uintptr_t next = BASE; *p = (void *)next; next += n; return 0; }
int cudaFree(void *p) { return (uintptr_t)p < BASE || (uintptr_t)p >= 2 * BASE; }
C
mkdir a b
for copy in 'a -DPADDING=1 -DBASE=0x1000000' 'b -DPADDING=4000000 -DBASE=0x2000000'; do
	${CC:-gcc} -g -O1 -fPIC -shared -Wl,-Bsymbolic -Wl,-soname,libcudart.so.12 ${copy#* } runtime.c \
		-o "${copy%% *}/libcudart.so.12" || fail "does not compile"
done
cat >main.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_mapped(const char *path)
{
	char line[4096];
	int found = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps))
		found |= strstr(line, path) != NULL;
	fclose(maps);
	return found;
}

static void *use(const char *path)
{
	void *runtime = dlopen(path, RTLD_NOW | RTLD_LOCAL), *p = NULL;
	int (*alloc)(void **, size_t) = (int (*)(void **, size_t))dlsym(runtime, "cudaMalloc");
	int (*release)(void *) = (int (*)(void *))dlsym(runtime, "cudaFree");
	int r = alloc(&p, 256);

	printf("%d %p ", r, p);
	printf("%d\n", release(p));
	return runtime;
}

int main(int argc, char **argv)
{
	void *first = use("a/libcudart.so.12"), *second;

	(void)argv;
	if (argc == 1) {
		dlclose(first);
		printf("mapped %d\n", is_mapped("a/libcudart.so.12"));
	}
	second = use("b/libcudart.so.12");
	dlclose(second);
	return 0;
}
C
${CC:-gcc} -g -O1 main.c -o main -ldl || fail "does not compile"

transparent reopened ./main
grep -qx 'mapped 0' reopened.out || fail "the runtime was not unmapped: $(cat reopened.out)"
holds reopened.jsonl <<'PY'
assert [(e["bytes"], e["address"]) for e in t.allocs()] == [(256, t.allocs()[0]["address"]), (256, t.allocs()[1]["address"])]
assert len({e["address"] for e in t.allocs()}) == 2 and len(t.frees()) == 2 and not t.live(), t.all
assert not t.terminal["lost"], t.terminal
PY

transparent beside ./main both
holds beside.jsonl <<'PY'
lost = t.terminal["lost"]
assert len(t.allocs()) == 2 or (len(t.allocs()) == 1 and lost["uncaptured_route"] == 2), (t.all, lost)
PY
