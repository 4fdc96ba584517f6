# The spans of a trace by name and step, with the device's work inside them, and its iterations.
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 - <<'PY' || fail "made traces"
from made import *

def span(id, name, start, duration, parent="s1", end={}, **more):
    ends = [] if duration is None else [dict(kind="span_end", id=id, duration_ns=duration, **end)]
    return [dict(kind="span_start", id=id, name=name, start_ns=start, span_kind="function", measured=False,
                 parent_id=parent, **more)] + ends

def by_name(found):
    return {(s["name"], s["step"]): s for s in found["spans"]}

# Three iterations of forward and backward; both call "layer", and backward calls itself.
events = []
for n in range(3):
    at, f, b = 1000 * n, "f%d" % n, "b%d" % n
    events += span(f, "step", at + 100, 300 + n, step="forward", iteration=n)
    events += span(f + "l", "layer", at + 110, 200, f)
    events += span(b, "step", at + 500, 400, step="backward", iteration=n)
    events += span(b + "b", "step", at + 510, 300, b, step="backward")
    events += span(b + "l", "layer", at + 520, 100, b + "b")
    for inside, start, duration in ((f, 0, 100), (f + "l", 50, 100), (b + "l", 400, 50), (b + "b", 450, 60), ("none", 800, 7)):
        events.append(dict(interval(5000 + at + start, duration), span_id=inside))
events += span("o1", "load", 10, 20) + span("o2", "load", 40, 50, end=dict(open_at_end=True)) + span("o3", "load", 60, None)
events += span("c1", "range", 10, 20) + span("c2", "range", 30, 50, continues="c1")
events += span("late", "late", 10, 2**63)
found = summary(trace(events))
spans = by_name(found)
expected = { # calls, host times; device intervals and the union of their times
    ("step", "forward"): ((3, 903, 301, 300, 302), (6, 3 * 150)),
    ("step", "backward"): ((6, 2100, 350, 300, 400), (6, 3 * 110)),
    ("layer", ""): ((6, 900, 150, 100, 200), (6, 3 * 150)),
    ("load", ""): ((3, 70, 35, 20, 50), (0, 0)),
    ("range", ""): ((1, 70, 35, 20, 50), (0, 0)),
    ("late", ""): ((1, 0, 0, 0, 0), (0, 0)),
    ("e", ""): ((1, END_NS, END_NS, END_NS, END_NS), (12, 3 * 260)),
}
assert set(spans) == set(expected), set(spans)
for key, (host, device) in expected.items():
    s = spans[key]
    assert tuple(s[k] for k in ("calls", "total_ns", "mean_ns", "min_ns", "max_ns")) == host, (key, s)
    assert (s["device_intervals"], s["device_busy_ns"]) == device and s["device_busy_is_exact"], (key, s)
    assert s["whole_run"] == (key[0] == "e"), (key, s)
assert [s["name"] for s in found["spans"]][:2] == ["e", "step"], "not the longest first"
load = spans["load", ""]
assert (load["open_at_end"], load["without_end"], load["count"]) == (1, 1, 2), load
assert spans["range", ""]["continued_parts"] == 1
text = summary(trace(events), "--rows", "3")
table = text[text.index("\nSpans ("):].split("\n\n")[0].splitlines()
assert table[4].split() == ["2.100", "us", "6", "350", "ns", "300", "ns", "400", "ns", "330", "ns", "6", "backward", "step"], table
assert len(table) == 8 and table[6] == "  ... and 4 more (--rows, or --json for all)", table
assert table[7] == "  1 spans with absurd times were left out of the times", table
assert "load  (1 open at the end)  (1 without an end, not timed)\n" in summary(trace(events), "--rows", "9")
assert "range  (in 2 parts)\n" in summary(trace(events), "--rows", "9")

# Iterations: by the spans' times above; from op, memory and statistics too.
its = found["iterations"]
assert (its["count"], its["lowest_number"], its["highest_number"], its["untimed_events"]) == (3, 0, 2, 0), its
assert [its["begin_to_begin"][k] for k in ("count", "min_ns", "max_ns")] == [2, 1000, 1000], its
assert [its["first_to_last_event"][k] for k in ("count", "min_ns", "max_ns")] == [3, 800, 800], its

