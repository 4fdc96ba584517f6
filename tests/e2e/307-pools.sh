# 3.07: stream-ordered memory: pool and stream are on every event, and what is live in a pool outlives it.
. "$(dirname "$0")/lib.sh"
need pools-shared
transparent pools "$apps/pools-shared"
holds pools.jsonl <<'PY'
allocs, frees = t.allocs(), t.frees()
assert len(allocs) == len(frees) == 11 and not t.live(), len(allocs)
assert all(e["memory_kind"] == "pool" and "stream" in e for e in allocs + frees), allocs
named = Counter(e["pool"] for e in allocs if e["api"] == "cudaMallocFromPoolAsync")
assert len(named) == 1 and list(named.values()) == [3], named
# allocated on one stream, freed on another
big = [(a, f) for a in allocs for f in frees if a["storage_id"] == f["storage_id"] and a["bytes"] == 1 << 20]
assert len(big) == 4 and all(a["stream"] != f["stream"] for a, f in big), big
assert sum(e["api"] == "cudaFree" for e in frees) == 1
PY
# cuda.h: what a destroyed pool has given out stays until it is freed.  It lies on the device of the pool, or of the
# stream, not of the thread.
sim_program outlives <<'C'
#include <stdio.h>
int cudaMemPoolCreate(void **, const void *), cudaMallocFromPoolAsync(void **, size_t, void *, void *);
int cudaMemPoolDestroy(void *), cudaFreeAsync(void *, void *), cudaMallocAsync(void **, size_t, void *);
int cudaSetDevice(int), cudaStreamCreate(void **);
int main(void)
{
	struct { int type, handles, where, id; long long pad[16]; } device = { 1, 0, 1, 1, { 0 } };
	void *pool, *p, *stream;
	int bad = cudaMemPoolCreate(&pool, &device) + cudaMallocFromPoolAsync(&p, 100, pool, NULL);

	bad += cudaMemPoolDestroy(pool) + cudaFreeAsync(p, NULL);
	bad += cudaSetDevice(1) + cudaStreamCreate(&stream) + cudaSetDevice(0) + cudaMallocAsync(&p, 200, stream);
	printf("%d\n", bad);
	return 0;
}
C
TSTRACE_SIM_DEVICES=2 transparent outlives ./outlives
[ "$(cat outlives.out)" = 0 ] || fail "outlives: $(cat outlives.out) calls went wrong"
holds outlives.jsonl <<'PY'
(end,) = t.frees()
assert end["api"] == "cudaFreeAsync" and "reset" not in end and "unmatched_frees" not in t.terminal, (end, t.terminal)
(destroyed,) = t.of("op", op_name="cudaMemPoolDestroy")
assert [(e["bytes"], e["device"]) for e in t.allocs()] == [(100, "cuda:1"), (200, "cuda:1")], t.allocs()
assert destroyed["timestamp_ns"] <= end["timestamp_ns"], (destroyed, end)
PY
exit 0
