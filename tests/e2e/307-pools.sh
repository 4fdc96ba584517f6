# 3.07: stream-ordered memory: pool and stream are on every event, and a pool ends with what is live in it.
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
exit 0
