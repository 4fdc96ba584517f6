# 4.04: a device clock that is off by 500 ns: one base, an error estimate, a kernel before its launch is flagged.
. "$(dirname "$0")/lib.sh"
need threads-shared
for skew in 500 50000; do
	traced $skew.jsonl env TSTRACE_SIM_CUPTI_CLOCK_SKEW=$skew "$apps/threads-shared" >/dev/null || fail "threads"
	valid $skew.jsonl
	holds $skew.jsonl $skew <<'PY'
started = {}
for e in t.of("op"):
    for c in (e.get("correlation"), e.get("correlation2")):
        if c:
            started[c] = e["timestamp_ns"]
kernels = t.intervals("kernel")
assert len(kernels) == 200 and all("clock_error_ns" in e and e["clock_id"] == "monotonic" for e in kernels)
early = [e for e in kernels if e["start_ns"] < started[e["correlation"]]]
assert all(e.get("before_launch_ns") == max(0, started[e["correlation"]] - e["start_ns"]) or e not in early
           for e in kernels), "a kernel before its launch is not flagged"
assert args[0] == "500" or early, "nothing was early: the test tests nothing"
assert {"monotonic_ns", "realtime_ns"} <= set(t.meta["clock"])
PY
done
exit 0
