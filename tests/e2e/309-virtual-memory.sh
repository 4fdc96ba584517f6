# 3.09: physical memory counts when it is created, not when address space is reserved; maps are events of their own.
. "$(dirname "$0")/lib.sh"
cat >vmm.py <<'PY'
from cuda import *
class Location(ctypes.Structure):
    _fields_ = [("type", c_int), ("id", c_int)]
class Prop(ctypes.Structure):
    _fields_ = [("type", c_int), ("handles", c_int), ("location", Location), ("meta", c_void_p), ("flags", c_uint64)]
print(free(0))
prop, base, size = Prop(1, 0, Location(1, 0), None, 0), c_uint64(), 2 << 20
print(drv.cuMemAddressReserve(byref(base), c_size_t(1 << 40), c_size_t(0), c_uint64(0), c_uint64(0)))
handles = [c_uint64() for _ in range(3)]
print([drv.cuMemCreate(byref(h), c_size_t(size), byref(prop), c_uint64(0)) for h in handles])
print([drv.cuMemMap(c_uint64(base.value + i * size), c_size_t(size), c_size_t(0), h, c_uint64(0))
       for i, h in enumerate(handles)])
print(drv.cuMemUnmap(base, c_size_t(3 * size)), [drv.cuMemRelease(h) for h in handles])
print(drv.cuMemAddressFree(base, c_size_t(1 << 40)))
PY
transparent vmm /usr/bin/python3 vmm.py
printf '0\n0\n[0, 0, 0]\n[0, 0, 0]\n0 [0, 0, 0]\n0\n' | cmp - vmm.out || { cat vmm.out; fail "other results"; }
holds vmm.jsonl <<'PY'
assert [(e["api"], e["bytes"], e["memory_kind"]) for e in t.allocs()] == [("cuMemCreate", 2 << 20, "vmm")] * 3
assert [e["api"] for e in t.frees()] == ["cuMemRelease"] * 3 and not t.live()
assert t.terminal["peak_live_bytes"] == 6 << 20, t.terminal
names = Counter(e["op_name"] for e in t.of("op"))
assert names["cuMemMap"] == 3 and names["cuMemUnmap"] == 1, names
PY
exit 0
