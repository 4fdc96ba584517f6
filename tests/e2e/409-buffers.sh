# 4.09, 4.10: buffers that come twice, empty, out of order or from the program's own threads: no duplicate, no loss.
. "$(dirname "$0")/lib.sh"
need threads-shared
for fault in TWICE=1 EMPTY=1 OUT_OF_ORDER=1 ON_CALLER=1 ON_CALLER=2 FLUSH_MS=50; do
	name=${fault%=*}${fault#*=}
	traced $name.jsonl env TSTRACE_SIM_CUPTI_$fault "$apps/threads-shared" >out 2>err || fail "$fault: status $?"
	[ ! -s err ] || { cat err; fail "$fault: stderr"; }
	valid $name.jsonl
	holds $name.jsonl <<'PY'
kernels = Counter(e["correlation"] for e in t.intervals("kernel"))
assert len(kernels) == 200 and set(kernels.values()) == {1}, (len(kernels), kernels.most_common(2))
copies = Counter(e["correlation"] for e in t.intervals("memcpy"))
assert len(copies) == 400 and set(copies.values()) == {1}, (len(copies), copies.most_common(2))
assert not t.terminal["lost"], t.terminal
PY
done
exit 0
