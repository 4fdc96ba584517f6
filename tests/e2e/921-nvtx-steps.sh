# TSTRACE_NVTX_STEP: ranges that the program already has become its steps and iterations, by their names.
. "$(dirname "$0")/lib.sh"
eval "$("$e2e/../../scripts/find-cuda" | sed -n 's/^CUDA_INC := \(.*\)/cuda_inc="\1"/p')"
[ -e "$cuda_inc/nvtx3/nvToolsExt.h" ] || skip "no header of NVTX"

sim_program loop -isystem "$cuda_inc" <<'C'
#include <stdio.h>
#include <nvtx3/nvToolsExt.h>
static void part(const char *name, unsigned long bytes)
{
	void *p;

	nvtxRangePushA(name);
	nvtxRangePushA("not a step");
	cudaMalloc(&p, bytes);
	nvtxRangePop();
	nvtxRangePop();
	cudaFree(p);
}
int main(void)
{
	nvtxRangeId_t id;

	for (int i = 5; i < 8; i++) {
		char name[32];

		sprintf(name, "epoch 2 iter %d", i);
		nvtxRangePushA(name);
		nvtxRangePushA("iter 99, inside one");
		part("forward pass", 256);
		part("backward", 512);
		nvtxRangePop();
		part("Adam.step#1", 1024);
		nvtxRangePop();
		part("between", 2048);
	}
	nvtxRangePushA("validation");
	nvtxMarkA("in the first validation");
	nvtxRangePop();
	id = nvtxRangeStartA("validation");
	nvtxMarkA("in the second validation");
	nvtxRangeEnd(id);
	nvtxMarkA("iter 40");
	nvtxRangePushA("in 40");
	nvtxRangePop();
	id = nvtxRangeStartA("forward by itself");
	nvtxRangeEnd(id);
	return 0;
}
C
export TSTRACE_NVTX_STEP='forward=forw[a-m]rd *; backward=backward;optimizer=*.?tep\#*;iteration=*iter *;iteration=validation;'
transparent steps ./loop
holds steps.jsonl <<'PY'
category = {e["bytes"]: e["category"] for e in t.allocs()}
assert category == {256: "activation", 512: "gradient", 1024: "optimizer", 2048: "other"}, category
def named(name):
    return t.of("span_start", name=name)
for name, step in (("forward pass", "forward"), ("backward", "backward"), ("Adam.step#1", "optimizer")):
    assert [e["iteration"] for e in named(name)] == [5, 6, 7] and all(e["step"] == step for e in named(name)), named(name)
assert not any("step" in e for e in named("not a step"))
assert [e["iteration"] for n in (5, 6, 7) for e in named("epoch 2 iter %d" % n)] == [5, 6, 7], "the last number of the name"
assert [e["iteration"] for e in named("iter 99, inside one")] == [5, 6, 7], "an iteration is not begun in one"
assert len(named("between")) == 3 and not any("iteration" in e for e in named("between")), "after the iteration"
marks = {e["op_name"]: e.get("iteration") for e in t.of("op") if e.get("mark")}
assert marks["in the first validation"] == 1 and marks["in the second validation"] == 2, "counted: no number in the name"
assert marks["iter 40"] == 40 and named("in 40")[0]["iteration"] == 40
assert named("forward by itself")[0]["step"] == "forward"
# At each end of an iteration a look at the device's memory.
assert len(t.of("device_memory", reason="step")) >= 5, t.of("device_memory")
PY

# Without the variable: spans, and no step.
unset TSTRACE_NVTX_STEP
transparent plain ./loop
holds plain.jsonl <<'PY'
assert not any("step" in e or "iteration" in e for e in t.all), "steps by nobody's word"
PY

# An iteration of NVTX opens and closes a window; what was begun before it is not there.
export TSTRACE_NVTX_STEP='iteration=*iter *;'
TSTRACE_WINDOW=iterations=6..6 transparent window ./loop
holds window.jsonl <<'PY'
assert sorted(e["bytes"] for e in t.allocs()) == [256, 512, 1024], t.allocs()
assert [e["iteration"] for e in t.of("span_start", name="epoch 2 iter 6")] == [6] and not t.of("span_start", name="between")
assert t.terminal["windows"] == 1
PY
unset TSTRACE_NVTX_STEP

# What is wrong in it: one line that says what and which; what is right beside it is in force.
wrong() { # VALUE WORD...
	local value=$1
	TSTRACE_NVTX_STEP=$1 traced wrong.jsonl ./loop >out 2>err || fail "$1: status $?"
	[ "$(grep -c . err)" = 1 ] && grep -q "TSTRACE_NVTX_STEP" err || { cat err; fail "$1: not one line"; }
	shift
	for word; do grep -qF -- "$word" err || { cat err; fail "no word of $word"; }; done
	valid wrong.jsonl
	TSTRACE_NVTX_STEP=$value "$tstrace" env >/dev/null 2>err && fail "$value: env finds nothing"
	for word; do grep -qF -- "$word" err || { cat err; fail "env has no word of $word"; }; done
}
wrong 'forward=forward *;sideways=x;y;backward=backward' '"sideways=x"' "2 of its patterns are left out"
grep -q '"step":"forward"' wrong.jsonl && grep -q '"step":"backward"' wrong.jsonl || fail "what is right beside it"
wrong 'forward' "= is missing"
wrong 'forward=' "empty"
wrong 'forward=[abc' "no ]"
wrong 'forward=abc\' "backslash"
wrong "$(printf 'forward=a%.0s;' $(seq 33))" "32"
wrong "forward=$(printf 'x%.0s' $(seq 2000))" "1023"
exit 0
