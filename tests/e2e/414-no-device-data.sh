# 4.14: launches and no device record: the report says that records are missing and why, not that the GPU was idle.
. "$(dirname "$0")/lib.sh"
need threads-shared
missing() { # NAME WORDS; the variables in the environment
	traced $1.jsonl "$apps/threads-shared" >/dev/null 2>&1 || fail "$1: status"
	valid $1.jsonl
	summary $1.jsonl >out
	grep -q 'MISSING: 200 launches were recorded and no device interval' out && grep -q -- "$2" out || { cat out; fail "$1"; }
	! grep -qi 'idle' out || fail "$1: calls it idle"
	holds $1.jsonl <<'PY'
assert not t.of("device_interval") and len(t.launches()) == 200
PY
}
TSTRACE_DEVICE=off missing off 'switched off'
TSTRACE_SIM_CUPTI_DROP_EVERY=1 missing dropped 'device_dropped'
exit 0
