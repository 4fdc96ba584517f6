# 4.07: a program that returns while its kernels run: the end of a session waits for what it may, within its limit.
. "$(dirname "$0")/lib.sh"
cat >leave.py <<'PY'
from cuda import *
def launch():
    drv.cuInit(0)
    device, context, module, function = c_int(), c_void_p(), c_void_p(), c_void_p()
    drv.cuDeviceGet(byref(device), 0)
    drv.cuDevicePrimaryCtxRetain(byref(context), device)
    drv.cuCtxSetCurrent(context)
    ptx = b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n\tret;\n}\n"
    drv.cuModuleLoadData(byref(module), ptx)
    drv.cuModuleGetFunction(byref(function), module, b"nothing")
    for _ in range(10):
        print(drv.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, None, None))
launch()
PY
transparent leave env TSTRACE_SIM_KERNEL_NS=1000000 /usr/bin/python3 leave.py
holds leave.jsonl <<'PY'
assert len(t.launches()) == 10, t.launches()
told = t.intervals("kernel") + t.of("op", untimed=True, activity="kernel")
assert len(told) == 10, "a kernel is missing"
lost = t.terminal["lost"]           # one that had not even begun has no times at all
assert lost.get("device_unfinished", 0) + lost.get("device_untimed", 0) == len(t.of("op", untimed=True)), t.terminal
PY
# Kernels that take minutes do not keep the process.
begin=$(date +%s)
traced long.jsonl env TSTRACE_SIM_KERNEL_NS=60000000000 TSTRACE_EXIT_MS=500 /usr/bin/python3 leave.py >/dev/null || fail "long: $?"
[ $(($(date +%s) - begin)) -le 8 ] || fail "the end took $(($(date +%s) - begin)) s"
valid long.jsonl
holds long.jsonl <<'PY'
assert len(t.launches()) == 10
lost = t.terminal["lost"]
assert len(t.of("op", untimed=True, activity="kernel")) == sum(lost.values()) == 10, t.terminal
assert lost["device_unfinished"] > 0 and set(lost) <= {"device_unfinished", "device_untimed"}, lost
PY
exit 0
