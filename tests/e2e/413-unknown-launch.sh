# 4.13: kernels whose launch nobody saw are kept, marked, counted and shown as such.
. "$(dirname "$0")/lib.sh"
need demo-shared
traced unknown.jsonl env TSTRACE_SIM_CUPTI_UNKNOWN_CORRELATION=3 "$apps/demo-shared" >/dev/null || fail "demo"
valid unknown.jsonl
holds unknown.jsonl <<'PY'
assert len(t.intervals("kernel")) == 48
assert len(t.intervals("kernel", launch="unknown")) == 16 == t.terminal["lost"]["device_unknown_launch"], t.terminal
assert all(e["span_id"] == "s1" for e in t.intervals("kernel", launch="unknown"))
PY
summary unknown.jsonl >out
grep -q '16 device intervals: launch unknown' out || { cat out; fail "the summary does not show it"; }
exit 0
