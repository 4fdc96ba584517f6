# The toolkit's own runtime, shared and static, where there is no driver: every error, its name and text, the last
# error, errno, output and status are the program's, traced or not.
. "$(dirname "$0")/lib.sh"
. "$e2e/real.sh"
need refused-shared refused-gpustatic
no_real_driver
runtime=$(real_library libcudart) || { echo "$runtime"; exit 77; }
mkdir real && ln -s "$runtime" "real/$(basename "$runtime" | sed 's/\(so\.[0-9]*\).*/\1/')" || exit 1
export LD_LIBRARY_PATH=$T/real

for variant in shared gpustatic; do
	undisturbed $variant "$apps/refused-$variant"
	grep -q '^cudaGetDeviceCount: 35 cudaErrorInsufficientDriver (CUDA driver version is insufficient' $variant.out ||
		{ cat $variant.out; fail "$variant: not the real runtime without a driver"; }
	[ "$(grep -c ' 35 cudaErrorInsufficientDriver' $variant.out)" -ge 12 ] || fail "$variant: other errors"
	[ $variant = shared ] || [ -e $variant.jsonl ] || continue
	valid $variant.jsonl
	holds $variant.jsonl <<'PY'
assert t.meta["backend"] == "off" and "no CUDA driver" in t.meta["backend_reason"], t.meta
assert "simulated" not in t.meta["tags"], t.meta["tags"]
assert t.terminal["outcome"] == "complete" and not t.terminal["lost"], t.terminal
assert not t.of("device_interval") and not t.live()
PY
done
# The calls of the shared runtime are seen by their symbols.  A static one calls nothing of ours before it has a driver:
# such a program uses no CUDA, and may be without a trace.
holds shared.jsonl <<'PY'
failed = {e["api"]: e["error"] for e in t.all if e.get("error")}
for api in "cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaStreamCreate", "cudaDeviceSynchronize":
    assert failed.get(api) == 35, (api, failed)
assert [e for e in t.of("op") if "grid" in e and e["error"] == 35], "the failed launch"
PY
summary shared.jsonl >out
grep -q '^  [0-9]* allocations failed: no driver (cudaErrorInsufficientDriver)$' out || { cat out; fail "errors without their name"; }
[ "$(sed -n '/^Failed allocations/,/^$/p' out | grep -c 'asked for')" = 1 ] || { cat out; fail "one driver that is missing, told many times"; }
grep -q 'out of memory' out && { cat out; fail "no driver is told as no memory"; }
grep '^Backend' out | grep -q 'no CUDA driver' || { cat out; fail "the summary does not say why"; }

# On the simulated device the shared runtime is the simulated one; the static one is told how to get there.
unset LD_LIBRARY_PATH
run $tstrace run --sim -o sim-static.jsonl "$apps/refused-gpustatic" >out 2>err
grep -q '^simulated CUDA driver: .* -cudart shared ' err || { cat err; fail "a static runtime on the simulated device: no word of -cudart shared"; }
run $tstrace run --sim -o sim-shared.jsonl "$apps/refused-shared" >out 2>err
grep -q 'cudart shared' err && { cat err; fail "the shared runtime is told to be shared"; }
[ -s sim-shared.jsonl ] || { cat err; fail "the shared runtime on the simulated device: no trace"; }
export LD_LIBRARY_PATH=$T/real

# A trace is not needed for that: without the library's session nothing differs either.
for variant in shared gpustatic; do
	traced off.jsonl env TSTRACE_DEVICE=off TSTRACE_STACKS=0 "$apps/refused-$variant" >out 2>err
	cmp $variant.plain.out out && cmp $variant.plain.err err || fail "$variant: another output with TSTRACE_DEVICE=off"
done
exit 0
