# 6.15: what a newer writer adds is counted and does no harm; a version that is not known is one clear error.
. "$(dirname "$0")/lib.sh"
exec python3 - <<'PY'
from made import *

events = [interval(0, 10), op("cudaMemset", 5, bytes=7), memory("alloc", 1, "a", 5), memory("free", 2, "a", 5)]
plain = summary(trace(events))

# keys that are not known, of every type, on every kind of event
more = dict(new_text="x", new_number=1.5, new_truth=True, new_null=None, new_list=[1, [2, {"a": 3}]], new_object={"a": {"b": []}})
data = b"".join(line(dict(json.loads(l), **more)) for l in trace(events).splitlines())
found = summary(data)
assert found == plain, found
status, out, err = tstrace("check", data, "--json")
assert status == 0 and json.loads(out)["extra_keys"]["memory"] > 2, out

# kinds that are not known: counted by themselves, the rest is whole, and the report says that it is partial
news = [dict(kind="kernel_counters", value=i) for i in range(7)] + [dict(kind="span_link"), dict(kind="")]
found = summary(trace(news[:4] + events + news[4:]))
assert found["losses"]["unknown_kinds"] == found["losses"]["bad_lines"] == len(news) and found["partial"], found["losses"]
for key in ("kernels", "apis", "devices", "memory", "events"):
    assert found[key] == plain[key], key
text = summary(trace(news + events), "--rows", "5")
assert "9 lines are no events" in text and "kernel_counters" in text, text

# keys that may be missing, and own keys of another type, which are then as good as missing
bare = [{k: v for k, v in e.items() if k not in ("name", "activity", "context", "memory_kind", "api", "inputs", "bytes")
         or e["kind"] == "memory" and k == "bytes"} for e in events]
found = summary(trace(bare))
assert found["events"] == plain["events"] and not found["losses"]["bad_lines"] and found["calls"] == 0 and not found["apis"] and found["operations"], found
odd = [dict(events[0], context="seven", activity_copy_kind=-1, clock_error_ns=None), dict(events[1], thread="main", bytes=[1], largest_live=5),
       dict(events[2], stack="first", frames="none", modules={"a": 1}), dict(events[3], inferred="no")]
found = summary(trace(odd))
assert found["events"] == plain["events"] and not found["losses"]["bad_lines"], found["losses"]

# another version: nothing is guessed
for version in ("trace/8", "trace/11", "trace/10.1", "trace/010", "trace/", "trace/100"):
    data = trace(events).replace(b"candle-graph/trace/10", b"candle-graph/" + version.encode())
    for options in ([], ["--json"]):
        status, out, err = tstrace("summary", data, *options)
        assert status == 2 and not out and err.count(b"\n") == 1 and b"candle-graph/" + version.encode() in err, (version, status, out, err)
    status, out, err = tstrace("check", data)
    assert status == 1 and b"parse_schema" in out, (version, status, out)
assert summary(trace(events).replace(b"trace/10", b"trace/9"))["events"] == plain["events"]
PY
