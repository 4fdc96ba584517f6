# scripts/tstrace.py: spans, iterations, scalars and the rest from Python, beside the events of CUDA by ctypes.
. "$(dirname "$0")/lib.sh"
cat >loop.py <<'PY'
import array, ctypes, math, sys
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
class Tensor:                                           # as PyTorch's are
    dtype, shape, is_cuda = "torch.float32", (2, 2), False
    values = array.array("f", [1, 2, math.nan, 4, 5, 6])
    def data_ptr(self): return self.values.buffer_info()[0]
    def stride(self): return (3, 1)
class Array:                                            # as an array library's are
    values = array.array("h", [-4, 9, 3])
    @property
    def __array_interface__(self):
        return {"data": (self.values.buffer_info()[0], False), "typestr": "<i2", "shape": (2,), "strides": (4,)}
tstrace.tensor_stats("torch", Tensor())
tstrace.tensor_stats("array", Array())
tstrace.tensor_stats("bytes", b"\x80\x3f\x00\xc0", dtype="u8")
tstrace.tensor_stats("doubles", memoryview(array.array("d", range(6))).cast("B").cast("d", (2, 3)))
device = ctypes.c_void_p()
assert cuda.cudaMalloc(ctypes.byref(device), ctypes.c_size_t(8)) == 0
assert cuda.cudaMemcpy(device, array.array("i", [3, -3]).tobytes(), ctypes.c_size_t(8), 1) == 0
class OnDevice:
    __cuda_array_interface__ = {"data": (device.value, False), "typestr": "<i4", "shape": (2,), "stream": 1}
tstrace.tensor_stats("device", OnDevice())
cuda.cudaFree(device)
if tstrace.available():
    try:
        tstrace.memory_free("block", 10)
        sys.exit("a free of nothing was taken")
    except tstrace.Error as error:
        assert "block is not live" in str(error), error
    for call, text in (lambda: tstrace.finish(), "still open: whole"), (lambda: tstrace.finish_failed(" "), "a reason"), \
            (lambda: tstrace.open("other.jsonl"), "open already"), (lambda: tstrace.data_edge("a", "?"), "tensor ? is"), \
            (lambda: tstrace.tensor_stats(" ", b"1"), "blank"):
        try:
            with tstrace.span("whole"):
                call()
            sys.exit("refused was: " + text)
        except tstrace.Error as error:
            assert text in str(error) and error.errno > 0, error
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
assert {a["span_id"] for a in t.allocs(bytes=64) if "source" not in a} == {s["id"] for s in forward}
assert [s["mean"] for s in t.of("tensor_stats", label="loss")] == [1, 1 / 2, 1 / 3]
nested = t.of("span_start", name="recursive")
assert [s["parent_id"] for s in nested[1:]] == [s["id"] for s in nested[:-1]] and len(nested) == 4
assert len([o for o in t.of("op") if o["op_name"] == "gemm"]) == 3
assert [g["state"] for g in t.of("gradient")] == ["present", "missing"]
assert len(t.of("memory", source="api")) == 2 and len(t.of("edge")) == 1
stats = {s["label"]: s for s in t.of("tensor_stats")}
assert (stats["torch"]["elements"], stats["torch"]["dtype"], stats["torch"]["nan_count"]) == (4, "f32", 0)
assert (stats["torch"]["mean"], stats["torch"]["shape"]) == (3, [2, 2])
assert (stats["array"]["dtype"], stats["array"]["min"], stats["array"]["max"]) == ("i16", -4, 3)
assert (stats["bytes"]["dtype"], stats["bytes"]["max"], stats["bytes"]["shape"]) == ("u8", 0xc0, [4])
assert (stats["doubles"]["dtype"], stats["doubles"]["mean"], stats["doubles"]["shape"]) == ("f64", 2.5, [2, 3])
assert (stats["device"]["abs_max"], stats["device"]["mean"]) == (3, 0)
PY

# A session of its own provenance.
cat >opened.py <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import tstrace
identity = dict(workload_id="w", model_id="m", config_id="c", data_id="d", seed_policy="s", physical_batch=4,
                accumulation_steps=1, precision="f32", device_state="d")
contract = dict(scope="production_equivalent", gradients="complete", tensors="partial", required=["fwd"], gpu=["fwd"],
                expected=[("net", "w", "dense")], families={"dense": ("active", 1)})
for wrong, text in (dict(entrypoint=" "), "entrypoint"), (dict(identity={**identity, "model_id": ""}), "model_id"), \
        (dict(contract={**contract, "expected": []}), "no parameter"), (dict(warmup_steps=9), "warmup_steps"):
    try:
        tstrace.open("opened.jsonl", **wrong)
        assert not tstrace.available(), text
    except tstrace.Error as error:
        assert text in str(error), error
# A word that is none: told with those that there are, with and without the library.
for call in lambda: tstrace.span("s", step="fwd"), lambda: tstrace.gradient("net", "w", "there"), lambda: tstrace.open(phase="test"):
    try:
        call()
        raise SystemExit("a wrong word is taken")
    except ValueError as error:
        assert " is none of " in str(error) and str(error).count(",") in (1, 3), error
path = tstrace.open("opened.jsonl", "py::step", phase="infer", capture_step=4, device="cuda:2", tags={"a": "b"},
                    region_synchronized=True, contract=contract, identity=identity)
assert bool(path) == tstrace.available()
with tstrace.span("fwd"):
    tstrace.gradient("net", "w", "present", 1)
PY
run /usr/bin/python3 opened.py "$scripts" || fail "without the library: status $?"
traced unused.jsonl /usr/bin/python3 opened.py "$scripts" || fail "opened.py: status $?"
[ ! -e unused.jsonl ] || fail "two traces"
valid opened.jsonl
holds opened.jsonl <<'PY'
m = t.meta
assert (m["correlation_id"], m["device"], m["phase"]) == ("py::step/inference-4", "cuda:2", "infer")
assert (m["capture_step"], m["warmup_steps"], m["tags"]["a"]) == (4, 3, "b")
assert m["measured_region_device_synchronized"] and m["timing_mode"] == "host"
assert m["comparison_identity"]["physical_batch"] == 4 and m["comparison_identity"]["precision"] == "f32"
c = m["capture_contract"]
assert (c["measurement_scope"], c["gradients"], c["tensors"]) == ("production_equivalent", "complete", "partial")
assert (c["required_semantic_labels"], c["gpu_expected_semantic_labels"], c["cpu_only_semantic_labels"]) == (["fwd"], ["fwd"], [])
assert c["gradient_contract"]["expected"] == [{"root": "net", "key": "w", "family": "dense"}]
PY
exit 0
