# 4.12, 4.14, 7.09 and the order of memory events: busy time is a union, missing records are no idleness, units are right.
. "$(dirname "$0")/lib.sh"
exec python3 - <<'PY'
from made import *

def run(events, terminal={}, meta={}, *options):
    return summary(trace(events, terminal, meta), *options)

ms = 10**6
# 4.12 two streams, wholly and half overlapping
found = run([interval(0, 100 * ms, "7"), interval(0, 100 * ms, "8")])["devices"][0]
assert (found["busy_ns"], found["sum_of_durations_ns"]) == (100 * ms, 200 * ms), found
found = run([interval(50 * ms, 100 * ms, "8"), interval(0, 100 * ms, "7")])["devices"][0]
assert (found["busy_ns"], found["sum_of_durations_ns"], found["last_end_ns"] - found["first_start_ns"]) == (150 * ms, 200 * ms, 150 * ms)
assert sorted(s["busy_ns"] for s in found["streams"]) == [100 * ms] * 2
# out of order, touching, contained: still exact; another device stays apart; waiting is no work
found = run([interval(10, 10), interval(0, 5), interval(5, 5), interval(2, 1), interval(0, 3, device="cuda:1"),
             interval(0, 10**6, activity="sync", name="cudaStreamSynchronize")])["devices"]
assert {d["device"]: d["busy_ns"] for d in found} == {"cuda:0": 20, "cuda:1": 3}, found

# idle gaps are those of the union, by device and by stream; where the longest begins
found = run([interval(100, 50, "7"), interval(120, 80, "8"), interval(300, 10, "7"), interval(1000, 5, "8")])["devices"][0]
gaps = found["idle_gaps"]
assert (found["busy_ns"], gaps["count"], gaps["total_ns"], gaps["max_ns"], gaps["longest_from_ns"]) == (115, 2, 790, 690, 310)
assert abs(found["busy_share"] - 115 / 905) < 1e-6, found
assert {s["stream"]: s["idle_gaps"]["total_ns"] for s in found["streams"]} == {"7": 150, "8": 800}
# in the text the busiest streams come first, whatever came first in the trace
text = run([interval(0, 10, "3"), interval(20, 500, "4"), interval(600, 90, "5")], {}, {}, "--rows", "2")
assert text.index("stream 4") < text.index("stream 5") and "stream 3" not in text and "1 more" in text, text
# shares, quantiles
found = run([interval(10**7 * i, 1000 + i, name="a") for i in range(1000)] + [interval(5, 2_499_500, name="b")])["kernels"]
assert [k["raw_name"] for k in found] == ["b", "a"] and abs(found[1]["share"] - 1_499_500 / 3_999_000) < 1e-6, found
a = found[1]
assert (a["min_ns"], a["max_ns"], a["mean_ns"], a["count"]) == (1000, 1999, 1499, 1000)
assert abs(a["p50_ns"] - 1499) <= 24 and abs(a["p99_ns"] - 1989) <= 32, a
# copies by direction: bytes, and 10^9 bytes in a second are 1 GB/s
def copy(start, duration, kind, size, **more):
    return interval(start, duration, activity=more.pop("activity", "memcpy"), name="c", activity_copy_kind=kind, bytes=size)
events = [copy(0, 10**9, 1, 10**10), copy(2 * 10**9, 10**9, 1, 2 * 10**10), copy(0, 1000, 2, 500), copy(9, 5, 77, 1),
          copy(50, 100, 0, 4096, activity="memset"), copy(50, 100, 0, 8192, activity="uvm")]
found = {c["direction"]: c for c in run(events)["copies"]}
assert set(found) == {"host_to_device", "device_to_host", "direction_unknown", "set", "managed_pages"}, found
assert (found["host_to_device"]["bytes"], found["host_to_device"]["gigabytes_per_second"]) == (3 * 10**10, 15.0), found
assert found["device_to_host"]["gigabytes_per_second"] == 0.5 and found["managed_pages"]["bytes"] == 8192
text = run(events, {}, {}, "--rows", "9")
assert "15.000 GB/s" in text and "host to device" in text and "27.94 GiB" in text, text

# 4.14 launches and no device record
launches = [op("cudaLaunchKernel", 1000 * i, op_name="_Z3addPfS_", grid=[1, 1, 1], block=[32, 1, 1]) for i in range(500)]
found = run(launches, dict(backend="off", backend_reason="TSTRACE_DEVICE=off"))
assert found["device_records_missing"] and found["launches"] == 500 and found["device_records_missing_reasons"]
assert found["kernels"][0]["launches"] == 500 and found["kernels"][0]["name"] == "add(float*, float*)", found["kernels"]
text = run(launches, {}, {}, "--rows", "5")
assert "MISSING: 500 launches" in text and "100" not in text.split("Devices")[1].split("Memory")[0], text
assert "idle" not in text.lower()
assert not run([])["device_records_missing"]

# 4.01 untimed and absurd times are counted and in no sum
found = run([interval(0, 0), interval(1 << 63, 5), interval(100, 50), op("memcpy", 5, untimed=True)])
assert found["untimed_device_records"] == 2 and found["losses"]["absurd_intervals"] == 1, found
assert found["devices"][0]["busy_ns"] == 50

