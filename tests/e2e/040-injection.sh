# CUDA_INJECTION64_PATH alone, without a preload: the driver loads the library at cuInit, and all that is known comes from
# CUPTI's callbacks.  They tell the same launches, copies and memory as the hooks do, whatever the program is linked with,
# and the program is as undisturbed.
. "$(dirname "$0")/lib.sh"
need basic-shared demo-shared
[ -z "$sanitizer" ] || skip "a sanitizer's runtime must be preloaded"
injected() { # TRACE PROGRAM...
	local trace=$T/$1
	shift
	timeout -k 2 20 env CUDA_INJECTION64_PATH="$B/libtstrace.so" TSTRACE_OUTPUT="$trace" "$@"
}
for name in basic copies demo devices forms graphs kinds managed pools streams threads; do
	traced $name-hooks.jsonl "$apps/$name-shared" >/dev/null || fail "$name: with the preload"
	for variant in shared static ptds; do
		app=$apps/$name-$variant trace=$name-$variant.jsonl
		[ -e "$app" ] || continue
		run "$app" >plain 2>plain.err
		plain=$?
		injected $trace "$app" >out 2>err
		[ $? = $plain ] && cmp plain out && cmp plain.err err || { cat err; fail "$name-$variant: another status or output"; }
		valid $trace
		holds $trace $name-hooks.jsonl $variant $name <<'PY'
assert t.meta["backend"] == "cupti" and t.terminal["outcome"] == "complete", t.meta
assert not t.terminal["lost"] and "unmatched_frees" not in t.terminal, t.terminal
hooks = Trace(args[0])
same_facts(t, hooks)
assert all(e["route"] == "cupti" for e in t.of("memory")), t.of("memory")
assert all("api" in e for e in t.of("op", route="cupti")), t.of("op", route="cupti")
assert all(e["api"] and e["grid"] and e["block"] and "stream" in e for e in t.launches()), t.launches()
assert sorted(t.live().values()) == sorted(hooks.live().values())
assert len(t.intervals("kernel")) == len(hooks.intervals("kernel"))
assert not any("launch" in e for e in t.of("device_interval")), "each is linked to its launch"
if args[1] == "shared":
    assert Counter(e["op_name"] for e in t.launches()) == Counter(e["op_name"] for e in hooks.launches())
PY
	done
done

# Stacks go through the driver and CUPTI to the line of the program.
summary demo-shared.jsonl --json >demo.json
/usr/bin/python3 - <<'PY' || fail "stacks: see above"
import json
live = json.load(open("demo.json"))["memory"]["live_at_end_stacks"]
names = [f.get("function", "") for f in live[0]["frames"]]
assert live[0]["bytes"] == 2 * 131072 and "main" in names, live
PY

# Failing calls keep their error, what they ask for is told; nothing becomes live.
run "$apps/failures-shared" >plain 2>plain.err
injected failures.jsonl "$apps/failures-shared" >out 2>err || fail "failures"
cmp plain out && cmp plain.err err || fail "failures: another output"
valid failures.jsonl
holds failures.jsonl <<'PY'
failed = [e for e in t.all if e.get("api") == "cudaMalloc" and e.get("error")]
assert {e.get("bytes") for e in failed} >= {1 << 50}, failed
assert not t.live(), t.live()
PY

# Calls without parameters have none to be told of, and are known all the same: a reset frees what lives.
sim_program reset <<'C'
int cudaDeviceReset(void);
int main(void)
{
	void *p;
	return cudaMalloc(&p, 4096) || cudaDeviceSynchronize() || cudaDeviceReset();
}
C
injected reset.jsonl ./reset || fail "reset: $?"
valid reset.jsonl
holds reset.jsonl <<'PY'
assert not t.live() and [e["action"] for e in t.of("memory")] == ["alloc", "free"], t.of("memory")
calls = [e for e in t.of("op") if e["op_name"] == "cudaDeviceSynchronize"]
assert [(e["api"], e["device"]) for e in calls] == [("cudaDeviceSynchronize", "cuda:0")], calls
PY
summary reset.jsonl >out
grep -q "Operations" out && { cat out; fail "a call of CUDA is no operation of the program's"; }

# Another tool's library there, and one that is not: no concern of ours.
timeout 20 env CUDA_INJECTION64_PATH=/nonexistent/tool.so "$apps/basic-shared" >out 2>&1 && run "$apps/basic-shared" >plain || fail "basic"
cmp plain out || fail "a tool that is not there"
# Preloaded as well: each call once, by the hooks.
CUDA_INJECTION64_PATH=$B/libtstrace.so transparent both "$apps/demo-shared"
holds both.jsonl demo-hooks.jsonl <<'PY'
same_facts(t, Trace(args[0]))
assert not [e for e in t.all if e.get("route") == "cupti"] and not t.terminal["lost"], t.terminal
PY
exit 0
