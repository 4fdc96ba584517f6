# 1.27: every launch of the runtime and the driver, graph launches and host functions, per-thread forms too, by symbol,
# by dlsym and by cuGetProcAddress: each is recorded exactly once, under the name that the program called, with its
# kernel, grid, block and stream, and each kernel that ran is linked to it.
. "$(dirname "$0")/lib.sh"
inc=$(cd "$e2e/../.." && scripts/find-cuda 2>/dev/null | sed -n 's/^CUDA_INC := //p')
[ -n "$inc" ] || skip "no CUDA headers"
${CC:-gcc} -g -O1 -Wall -Wextra -Wno-deprecated-declarations -D__CUDA_API_VERSION_INTERNAL -isystem "$inc" \
	"$e2e/fakes/launch_forms.c" -o forms -L"$B/sim" -l:libcuda.so.1 -l:libcudart.so.13 -ldl || fail "does not compile"

for mode in symbol dlsym proc; do
	transparent $mode ./forms $mode
	grep -q '^8 host calls$' $mode.out || { cat $mode.out; fail "$mode: host functions"; }
	# The table of hooks has no launch that this program does not make: a new row needs a line there.
	nm -D --defined-only "$B/libtstrace.so" | awk '{ print $3 }' |
		grep -E '^_*cu(da)?(Launch|GraphLaunch|StreamAddCallback)' | sort >hooked
	sed -n 's/^\(_*cu[A-Za-z_]*\) .*/\1/p' $mode.out | sort >called
	diff hooked called || fail "$mode: hooked and called are not the same"
	holds $mode.jsonl $mode <<'PY'
mode = args[0]
triple = lambda text: [int(x) for x in text.split(",")]
rows = [line.split() for line in open(mode + ".out") if line.startswith(("cu", "__cu"))]
assert len(rows) == 31, len(rows)
streams = [e["stream"] for e in t.of("op", api="cuStreamCreate")]
assert len(streams) == 2, streams
stream_of = {"a": streams[0], "b": streams[1], "-": "0x0"}
for api, grid, block, stream, result in rows:
    found = [e for e in t.of("op", api=api) if not e.get("captured") and (result == "0" or e.get("stream") != "0x0")]
    assert len(found) == 1, (api, found)
    e, driver = found[0], api.startswith("cuL") or api.startswith("cuG") or api.startswith("cuS")
    assert e["stream"] == stream_of[stream], (api, e, stream)
    assert e.get("error", 0) == int(result), (api, e)
    assert e.get("grid") == (triple(grid) if grid != "-" else None), (api, e)
    assert e.get("block") == (triple(block) if block != "-" else None), (api, e)
    assert e["op_name"] == ("nothing" if grid != "-" else api), (api, e)
    assert e["route"] == (mode if driver else "dlsym" if mode == "proc" or result != "0" else mode), (api, e)
    kernels = [i for i in t.intervals("kernel") if i["correlation"] in (e.get("correlation"), e.get("correlation2"))]
    assert len(kernels) == (1 if result == "0" and (grid != "-" or "Graph" in api) else 0), (api, kernels)
    assert all(i["name"] == "nothing" and "launch" not in i for i in kernels), kernels
launches = [e for e in t.of("op") if e["api"] in {r[0] for r in rows}]
assert len(launches) == len(rows) + 2, "one of a capture, one with an empty list, and nothing else: %d" % len(launches)
assert len(t.intervals("kernel")) == len(t.launches()) + 4, "a kernel a launch, four graph launches"
assert not t.terminal["lost"], t.terminal
PY
done

# The event backend takes each of them for what it is.
TSTRACE_DEVICE=event traced event.jsonl ./forms symbol >event.out || fail "event: status"
valid event.jsonl
holds event.jsonl <<'PY'
ran = t.intervals("kernel")
assert len(ran) == len(t.launches()) and {e["name"] for e in ran} == {"nothing"}, (len(ran), len(t.launches()))
assert len(t.intervals("graph")) == 4 and len(t.of("device_interval")) == len(ran) + 4
PY
exit 0
