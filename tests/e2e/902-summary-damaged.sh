# 6.01, 6.03, 6.04, 6.13, 6.16: every whole line counts, whatever stands around it.
B=$(cd "${B:-build}" && pwd) || exit 1
vectors=$(cd "$(dirname "$0")/../vectors" && pwd) || exit 1
T=${T:-$(mktemp -d)}
cd "$T" || exit 1
B=$B V=$vectors exec python3 - <<'PY'
import json, os, subprocess, sys
B, V = os.environ["B"], os.environ["V"]
good = open(V + "/ok-train.jsonl", "rb").read()

def summary(data, *options):
    p = subprocess.run([B + "/tstrace", "summary", *options, "-"], input=data, capture_output=True, timeout=100)
    return p.returncode, p.stdout, p.stderr

def parsed(data):
    status, out, err = summary(data, "--json")
    assert status == 0, (status, err)
    return json.loads(out)

def fail(text):
    print("902:", text)
    sys.exit(1)

whole = parsed(good)
total = sum(whole["events"].values())
assert not whole["partial"] and total == good.count(b"\n")

# 6.01 cut at every byte of the last 300
for cut in range(len(good) - 300, len(good)):
    data = good[:cut]
    found = parsed(data)
    lines, tail = data.count(b"\n"), data[data.rfind(b"\n") + 1:]
    whole_tail = bool(tail) and good[cut:cut + 1] == b"\n"  # only its newline is gone: the event is whole
    if sum(found["events"].values()) != lines + whole_tail:
        fail(f"cut at {cut}: {found['events']}")
    if found["losses"]["last_line_cut"] != bool(tail and not whole_tail):
        fail(f"cut at {cut}: last_line_cut")
    if tail and not whole_tail:
        where = (found["losses"]["cut_line"], found["losses"]["cut_offset_bytes"])
        if where != (lines + 1, len(data) - len(tail)):
            fail(f"cut at {cut}: named {where}")
    if not found["partial"] and cut < len(good) - 1:
        fail(f"cut at {cut}: not called partial")

# 6.03 nothing, or next to nothing
meta, terminal = good.split(b"\n")[0] + b"\n", good.split(b"\n")[-2] + b"\n"
no_events, no_begin, no_end = (b"the file holds no event", b"the trace has no begin", b"the trace has no end")
for data, missing in ((b"", [no_events]), (b"\n\n", [no_events]), (meta[:40], [no_events]), (meta, [no_end]),
                      (terminal, [no_begin]), (good.replace(terminal, b""), [no_end]), (good.replace(meta, b""), [no_begin]),
                      (good.replace(meta, b"").replace(terminal, b""), [no_begin, no_end]), (meta + terminal, [])):
    found = parsed(data)
    status, out, err = summary(data)
    losses = out[out.index(b"\nLosses"):].split(b"\n\n")[0]
    if status or err or b"none recorded" not in out:
        fail(f"empty trace {data[:40]}: {status} {err}")
    if found["partial"] != bool(missing) or (b"PARTIAL" in losses) != bool(missing) or \
            (b"none recorded" in losses) == bool(missing):
        fail(f"empty trace {data[:40]}: {losses}")
    for text, key in ((no_events, "no_events"), (no_begin, "meta_missing"), (no_end, "terminal_missing")):
        if (text in losses) != (text in missing):
            fail(f"empty trace {data[:40]}: {losses}")
        if found["losses"][key] != (text in missing or (no_events in missing)):
            fail(f"empty trace {data[:40]}: {key}")
    if (b"\nno events\n" in out) != (len(data) <= len(meta + terminal)):
        fail(f"empty trace {data[:40]}: {out}")

# 6.04 one kind of event absent: the other parts are as before
for kind, key in (("memory", "memory"), ("device_interval", "devices"), ("op", "operations")):
    data = b"".join(l for l in good.splitlines(True) if not l.startswith(b'{"kind":"%s"' % kind.encode()))
    found = parsed(data)
    for other in ("memory", "devices", "operations"):
        if (found[other] == whole[other]) != (other != key):
            fail(f"without {kind}: {other}")
    if b"none recorded" not in summary(data)[1]:
        fail(f"without {kind}: not said")

# 6.13 garbage in the middle: skipped, counted, totals exact
lines = good.splitlines(True)
noise = os.urandom(1 << 20).replace(b"\n", b"x") + b"\n"
for garbage in (lines[5][:40] + b"\n", noise, b"[1,2]\n", b"17\n", b"\xff\xfe\n", b'{"kind":"no such kind"}\n', b"null\n"):
    found = parsed(b"".join(lines[:5]) + garbage + b"".join(lines[5:]))
    if found["events"] != whole["events"] or found["losses"]["bad_lines"] != 1 or not found["partial"]:
        fail(f"garbage {garbage[:30]}: {found['losses']}")
    if found["losses"]["first_bad_line"] != 6:
        fail("the bad line is not named")
    if found["memory"] != whole["memory"] or found["devices"] != whole["devices"]:
        fail("garbage changed the totals")
# 200 MiB without a line end, which is more than is kept in memory: one bad line, its neighbours count
found = parsed(b"".join(lines[:5]) + b" " * (200 << 20) + b"\n" + b"".join(lines[5:]))
if found["events"] != whole["events"] or found["losses"]["bad_lines"] != 1 or found["losses"]["first_bad_line"] != 6:
    fail(f"a line of 200 MiB: {found['losses']}")
if parsed(good.replace(b"\n", b"\r\n"))["events"] != whole["events"]:
    fail("CRLF")
bom = parsed(b"\xef\xbb\xbf" + good)
if bom["losses"]["bad_lines"] != 1 or "byte order mark" not in bom["losses"]["first_bad_message"]:
    fail("a byte order mark")

# zstd, whole and cut
try:
    packed = subprocess.run(["zstd", "-q", "-c"], input=good, capture_output=True, check=True).stdout
except FileNotFoundError:
    packed = None
if packed:
    if parsed(packed)["events"] != whole["events"]:
        fail("zstd")
    status, out, err = summary(packed[:-20])
    if status or b"stops in the middle" not in err:
        fail("cut zstd")

# 6.16 something else altogether: one line that names it, status 2
others = {
    "ELF": open(B + "/tstrace", "rb").read(5000), "PNG": b"\x89PNG\r\n\x1a\n" + bytes(50), "gzip": b"\x1f\x8b\x08" + bytes(50),
    "Chrome": b'{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":2}]}\n', "no trace": b"hello\nworld\n",
}
for word, data in others.items():
    status, out, err = summary(data)
    if status != 2 or out or err.count(b"\n") != 1 or word.encode() not in err:
        fail(f"{word}: {status} {out} {err}")
p = subprocess.run([B + "/tstrace", "summary", "."], capture_output=True)
if p.returncode != 2 or b"directory" not in p.stderr or p.stderr.count(b"\n") != 1:
    fail("directory")
os.mkfifo("pipe")
p = subprocess.Popen([B + "/tstrace", "summary", "--json", "pipe"], stdout=subprocess.PIPE)
open("pipe", "wb").write(good)
if json.loads(p.communicate(timeout=100)[0])["events"] != whole["events"]:
    fail("FIFO")
status, out, err = summary(good.split(b"\n", 3)[3])
if status or b"PARTIAL" not in out:
    fail("second half of a split trace")
# A major version that is not known: one clear error, no quiet empty report.
status, out, err = summary(good.replace(b"candle-graph/trace/10", b"candle-graph/trace/11"))
if status != 2 or out or b"candle-graph/trace/11" not in err:
    fail("other version")
PY
