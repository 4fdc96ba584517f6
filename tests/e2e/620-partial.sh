# 6.20: a report of a damaged or incomplete trace says so itself, in text and JSON, and how much is missing.
. "$(dirname "$0")/lib.sh"
exec python3 - <<'PY'
from made import *

events = [interval(10 * i, 5) for i in range(20)] + [memory("alloc", 1, "a", 5)]
whole = trace(events)
assert not summary(whole)["partial"] and "PARTIAL" not in summary(whole, "--rows", "5")

def partial(data, how, *words):
    found, text = summary(data), summary(data, "--rows", "5")
    assert found["partial"], (how, found["losses"])
    losses = text.split("\nKernels")[0]
    assert "PARTIAL" in losses, (how, losses)
    for word in words:
        assert word in losses, (how, word, losses)
    return found["losses"]

lines = whole.splitlines(True)
losses = partial(b"".join(lines[:-1]), "no end", "no end")
assert losses["terminal_missing"] and not losses["last_line_cut"]
losses = partial(whole[:-40], "cut", "line %d (byte %d" % (len(lines), len(whole) - len(lines[-1])))
assert losses["last_line_cut"] and losses["cut_line"] == len(lines)
losses = partial(b"".join(lines[:9]) + b"{}\n{]\n" + b"".join(lines[9:]), "bad lines", "2 lines are no events", "line 10")
assert losses["bad_lines"] == 2 and losses["first_bad_line"] == 10
losses = partial(trace(events, dict(lost=dict(ring_full=31, device_dropped=4))), "lost", "31 ring_full", "TSTRACE_BUFFER", "4 device_dropped")
assert {(l["cause"], l["count"]) for l in losses["lost"]} == {("ring_full", 31), ("device_dropped", 4)}
assert not summary(trace(events, dict(lost=dict(ring_full=0))))["partial"]
losses = partial(whole + whole, "two sessions", "1 more sessions")
assert losses["later_sessions"] == 1
losses = partial(trace(events + [interval(1 << 63, 5)]), "absurd", "1 device intervals with absurd times")
assert losses["absurd_intervals"] == 1
# a run that failed by itself is whole
assert not summary(trace(events, dict(outcome="failed", reason="diverged")))["partial"]
PY