# Epochs: the numbers come again, and are other iterations; lines of two threads are out of order, as are those that
# tell of an iteration's last moments behind the first of the next one.  4 and 6 do not follow each other.
def at(n, start, duration=0):
    return dict(op("cudaMemset", start, iteration=n), duration_ns=duration)
epochs = [at(1, 100), at(2, 200, 150), at(1, 190), at(1, 150), at(3, 300), at(2, 290), at(2, 300), at(1, 400), at(2, 520),
          at(2, 500), at(4, 600), at(6, 700), dict(memory("alloc", 710, "x", 8), iteration=6),
          dict(kind="gradient", event_id="g", root="r", key="k", state="missing", iteration=9)]
its = summary(trace(epochs))["iterations"]
assert (its["count"], its["lowest_number"], its["highest_number"], its["untimed_events"]) == (7, 1, 9, 1), its
assert [its["begin_to_begin"][k] for k in ("count", "total_ns")] == [3, 100 + 100 + 100], its
assert [its["first_to_last_event"][k] for k in ("count", "total_ns")] == [7, 90 + 100 + 0 + 0 + 20 + 0 + 10], its
# Many more than are kept: the sums are the same.
its = summary(trace(at(n, 1000 + 10 * n, 5) for n in range(50000)))["iterations"]
assert its["count"] == 50000 and its["late_events"] == 0, its
assert (its["begin_to_begin"]["total_ns"], its["first_to_last_event"]["total_ns"]) == (10 * 49999, 5 * 50000), its
# More spans than are remembered behind their end, in one that stays open: it gets the device's work of them all.
many = span("s2", "epoch", 0, None)
for n in range(140000):
    many += span("m%d" % n, "batch", n, 1, "s2") + [dict(interval(2 * n, 1), span_id="m%d" % n)]
many.append(dict(interval(2 * n + 2, 1), span_id="m0"))
spans = by_name(summary(trace(many, terminal=None)))
for name in "epoch", "batch":
    assert (spans[name, ""]["device_intervals"], spans[name, ""]["device_busy_ns"]) == (140000, 140000), spans[name, ""]
assert spans["epoch", ""]["without_end"] == 1 and spans["e", ""]["device_intervals"] == 140000

# Nothing of the sort.
text = summary(trace([]), "--rows", "5")
for title in "Spans", "Iterations":
    part = text[text.index("\n%s (" % title):].split("\n\n")[0]
    assert part.endswith("\n  none recorded"), part
PY

# The loop of three iterations with tstrace.h.
printf '%s\n#include "tests/e2e/fakes/loop.h"\nint main(void) { return train(); }\n' >loop.c \
	'int cudaMalloc(void **p, unsigned long bytes), cudaFree(void *p);'
${CC:-gcc} -std=c11 -g -O1 -I"$e2e/../.." -DTSTRACE_DYNAMIC loop.c -o loop -L"$B/sim" -l:libcudart.so.13 -ldl ||
	fail "loop does not compile"
transparent loop ./loop
summary --json loop.jsonl >json
/usr/bin/python3 - <<'PY' || fail "the summary of the loop"
import json
found = json.load(open("json"))
spans = {(s["name"], s["step"]): s for s in found["spans"] if not s["whole_run"]}
assert {k: (s["calls"], s["count"], s["open_at_end"]) for k, s in spans.items()} == {
    ("forward", "forward"): (3, 3, 0), ("backward", "backward"): (3, 3, 0), ("inner", ""): (3, 3, 0)}, spans
assert all(0 < s["min_ns"] <= s["mean_ns"] <= s["max_ns"] <= s["total_ns"] < found["end_ns"] for s in spans.values()), spans
assert spans["inner", ""]["total_ns"] <= spans["backward", "backward"]["total_ns"]
its = found["iterations"]
assert (its["count"], its["lowest_number"], its["highest_number"]) == (3, 5, 7), its
assert its["begin_to_begin"]["count"] == 2 and its["first_to_last_event"]["count"] == 3, its
assert spans["forward", "forward"]["total_ns"] < its["first_to_last_event"]["total_ns"] < found["end_ns"], its
PY
summary loop.jsonl >out
grep -q '^  3 iterations, with numbers from 5 to 7$' out || { cat out; fail "the iterations are not told"; }
exit 0
