# 7.07: TSTRACE_WINDOW. Nothing outside is recorded, the borders are in the trace, the device backend is off between
# them, and memory that lives across a border is accounted for.
. "$(dirname "$0")/lib.sh"
sim_program loop -I"$e2e/../../core" <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define TSTRACE_DYNAMIC
#include "tstrace.h"
int cudaMemset(void *, int, size_t), cudaProfilerStart(void), cudaProfilerStop(void);
/* Bytes tell the round: 1000 * round + what. */
static void *keep(size_t bytes)
{
	void *p;

	if (cudaMalloc(&p, bytes) || cudaMemset(p, 0, bytes))
		exit(9);
	return p;
}
static void use(size_t bytes)
{
	cudaFree(keep(bytes));
}
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	void *older = keep(111), *never = keep(222), *inside[9];

	for (int round = 1; round <= 8; round++) {
		tstrace_span span;

		if (!strcmp(how, "signal") && (round == 3 || round == 6)) {
			raise(SIGUSR2);
			usleep(100000);
		}
		tstrace_step(NULL, (unsigned long)round);
		if (!strcmp(how, "profiler") && (round == 3 || round == 7))
			cudaProfilerStart();
		if (!strcmp(how, "api") && round == 3)
			tstrace_resume(NULL);
		span = tstrace_begin_span(NULL, "round", TSTRACE_FUNCTION);
		use(1000 * (size_t)round + 1);
		inside[round] = keep(1000 * (size_t)round + 2);
		if (round == 4)
			cudaFree(older);
		cudaDeviceSynchronize();
		tstrace_end_span(NULL, span);
		if (!strcmp(how, "api") && round == 5)
			tstrace_pause(NULL);
		if (!strcmp(how, "profiler") && (round == 5 || round == 7))
			cudaProfilerStop();
		tstrace_step_end(NULL);
	}
	for (int round = 1; round <= 8; round++)
		cudaFree(inside[round]);
	cudaFree(never);
	puts("done");
	return 0;
}
C
# borders TRACE ROUNDS CAUSE: just the rounds listed are recorded.
borders() {
	valid "$1"
	holds "$@" <<'PY'
rounds, cause = [int(r) for r in args[0].split(",")], args[1]
allocs = sorted(e["bytes"] for e in t.allocs())
assert allocs == sorted(1000 * r + what for r in rounds for what in (1, 2)), allocs
# what was written as allocated is written as freed, though the window is closed by then
assert sorted(e["bytes"] for e in t.frees()) == allocs, t.frees()
sets = t.of("op", op_name="cudaMemset")
assert sorted(e["bytes"] for e in sets) == allocs, sets
assert len(t.of("span_start", name="round")) == len(rounds)
intervals = t.of("device_interval", activity="memset")
assert len(intervals) == (len(allocs) if t.terminal["backend"] != "off" else 0), intervals
marks = t.of("op", op_name="tstrace.window")
opened = [m for m in marks if m["action"] == "open"]
assert all(m["cause"] == cause and m["mark"] for m in marks), marks
assert t.terminal["windows"] == len(opened), t.terminal
live = 333
for m in opened:
    first = min(r for r in rounds if m["timestamp_ns"] <= min(e["timestamp_ns"] for e in t.allocs() if e["bytes"] // 1000 == r))
    older = sum(1000 * r + 2 for r in range(1, first)) + (333 if first <= 4 else 222)
    assert m["live_bytes"] == older and m["live_blocks"] == first + (first <= 4), (m, older)
    assert [(g["memory_kind"], g["device"], g["bytes"]) for g in m["live"]] == [("device", "cuda:0", older)], m
earlier = [111] if 4 in rounds else []
assert (t.terminal["earlier_frees"], t.terminal["earlier_free_bytes"]) == (len(earlier), sum(earlier)), t.terminal
assert t.terminal["live_bytes"] == 0 and "unmatched_frees" not in t.terminal and t.terminal["lost"] == {}, t.terminal
PY
}
for device in cupti event off; do
	export TSTRACE_DEVICE=$device
	TSTRACE_WINDOW=profiler transparent profiler.$device ./loop profiler
	borders profiler.$device.jsonl 3,4,5,7 profiler
	TSTRACE_WINDOW=api transparent api.$device ./loop api
	borders api.$device.jsonl 3,4,5 api
	TSTRACE_WINDOW=iterations=2..4 transparent iterations.$device ./loop
	borders iterations.$device.jsonl 2,3,4 iteration
	TSTRACE_WINDOW=iterations=1,1,2 transparent cycle.$device ./loop
	borders cycle.$device.jsonl 3,4,7,8 iteration
	TSTRACE_WINDOW=iterations=0,1,1,2 transparent twice.$device ./loop
	borders twice.$device.jsonl 2,4 iteration
done
export TSTRACE_DEVICE=cupti
sim_program long <<'C'
#include <unistd.h>
int main(void)
{
	void *p;

	for (int i = 0; i < 60; i++) {
		if (cudaMalloc(&p, 64) || cudaFree(p))
			return 1;
		usleep(20000);
	}
	return 0;
}
C
TSTRACE_WINDOW=after=200ms,400ms transparent time ./long
holds time.jsonl <<'PY'
opened, closed = t.of("op", op_name="tstrace.window")
assert (opened["action"], closed["action"], opened["cause"]) == ("open", "close", "time")
assert opened["timestamp_ns"] >= 200e6 and closed["timestamp_ns"] >= 600e6, (opened, closed)
assert 0 < len(t.allocs()) < 60 and all(e["timestamp_ns"] >= opened["timestamp_ns"] for e in t.allocs())
# one call may have been under way at each border
assert sum(e["timestamp_ns"] > closed["timestamp_ns"] for e in t.allocs()) <= 1
PY
TSTRACE_WINDOW=signal=USR2 traced signal.jsonl ./loop signal >/dev/null || fail "signal: status $?"
borders signal.jsonl 3,4,5 signal

summary profiler.off.jsonl --json >out.json
/usr/bin/python3 - <<'PY' || fail "windows in the summary's JSON"
import json
found = json.load(open("out.json"))
windows = found["windows"]
assert 0 < windows.pop("recorded_ns") < found["end_ns"]
assert windows == {"count": 2, "cause": "profiler", "asked": "profiler", "live_bytes": 333 + 1002 + 2002, "live_blocks": 4, "earlier_frees": 1, "earlier_free_bytes": 111}, windows
assert "tstrace.window" not in [a["name"] for a in found["apis"]] and found["marks"] == 0
PY
summary profiler.off.jsonl >out
grep -q '^Recorded  .* in 2 windows (profiler); when the first opened 3.26 KiB in 4 allocations were alive; 1 free inside (111 B) of what was older$' out ||
	{ cat out; fail "windows in the summary"; }
TSTRACE_WINDOW=iterations=90..99 transparent never ./loop
summary never.jsonl >out
grep -qF 'Recorded  nothing: no window opened; TSTRACE_WINDOW=iterations=90..99: no such iteration began' out ||
	{ cat out; fail "a window that never opened"; }
# A trace that is cut inside a window: how long that one was is not known.
sed '/"action":"close"/,$d' profiler.off.jsonl >cut.jsonl
summary cut.jsonl >out
grep -q '^Recorded  from [0-9.]* .s to where the trace is cut (profiler); when' out || { cat out; fail "a window cut"; }
summary cut.jsonl --json | /usr/bin/python3 -c '
import json, sys
w = json.load(sys.stdin)["windows"]
assert w["count"] == 1 and w["recorded_ns"] == 0 and w["cut_since_ns"] > 0, w' || fail "the JSON of a window cut"

# A run that is recorded whole.
TSTRACE_WINDOW=run transparent pause ./loop
holds pause.jsonl <<'PY'
assert "windows" not in t.terminal and not t.of("op", op_name="tstrace.window") and len(t.allocs()) == 18, t.terminal
PY
# The program's own allocator, told by the API.
sim_program told -I"$e2e/../../core" <<'C'
#include <stdio.h>
#define TSTRACE_DYNAMIC
#include "tstrace.h"
static int told(int (*call)(tstrace_session *, tstrace_span, const struct tstrace_memory *), const char *id)
{
	struct tstrace_memory m = { .storage_id = id, .bytes = 64 };

	return call(NULL, 0, &m);
}
#define ALLOC(id) told(tstrace_record_memory_alloc, id)
#define FREE(id) told(tstrace_record_memory_free, id)
int main(void)
{
	int bad = ALLOC("early") + ALLOC("always");

	tstrace_resume(NULL);
	bad += FREE("early") + ALLOC("inside") + ALLOC("late");
	bad += !FREE("nobody");
	tstrace_pause(NULL);
	bad += FREE("late") + ALLOC("after") + FREE("after") + !FREE("nobody");
	tstrace_resume(NULL);
	bad += FREE("inside");
	printf("%d\n", bad);
	return 0;
}
C
TSTRACE_WINDOW=api traced told.jsonl ./told >out || fail "told: status $?"
[ "$(cat out)" = 0 ] || fail "told: $(cat out) calls went wrong"
valid told.jsonl
holds told.jsonl <<'PY'
pairs = [(e["action"], e["storage_id"]) for e in t.of("memory")]
assert pairs == [("alloc", "inside"), ("alloc", "late"), ("free", "late"), ("free", "inside")], pairs
assert t.terminal["earlier_frees"] == 1 and t.terminal["earlier_free_bytes"] == 64, t.terminal
assert t.terminal["unmatched_frees"] == 1 and t.terminal["windows"] == 2, t.terminal
PY

# Blocks that threads hand to each other outside, at addresses that are soon another's, are known when a window opens.
sim_program handed -I"$e2e/../../core" <<'C'
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#define TSTRACE_DYNAMIC
#include "tstrace.h"
static void *_Atomic slots[16];
static long blocks;
static void *swap(void *arg)
{
	unsigned seed = (unsigned)(size_t)arg;

	for (int i = 0; i < 20000; i++) {
		unsigned bytes = 256 + (seed = seed * 1103515245 + 12345) % 8 * 256, at = (seed >> 16) % 16;
		void *p = NULL, *old;

		if ((seed >> 24) % 4 && cudaMalloc(&p, bytes))
			return (void *)1;
		old = atomic_exchange(&slots[at], p);
		if (old && cudaFree(old))
			return (void *)1;
	}
	return NULL;
}
int main(void)
{
	pthread_t threads[4];
	void *bad;

	for (size_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, swap, (void *)(i + 1));
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &bad);
		if (bad)
			return 2;
	}
	for (int i = 0; i < 16; i++)
		blocks += slots[i] != NULL;
	tstrace_resume(NULL);
	for (int i = 0; i < 16; i++)
		cudaFree(slots[i]);
	printf("%ld\n", blocks);
	return 0;
}
C
for i in 1 2 3; do
	rm -f handed.jsonl
	TSTRACE_SIM_REUSE=lifo TSTRACE_WINDOW=api traced handed.jsonl ./handed >out || fail "handed: status $?"
	valid handed.jsonl
	holds handed.jsonl "$(cat out)" <<'PY'
