# 1.02, 1.03, 1.05: cuGetProcAddress asked for itself and before cuInit; several ABIs of one name; names that are not there;
# a driver that looks itself up.
. "$(dirname "$0")/lib.sh"
. "$e2e/fakes/fakes.sh"
cuda .
cat >main.c <<'C'
#include "fake.h"
int main(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *untouched = (void *)0x1234, *pfn = untouched;
	proc_v2 *first, *second = NULL;
	proc_v1 *old = NULL;
	int (*init)(unsigned) = NULL, (*wide)(uint64_t *, size_t) = NULL, (*again)(uint64_t *, size_t) = NULL;
	int (*narrow)(unsigned *, unsigned) = NULL, (*thread)(uint64_t *, size_t) = NULL;
	int (*future)(uint64_t *, size_t, int, int, int) = NULL, status = 77, e;
	uint64_t p;
	unsigned q;

	*(void **)&first = dlsym(driver, "cuGetProcAddress_v2");
	printf("%d\n", first("cuGetProcAddress", (void **)&second, 12000, 0, NULL));
	printf("%d\n", second("cuGetProcAddress", (void **)&old, 11030, 0, &status));
	e = second("cuNoSuchThing", &pfn, 12000, 0, &status);
	printf("unknown: %d %d %d\n", e, status, pfn == untouched);
	e = old("cuMemAlloc", &pfn, 1000, 0);
	printf("too old: %d %d\n", e, pfn == untouched);
	printf("%d\n", old("cuInit", (void **)&init, 2000, 0));
	printf("%d\n", init(0));
	old("cuMemAlloc", (void **)&narrow, 2000, 0);
	second("cuMemAlloc", (void **)&wide, 3020, 0, NULL);
	old("cuMemAlloc", (void **)&again, 4000, 0);
	second("cuMemAlloc", (void **)&thread, 12000, 2, &status);
	second("cuMemAlloc", (void **)&future, 13000, 0, &status);
	printf("the same: %d\n", wide == again);
	printf("%d\n", narrow(&q, 1));
	printf("%d\n", wide(&p, 2));
	printf("%d\n", again(&p, 3));
	printf("%d\n", thread(&p, 4));
	printf("%d\n", future(&p, 5, 6, 7, 8));
	return 0;
}
C
program abis <main.c
transparent abis ./abis
holds abis.jsonl <<'PY'
assert [(e["bytes"], e["api"]) for e in t.allocs()] == [
    (1, "cuMemAlloc"), (2, "cuMemAlloc_v2"), (3, "cuMemAlloc_v2")], t.allocs()
assert {e["route"] for e in t.allocs()} == {"proc"}, t.allocs()
# The two that no table knows were passed through, and counted.
assert t.terminal["lost"] == {"unknown_abi": 2}, t.terminal
PY

mkdir own
cuda own -DFAKE_OWN_LOOKUP
program init <<'C'
#include "fake.h"
int main(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned), (*alloc)(uint64_t *, size_t);
	uint64_t p;

	*(void **)&init = dlsym(driver, "cuInit");
	*(void **)&alloc = dlsym(driver, "cuMemAlloc_v2");
	printf("%d %d\n", init(3), alloc(&p, 9));
	return 0;
}
C
LD_LIBRARY_PATH=$T/own transparent init ./init
grep -q "cuInit is its own" init.out || fail "the driver did not find itself"
holds init.jsonl <<'PY'
assert [(e["bytes"], e["route"]) for e in t.allocs()] == [(9, "dlsym")], t.allocs()
PY
