# 3.04: a double free and a wild one: the program gets its error codes, the trace tells both stacks, nothing else changes.
. "$(dirname "$0")/lib.sh"
cat >double.py <<'PY'
from cuda import *
error, p = malloc(512)
error, q = malloc(64)
print(free(p), free(p), free(0x1234), mem_free(q), mem_free(q), rt.cudaGetLastError())
PY
transparent double /usr/bin/python3 double.py
holds double.jsonl <<'PY'
assert len(t.allocs()) == 2 and len(t.frees()) == 2 and not t.live(), t.of("memory")
failed = [e for e in t.of("op") if e.get("error") and "memory_kind" in e]
first = {e["address"]: e for e in t.frees()}
assert [e["op_name"] for e in failed] == ["cudaFree", "cudaFree", "cuMemFree_v2"], failed
twice = [e for e in failed if e["address"] in first]
assert len(twice) == 2 and failed[1]["address"] == "0x1234", failed
for e in twice:
    assert e["stack"] and e["first_free_stack"] == first[e["address"]]["stack"], (e, first)
assert t.terminal["failed_frees"] == 3 and "unmatched_frees" not in t.terminal, t.terminal
assert t.terminal["live_bytes"] == 0
PY
exit 0