(mark,) = t.of("op", op_name="tstrace.window")
assert mark["live_blocks"] == int(args[0]) > 4, mark
assert t.terminal["earlier_frees"] == mark["live_blocks"], (t.terminal, mark)
assert t.terminal["earlier_free_bytes"] == mark["live_bytes"] and t.terminal["live_bytes"] == 0, (t.terminal, mark)
assert not t.of("memory") and "unmatched_frees" not in t.terminal and t.terminal["lost"] == {}, t.terminal
PY
done

# Outside, what memory calls do without freeing anything writes no event, and a double free that is refused takes
# nothing from the address's next life.
sim_program quiet -I"$e2e/../../core" -l:libcuda.so.1 <<'C'
#include <stdio.h>
#include <string.h>
#define TSTRACE_DYNAMIC
#include "tstrace.h"
int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuDevicePrimaryCtxRelease_v2(int);
int cuMemCreate(unsigned long long *, size_t, const void *, unsigned long long);
int cuMemMap(unsigned long long, size_t, size_t, unsigned long long, unsigned long long);
int cuMemAddressReserve(unsigned long long *, size_t, size_t, unsigned long long, unsigned long long);
int cuMemRetainAllocationHandle(unsigned long long *, void *), cuMemRelease(unsigned long long);
int main(void)
{
	struct { int type, handles, where, id; long long pad[8]; } device = { 1, 0, 1, 0, { 0 } };
	unsigned long long handle, again, at;
	void *p, *q, *context;
	int bad = cudaMalloc(&p, 64) + cuDevicePrimaryCtxRetain(&context, 0) + cuDevicePrimaryCtxRelease_v2(0);

	bad += cuMemCreate(&handle, 2 << 20, &device, 0) + cuMemAddressReserve(&at, 2 << 20, 0, 0, 0);
	bad += cuMemMap(at, 2 << 20, 0, handle, 0) + cuMemRetainAllocationHandle(&again, (void *)at);
	bad += cuMemRelease(again);
	bad += cudaFree(p) + !cudaFree(p) + cudaMalloc(&q, 64) + (q != p);
	tstrace_resume(NULL);
	bad += cudaFree(q);
	printf("%d\n", bad);
	return 0;
}
C
TSTRACE_SIM_REUSE=lifo TSTRACE_WINDOW=api traced quiet.jsonl ./quiet >out || fail "quiet: status $?"
[ "$(cat out)" = 0 ] || fail "quiet: $(cat out) calls went wrong"
valid quiet.jsonl
holds quiet.jsonl <<'PY'
assert [e["op_name"] for e in t.of("op")] == ["tstrace.window"], t.of("op")
assert not t.of("memory") and t.terminal["earlier_frees"] == 1 and "unmatched_frees" not in t.terminal, t.terminal
PY

