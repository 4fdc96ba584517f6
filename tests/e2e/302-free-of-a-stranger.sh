# 3.02, 3.06: memory that was allocated out of our sight: its free goes through, is counted, and makes nothing negative.
. "$(dirname "$0")/lib.sh"
# A library that has the driver's own functions, by the raw symbol table and so past every hook.
cat >stranger.py <<'PY'
from cuda import *
import elf
raw = elf.raw_function("libcuda.so.1", "cuMemAlloc_v2")
raw.argtypes = [c_void_p, c_size_t]
error, mine = malloc(1000)
p = c_uint64()
print(raw(ctypes.addressof(p), 2000))
print(mem_free(p.value), free(mine), free(0x1234), mem_free(p.value))
PY
cat >elf.py <<'PY'
"""A function of a loaded library, found in its file: no loader call tells anyone."""
import ctypes, struct
def raw_function(soname, name):
    base, path = None, None
    for line in open("/proc/self/maps"):
        if line.rstrip().endswith(soname) and base is None:
            base, path = int(line.split("-")[0], 16), line.split()[-1]
    data = open(path, "rb").read()
    shoff, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    for i in range(count):
        _, kind, _, _, at, length, link, _, _, entry = struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * size)
        if kind != 11:                  # SHT_DYNSYM
            continue
        strings, = struct.unpack_from("<Q", data, shoff + link * size + 24)
        for j in range(at, at + length, entry):
            text, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, j)
            end = data.index(b"\0", strings + text)
            if data[strings + text:end].decode() == name:
                return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)(base + value)
    raise LookupError(name)
PY
# CUPTI, where it runs, sees such an allocation.
export TSTRACE_DEVICE=off
transparent stranger /usr/bin/python3 stranger.py
printf '0\n0 0 1 1\n' | cmp - stranger.out || { cat stranger.out; fail "other results"; }
holds stranger.jsonl <<'PY'
assert [(e["action"], e["bytes"]) for e in t.of("memory")] == [("alloc", 1000), ("free", 1000)], t.of("memory")
assert t.terminal["unmatched_frees"] == 1 and t.terminal["failed_frees"] == 2, t.terminal
assert t.terminal["live_bytes"] == 0 and t.terminal["peak_live_bytes"] == 1000, t.terminal
PY
summary stranger.jsonl >out
grep -q '1 frees of memory from before tracing began' out || { cat out; fail "the summary does not count it"; }
exit 0
