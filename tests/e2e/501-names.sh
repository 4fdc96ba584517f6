# 5.01, 5.02, 5.10, 5.13: names of any content come out of the reports as they went in, and no terminal obeys them.
. "$(dirname "$0")/lib.sh"
exec python3 - <<'PY'
from made import *

quotes = ["k<'\"'>", 'operator"" _kg', "a\\b", '{"d":1}', "C:\\x", "trailing\\", "\\\\", '"', "\\u0041", "]}", "a,b", "%s%n", "--json"]
control = [chr(c) for c in range(1, 0x20)] + ["\x7f", "\x80\x9b31m", "\u2028", "\u2029", "\ufeff", "\ufffd", "\U0001f600", "e\u0301", "nul\0inside"]
blank = ["", " "]
# distinct from one another only behind 64 KiB; and mangled ones that get huge, or are no names after all
huge = ["x" * 65536 + "a", "x" * 65536 + "b", "y" * (1 << 20), "_ZN" + "1a" * 5000 + "E", "_Z" + "N" * 100000, "_Z1fI" + "Li1E" * 9000 + "EvT_",
        "_Z3fooI" + "St6vectorIi" * 300 + "E" * 300 + "vv", "_Z", "_ZZZZ", "_Z1fv.cold", "_Z" + "9" * 40]
names = quotes + control + blank + huge
assert len(set(names)) == len(names)
found = summary(trace([interval(i + 1, 1, name=n) for i, n in enumerate(names)]))
assert {k["raw_name"] for k in found["kernels"]} == set(names), set(names) ^ {k["raw_name"] for k in found["kernels"]}
assert all(k["count"] == 1 and k["name"] for k in found["kernels"] if k["raw_name"]), "a name got lost when it was demangled"
text = summary(trace([interval(i + 1, 1, name=n) for i, n in enumerate(names)]), "--rows", "1000")
bad = [c for c in text if c != "\n" and (ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0)]
assert not bad, bad
kernels = text.split("\nKernels")[1].split("\n\nAPI")[0].split("\n")
assert len(kernels) == 2 + len(names), "a name made lines of its own"
assert max(map(len, kernels)) < 200 and "(unnamed)" in text

# the same as escapes, and everywhere else where a report quotes the trace
hostile = "\x1b]0;title\x07\x1b[2J\r\n\x9b\\\""
data = trace([interval(1, 1, name=hostile, device=hostile, stream=hostile), op(hostile, 5),
              memory("alloc", 1, "a", 5, memory_kind=hostile, stack=1, frames=["1+0x10", hostile], frames_end=hostile,
                     modules=[dict(id=1, path="/" + hostile, build_id=hostile)]),
              op("m", 7, error=2, bytes=3, memory_kind=hostile) | dict(device=hostile, api=hostile),
              dict(kind="device_memory", timestamp_ns=1, device=hostile, used_bytes=3),
              b'{"kind":"' + json.dumps(hostile)[1:-1].encode() + b'"}\n'],
             dict(outcome="failed", reason=hostile, backend=hostile, backend_reason=hostile, lost={hostile: 5}, cuda={"driver": hostile, "device_0": hostile}),
             dict(run_id=hostile, device=hostile, entrypoint=hostile, host=hostile, argv=[hostile, ""], timestamp=hostile))
text = summary(data, "--rows", "9")
assert not [c for c in text if c != "\n" and (ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0)], text
found = summary(data)
assert found["kernels"][0]["raw_name"] == found["reason"] == found["losses"]["lost"][0]["cause"] == hostile
for verb in ("check",):
    out = tstrace(verb, data)[1].decode()
    assert not [c for c in out if c != "\n" and (ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0)], out
# bytes that are no UTF-8 make a line no event, whatever stands around them; they are counted, and never come out
for raw in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\x01", b"\n"):
    data = trace([line(interval(1, 1, name="kern@l")).replace(b"@", raw), interval(2, 1)])
    status, out, err = tstrace("summary", data, "--json")
    found = json.loads(out)
    assert status == 0 and found["losses"]["bad_lines"] >= 1 and [k["count"] for k in found["kernels"]] == [1], (raw, found["losses"])
    assert tstrace("check", data)[0] == 1, raw
# 5.13 what has no value
found = summary(trace([op("", 1), op("", 2, op_name=""), memory("alloc", 1, "", 5, api="", memory_kind=""), interval(1, 1, name="", stream="", activity="")]))
assert found["calls"] == 0 and len(found["operations"]) == 1 and found["memory"]["by_kind"][0]["kind"] == "unknown" and found["device_intervals"] == 1, found
assert summary(trace([dict(op("a", 1), output=None, output_dense_bytes=None)]))["calls"] == 1
PY