# 7.09 one second is one second, one GiB is one GiB
events = [interval(0, 10**9), memory("alloc", 5, "a", 1 << 30), memory("free", 50, "a", 1 << 30)]
found = run(events)
assert found["kernels"][0]["total_ns"] == 10**9 and found["memory"]["peak_bytes"] == 1 << 30
text = run(events, {}, {}, "--rows", "9")
assert "1.000 s" in text and "1.00 GiB" in text, text

# memory: peak by time and not by line, leaks, resets, a free in an earlier line than its allocation
events = [memory("alloc", 10, "a", 100, stack=1, frames=["1+0x10"], modules=[dict(id=1, path="/x/prog", build_id="ab")]),
          memory("free", 30, "b", 1000), memory("alloc", 20, "b", 1000, stack=2, frames=["1+0x20", "0+0x7f00"]),
          memory("alloc", 40, "c", 7, memory_kind="pinned", stack=1),
          memory("alloc", 41, "d", 50), memory("free", 60, "d", 50, reset=True),
          memory("free", 70, "never", 5),
          op("cudaMalloc", 80, error=2, bytes=1 << 40, memory_kind="device", stack=2)]
found = run(events, dict(unmatched_frees=3))["memory"]
assert (found["peak_bytes"], found["peak_ns"]) == (1100, 20), found
assert [(s["bytes"], s["frames"][0]["offset"]) for s in found["peak_stacks"]] == [(1000, "0x20"), (100, "0x10")]
assert (found["live_at_end_bytes"], found["live_at_end_allocations"]) == (107, 2)
assert [s["bytes"] for s in found["live_at_end_stacks"]] == [107]
assert found["ended_by_reset"] == 1 and found["unpaired_frees"] == 1 and found["unmatched_frees"] == 3
assert {k["kind"]: k["peak_bytes"] for k in found["by_kind"]} == {"device": 1100, "pinned": 7}
assert found["failed_allocations"][0]["asked_bytes"] == 1 << 40 and found["failed_allocation_count"] == 1

# what one device held at its own peak, by kind and stack; another device's memory does not count
found = run([memory("alloc", 1, "a", 100, stack=1, frames=["0+0x1"]), memory("alloc", 2, "b", 70, memory_kind="pool"),
             memory("free", 3, "b", 70, memory_kind="pool"), memory("alloc", 4, "c", 90, memory_kind="pool"),
             memory("alloc", 5, "d", 500, memory_kind="pinned") | dict(device="cpu")])["memory"]
device = {d["device"]: d for d in found["by_device"]}
assert (device["cuda:0"]["peak_bytes"], device["cuda:0"]["peak_ns"], found["peak_bytes"]) == (190, 4, 690), found
assert {k["kind"]: k["bytes"] for k in device["cuda:0"]["peak_kinds"]} == {"device": 100, "pool": 90}
assert [(s["bytes"], len(s["frames"])) for s in device["cuda:0"]["peak_stacks"]] == [(100, 1), (90, 0)]
# calls that allocate are counted as calls; frees that nobody called, and what a pool does by itself, are not
found = run([memory("alloc", 1, "a", 100, api="cudaMalloc", thread=1), memory("free", 2, "a", 100, api="cudaMalloc", inferred=True),
             memory("alloc", 3, "b", 100, api="cudaMalloc", thread=9), op("cudaFree", 5, thread=1),
             op("", 5, op_name="pool_created", activity="pool") | dict(duration_ns=0, api="")])
assert {a["name"]: (a["count"], a["untimed_calls"]) for a in found["apis"]} == {"cudaMalloc": (0, 2), "cudaFree": (1, 0)}, found
assert (found["calls"], found["threads"], found["pool_events"]) == (3, 2, 1), found

# 1.08 device work without a launch that was seen: said among the losses, as a bypass when it is most of it
unseen = [interval(10 * i, 5, launch="unknown") for i in range(6)]
found = run(unseen + [interval(100, 5)])
assert found["losses"]["bypassed"] and found["losses"]["unknown_launches"] == 6, found["losses"]
text = run(unseen, {}, {}, "--rows", "9")
assert "BYPASSED: 6 of 6" in text and text.index("BYPASSED") < text.index("Kernels"), text
found = run(unseen[:1] + [interval(100 + 10 * i, 5) for i in range(9)])["losses"]
assert not found["bypassed"] and found["unknown_launches"] == 1, found
text = run(unseen[:1] + [interval(100 + 10 * i, 5) for i in range(9)], {}, {}, "--rows", "9")
assert "BYPASSED" not in text and "1 device intervals have no launch" in text.split("Kernels")[0], text
assert not run([interval(0, 5)])["losses"]["bypassed"]
# dropped events explain it, when there are enough of them
for lost, bypassed in (dict(ring_full=6), False), (dict(ring_full=4, no_memory=2), False), (dict(ring_full=2**64 - 1, no_ring=9), False), \
        (dict(ring_full=1), True), (dict(names=6, device_dropped=6), True):
    assert run(unseen, dict(lost=lost))["losses"]["bypassed"] == bypassed, lost
    text = " ".join(run(unseen, dict(lost=lost), {}, "--rows", "9").split("Kernels")[0].split())
    assert ("BYPASSED: 6 of 6" in text and "RTLD_DEEPBIND" in text) == bypassed, text
    assert ("6 of 6 device intervals have no launch: the launches are among the events that were dropped" in text) != bypassed, text
    assert "PARTIAL" in text, text

