# 3.11: a request that fails is told with its size and is not live; the retry after it is.
. "$(dirname "$0")/lib.sh"
cat >retry.py <<'PY'
from cuda import *
error, p = malloc(10 << 20)
print(error, malloc(1 << 40)[0], free(p), malloc(5 << 20)[0], rt.cudaGetLastError())
PY
transparent retry /usr/bin/python3 retry.py
holds retry.jsonl <<'PY'
assert [(e["action"], e["bytes"]) for e in t.of("memory")] == [
    ("alloc", 10 << 20), ("free", 10 << 20), ("alloc", 5 << 20)], t.of("memory")
failed = [e for e in t.of("op") if e.get("error")]
assert [(e["op_name"], e["bytes"], e["error"]) for e in failed] == [("cudaMalloc", 1 << 40, 2)], failed
assert failed[0]["live_bytes"] == 10 << 20 and failed[0]["largest_live"][0]["bytes"] == 10 << 20, failed
assert "address" not in failed[0] and t.terminal["peak_live_bytes"] == 10 << 20
assert t.of("device_memory", reason="failed_allocation"), "no checkpoint at the failure"
PY
summary retry.jsonl >out
grep -q '1.00 TiB asked for' out || { cat out; fail "the summary does not show the request"; }
grep -q 'error 2 (out of memory)' out || { cat out; fail "the error has no meaning"; }
grep -q 'live then: 10.00 MiB (10485760 bytes)' out || { cat out; fail "what was live is not told"; }
grep -q '; [0-9.]* [GM]iB free of [0-9.]* [GM]iB' out || { cat out; fail "what was free is not told"; }
sed -n '/largest live stacks then/,$p' out >largest
grep -q '10.00 MiB in 1 allocation$' largest || { cat out; fail "the largest live stack is not shown"; }
summary retry.jsonl --json >json
/usr/bin/python3 - <<'PY' || fail "the JSON of the failure"
import json
memory = json.load(open("json"))["memory"]
failed, = memory["failed_allocations"]
assert memory["failed_allocation_count"] == 1 and memory["failed_allocation_largest_bytes"] == 1 << 40, memory
assert (failed["asked_bytes"], failed["error"], failed["live_bytes"]) == (1 << 40, 2, 10 << 20), failed
assert 0 < failed["free_bytes"] < failed["capacity_bytes"], failed
assert [(s["bytes"], s["allocations"]) for s in failed["largest_live"]] == [(10 << 20, 1)], failed
assert failed["frames"] and failed["largest_live"][0]["frames"], "stacks without frames"
PY
exit 0
