# 3.01: an address goes from one thread to another while its free is still under way: alloc, free, alloc in the trace.
. "$(dirname "$0")/lib.sh"
export TSTRACE_SIM_REUSE=handshake TSTRACE_SIM_HANDSHAKE_MS=5000
cat >reuse.py <<'PY'
import threading, time
from cuda import *
error, first = malloc(4096)
second = []
def take():
    time.sleep(0.2)                     # the free below is inside the driver by now
    second.append(malloc(4000))
thread = threading.Thread(target=take)
thread.start()
print(free(first))
thread.join()
print(second[0][0], second[0][1] == first)
PY
transparent reuse /usr/bin/python3 reuse.py
printf '0\n0 True\n' | cmp - reuse.out || fail "the addresses were not handed over"
holds reuse.jsonl <<'PY'
events = sorted(t.of("memory"), key=lambda e: e["timestamp_ns"])
assert [(e["action"], e["bytes"]) for e in events] == [("alloc", 4096), ("free", 4096), ("alloc", 4000)], events
assert len({e["address"] for e in events}) == 1 and len({e["thread"] for e in events}) == 2
assert list(t.live().values()) == [4000] and t.terminal["live_bytes"] == 4000
assert not t.terminal["lost"] and "unmatched_frees" not in t.terminal and not t.of("memory", inferred=True)
PY
exit 0
