# tstrace.h in the three ways it may be used, from C, C++ and Python: one session beside the events of CUDA.
. "$(dirname "$0")/lib.sh"
root=$(cd "$e2e/../.." && pwd)
compile() { # LANGUAGE-COMPILER STANDARD OUTPUT OPTION...: the program loop
	local compiler=$1 standard=$2 output=$3
	shift 3
	$compiler -std="$standard" -g -O1 -Wall -Wextra -Wshadow -Wpedantic -Werror -I"$root" "$@" -o "$output" ||
		fail "$output does not compile"
}
cuda='int cudaMalloc(void **p, unsigned long bytes), cudaFree(void *p);'
printf '%s\n#include "tests/e2e/fakes/loop.h"\nint main(void) { return train(); }\n' "$cuda" >loop.c
cat >loop.cc <<'CC'
extern "C" int cudaMalloc(void **p, unsigned long bytes);
extern "C" int cudaFree(void *p);
#include "tests/e2e/fakes/loop.h"
int main()
{
	tstrace::span run("run");
	return train();
}
CC
sim="-L$B/sim -l:libcudart.so.13"
compile "${CC:-gcc}" c11 c-header -DTSTRACE_DYNAMIC loop.c $sim -ldl
compile "${CXX:-g++}" c++17 cc-header -DTSTRACE_DYNAMIC loop.cc $sim -ldl
compile "${CC:-gcc}" c11 c-linked loop.c -L"$B/link" -ltstrace $sim -Wl,--as-needed -Wl,-rpath,"$B"
compile "${CXX:-g++}" c++17 cc-linked loop.cc -L"$B/link" -ltstrace $sim -Wl,--as-needed -Wl,-rpath,"$B"
printf '#include "core/tstrace.h"\n' >alone.c
for std in c11 c17; do compile "${CC:-gcc}" $std alone.o -c alone.c; done
cp alone.c alone.cc
compile "${CXX:-g++}" c++17 alone.o -c alone.cc

# What the trace of the loop must hold.
loop_trace() {
	valid "$1"
	holds "$1" <<'PY'
spans = t.of("span_start", source="api")
for step in "forward", "backward":
    mine = [s for s in spans if s.get("step") == step]
    assert [s["iteration"] for s in mine] == [5, 6, 7], mine
inner = [s for s in spans if s["name"] == "inner"]
assert {s["parent_id"] for s in inner} == {s["id"] for s in spans if s["name"] == "backward"}
scalars = t.of("tensor_stats", label="loss")
assert [s["mean"] for s in scalars] == [1 / 5, 1 / 6, 1 / 7], scalars
allocations, frees = t.allocs(), t.of("memory", action="free")
assert len(allocations) == 3 and len(frees) == 3
assert [a["iteration"] for a in allocations] == [5, 6, 7]
assert {a["category"] for a in allocations} == {"activation"}
assert {a["span_id"] for a in allocations} == {s["id"] for s in spans if s["name"] == "forward"}
assert {f["span_id"] for f in frees} == {s["id"] for s in inner}
assert not t.terminal["lost"], t.terminal
PY
}

# (a) The header alone: nothing without the library, everything with it.
for program in c-header cc-header; do
	transparent $program ./$program
	loop_trace $program.jsonl
	[ -z "$(ls tstrace.*.jsonl 2>/dev/null)" ] || fail "$program: a trace without the library"
done

# (b) Linked, not preloaded: the program has its session.  (c) Both: one session.
for program in c-linked cc-linked; do
	TSTRACE_OUTPUT=$T/$program.own.jsonl run ./$program >$program.out || fail "$program: status $?"
	loop_trace $program.own.jsonl
	traced $program.both.jsonl ./$program >$program.out || fail "$program: status $? with the preload"
	loop_trace $program.both.jsonl
	[ "$(ls $program.both*.jsonl | wc -l)" = 1 ] || fail "$program: two sessions"
done
exit 0
