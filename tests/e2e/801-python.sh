# scripts/tstrace.py: spans, iterations, scalars and the rest from Python, beside the events of CUDA by ctypes.
. "$(dirname "$0")/lib.sh"
cat >loop.py <<'PY'
import ctypes, sys
sys.path.insert(0, sys.argv[1])
import tstrace
cuda = ctypes.CDLL("libcudart.so.13")
block = ctypes.c_void_p()
for n in range(3):
    with tstrace.iteration(n):
        with tstrace.span("forward", step="forward"):
            assert cuda.cudaMalloc(ctypes.byref(block), ctypes.c_size_t(64)) == 0
            tstrace.op("gemm", ["a", "b"], "c", (2, 3), "f32")
        tstrace.scalar("loss", 1 / (n + 1))
        cuda.cudaFree(block)

@tstrace.span("recursive")
def recursive(depth):
    return recursive(depth - 1) if depth else 0

recursive(3)
tstrace.tensor("c", (2, 3), "bf16", label="hidden", category="activation")
tstrace.data_edge("a", "c")
tstrace.memory_alloc("block", 10)
tstrace.memory_free("block", 10)
tstrace.gradient("net", "w", "present", 0.5)
tstrace.gradient("net", "b", "missing")
tstrace.device_memory(used=5)
if tstrace.available():
    try:
        tstrace.memory_free("block", 10)
        sys.exit("a free of nothing was taken")
    except tstrace.Error as error:
        assert "block is not live" in str(error), error
    try:
        with tstrace.span("open"):
            tstrace.finish()
        sys.exit("finished with an open span")
    except tstrace.Error as error:
        assert "open" in str(error), error
    assert tstrace.finish() == tstrace.path()
PY
scripts=$e2e/../../scripts
run /usr/bin/python3 loop.py "$scripts" || fail "without the library: status $?"
[ -z "$(ls ./*.jsonl 2>/dev/null)" ] || fail "a trace without the library"
traced loop.jsonl /usr/bin/python3 loop.py "$scripts" || fail "status $?"
valid loop.jsonl
holds loop.jsonl <<'PY'
forward = t.of("span_start", name="forward")
assert [s["iteration"] for s in forward] == [0, 1, 2] and {s["step"] for s in forward} == {"forward"}
assert {a["span_id"] for a in t.allocs() if "source" not in a} == {s["id"] for s in forward}
assert [s["mean"] for s in t.of("tensor_stats")] == [1, 1 / 2, 1 / 3]
nested = t.of("span_start", name="recursive")
assert [s["parent_id"] for s in nested[1:]] == [s["id"] for s in nested[:-1]] and len(nested) == 4
assert len([o for o in t.of("op") if o["op_name"] == "gemm"]) == 3
assert [g["state"] for g in t.of("gradient")] == ["present", "missing"]
assert len(t.of("memory", source="api")) == 2 and len(t.of("edge")) == 1
PY
exit 0
