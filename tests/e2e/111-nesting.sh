# 1.11: a runtime that calls the driver through its symbols is one allocation a call, not two.
. "$(dirname "$0")/lib.sh"
. "$e2e/fakes/fakes.sh"
cuda .
cudart . -DFAKE_VIA_PLT -L. -l:libcuda.so.1
program ten -L. -l:libcudart.so.12 -Wl,-rpath-link,. <<'C'
#include "fake.h"
int main(void)
{
	void *p;

	for (int i = 0; i < 10; i++)
		printf("%d\n", cudaMalloc(&p, 1 << 20));
	return 0;
}
C
transparent ten ./ten
[ "$(grep -c 'driver: cuMemAlloc_v2' ten.out)" = 10 ] || fail "the runtime did not call the driver"
holds ten.jsonl <<'PY'
assert len(t.allocs()) == 10 and sum(t.live().values()) == 10 << 20, t.allocs()
assert {e["api"] for e in t.allocs()} == {"cudaMalloc"}, t.allocs()
PY
