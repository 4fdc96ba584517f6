# NVTX: a program's own ranges and marks become spans, ops and scalars, found without any variable set.  What the program
# is told back, its environment and that of its children stay as they are.
. "$(dirname "$0")/lib.sh"
need nvtx-shared
eval "$("$e2e/../../scripts/find-cuda" | sed -n 's/^CUDA_INC := \(.*\)/cuda_inc="\1"/p')"
[ -e "$cuda_inc/nvtx3/nvToolsExt.h" ] || skip "no header of NVTX"

transparent all "$apps/nvtx-shared"
holds all.jsonl <<'PY'
starts = {e["id"]: e for e in t.of("span_start")}
ends = {e["id"]: e for e in t.of("span_end")}
def named(name, **keys):
    return [e for e in t.of("span_start", name=name) if all(e.get(k) == v for k, v in keys.items())]
def one(name, **keys):
    found = named(name, **keys)
    assert len(found) == 1, (name, found)
    return found[0]
assert all(e["source"] == "nvtx" for e in starts.values() if e["id"] != "s1" and e["name"] != "run"), starts
assert one("changing 1")["parent_id"] == one("changing 2")["parent_id"] == one("outer")["id"]
assert one("outer")["parent_id"] == "s1"
assert len(named("(unnamed)")) == 4, "three of them, and the one whose structure is too short"
assert one("gr\u00fc\u00df \u4e2d \U0001f600 \ufffd!")

# Deep nesting: what is beyond 4096 is counted, and the stack comes down where it was.
assert len(named("deep")) == 4095 and t.terminal["lost"]["spans"] == 5000 - 4095, t.terminal
assert one("shallow again")["parent_id"] == one("bottom")["id"]

# What came with them.
rows = named("registered")
assert [e["payload"] for e in rows] == [2**64 - 1, -5, 0.1, 2**32 - 1, -6, 0.5], rows
assert all(e["domain"] == "a domain" and e["category"] == 7 and e["category_name"] == "copies" and
           e["color"] == "0xff00a0c0" for e in rows), rows
assert one("wide \u20ac", category_name="caf\u00e9", domain="a domain")
assert "color" not in one("wide \u20ac") and "payload" not in one("wide \u20ac")
assert "domain" not in one("outer")

# Marks: without a payload ops that take no time, with one scalars.
inside = one("with marks")["id"]
ops = [e for e in t.of("op") if e.get("mark")]
assert [e["op_name"] for e in ops] == ["here", "d\u00e0", "(unnamed)"], ops
assert all(e["duration_ns"] == 0 and e["span_id"] == inside and e["source"] == "nvtx" for e in ops), ops
assert ops[2]["domain"] == "a domain" and ops[2]["payload"] == "nan", ops
assert [(e["label"], e["mean"], e["non_finite"]) for e in t.of("tensor_stats")] == [("loss", -2.25, 0), ("loss", 0, 1)]
assert t.of("tensor_stats")[1]["payload"] == "nan" and t.of("tensor_stats")[0]["span_id"] == inside

# Ranges of two domains that cross: the second one is cut in two, and both halves have their time.
a = one("a")
b, b2 = named("b")
c, c2 = named("c")
assert b["parent_id"] == a["id"] and c["parent_id"] == b["id"]
assert b2["continues"] == b["id"] and c2["continues"] == c["id"] and "continues" not in b
assert b2["parent_id"] == a["parent_id"] == "s1" and c2["parent_id"] == b2["id"]
assert one("in c")["parent_id"] == c2["id"]
end = lambda e: e["start_ns"] + ends[e["id"]]["duration_ns"]
assert end(a) == end(b) == end(c) == b2["start_ns"] == c2["start_ns"]
assert all(e["domain"] == "another \u03a9" for e in (b, b2, c, c2))

# Threads, and ranges that overlap.
for i in range(4):
    assert len(named("thread %d" % i)) == 500
overlapping = named("overlapping")
assert len(overlapping) == 2000 and all(e["parent_id"] == "s1" for e in overlapping)
inner = named("inner")
assert len(inner) == 2000 and all(starts[e["parent_id"]]["thread"] == e["thread"] for e in inner)
handed = one("handed over")
assert handed["end_thread"] == named("thread 0")[0]["thread"] != handed["thread"], handed
assert one("range")["domain"] == "a domain"
for name in ("never ended", "never popped"):
    assert ends[one(name)["id"]].get("open_at_end"), name
assert sum(e.get("open_at_end", False) for e in ends.values()) == 2
PY

# Nothing of it is in the environment, which children inherit; only NVTX's own question is answered.
cat >asks.c <<'C'
#include <stdio.h>
#include <stdlib.h>
extern char **environ;
int main(void)
{
	for (char **v = environ; *v; v++)
		puts(*v);
	puts(getenv("HOME") ? getenv("HOME") : "(none)");
	puts(getenv("NVTX_INJECTION64_PATHS") || getenv("NVTX_INJECTION64_PAT") || getenv("") ? "wrong" : "right");
	return system("env");
}
C
${CC:-cc} asks.c -o asks || exit 1
traced asks.jsonl ./asks >out 2>err || fail "asks: status $?"
! grep -q "NVTX_INJECTION" out || fail "the environment tells of it"
grep -qx right out && [ ! -s err ] && [ ! -e asks.jsonl ] || { cat err; fail "asks"; }

# Off, or another tool's library that the user named: not ours.
TSTRACE_NVTX=off undisturbed off "$apps/nvtx-shared"
[ ! -e off.jsonl ] || fail "TSTRACE_NVTX=off recorded"
cat >tool.c <<'C'
#include <unistd.h>
int InitializeInjectionNvtx2(void *table)
{
	return (int)write(1, "another tool\n", 13) && table && 0;
}
C
${CC:-cc} -shared -fPIC tool.c -o tool.so || exit 1
NVTX_INJECTION64_PATH=$T/tool.so undisturbed tool "$apps/nvtx-shared"
grep -q "another tool" tool.out && [ ! -e tool.jsonl ] || fail "the user's tool was not left alone"
# Without a preload, as NVTX loads a tool.
if [ -z "$sanitizer" ]; then
	NVTX_INJECTION64_PATH=$B/libtstrace.so TSTRACE_OUTPUT=$T/injected.jsonl "$apps/nvtx-shared" >out || fail "injected"
	cmp all.plain.out out && valid injected.jsonl
	[ "$(grep -c '"source":"nvtx"' injected.jsonl)" = "$(grep -c '"source":"nvtx"' all.jsonl)" ] || fail "injected: others"
fi
# A relative name in LD_PRELOAD, and a working directory that changes before the first range.
mkdir -p elsewhere && cp "$B/libtstrace.so" .
cat >moves.c <<'C'
#include <unistd.h>
#include <nvtx3/nvToolsExt.h>
int main(void)
{
	if (chdir("elsewhere"))
		return 1;
	nvtxRangePushA("moved");
	nvtxRangePop();
	return 0;
}
C
${CC:-cc} moves.c -isystem "$cuda_inc" -o moves -ldl || exit 1
LD_PRELOAD="$sanitizer./libtstrace.so" TSTRACE_OUTPUT=$T/moved.jsonl ./moves || fail "moves"
valid moved.jsonl
grep -q '"name":"moved"' moved.jsonl || fail "moved"
exit 0