# The free of a block from before the window fails first, which counts nothing; what ends with its device outside is
# told to be outside.
sim_program ends -I"$e2e/../../core" <<'C'
#include <stdio.h>
#define TSTRACE_DYNAMIC
#include "tstrace.h"
int cudaDeviceReset(void);
int main(void)
{
	void *older, *inside;
	int bad = cudaMalloc(&older, 100);

	tstrace_resume(NULL);
	bad += !cudaFree(older) + cudaFree(older) + cudaMalloc(&inside, 50);
	tstrace_pause(NULL);
	bad += cudaDeviceReset();
	printf("%d\n", bad);
	return 0;
}
C
TSTRACE_SIM_FAIL=cuMemFree_v2:1=700 TSTRACE_WINDOW=api transparent ends ./ends
[ "$(cat ends.out)" = 0 ] || fail "ends: $(cat ends.out) calls went wrong"
holds ends.jsonl <<'PY'
assert (t.terminal["earlier_frees"], t.terminal["earlier_free_bytes"]) == (1, 100), t.terminal
assert t.terminal["failed_frees"] == 1 and t.terminal["live_bytes"] == 0, t.terminal
(end,) = t.frees()
assert end["bytes"] == 50 and end["reset"] and end["outside_window"], end
PY

# A signal that the program handles itself is not taken.
sim_program handles <<'C'
#include <signal.h>
#include <unistd.h>
static void handler(int number) { (void)number; if (write(1, "mine\n", 5) != 5) _exit(9); }
int main(void)
{
	void *p;

	signal(SIGUSR2, handler);
	cudaMalloc(&p, 8);
	raise(SIGUSR2);
	return cudaFree(p);
}
C
TSTRACE_WINDOW=signal=USR2 traced handles.jsonl ./handles >out 2>err || fail "handles: status $?"
[ "$(cat out)" = mine ] || fail "the program's handler did not run"
grep -q '^tstrace: TSTRACE_WINDOW=signal=USR2: the program handles that signal' err || { cat err; fail "not told"; }
valid handles.jsonl
# A forked child has no window before its first CUDA call: the signal ends it as it would without tstrace.
sim_program forks <<'C'
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	void *p;
	int status;

	cudaMalloc(&p, 8);
	if (!fork()) {
		raise(SIGUSR2);
		_exit(0);
	}
	wait(&status);
	printf("%d\n", WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
	return cudaFree(p);
}
C
TSTRACE_WINDOW=signal=USR2 transparent forks ./forks

