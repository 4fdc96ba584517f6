# TSTRACE_DEVICE=event: CUDA events around the program's work.  Its intervals are there and plausible, trace and summary
# say what ran and why; the program's own driver calls are the same, in the same order, it is never made to wait, and a
# capture is left alone.
. "$(dirname "$0")/lib.sh"
need demo-shared
# Long against what the host does between two calls.
export TSTRACE_SIM_KERNEL_NS=200000 TSTRACE_DEVICE=event

for name in basic copies demo devices failures forms graphs kinds managed mixed pools streams threads; do
	for variant in shared static ptds; do
		app=$apps/$name-$variant
		[ -e "$app" ] || continue
		transparent $name-$variant "$app"
		holds $name-$variant.jsonl $name <<'PY'
name = args[0]
assert t.meta["backend"] == t.terminal["backend"] == "event", t.meta
assert t.meta["backend_reason"] == "TSTRACE_DEVICE=event", t.meta
assert t.terminal["outcome"] == "complete" and not t.terminal["lost"], t.terminal
ops = {e["correlation"]: e for e in t.of("op") if "correlation" in e}
intervals = t.of("device_interval")
assert len(ops) == len(intervals) == len({e["correlation"] for e in intervals}), (len(ops), len(intervals))
work = [e for e in t.of("op") if not e.get("error") and not e.get("captured") and
        ("grid" in e or "Memcpy" in e["api"] or "Memset" in e["api"] or "GraphLaunch" in e["api"])]
assert len(work) == len(intervals), (len(work), len(intervals))
for e in intervals:
    op, error = ops[e["correlation"]], e["clock_error_ns"]
    assert e["backend"] == "cuda-event" and e["clock_id"] == t.of("device_interval")[0]["clock_id"], e
    assert e["span_id"] == op["span_id"] and e["device"] == op["device"], (e, op)
    assert e["start_ns"] + error >= op["timestamp_ns"], ("begins before its call", e, op)
    assert e["start_ns"] + e["duration_ns"] <= t.terminal["timestamp_ns"] + error, ("ends after the session", e)
    if e["activity"] == "kernel":
        assert e["name"] == op["op_name"] and e["duration_ns"] + 2 * error >= 200000, (e, op)
    elif e["activity"] == "graph":
        assert name in ("graphs", "forms"), e
    else:
        assert e.get("bytes") == op.get("bytes"), (e, op)
assert Counter(e["activity"] for e in intervals)["graph"] == {"graphs": 8, "forms": 1}.get(name, 0)
PY
	done
done
summary demo-shared.jsonl >out
grep '^Backend' out | grep -q 'event: .*TSTRACE_DEVICE=event' || { cat out; fail "the summary does not say why"; }

# A batch copy of the runtime names its stream only in the driver's call inside it: timed there, and known as captured.
sim_program batch <<'C'
struct attributes { int order, from[2], to[2]; unsigned flags; };
int cudaMemcpyBatchAsync(void **to, void **from, unsigned long *bytes, unsigned long n, struct attributes *a, unsigned long *at,
			 unsigned long count, void *stream);
int cudaStreamCreate(void **s), cudaStreamSynchronize(void *s), cudaStreamBeginCapture(void *s, int mode);
int cudaStreamEndCapture(void *s, void **graph);
int main(void)
{
	static char host[2][512];
	struct attributes in_order = { .order = 1 };
	void *to[2], *from[2] = { host[0], host[1] }, *stream, *graph;
	unsigned long bytes[2] = { 300, 301 }, first = 0;
	if (cudaMalloc(&to[0], 512) || cudaMalloc(&to[1], 512) || cudaStreamCreate(&stream) ||
	    cudaMemcpyBatchAsync(to, from, bytes, 2, &in_order, &first, 1, stream) || cudaStreamSynchronize(stream))
		return 1;
	if (cudaStreamBeginCapture(stream, 2))
		return 2;
	bytes[0] = 100;
	cudaMemcpyBatchAsync(to, from, bytes, 2, &in_order, &first, 1, stream);
	cudaStreamEndCapture(stream, &graph);
	return 0;
}
C
for backend in event cupti; do
	TSTRACE_DEVICE=$backend transparent batch-$backend ./batch
	holds batch-$backend.jsonl <<'PY'
