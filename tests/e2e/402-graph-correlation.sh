# 4.02: all kernels of one graph launch share its correlation id: each is kept and linked to that launch.
. "$(dirname "$0")/lib.sh"
need graphs-shared
for mode in node graph; do
	traced $mode.jsonl env TSTRACE_GRAPHS=$mode "$apps/graphs-shared" >/dev/null || fail "$mode"
	valid $mode.jsonl
	holds $mode.jsonl $mode <<'PY'
launches = {c: e for e in t.of("op", op_name="cudaGraphLaunch") for c in (e["correlation"], e.get("correlation2")) if c}
assert len(t.of("op", op_name="cudaGraphLaunch")) == 8
kernels, graphs = t.intervals("kernel"), t.intervals("graph")
if args[0] == "node":
    groups = Counter(e["correlation"] for e in kernels)
    assert sorted(groups.values()) == [1, 1, 1, 3, 3, 3] and not graphs, groups
else:
    assert not kernels and len(graphs) == 8, (len(kernels), len(graphs))
for e in kernels + graphs:
    assert e["correlation"] in launches and "launch" not in e and e["graph"], e
    assert e["start_ns"] >= launches[e["correlation"]]["timestamp_ns"], e
assert not t.terminal["lost"], t.terminal
PY
done
exit 0