# Windows that open and close under calls of other threads.
sim_program busy <<'C'
#include <pthread.h>
#include <stdatomic.h>
int cudaMemset(void *, int, size_t), cudaProfilerStart(void), cudaProfilerStop(void);
static _Atomic int done;
static void *p;
static void *sets(void *arg)
{
	while (!done)
		if (cudaMemset(p, 0, 64))
			return (void *)1;
	return arg;
}
int main(void)
{
	pthread_t threads[3];
	void *bad;

	if (cudaMalloc(&p, 64))
		return 1;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, sets, NULL);
	for (int i = 0; i < 300; i++) {
		cudaProfilerStart();
		cudaProfilerStop();
	}
	done = 1;
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &bad);
		if (bad)
			return 2;
	}
	return cudaFree(p);
}
C
TSTRACE_WINDOW=profiler transparent busy ./busy
holds busy.jsonl <<'PY'
assert t.terminal["windows"] == 300, t.terminal
borders = [e["action"] for e in t.of("op", op_name="tstrace.window")]
assert borders == ["open", "close"] * 300, borders
PY

# A cause that no window has is not printed as it is.
sed 's/"cause":"profiler"/"cause":"pro\\u001b[31m"/' busy.jsonl >escape.jsonl
$tstrace summary escape.jsonl >out 2>&1
grep -q '^Recorded .*(pro)' out && ! grep -q "$(printf '\033')" out || { head -5 out; fail "a control character is printed"; }

