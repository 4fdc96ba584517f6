# 4.08: CUPTI is refused, owned by another tool or absent: events take its place, and trace and summary say why.
. "$(dirname "$0")/lib.sh"
need demo-shared
run "$apps/demo-shared" >plain || fail "demo"
backend() { # NAME EXPECTED-BACKEND WORDS... with the faults in the environment
	local name=$1 kind=$2 word
	shift 2
	traced $name.jsonl "$apps/demo-shared" >out 2>err || fail "$name: status $?"
	cmp plain out || fail "$name: stdout"
	valid $name.jsonl
	holds $name.jsonl $kind "$@" <<'PY'
kind, words = args[0], args[1:]
assert t.meta["backend"] == kind == t.terminal["backend"], t.meta
assert all(w in t.meta["backend_reason"] for w in words), t.meta["backend_reason"]
assert len(t.launches()) == 48 and len(t.allocs()) == 8 + 12 + 4, "calls and memory are recorded all the same"
assert sorted(t.live().values()) == [131072] * 2
ran = t.intervals("kernel")
assert len(ran) == (48 if kind == "event" else 0), len(ran)
assert all(e["backend"] == "cuda-event" and "launch" not in e for e in ran)
PY
	summary $name.jsonl >out
	for word; do
		grep '^Backend' out | grep -q "$kind: .*$word" || { cat out; fail "$name: the summary does not say why"; }
	done
}
TSTRACE_SIM_CUPTI_SUBSCRIBE=39 TSTRACE_SIM_CUPTI_OTHER_TOOL=nsys backend owned event MULTIPLE_SUBSCRIBERS nsys
TSTRACE_SIM_CUPTI_SUBSCRIBE=999 backend unknown event 999
TSTRACE_SIM_CUPTI_SUBSCRIBE=35 backend privileges event INSUFFICIENT_PRIVILEGES
# absent: a folder with all of the device but CUPTI
mkdir sim && cp -P "$B"/sim/libcuda.so.1 "$B"/sim/libcudart.so.1[23] sim/ || exit 1
if ldconfig -p | grep -q libcupti || ls "${CUDA_HOME:-/usr/local/cuda}"/lib*/libcupti.so* >/dev/null 2>&1; then
	absent=/nonexistent/libcupti.so
else
	absent=
fi
TSTRACE_CUPTI=$absent LD_LIBRARY_PATH=$T/sim backend absent event cupti
# asked for by name: no silent change of backend, one line for the user
traced only.jsonl env TSTRACE_DEVICE=cupti TSTRACE_SIM_CUPTI_SUBSCRIBE=39 "$apps/demo-shared" >out 2>err || fail "only: status"
cmp plain out && [ "$(wc -l <err)" = 1 ] && grep -q MULTIPLE_SUBSCRIBERS err || { cat err; fail "only: one line with the reason"; }
holds only.jsonl <<'PY'
assert t.meta["backend"] == "off" and not t.of("device_interval")
PY
exit 0
