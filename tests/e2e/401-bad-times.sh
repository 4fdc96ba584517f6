# 4.01, 4.04: records with zero, reversed, sentinel or unfinished times, or of another epoch, are counted, in no sum.
. "$(dirname "$0")/lib.sh"
need demo-shared
traced good.jsonl "$apps/demo-shared" >good.out || fail "demo"
for fault in ZERO_TIME=5 REVERSED=5 SENTINEL=5 END_ZERO=5 CLOCK_OFFSET=1700000000000000000; do
	traced $fault.jsonl env TSTRACE_SIM_CUPTI_$fault "$apps/demo-shared" >out 2>err || fail "$fault: status $?"
	cmp out good.out && [ ! -s err ] || { cat err; fail "$fault: the program shows it"; }
	valid $fault.jsonl
	holds $fault.jsonl good.jsonl $fault <<'PY'
good, fault = Trace(args[0]), args[1]
untimed = t.of("op", untimed=True)
work = lambda x: len([e for e in x.of("device_interval") if e["activity"] in ("kernel", "memcpy", "memset")])
lost = t.terminal["lost"].get("device_untimed", 0) + t.terminal["lost"].get("device_unfinished", 0)
assert untimed and lost == len(untimed), (t.terminal, len(untimed))
if not fault.startswith("CLOCK"):                   # no work vanished
    assert work(t) + len([e for e in untimed if e["activity"] in ("kernel", "memcpy", "memset")]) == work(good)
    assert work(t) > 0
for e in t.of("device_interval"):                   # and none is where no work can be
    assert 0 < e["start_ns"] and e["start_ns"] + e["duration_ns"] <= t.terminal["timestamp_ns"], e
    assert e["activity"] != "kernel" or e["duration_ns"] <= 1000000, e
launches = {e["correlation"]: e["timestamp_ns"] for e in t.of("op") if "correlation" in e and "untimed" not in e}
assert all(e["timestamp_ns"] == launches[e["correlation"]] for e in untimed if e["correlation"] in launches)
PY
	summary $fault.jsonl >out
	sed -n '/^Losses/,/^$/p' out | grep -q 'device_untimed\|device_unfinished' || { cat out; fail "$fault: not in the losses"; }
	[ "$(grep -n '^Losses' out | cut -d: -f1)" -lt "$(grep -n '^Kernels' out | cut -d: -f1)" ] || fail "$fault: losses are not first"
done
exit 0
