# The threads that tstrace starts are there, named as such, and never among the program's in a trace or report.
. "$(dirname "$0")/lib.sh"
cat >threads.py <<'PY'
import os, sys, threading
from cuda import *
buffers = [malloc(4096)[1] for _ in range(3)]
def work(address):
    for _ in range(20):
        assert rt.cudaMemset(c_void_p(address), 0, c_size_t(4096)) == 0
        assert rt.cudaDeviceSynchronize() == 0
workers = [threading.Thread(target=work, args=(b,)) for b in buffers[1:]]
for w in workers:
    w.start()
work(buffers[0])
for w in workers:
    w.join()
names = []
for t in os.listdir("/proc/self/task"):
    try:
        names.append(open("/proc/self/task/%s/comm" % t).read().strip())
    except (FileNotFoundError, ProcessLookupError):
        pass  # Python's join returns before the kernel has taken the thread away
open(sys.argv[1], "w").write("\n".join(names))
PY
for device in cupti event off; do
	TSTRACE_DEVICE=$device traced $device.jsonl /usr/bin/python3 threads.py $device.names || fail "$device: the program"
	valid $device.jsonl
	grep -qx tstrace $device.names || { cat $device.names; fail "$device: no writer thread"; }
	case $device in
	cupti | event) grep -qx "tstrace-$device" $device.names || { cat $device.names; fail "$device: no thread of the backend"; } ;;
	esac
	holds $device.jsonl <<'PY'
threads = {e["thread"] for e in t.all if "thread" in e}
assert len(threads) == 3, threads
assert len(t.of("op", op_name="cudaMemset")) == 60
PY
	summary $device.jsonl >out
	grep -q ' CUDA calls by 3 threads$' out || { cat out; fail "$device: threads in the summary"; }
	[ "$(summary $device.jsonl --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["threads"])')" = 3 ] || fail "$device: threads in the JSON"
done
exit 0
