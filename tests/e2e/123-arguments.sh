# 1.23, 1.24, 1.25: arguments that the library would refuse, the last error, and what a failed call leaves in its
# out-parameters; also when every question that tstrace asks of the driver fails.
. "$(dirname "$0")/lib.sh"
. "$e2e/fakes/fakes.sh"
cudart .
for kind in fine failing; do
	mkdir $kind
	[ $kind = fine ] && cuda $kind || cuda $kind -DFAKE_HELPERS_FAIL
done
program arguments -Lfine -L. -l:libcudart.so.12 -l:libcuda.so.1 <<'C'
#include "fake.h"
int cudaLaunchKernelExC(const void *config, const void *f, void **args);
#define SHOW(call) (printf("%s: %d", #call, call), printf(", last %d\n", cudaPeekAtLastError()))
int main(void)
{
	void *p = (void *)0x5a5a;
	uint64_t q = 0x5a5a;
	size_t total = 0;

	SHOW(cudaMalloc(&p, 32));
	SHOW(cudaMalloc(NULL, 16));
	SHOW(cudaLaunchKernelExC(NULL, NULL, NULL));
	SHOW(cudaMemcpyAsync(NULL, NULL, 8, 4, NULL));
	SHOW(cudaGetLastError());
	SHOW(cudaFree(p));
	p = (void *)0x5a5a;
	SHOW(cudaMalloc(&p, 0xbad));
	printf("%p\n", p);
	SHOW(cudaMallocAsync(&p, 0xbad, NULL));
	SHOW(cuMemCreate(&q, 0xbad, NULL, 0));
	SHOW(cuMemAlloc_v2(&q, 0xbad));
	printf("%lx\n", (unsigned long)q);
	SHOW(cuMemAlloc_v2(NULL, 16));
	SHOW(cuMemcpyAsync(0, 0, 8, NULL));
	SHOW(cuLaunchKernelEx(NULL, NULL, NULL, NULL));
	SHOW(cuMemGetInfo_v2(NULL, &total));
	SHOW(cudaFree(NULL));
	return 0;
}
C
for kind in fine failing; do
	LD_LIBRARY_PATH=$T:$T/$kind transparent $kind ./arguments
	holds $kind.jsonl <<'PY'
failed = [e for e in t.allocs() if "error" in e] + [e for e in t.of("op") if "error" in e]
assert len(t.live()) == 0, t.live()
assert not any(e.get("address") == "0xdeadbeef" for e in t.all), failed
apis = sorted(e["api"] for e in t.all if e.get("error"))
assert apis == sorted(["cudaMalloc", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMalloc", "cudaMallocAsync",
                       "cuMemCreate", "cuMemAlloc_v2", "cuMemAlloc_v2", "cuMemcpyAsync", "cuLaunchKernelEx"]), apis
assert [e["bytes"] for e in t.all if e.get("api") == "cuMemCreate"] == [0xbad]
PY
done
