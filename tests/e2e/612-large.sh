# 6.12: memory does not grow with the trace: 200 MiB pass through 120 MiB of address space; and who waits at a
# terminal is told how far it is.
. "$(dirname "$0")/lib.sh"
cat >make.py <<'PY'
import sys
from made import *
out, size, at, number = sys.stdout.buffer, 0, 0, 0
head, tail = trace([]).split(b'{"kind":"span_end"')
out.write(head)
block = b"".join(line(e) for e in (
    op("cudaLaunchKernel", 10**17, op_name="kernel_%NAME%", grid=[64, 1, 1], block=[256, 1, 1], thread=1, correlation=10**17),
    interval(10**17, 1500, name="kernel_%NAME%", correlation=10**17),
    memory("alloc", 10**17, "cuda:0:0x%d#1" % 10**17, 4096, api="cudaMallocAsync", thread=1, stack=10**17),
    memory("free", 10**17, "cuda:0:0x%d#1" % 10**17, 4096, api="cudaFreeAsync", thread=1)))
block = block.replace(b'"stack":%d' % 10**17, b'"stack":7').replace(b"%d" % 10**17, b"%AT%")
want = int(sys.argv[1]) << 20
while size < want:
    part = b"".join(block.replace(b"%AT%", b"%d" % (at + 3000 * i)).replace(b"%NAME%", b"%d" % (i % 50)) for i in range(10000))
    at, number, size = at + 30_000_000, number + 10000, size + len(part)
    out.write(part)
out.write(b'{"kind":"span_end"' + tail)
open("number", "w").write(str(number))
PY
megabytes=200
[ -z "$sanitizer" ] || megabytes=40
python3 make.py $megabytes | (
	[ -n "$sanitizer" ] || ulimit -v 120000
	$tstrace summary --json -
) >json || fail "summary: status $?"
python3 - <<'PY' || fail "see above"
import json
found, number = json.load(open("json")), int(open("number").read())
assert found["launches"] == found["device_intervals"] == number and len(found["kernels"]) == 50, found["launches"]
assert sum(k["count"] for k in found["kernels"]) == number and not found["partial"]
device, = found["devices"]
assert (device["busy_ns"], device["idle_gaps"]["count"], device["busy_is_exact"]) == (1500 * number, number - 1, True), device
memory = found["memory"]
assert (memory["allocations"], memory["peak_bytes"], memory["live_at_end_bytes"]) == (number, 4096, 0), memory["peak_bytes"]
PY
# At a terminal: the pipe stays open until the command has said how far it is.
python3 - <<'PY' || fail "progress: see above"
import os, pty, select, subprocess, threading, time
from made import *
mine, theirs = pty.openpty()
p = subprocess.Popen([TSTRACE, "summary", "--json", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs)
os.close(theirs)
whole = trace([])
p.stdin.write(whole[:whole.index(b'{"kind":"span_end"')])
seen, stop = b"", threading.Event()
def feed():
    while not stop.is_set():
        p.stdin.write(line(op("cudaMemset", 5)) * 1000)
        time.sleep(0.001)
feeder = threading.Thread(target=feed)
feeder.start()
deadline = time.monotonic() + 60
while b"MiB read" not in seen and time.monotonic() < deadline and select.select([mine], [], [], 60)[0]:
    seen += os.read(mine, 4096)
stop.set()
feeder.join()
p.stdin.write(whole[whole.index(b'{"kind":"span_end"'):])
p.stdin.close()
found = json.loads(p.stdout.read())
assert p.wait() == 0 and not found["partial"], found["losses"]
try:
    while True:
        seen += os.read(mine, 4096)
except OSError:
    pass
assert b"MiB read" in seen and seen.endswith(b"\r\x1b[K") and b"\n" not in seen, seen
PY
exit 0