# A bad value: one line, and the run is recorded.
TSTRACE_WINDOW=iterations=4 traced bad.jsonl ./loop >/dev/null 2>err || fail "bad: status $?"
[ "$(grep -c 'TSTRACE_WINDOW=iterations=4 is not usable: after iterations= it wants A..B' err)" = 1 ] ||
	{ cat err; fail "bad value: not told"; }
holds bad.jsonl <<'PY'
assert len(t.allocs()) == 18
PY
# Work that ran on when its window closed has its own end, also where CUPTI keeps its record until the next window.
sim_program runs_on <<'C'
#include <unistd.h>
int cudaProfilerStart(void), cudaProfilerStop(void), cudaMemset(void *, int, unsigned long), cudaMemsetAsync(void *, int, unsigned long, void *);
int main(void)
{
	void *p;
	int bad = cudaMalloc(&p, 200000) + cudaProfilerStart() + cudaMemsetAsync(p, 0, 200000, 0) + cudaProfilerStop();
	bad += cudaDeviceSynchronize();
	usleep(50000);
	return bad + cudaProfilerStart() + cudaMemsetAsync(p, 1, 200000, 0) + cudaProfilerStop() + cudaDeviceSynchronize();
}
C
TSTRACE_SIM_COPY_GBPS=0.001 TSTRACE_SIM_CUPTI_STALE_ENDS=1 TSTRACE_FLUSH_MS=60000 TSTRACE_WINDOW=profiler traced runs_on.jsonl ./runs_on || fail "runs_on: $?"
valid runs_on.jsonl
holds runs_on.jsonl <<'PY'
sets = t.intervals("memset")
assert len(sets) == 2 and all(20e6 < e["duration_ns"] < 30e6 for e in sets), sets
PY
exit 0
