# The stacks of memory events resolve to the functions and lines that made them, in a program linked either way.
. "$(dirname "$0")/lib.sh"
need demo-shared demo-static
for variant in shared static; do
	traced $variant.jsonl "$apps/demo-$variant" >/dev/null || fail "$variant"
	summary $variant.jsonl --json >$variant.json
	/usr/bin/python3 - $variant.json <<'PY' || fail "$variant: see above"
import json, sys
memory = json.load(open(sys.argv[1]))["memory"]
live = memory["live_at_end_stacks"]
assert len(live) == 1 and live[0]["bytes"] == 2 * 131072, live
names = [f.get("function", "") for f in live[0]["frames"]]
at = [i for i, n in enumerate(names) if n.startswith("device_floats(")]
assert at and "main" in names[at[0]:], names      # what lies between may be inlined
lines = [(f["file"], f["line"]) for f in live[0]["frames"] if "line" in f]
assert any(file.endswith("demo.cu") and line > 0 for file, line in lines), lines
peak = [f.get("function", "") for s in memory["peak_stacks"] for f in s["frames"]]
assert peak.count("main") >= 2 and any(n.startswith("device_floats(") for n in peak), peak
PY
done
traced off.jsonl env TSTRACE_STACKS=0 "$apps/demo-shared" >/dev/null || fail "TSTRACE_STACKS=0"
holds off.jsonl <<'PY'
assert not any("stack" in e for e in t.all)
PY
exit 0
