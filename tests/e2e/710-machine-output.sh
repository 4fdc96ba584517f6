# 7.10, 7.09: --json is one strict object whatever is wrong with the trace, its keys are the documented ones, carry
# their unit, and its numbers are those of the text.
. "$(dirname "$0")/lib.sh"
page=$(cd "$e2e/../.." && pwd)/man/tstrace.1
PAGE=$page exec python3 - <<'PY'
import re
from made import *
from trace10 import _object, _no_constant

frames = dict(stack=1, frames=["1+0x10", "0+0x20"], frames_end="truncated", modules=[dict(id=1, path="/gone/prog", build_id="ab")])
events = [interval(0, 10**9), interval(2 * 10**9, 10**6, activity="memcpy", activity_copy_kind=1, bytes=1 << 30), interval(5, 0),
          op("cudaLaunchKernel", 5, op_name="_Z3addPfS_", grid=[1, 1, 1], thread=1, iteration=3),
          op("tstrace.window", 0, mark=True, action="open", cause="profiler", window=1, live_blocks=2, live_bytes=99, live=[]),
          memory("alloc", 5, "a", 1 << 30, api="cudaMalloc", **frames), memory("free", 9, "never", 4),
          op("cudaMalloc", 80, error=2, bytes=1 << 40, memory_kind="device", stack=1, live_bytes=1 << 30, device_live_bytes=1 << 30, largest_live=[dict(stack=1, bytes=1 << 30, count=1)]),
          dict(kind="device_memory", timestamp_ns=90, device="cuda:0", used_bytes=5, free_bytes=77, capacity_bytes=82, reason="failed_allocation"), b"{\n"]
data = trace(events, dict(lost=dict(ring_full=3), unmatched_frees=2))
cut = trace(events, None)[:-30]

def strict(verb, data):
    status, out, err = tstrace(verb, data, "--json", env=dict(os.environ, LANG="C", LC_ALL="C", NO_COLOR="1", TERM="dumb"))
    assert b"\x1b" not in out and out.endswith(b"}\n"), out[-20:]
    return json.loads(out.decode("ascii"), object_pairs_hook=_object, parse_constant=_no_constant)

def keys(value):
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()

page = open(os.environ["PAGE"]).read().split(".Sh JSON OUTPUT")[1].split("\n.Sh ")[0]
words = set(re.findall(r"[a-z0-9_]+", page))
found, damaged, check = strict("summary", data), strict("summary", cut), strict("check", data)
kinds = set(found["events"]) | set(check["counts"]) | set(check["extra_keys"])
used = keys(found) | keys(damaged) | keys(check)
assert not used - kinds - words, "keys that tstrace(1) does not tell: %s" % sorted(used - kinds - words)
told = set(re.findall(r"[a-z0-9]+_[a-z0-9_]+", page)) - {"_ns", "_bytes"}
assert not told - used - {"set_to"}, "keys that no report has: %s" % sorted(told - used)
for key in used:
    assert not re.search(r"(_ms|_us|_s|_time|_size|duration)$", key) , "no unit: " + key

# the text says the same
text = tstrace("summary", data, "--rows", "9")[1].decode()
for words in ("1.000 s", "1.00 GiB", "1.00 TiB asked for (1099511627776 bytes", "77 B free of 82 B", "3 ring_full", "1073.742 GB/s"):
    assert words in text, (words, text)
kernel, = found["kernels"]
assert kernel["total_ns"] == kernel["p50_ns"] == kernel["p99_ns"] == 10**9 and kernel["share"] == 1, kernel
assert found["copies"][0]["bytes"] == 1 << 30 and found["memory"]["peak_bytes"] == 1 << 30
failed, = found["memory"]["failed_allocations"]
assert (failed["live_bytes"], failed["free_bytes"], failed["capacity_bytes"]) == (1 << 30, 77, 82), failed
assert failed["largest_live"][0]["frames"] == failed["frames"] and failed["frames"][0]["note"] == "file missing", failed
# warnings go to stderr, an error leaves stdout empty
packed = subprocess.run(["zstd", "-q", "-c"], input=trace(events), capture_output=True)
if not packed.returncode:
    status, out, err = tstrace("summary", packed.stdout[:-9], "--json")
    assert status == 0 and json.loads(out) and err.count(b"\n") == 1, err
status, out, err = tstrace("summary", b"\x7fELF" + bytes(99), "--json")
assert status == 2 and not out and err.count(b"\n") == 1
PY
