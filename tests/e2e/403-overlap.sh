# 4.03, 4.12: kernels that overlap on one stream stay as CUPTI told them; busy time is their union, the sum is apart.
. "$(dirname "$0")/lib.sh"
need demo-shared
traced overlap.jsonl env TSTRACE_SIM_CUPTI_OVERLAP=5000 "$apps/demo-shared" >/dev/null || fail "demo"
valid overlap.jsonl
summary overlap.jsonl --json >overlap.json
holds overlap.jsonl overlap.json <<'PY'
kernels = sorted(t.intervals("kernel"), key=lambda e: e["start_ns"])
assert len(kernels) == 48, len(kernels)
crossing = [1 for a, b in zip(kernels, kernels[1:]) if b["start_ns"] < a["start_ns"] + a["duration_ns"]]
assert len(crossing) >= 20, len(crossing)
work = sorted((e["start_ns"], e["start_ns"] + e["duration_ns"]) for e in t.of("device_interval")
              if e["activity"] in ("kernel", "memcpy", "memset"))
busy, end = 0, 0
for a, b in work:
    busy, end = busy + max(0, b - max(a, end)), max(b, end)
device = json.load(open(args[1 - 1]))["devices"][0]
assert device["busy_ns"] == busy < device["sum_of_durations_ns"] == sum(b - a for a, b in work), (busy, device)
assert busy <= device["last_end_ns"] - device["first_start_ns"]
PY
exit 0
