# 3.09: physical memory counts from when it is created to when it is neither held nor mapped, not when address space is
# reserved; maps are events of their own.
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
# What is released while it is mapped lives until the last mapping goes, in windows too.
cat >mapped.py <<'PY'
import random
from cuda import *
class Location(ctypes.Structure):
    _fields_ = [("type", c_int), ("id", c_int)]
class Prop(ctypes.Structure):
    _fields_ = [("type", c_int), ("handles", c_int), ("location", Location), ("meta", c_void_p), ("flags", c_uint64)]
def ok(result):
    assert result == 0, result
ok(free(0))
MANY, size, prop = 3000, 2 << 20, Prop(1, 0, Location(1, 0), None, 0)
base, room = c_uint64(), c_size_t(2 * MANY * size)
tool = ctypes.CDLL(None)
window = (lambda name: getattr(tool, name)(None)) if hasattr(tool, "tstrace_pause") else (lambda name: None)
ok(drv.cuMemAddressReserve(byref(base), room, c_size_t(0), c_uint64(0), c_uint64(0)))
def create(at, mappings=1):
    handle = c_uint64()
    ok(drv.cuMemCreate(byref(handle), c_size_t(size), byref(prop), c_uint64(0)))
    for i in range(mappings):
        ok(drv.cuMemMap(c_uint64(base.value + (at + i * MANY) * size), c_size_t(size), c_size_t(0), handle, c_uint64(0)))
    ok(drv.cuMemRelease(handle))
def unmap(at, count=1):
    ok(drv.cuMemUnmap(c_uint64(base.value + at * size), c_size_t(count * size)))
for i in range(10):
    create(i)
window("tstrace_resume")
for i in range(10, MANY):
    create(i, 2 if i < 20 else 1)
unmap(0, 30)
order = list(range(30, MANY))
random.Random(1).shuffle(order)
for i in order[:-5]:
    unmap(i)
unmap(MANY + 10, 3)
window("tstrace_pause")
for i in order[-5:]:
    unmap(i)
unmap(MANY + 13, 7)
print(drv.cuMemAddressFree(base, room))
PY
TSTRACE_BUFFER=8M TSTRACE_WINDOW=api transparent mapped /usr/bin/python3 mapped.py
holds mapped.jsonl <<'PY'
size, ends = 2 << 20, t.frees()
marks = [(m["action"], m["live_blocks"], m["live_bytes"]) for m in t.of("op", op_name="tstrace.window")]
assert marks == [("open", 10, 10 * size), ("close", 12, 12 * size)], marks
assert len(t.allocs()) == len(ends) == 2990 and {e["api"] for e in ends} == {"cuMemUnmap"}, Counter(e["api"] for e in ends)
assert sum("outside_window" in e for e in ends) == 12 and not any("stack" in e for e in ends if "outside_window" in e)
assert (t.terminal["earlier_frees"], t.terminal["earlier_free_bytes"]) == (10, 10 * size), t.terminal
assert t.terminal["live_bytes"] == 0 and t.terminal["peak_live_bytes"] == 3000 * size and t.terminal["lost"] == {}, t.terminal
PY

# It lies where it was asked for, not where the thread is, and is no context's.  A reset of a device ends what is in its
# primary context, pinned memory too, and nothing of another one.
sim_program ends -l:libcuda.so.1 <<'C'
#include <stdio.h>
int cudaDeviceReset(void), cudaMallocHost(void **, size_t), cudaHostRegister(void *, size_t, unsigned);
int cuCtxCreate_v2(void **, unsigned, int), cuCtxPopCurrent_v2(void **), cuCtxPushCurrent_v2(void *), cuCtxDestroy_v2(void *);
int cuMemAlloc_v2(unsigned long long *, size_t), cuMemFree_v2(unsigned long long), cuMemAllocHost_v2(void **, size_t);
int cuMemCreate(unsigned long long *, size_t, const void *, unsigned long long), cuMemRelease(unsigned long long);
static char page[4096] __attribute__((aligned(4096)));
int main(void)
{
	struct { int type, handles, where, id; long long pad[8]; } device = { 1, 0, 1, 1, { 0 } };
	unsigned long long handle, own;
	void *p, *pinned, *context;
	int bad = cudaMalloc(&p, 100) + cudaMallocHost(&pinned, 200) + cudaHostRegister(page, 4096, 0);

	bad += cuMemCreate(&handle, 2 << 20, &device, 0);
	bad += cuCtxCreate_v2(&context, 0, 0) + cuMemAlloc_v2(&own, 300) + cuMemAllocHost_v2(&pinned, 400);
	bad += cuCtxPopCurrent_v2(&context) + cudaDeviceReset() + cuMemRelease(handle);
	bad += cuCtxPushCurrent_v2(context) + cuMemFree_v2(own) + cuCtxDestroy_v2(context);
	bad += cudaMalloc(&p, 500);
	printf("%d\n", bad);
	return 0;
}
C
TSTRACE_SIM_DEVICES=2 transparent ends ./ends
[ "$(cat ends.out)" = 0 ] || fail "ends: $(cat ends.out) calls went wrong"
holds ends.jsonl <<'PY'
ends = [(e["bytes"], e["api"], "reset" in e) for e in sorted(t.frees(), key=lambda e: e["timestamp_ns"])]
assert set(ends[:3]) == {(n, "cudaDeviceReset", True) for n in (100, 200, 4096)}, ends
assert ends[3:] == [(2 << 20, "cuMemRelease", False), (300, "cuMemFree_v2", False), (400, "cuCtxDestroy_v2", True)], ends
assert [e["device"] for e in t.of("memory", memory_kind="vmm")] == ["cuda:1"] * 2, t.of("memory")
assert list(t.live().values()) == [500] and t.terminal["live_bytes"] == 500, t.terminal
assert "unmatched_frees" not in t.terminal and "failed_frees" not in t.terminal, t.terminal
PY
exit 0
