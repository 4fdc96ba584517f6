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
grep -q 'error 2 (out of memory, cudaErrorMemoryAllocation)' out || { cat out; fail "the error has no meaning"; }
grep -q 'live then: 10.00 MiB (10485760 bytes) on cuda:0; 10.00 MiB (10485760 bytes) on all devices and the host; ' out || { cat out; fail "what was live is not told"; }
grep -q '; [0-9.]* [GM]iB free of [0-9.]* [GM]iB' out || { cat out; fail "what was free is not told"; }
sed -n '/largest live stacks then/,$p' out >largest
grep -q '^        10.00 MiB in 1 allocation$' largest && sed -n 3p largest | grep -q '^            [^ ]' ||
	{ cat out; fail "the largest live stack is not shown, and set in"; }
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
# What another device and the host hold is not among the causes.
cat >places.py <<'PY'
from cuda import *
def on_device(device, size):
    return rt.cudaSetDevice(device), malloc(size)[0]
def on_host(size):
    return rt.cudaMallocHost(byref(c_void_p()), c_size_t(size))
print(on_device(1, 20 << 20), on_device(0, 3 << 20), on_host(40 << 20), on_device(0, 1 << 40), on_device(1, 1 << 40), on_host(1 << 60))
PY
export TSTRACE_SIM_DEVICES=2
transparent places /usr/bin/python3 places.py
holds places.jsonl <<'PY'
failed = [(e["device"], e["device_live_bytes"], e["live_bytes"], [s["bytes"] for s in e["largest_live"]])
          for e in t.of("op") if e.get("error")]
MiB = 1 << 20
assert failed == [("cuda:0", 3 * MiB, 63 * MiB, [3 * MiB]), ("cuda:1", 20 * MiB, 63 * MiB, [20 * MiB]),
                  ("cpu", 40 * MiB, 63 * MiB, [40 * MiB])], failed
PY
# A failure whose largest stacks were not taken again says so.
/usr/bin/python3 -c '
import json
seen = False
for line in open("places.jsonl"):
    e = json.loads(line)
    if "largest_live" in e and not seen:
        seen = True
        print(line, end="")
        e.pop("largest_live")
        line = json.dumps(e) + "\n"
    print(line, end="")' >again.jsonl
summary places.jsonl >out
summary again.jsonl >again
[ "$(grep -c '^      the largest live stacks were taken with a failure just before$' out again | tr '\n' ' ')" = "out:0 again:1 " ] ||
	{ cat again; fail "stacks that were not taken again"; }
for place in cuda:0 cuda:1 cpu; do
	grep -q "^      the largest live stacks then on $place:$" out || { cat out; fail "whose stacks are shown: not $place"; }
done

# What fails for another reason is counted by it, and is no story of memory.
cat >values.py <<'PY'
from cuda import *
for i in range(3):
    print(rt.cudaMalloc(None, c_size_t(100 + i)), drv.cuMemAlloc_v2(None, c_size_t(100)))
print(malloc(1 << 40)[0])
PY
transparent values /usr/bin/python3 values.py
summary values.jsonl >out
grep -q '^  3 allocations failed: invalid value (cudaErrorInvalidValue)$' out || { cat out; fail "the runtime's errors are not together"; }
[ "$(grep -c 'asked for' out)" = "$(grep -c ' allocations failed: \| (out of memory, ' out)" ] || { cat out; fail "more than the first of each"; }
grep -q '^  1.00 TiB asked for .* error 2 (out of memory, cudaErrorMemoryAllocation)' out || { cat out; fail "what had no memory is not told"; }
grep -q ' (4 failed, the first with cudaErrorInvalidValue)$' out ||
	{ cat out; fail "the calls do not name their error"; }
summary values.jsonl --json >json
/usr/bin/python3 - <<'PY' || fail "the JSON of the errors"
import json
memory = json.load(open("json"))["memory"]
errors = {e["error_name"]: (e["error"], e["count"], e["largest_bytes"]) for e in memory["failed_allocation_errors"]}
assert errors["cudaErrorInvalidValue"] == (1, 3, 102) and errors["cudaErrorMemoryAllocation"] == (2, 1, 1 << 40), errors
assert [f["error_name"] for f in memory["failed_allocations"]] == ["cudaErrorMemoryAllocation"], memory
assert memory["failed_allocation_count"] == sum(e[1] for e in errors.values())
PY
exit 0
