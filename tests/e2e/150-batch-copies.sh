# 1.03 in the runtime: the batch copies lost a parameter from CUDA 12 to 13 under one symbol.  Whichever runtime the
# program was built for, the library gets every argument, and the result is its own.
. "$(dirname "$0")/lib.sh"
export TSTRACE_DEVICE=off LD_LIBRARY_PATH=$T

for version in 12 13; do
	echo "libcudart.so.$version { global: cuda*; local: *; };" >cudart.map
	cat >cudart.c <<'C'
#include <stdio.h>
#include "batch.h"
#define SAY(...) (printf(__VA_ARGS__), puts(""), 7)
#if VERSION == 12
int cudaMemcpyBatchAsync(void **d, void **s, size_t *n, size_t count, void *a, size_t *i, size_t attrs, size_t *fail, void *q)
{
	return SAY("%p %p %zu %zu %p %p %zu %p %p", *d, *s, n ? n[count - 1] : 0, count, a, (void *)i, attrs, (void *)fail, q);
}
int cudaMemcpy3DBatchAsync(size_t count, void *list, size_t *fail, unsigned long long flags, void *q)
{
	return SAY("%zu %p %p %llx %p", count, list, (void *)fail, flags, q);
}
#else
int cudaMemcpyBatchAsync(void **d, void **s, size_t *n, size_t count, void *a, size_t *i, size_t attrs, void *q)
{
	return SAY("%p %p %zu %zu %p %p %zu %p", *d, *s, n ? n[count - 1] : 0, count, a, (void *)i, attrs, q);
}
int cudaMemcpy3DBatchAsync(size_t count, void *list, unsigned long long flags, void *q)
{
	return SAY("%zu %p %llx %p", count, list, flags, q);
}
#endif
int cudaMemcpyBatchAsync_ptsz(void **d, void **s, size_t *n, size_t count, void *a, size_t *i, size_t attrs, LAST)
	__attribute__((alias("cudaMemcpyBatchAsync")));
C
	cat >batch.h <<'C'
#include <stddef.h>
#if VERSION == 12
#define LAST size_t *fail, void *q
#define ARGUMENTS (size_t *)0x100200300400, (void *)0x7001
#define BEFORE_FLAGS size_t *fail,
#define FAIL3D (size_t *)0x500600700800,
#else
#define LAST void *q
#define ARGUMENTS (void *)0x7001
#define BEFORE_FLAGS
#define FAIL3D
#endif
int cudaMemcpyBatchAsync(void **d, void **s, size_t *n, size_t count, void *a, size_t *i, size_t attrs, LAST);
int cudaMemcpyBatchAsync_ptsz(void **d, void **s, size_t *n, size_t count, void *a, size_t *i, size_t attrs, LAST);
int cudaMemcpy3DBatchAsync(size_t count, void *list, BEFORE_FLAGS unsigned long long flags, void *q);
C
	cat >main.c <<'C'
#include <stdio.h>
#include "batch.h"
int main(void)
{
	void *d[2] = { (void *)0x10, (void *)0x11 }, *s[2] = { (void *)0x20, (void *)0x21 };
	size_t n[2] = { 1000, 24 };

	printf("%d\n", cudaMemcpyBatchAsync(d, s, n, 2, (void *)0x30, (size_t *)0x40, 5, ARGUMENTS));
	printf("%d\n", cudaMemcpyBatchAsync_ptsz(d, s, n, 2, (void *)0x30, (size_t *)0x40, 5, ARGUMENTS));
	printf("%d\n", cudaMemcpyBatchAsync(d, s, NULL, 0, NULL, NULL, 0, ARGUMENTS));
	printf("%d\n", cudaMemcpy3DBatchAsync(3, (void *)0x50, FAIL3D 0xf00000001, (void *)0x7002));
	return 0;
}
C
	${CC:-gcc} -g -O1 -fPIC -shared -DVERSION=$version -Wl,-soname,libcudart.so.$version \
		-Wl,--version-script=cudart.map cudart.c -o libcudart.so.$version || fail "does not compile"
	${CC:-gcc} -g -O1 -DVERSION=$version main.c -L. -l:libcudart.so.$version -o main$version || fail "does not compile"
	transparent batch$version ./main$version
	[ "$(wc -l <batch$version.out)" = 8 ] || fail "the program printed $(cat batch$version.out)"
	holds batch$version.jsonl <<'PY'
ops = t.of("op")
assert [e["api"] for e in ops] == ["cudaMemcpyBatchAsync", "cudaMemcpyBatchAsync_ptsz", "cudaMemcpyBatchAsync",
                                   "cudaMemcpy3DBatchAsync"], ops
assert [e.get("bytes", 0) for e in ops] == [1024, 1024, 0, 0], ops
assert all(e["error"] for e in ops), ops
PY
done
