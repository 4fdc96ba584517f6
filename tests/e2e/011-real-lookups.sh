# The toolkit's own runtime, shared and static, on the simulated driver: all that it asks the driver for passes
# through us, a hooked function is answered with its hook, all else is answered as the driver did.  The runtime then
# wants a genuine driver, which this is not: what the program sees of that is the same, traced or not.
. "$(dirname "$0")/lib.sh"
. "$e2e/real.sh"
need refused-shared refused-gpustatic
runtime=$(real_library libcudart) || { echo "$runtime"; exit 77; }
${CC:-gcc} -O2 -Wall -Wextra -fPIC -shared "$e2e/fakes/lookups.c" -o lookups.so -ldl || fail "lookups.c"
mkdir real && ln -s "$B/sim/libcuda.so.1" real/ &&
	ln -s "$runtime" "real/$(basename "$runtime" | sed 's/\(so\.[0-9]*\).*/\1/')" || exit 1
export LD_LIBRARY_PATH=$T/real

nm "$B/libtstrace.so" >hooks.nm && nm -D --defined-only "$B/libtstrace.so" >exports.nm &&
	nm -D --defined-only "$B/sim/libcuda.so.1" >driver.nm || fail "nm"
for variant in shared gpustatic; do
	app=$apps/refused-$variant
	timeout 20 env LD_PRELOAD="$sanitizer$T/lookups.so" "$app" >plain 2>plain.err 9>plain.asked
	plain=$?
	timeout 20 env LD_PRELOAD="$sanitizer$T/lookups.so $B/libtstrace.so" TSTRACE_OUTPUT=$variant.jsonl \
		"$app" >out 2>err 9>asked
	[ $? = $plain ] && cmp plain out && cmp plain.err err || fail "$variant: another status or output"
	[ ! -e $variant.jsonl ] || valid $variant.jsonl
	/usr/bin/python3 - $variant <<'PY' || fail "$variant: see above"
import sys
def table(path):
    rows = [line.split() for line in open(path)]
    return {name: int(at, 16) for at, _, name in (r for r in rows if len(r) == 3)}
hooks, exports, driver = table("hooks.nm"), set(table("exports.nm")), table("driver.nm")
names_at = {}
for name, at in driver.items():
    names_at.setdefault(at, set()).add(name)
read = lambda path: [line.split() for line in open(path)]
plain, traced = read("plain.asked"), read("asked")
question = lambda row: row[:-3]
assert [question(r) for r in plain] == [question(r) for r in traced], "other questions or results"
asked = [r for r in traced if r[0] == "proc"]
assert len(asked) >= 400, "only %d look-ups" % len(asked)
assert [r[1] for r in traced if r[0] == "dlsym"][0] == "cuGetProcAddress_v2"
hooked = set()
for before, after in zip(plain, traced):
    route, (file, _, at) = before[0], before[-3:]
    if file == "-":
        assert after[-3] == "-", (before, after)
        continue
    assert file == "libcuda.so.1", before
    names = names_at[int(at, 16)]
    ours = names & exports
    if ours:
        expected = {hooks["ts_%s_%s" % (route, name)] for name in ours}
        assert after[-3] == "libtstrace.so" and int(after[-1], 16) in expected, "not the hook: %s %s" % (before, after)
        hooked |= ours
    else:
        assert after[-3:] == before[-3:], "another function: %s %s" % (before, after)
for name in ("cuGetProcAddress_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuLaunchKernel", "cuLaunchKernel_ptsz", "cuLaunchKernelEx",
             "cuMemAllocAsync_ptsz", "cuGraphLaunch", "cuMemcpyHtoDAsync_v2", "cuLibraryGetKernel"):
    assert name in hooked, name
print("%s: %d look-ups, %d functions, %d of them hooked" % (sys.argv[1], len(asked), len({(r[1], r[2], r[3]) for r in asked}), len(hooked)))
PY
	[ ! -e $variant.jsonl ] || holds $variant.jsonl <<'PY'
assert "unknown_abi" not in t.terminal["lost"], t.terminal
assert not t.of("device_interval") and not t.live(), "nothing can have run"
PY
	transparent again-$variant "$app"
	cmp plain again-$variant.plain.out || fail "$variant: the runtime is not deterministic"
	# A driver that is too old for this runtime.
	TSTRACE_SIM_DRIVER_VERSION=11080 undisturbed old-$variant "$app"
	grep -q '^cudaGetDeviceCount: 35 ' old-$variant.out || { cat old-$variant.out; fail "$variant: an old driver"; }
done
exit 0
