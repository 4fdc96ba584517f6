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
exit 0
