# TSTRACE_DEVICE=off: calls and memory are recorded as ever, no backend is started: no CUPTI, no event, no thread for it.
. "$(dirname "$0")/lib.sh"
need demo-shared
for name in basic demo graphs pools threads; do
	traced $name-auto.jsonl "$apps/$name-shared" >/dev/null || fail "$name: auto"
	TSTRACE_DEVICE=off transparent $name "$apps/$name-shared"
	holds $name.jsonl $name-auto.jsonl <<'PY'
assert t.meta["backend"] == t.terminal["backend"] == "off", t.meta
assert t.meta["backend_reason"] == "TSTRACE_DEVICE=off", t.meta
assert t.terminal["outcome"] == "complete"
# Threads that come while another opens the unwinder go without a stack.
assert set(t.terminal["lost"]) <= {"stack_unsafe"}, t.terminal
assert not t.of("device_interval") and not any("correlation" in e for e in t.of("op"))
assert t.meta["tags"]["simulated"] == "true" and t.meta["cuda"]["driver"] == "13000", t.meta
same_facts(t, Trace(args[0]))
PY
done
summary demo.jsonl >out
grep '^Backend' out | grep -q 'off: .*TSTRACE_DEVICE=off' || { cat out; fail "the summary does not say why"; }

# Seen from inside: neither CUPTI nor a thread of a backend.
cat >inside.py <<'PY'
from cuda import *
import os
malloc(64)
names = []
for task in os.listdir("/proc/self/task"):
    try:
        names.append(open("/proc/self/task/%s/comm" % task).read().strip())
    except OSError:
        pass        # it ended
names.sort()
maps = open("/proc/self/maps").read()
print("libcupti" in maps, [n for n in names if n in ("tstrace-cupti", "tstrace-read", "tstrace-event")])
PY
for mode in off event cupti; do
	TSTRACE_DEVICE=$mode traced inside.jsonl /usr/bin/python3 inside.py >$mode.out || fail "inside: $mode"
done
echo "False []" | cmp - off.out || { cat off.out; fail "a backend runs"; }
echo "False ['tstrace-event']" | cmp - event.out || { cat event.out; fail "the events need one thread"; }
echo "True ['tstrace-cupti', 'tstrace-read']" | cmp - cupti.out || { cat cupti.out; fail "CUPTI needs two threads"; }

TSTRACE_DEVICE=off TSTRACE_SIM_LOG=1 traced log.jsonl "$apps/demo-shared" >/dev/null 2>log || fail "log"
! grep -E -e 'on tstrace-(event|cupti|read)' -e cuEventQuery log || fail "the driver was called by a backend"
exit 0
