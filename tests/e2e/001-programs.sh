# 1.01, 1.07, 1.10, 1.27: each program, whatever it is linked with, is undisturbed, and its trace is valid and the same.
. "$(dirname "$0")/lib.sh"
need basic-shared

for name in basic copies demo devices failures forms graphs kinds managed mixed pools streams threads; do
	for variant in shared static ptds; do
		[ -e "$apps/$name-$variant" ] || continue
		transparent $name-$variant "$apps/$name-$variant"
		holds $name-$variant.jsonl $name-shared.jsonl <<'PY'
assert t.meta["tags"]["simulated"] == "true", t.meta
assert t.meta["backend"] == "cupti", t.meta
assert t.terminal["outcome"] == "complete" and not t.terminal["lost"], t.terminal
assert "unmatched_frees" not in t.terminal, t.terminal
same_facts(t, Trace(args[0]))
PY
	done
done

# Every launch ran: the number of device records is known for each program.
for variant in shared static ptds; do
	for name in basic copies demo devices forms managed pools streams threads; do
		[ ! -e $name-$variant.jsonl ] || holds $name-$variant.jsonl $name <<'PY'
extra = 1 if args[0] == "forms" else 0      # one kernel runs in a graph
launched, ran = Counter(e["op_name"] for e in t.launches()), Counter(e["name"] for e in t.intervals("kernel"))
assert sum(ran.values()) == sum(launched.values()) + extra, (launched, ran)
assert set(ran) == set(launched), (launched, ran)
ids = {c for e in t.of("op") for c in (e.get("correlation"), e.get("correlation2")) if c}
assert all(e["correlation"] in ids and "launch" not in e for e in t.intervals("kernel")), t.intervals("kernel")
assert all(e["start_ns"] + e["duration_ns"] <= t.terminal["timestamp_ns"] for e in t.intervals("kernel"))
leaks = sorted(t.live().values())
assert leaks == ([131072, 131072] if args[0] == "demo" else []), leaks
assert t.terminal["live_bytes"] == sum(leaks), t.terminal
PY
	done
	# 3 x 3 kernels of the captured graph, 3 of the one built by hand
	[ ! -e graphs-$variant.jsonl ] || holds graphs-$variant.jsonl <<'PY'
assert len(t.intervals("kernel")) == 12 and not t.launches()
assert all("graph" in e and "graph_node" in e for e in t.intervals("kernel"))
PY
done
summary demo-shared.jsonl >demo.txt
grep -q SIMULATED demo.txt || fail "the summary does not say that the device is simulated"
grep -q 'Live at the end (leaks): 256.00 KiB in 2 allocations' demo.txt || { cat demo.txt; fail "leaks"; }
exit 0
