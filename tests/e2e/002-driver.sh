# 1.02, 1.09: the driver linked, the driver found at run time, Python's ctypes: every call is there once.
. "$(dirname "$0")/lib.sh"

transparent driver "$apps/driver-shared"
holds driver.jsonl <<'PY'
assert not t.terminal["lost"] and not t.live(), (t.terminal, t.live())
allocs = Counter((e["memory_kind"], e["bytes"], e["api"]) for e in t.allocs())
vmm = [n for kind, n, _ in allocs if kind == "vmm"]
assert len(vmm) == 1, allocs
assert allocs == Counter([("device", 64, "cuMemAlloc_v2"), ("pool", 64, "cuMemAllocAsync"),
                          ("pinned", 4096, "cuMemHostAlloc"), ("vmm", vmm[0], "cuMemCreate")]), allocs
assert [(e["op_name"], e["api"], e["grid"]) for e in t.launches()] == [
    ("nothing", "cuLaunchKernel", [4, 1, 1]), ("nothing", "cuLaunchKernelEx", [2, 1, 1]),
    ("nothing", "cuLaunchCooperativeKernel", [1, 1, 1])], t.launches()
assert len(t.intervals("kernel")) == 3
assert {e["route"] for e in t.of("memory")} == {"symbol"}
PY

transparent dlopen "$apps/dlopen_driver-shared"
holds dlopen.jsonl <<'PY'
assert not t.terminal["lost"] and not t.live(), (t.terminal, t.live())
assert [(e["api"], e["route"], e["bytes"]) for e in t.of("memory")] == [
    ("cuMemAlloc_v2", "dlsym", 4096), ("cuMemFree_v2", "proc", 4096)], t.of("memory")
assert [(e["op_name"], e["route"]) for e in t.launches()] == [("nothing", "proc")]
assert len(t.intervals("kernel")) == 1
PY

transparent ctypes /usr/bin/python3 "$e2e/apps/ctypes_cudart.py"
holds ctypes.jsonl <<'PY'
assert [(e["api"], e["route"], e["bytes"]) for e in t.of("memory")] == [
    ("cudaMalloc", "dlsym", 256), ("cudaFree", "dlsym", 256)], t.of("memory")
assert [e["bytes"] for e in t.of("op") if e["op_name"] in ("cudaMemcpy", "cudaMemset")] == [256] * 3
PY

need plugin.so mixed-static
# (ThreadSanitizer calls the exit handlers of a library that was unloaded, traced or not.)
case $sanitizer in *tsan*) exit 0 ;; esac
transparent plugin "$apps/plugin_host-shared"
holds plugin.jsonl <<'PY'
assert [e["bytes"] for e in t.allocs()] == [128, 128] and not t.live(), t.of("memory")
assert [e["op_name"] for e in t.launches()] == ["_Z13plugin_kernelPi"] * 2, t.launches()
PY
transparent mixed "$apps/mixed-static"
holds mixed.jsonl <<'PY'
assert sorted(e["bytes"] for e in t.allocs()) == [128, 512] and not t.live(), t.of("memory")
assert sorted(e["op_name"] for e in t.launches()) == ["_Z11main_kernelPi", "_Z13plugin_kernelPi"], t.launches()
assert len({e["route"] for e in t.allocs()}) == 2, t.allocs()
PY
exit 0