# The store of names was full: what that means and what to do, in lines that fit.
found = run([], dict(lost=dict(names=70000)))["losses"]["lost"]
assert [(l["cause"], l["count"], l["variable"]) for l in found] == [("names", 70000, "TSTRACE_STACKS, TSTRACE_WINDOW")], found
assert "TSTRACE_STACKS=0" in found[0]["advice"] and "24576" in found[0]["advice"], found
losses = run([], dict(lost=dict(names=70000, late=1)), {}, "--rows", "9").split("\nLosses")[1].split("\n\n")[0].splitlines()
assert losses[0] == " (this report is PARTIAL)" and losses[-1] == "  1 late: calls after the session had ended", losses
assert losses[1] == "  70000 names: names and stacks that found the name store full (see TSTRACE_STACKS, TSTRACE_WINDOW)", losses
told = losses[2:-1]
assert 2 <= len(told) <= 4 and all(l.startswith("    ") and 60 < len(l) <= 100 for l in told[:-1]), told
assert " ".join(l.strip() for l in told) == found[0]["advice"], told

# a failed free is no failed allocation; work captured into a graph has not run
found = run([op("cudaFree", 5, error=1, memory_kind="device", address="0x10"),
             op("cudaLaunchKernel", 6, op_name="k", grid=[1, 1, 1], captured=True)])
assert found["memory"]["failed_allocation_count"] == 0 and not found["device_records_missing"], found
# a huge name that the writer shortened is one kernel under its whole name
found = run([interval(0, 1, name="huge...#7", full_name="huge" * 3000), interval(5, 1, name="huge...#7")])["kernels"]
assert [(k["raw_name"], k["count"]) for k in found] == [("huge" * 3000, 2)]

# losses come first, with the variable that would have avoided them; a simulated device is announced
text = run([], dict(lost=dict(ring_full=12, strange=3)), dict(tags=dict(simulated="true")), "--rows", "3")
assert text.index("Losses") < text.index("Kernels") and "12 ring_full" in text and "TSTRACE_BUFFER" in text, text
assert "3 strange" in text and "SIMULATED" in text
text = run([], None, {}, "--rows", "3")
assert "PARTIAL" in text and "the run was cut off" in text
# kernels that had not begun: by name, and among the losses
untimed = [op("", 5, op_name="_Z3addPfS_", activity="kernel", untimed=True) | dict(api="")] * 3
assert run(untimed)["kernels"][0]["untimed_records"] == 3 and not run(untimed)["apis"]
text = run(untimed, dict(lost=dict(device_untimed=3)), {}, "--rows", "3")
assert "3 device_untimed" in text.split("Kernels")[0] and "(3 without times)" in text, text
# an operation that the program recorded is no call of CUDA
own = [op("cudaMemset", 5), op("", 5, op_name="matmul") | dict(api="")]
found = run(own)
assert found["calls"] == 1 and [[a["name"] for a in found[k]] for k in ("apis", "operations")] == [["cudaMemset"], ["matmul"]], found
assert [a["share"] for a in found["apis"]] == [1], found
text = run(own, {}, {}, "--rows", "3")
assert "matmul" in text.split("Operations (recorded by the program")[1].split("\n\n")[0], text
# one that CUPTI told and no hook's table names is one
told = run([op("", 5, op_name="cudaNewCall") | dict(api="", route="cupti")])
assert told["calls"] == 1 and [a["name"] for a in told["apis"]] == ["cudaNewCall"] and not told["operations"], told
# launches of which too few records came
text = run([op("cudaLaunchKernel", i, op_name="_Z3addPfS_", grid=[1, 1, 1]) for i in range(5)] + [interval(0, 5)], {}, {}, "--rows", "3")
assert "add(float*, float*)  (5 launches)" in text, text
# a long name loses its parameters before its middle
long = "void ns::kernel<4, ns::Functor<float>, ns::Array<char*, 3> >(int, ns::Functor<float>, ns::Array<char*, 3>)"
text = run([interval(0, 5, name=long)], {}, {}, "--rows", "3")
assert "  ns::kernel<4, ns::Functor<float>, ns::Array<char*, 3> >\n" in text, text
# names: empty, huge, hostile
names = ["", "x" * 100000, "a\x1b[31mred\nline", "_Z" + "9" * 50, "größe"]
text = run([interval(i, 1, name=n) for i, n in enumerate(names)], {}, {}, "--rows", "9")
assert "(unnamed)" in text and "\x1b" not in text and "größe" in text and max(map(len, text.splitlines())) < 250
assert {k["raw_name"] for k in run([interval(i, 1, name=n) for i, n in enumerate(names)])["kernels"]} == set(names)
PY
