# 4.06: what CUPTI drops is counted in the trace and stands first in every report.
. "$(dirname "$0")/lib.sh"
need demo-shared
traced dropped.jsonl env TSTRACE_SIM_CUPTI_DROPPED=1234 "$apps/demo-shared" >/dev/null || fail "demo"
traced every.jsonl env TSTRACE_SIM_CUPTI_DROP_EVERY=4 "$apps/demo-shared" >/dev/null || fail "demo"
valid dropped.jsonl
valid every.jsonl
holds dropped.jsonl every.jsonl <<'PY'
assert t.terminal["lost"] == {"device_dropped": 1234}, t.terminal
assert len(t.intervals("kernel")) == 48
every = Trace(args[0])
lost, kept = every.terminal["lost"]["device_dropped"], len(every.of("device_interval"))
assert 0 < kept < len(t.of("device_interval")) and lost >= (kept + lost) // 5, (lost, kept)
PY
summary dropped.jsonl >out
[ "$(grep -A1 '^Losses' out | tail -n 1)" = "  1234 device_dropped: device records that CUPTI dropped" ] || { cat out; fail "not first"; }
exit 0