done, captured = t.of("op", api="cudaMemcpyBatchAsync")
assert (done["bytes"], captured["bytes"]) == (601, 401) and done["stream"] == captured["stream"] != "0x0", (done, captured)
assert captured["captured"] and "captured" not in done, (done, captured)
copies = [e for e in t.intervals("memcpy") if e["correlation"] == done["correlation"]]
assert len(t.intervals("memcpy")) == len(copies) >= 1, t.of("device_interval")
PY
done

# What the driver saw, a line a call: name, result, thread.
calls() { sed -n 's/^simulated CUDA driver: \(.*\) = \(-*[0-9]*\) on \(.*\)$/\1 \2 \3/p' "$1" | grep -v '^cuGetProcAddress'; }
for name in basic copies demo forms graphs pools threads; do
	app=$apps/$name-shared
	TSTRACE_SIM_LOG=1 run "$app" >/dev/null 2>log && calls log >plain.calls || fail "$name: untraced"
	TSTRACE_SIM_LOG=1 traced log.jsonl "$app" >/dev/null 2>log && calls log >calls || fail "$name: traced"
	/usr/bin/python3 - $name <<'PY' || fail "$name: see above"
import sys
from collections import Counter
name = sys.argv[1]
read = lambda path: [tuple(line.split(" ", 2)) for line in open(path)]
plain, traced = read("plain.calls"), read("calls")
theirs = [c[:2] for c in plain]
on_threads = [c[:2] for c in traced if not c[2].startswith("tstrace-")]
# What the backend and the hooks call themselves.  None of it waits: no cu...Synchronize, no copy, no allocation.
ours = {"cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGetName", "cuDeviceGetAttribute", "cuCtxGetCurrent", "cuCtxGetDevice",
        "cuMemGetInfo_v2", "cuStreamGetId", "cuStreamIsCapturing", "cuStreamCreate", "cuThreadExchangeStreamCaptureMode", "cuEventCreate", "cuEventRecord",
        "cuEventQuery"}
if name == "threads":           # in any order, but no more and no fewer
    order = lambda calls: sorted(c for c in calls if c[0] not in ours)
else:
    order = lambda calls: [c for c in calls if c[0] not in ours]
assert order(theirs) == order(on_threads), (Counter(order(on_threads)) - Counter(order(theirs)), Counter(order(theirs)) - Counter(order(on_threads)))
less = Counter(c[0] for c in theirs) - Counter(c[0] for c in on_threads)
assert not less, "the program's calls are missing: %s" % less
events = Counter(c[0] for c in on_threads)["cuEventRecord"] - Counter(c[0] for c in theirs)["cuEventRecord"]
assert events >= 2, "this was not the event backend"
on_ours = {c[0] for c in traced if c[2].startswith("tstrace-")}
assert on_ours <= ours | {"cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuEventElapsedTime"}, on_ours
# Nothing of ours goes into a stream while it is being captured.
def captured(calls):
    inside, found = False, []
    for call, _ in calls:
        inside = (inside or call.startswith("cuStreamBeginCapture")) and not call.startswith("cuStreamEndCapture")
        if inside:
            found.append(call)
    return found
asked = {"cuCtxGetCurrent", "cuCtxGetDevice", "cuMemGetInfo_v2", "cuStreamIsCapturing"}
assert [c for c in captured(theirs) if c not in asked] == [c for c in captured(on_threads) if c not in asked], captured(on_threads)
assert name not in ("forms", "graphs") or captured(theirs), "no capture in the program"
PY
done
exit 0
