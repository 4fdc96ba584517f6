# What CUPTI's callbacks alone tell is what the hooks tell: calls that begin and end streams, events and pools, that fail
# before the driver is reached, that open and shut the window; and where CUPTI does not run, the user is told.
. "$(dirname "$0")/lib.sh"
[ -z "$sanitizer" ] || skip "a sanitizer's runtime must be preloaded"
injected() { # TRACE PROGRAM...
	local trace=$T/$1
	shift
	timeout -k 2 20 env CUDA_INJECTION64_PATH="$B/libtstrace.so" TSTRACE_OUTPUT="$trace" "$@"
}
# both NAME PROGRAM...: by the hooks and by the callbacks, with the program undisturbed.
both() {
	local name=$1
	shift
	transparent "$name-hooks" "$@"
	injected "$name.jsonl" "$@" >out 2>err || fail "$name: $?"
	cmp "$name-hooks.plain.out" out && cmp "$name-hooks.plain.err" err || fail "$name: another output"
	valid "$name.jsonl"
	holds "$name.jsonl" "$name-hooks.jsonl" <<'PY'
hooks = Trace(args[0])
keys = ("kind", "action", "api", "op_name", "memory_kind", "bytes", "device", "error", "copy_kind", "captured", "live_bytes")
def told(trace):
    """Calls by what is known of each, but for addresses, times and stacks."""
    return Counter(str([e.get(k) for k in keys] + ["stream" in e]) for e in trace.all if "api" in e)
more, less = told(t) - told(hooks), told(hooks) - told(t)
assert not more and not less, "only by the callbacks: %s\nonly by the hooks: %s" % (more, less)
assert sorted(t.live().values()) == sorted(hooks.live().values())
assert t.terminal["lost"] == hooks.terminal["lost"] == {}, t.terminal
for key in ("live_bytes", "peak_live_bytes", "failed_frees", "unmatched_frees", "earlier_frees", "earlier_free_bytes"):
    assert t.terminal.get(key) == hooks.terminal.get(key), (key, t.terminal, hooks.terminal)
PY
	summary "$name.jsonl" >out
	grep -q "Operations" out && { cat out; fail "$name: a call of CUDA is no operation of the program's"; }
}

cat >cudart.h <<'C'
#include <stdio.h>
#include <unistd.h>
struct dim { unsigned x, y, z; };
struct location { int type, id; };
struct properties { int type, handles; struct location location; void *security; unsigned long size; char more[64]; };
int cudaStreamCreate(void **s), cudaStreamCreateWithFlags(void **s, unsigned flags), cudaStreamDestroy(void *s), cudaStreamQuery(void *s);
int cudaStreamSynchronize(void *s), cudaStreamWaitEvent(void *s, void *e, unsigned flags);
int cudaEventCreate(void **e), cudaEventRecord(void *e, void *s), cudaEventQuery(void *e), cudaEventSynchronize(void *e);
int cudaEventElapsedTime(float *ms, void *a, void *b), cudaEventDestroy(void *e);
int cudaMallocManaged(void **p, unsigned long bytes, unsigned flags), cudaMallocHost(void **p, unsigned long bytes), cudaFreeHost(void *p);
int cudaMallocAsync(void **p, unsigned long bytes, void *s), cudaFreeAsync(void *p, void *s);
int cudaMemPoolCreate(void **pool, const struct properties *properties), cudaMemPoolTrimTo(void *pool, unsigned long bytes);
int cudaMemPoolDestroy(void *pool), cudaMallocFromPoolAsync(void **p, unsigned long bytes, void *pool, void *s);
int cudaMemPrefetchAsync(void *p, unsigned long bytes, struct location where, unsigned flags, void *s);
int cudaMemAdvise(void *p, unsigned long bytes, int advice, struct location where), cudaMemset(void *p, int value, unsigned long bytes);
int cudaGraphCreate(void **graph, unsigned flags), cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags);
int cudaGraphLaunch(void *exec, void *s), cudaGraphExecDestroy(void *exec), cudaGraphDestroy(void *graph);
int cudaStreamBeginCapture(void *s, int mode), cudaStreamEndCapture(void *s, void **graph), cudaSetDevice(int device);
int cudaProfilerStart(void), cudaProfilerStop(void), cudaDeviceReset(void), cudaDestroyExternalMemory(void *memory);
int __cudaLaunchKernel(void *kernel, struct dim grid, struct dim block, void **args, unsigned long shared, void *s);
#define SAY(call) printf("%s: %d\n", #call, call)
C
sim_program life -I. <<'C'
#include "cudart.h"
#include <pthread.h>
static void streams(void)
{
	void *s, *other, *e, *last, *graph, *exec, *p;
	float ms;
	SAY(cudaStreamCreate(&s)), SAY(cudaStreamCreateWithFlags(&other, 1)), SAY(cudaStreamCreate(NULL));
	SAY(cudaEventCreate(&e)), SAY(cudaEventCreate(&last)), SAY(cudaEventRecord(e, s)), SAY(cudaEventRecord(last, s));
	SAY(cudaStreamWaitEvent(other, e, 0)), SAY(cudaEventSynchronize(last)), SAY(cudaEventQuery(e)), SAY(cudaStreamQuery(s));
	SAY(cudaEventElapsedTime(&ms, e, last)), SAY(cudaEventDestroy(e)), SAY(cudaEventDestroy(last));
	SAY(cudaStreamBeginCapture(s, 2)), SAY(cudaMallocAsync(&p, 99, s)), SAY(cudaFreeAsync(p, s)), SAY(cudaStreamEndCapture(s, &graph));
	SAY(cudaGraphInstantiate(&exec, graph, 0)), SAY(cudaGraphLaunch(exec, s)), SAY(cudaStreamSynchronize(s));
	SAY(cudaGraphExecDestroy(exec)), SAY(cudaGraphDestroy(graph)), SAY(cudaGraphLaunch(NULL, s));
	SAY(cudaStreamDestroy(s)), SAY(cudaStreamDestroy(other)), SAY(cudaStreamDestroy(other));
}
static void memory(void)
{
	const struct properties device = { .type = 1, .location = { 1, 0 } };
	void *pool, *p, *s;
	SAY(cudaMallocManaged(NULL, 4096, 1)); /* refused before the driver is asked */
	SAY(cudaMalloc(&p, 64)), SAY(cudaFree(p)), SAY(cudaFree(p)), SAY(cudaFree(NULL)), SAY(cudaMalloc(NULL, 7)), SAY(cudaFreeHost(NULL));
	SAY(cudaMallocManaged(&p, 4096, 1)), SAY(cudaMemAdvise(p, 4096, 1, device.location));
	SAY(cudaMemPrefetchAsync(p, 4096, device.location, 0, NULL));
	SAY(cudaMemset(p, 1, 33)), SAY(cudaMemset((void *)8, 1, 34)), SAY(cudaFree(p));
	SAY(cudaStreamCreate(&s)), SAY(cudaMemPoolCreate(&pool, &device)), SAY(cudaMallocFromPoolAsync(&p, 512, pool, s));
	SAY(cudaMemPoolTrimTo(pool, 0)), SAY(cudaStreamSynchronize(s)), SAY(cudaMemPoolDestroy(pool)), SAY(cudaStreamDestroy(s));
	SAY(cudaMallocHost(&p, 128)), SAY(cudaFreeHost(p)), SAY(cudaMallocHost(NULL, 129)), SAY(cudaDestroyExternalMemory(NULL));
}
static void *on_device(void *device)
{
	void *p;
	if (!cudaSetDevice((int)(long)device) && !cudaMalloc(&p, 1000 + (long)device) && !cudaMemset(p, 0, 10) && !device)
		cudaFree(p);
	return NULL;
}
int main(void)
{
	void *p;
	pthread_t thread;
	SAY(cudaFree(NULL)); /* the driver loads the library */
	streams(), memory();
	for (long i = 0; i < 2; i++)
		pthread_create(&thread, NULL, on_device, (void *)i), pthread_join(thread, NULL);
	SAY(__cudaLaunchKernel(NULL, (struct dim){ 1, 1, 1 }, (struct dim){ 1, 1, 1 }, NULL, 0, NULL));
	SAY(cudaProfilerStart()), SAY(cudaProfilerStop());
	SAY(cudaMalloc(&p, 31)), SAY(cudaDeviceReset()), SAY(cudaMalloc(&p, 32));
	return 0;
}
C

export TSTRACE_SIM_DEVICES=2
both life ./life

# The window is opened and shut by the program; what is alive is known outside too.
sim_program window -I. <<'C'
#include "cudart.h"
int main(void)
{
	void *before, *inside, *p;
	SAY(cudaMalloc(&before, 100)), SAY(cudaProfilerStart());
	SAY(cudaMalloc(&inside, 200)), SAY(cudaMemset(inside, 0, 20)), SAY(cudaDeviceSynchronize()), SAY(cudaProfilerStop());
	SAY(cudaFree(inside)), SAY(cudaMalloc(&p, 300)), SAY(cudaMemset(p, 0, 30)), SAY(cudaDeviceSynchronize()), SAY(cudaProfilerStart());
	SAY(cudaFree(before)), SAY(cudaMemset(p, 0, 40)), SAY(cudaMalloc(&inside, 400)), SAY(cudaProfilerStop());
	SAY(cudaDeviceReset()), SAY(cudaMalloc(&p, 500)), SAY(cudaProfilerStart()), SAY(cudaMalloc(&p, 600)), SAY(cudaProfilerStop());
	return 0;
}
C
TSTRACE_WINDOW=profiler both window ./window
holds window.jsonl <<'PY'
assert [e["bytes"] for e in t.allocs()] == [200, 400, 600] and [e["bytes"] for e in t.frees()] == [200, 400], t.of("memory")
assert [e["bytes"] for e in t.of("op", api="cudaMemset")] == [20, 40], t.of("op")
assert t.terminal["earlier_frees"] == 1 and t.terminal["earlier_free_bytes"] == 100, t.terminal
PY

# A call that is under way when the window shuts is not told to end: its thread is heard all the same when it opens again.
sim_program waits -I. -lpthread <<'C'
#include "cudart.h"
#include <pthread.h>
#include <semaphore.h>
int cudaLaunchHostFunc(void *s, void (*function)(void *), void *data);
static sem_t held, over, again;
static void hold(void *data)
{
	(void)data;
	sem_post(&held), sem_wait(&over);
}
static void *waiter(void *stream)
{
	void *p;
	cudaLaunchHostFunc(stream, hold, NULL), cudaStreamSynchronize(stream);
	sem_post(&held), sem_wait(&again);
	return cudaMalloc(&p, 700) || cudaMemset(p, 0, 70) || cudaFree(p) ? stream : NULL;
}
int main(void)
{
	void *stream, *failed;
	pthread_t thread;
	SAY(cudaProfilerStart()), SAY(cudaStreamCreate(&stream));
	sem_init(&held, 0, 0), sem_init(&over, 0, 0), sem_init(&again, 0, 0);
	pthread_create(&thread, NULL, waiter, stream), sem_wait(&held), usleep(100000);
	SAY(cudaProfilerStop()), sem_post(&over), sem_wait(&held), SAY(cudaProfilerStart()), sem_post(&again);
	pthread_join(thread, &failed);
	return failed != NULL;
}
C
TSTRACE_WINDOW=profiler injected waits.jsonl ./waits >out || fail "waits: $?"
valid waits.jsonl
holds waits.jsonl <<'PY'
assert [(e["action"], e["bytes"]) for e in t.of("memory")] == [("alloc", 700), ("free", 700)], t.of("memory")
assert [e["bytes"] for e in t.of("op", api="cudaMemset")] == [70], t.of("op")
PY

# A driver's copy says between which kinds of memory it goes, as the runtime's does.
root=$(cd "$e2e/../.." && pwd)
eval "$("$root/scripts/find-cuda" 2>/dev/null | sed 's/ := /=/')"
if [ -n "${CUDA_INC:-}" ]; then
	sim_program copies -isystem "$CUDA_INC" -l:libcuda.so.1 <<'C'
#include <cuda.h>
int main(void)
{
	static char host[4096];
	CUDA_MEMCPY2D up = { .srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 64, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstPitch = 64, .WidthInBytes = 32, .Height = 2 }, down, across, any;
	void *p;
	if (cudaMalloc(&p, 4096))
		return 1;
	up.dstDevice = (CUdeviceptr)p;
	down = across = any = up;
	down.srcMemoryType = CU_MEMORYTYPE_DEVICE, down.srcDevice = (CUdeviceptr)p;
	down.dstMemoryType = CU_MEMORYTYPE_HOST, down.dstHost = host;
	across.srcMemoryType = CU_MEMORYTYPE_DEVICE, across.srcDevice = (CUdeviceptr)p + 1024;
	any.srcMemoryType = CU_MEMORYTYPE_UNIFIED, any.srcDevice = (CUdeviceptr)host;
	return cuMemcpy2D(&up) || cuMemcpy2D(&down) || cuMemcpy2D(&across) || cuMemcpy2D(&any) || cuMemcpy2D(0) != 1;
}
C
	both copies ./copies
	holds copies.jsonl <<'PY'
copies = [(e.get("bytes"), e["copy_kind"]) for e in t.of("op", api="cuMemcpy2D_v2")]
assert copies == [(64, 1), (64, 2), (64, 3), (64, 4), (None, 4)], copies
PY
	# Physical memory lives as long as its handle or a mapping, in whichever window that ends.
	sim_program mapped -isystem "$CUDA_INC" -l:libcuda.so.1 <<'C'
#include <cuda.h>
#include <cudaProfiler.h>
int main(void)
{
	CUmemAllocationProp in = { .type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 } };
	CUmemGenericAllocationHandle handle, again;
	const size_t bytes = 2 << 20;
	CUdeviceptr at;
	void *p;
	if (cudaMalloc(&p, 100) || cuProfilerStart() || cuMemAddressReserve(&at, bytes, 0, 0, 0) || cuMemCreate(&handle, bytes, &in, 0) ||
	    cuMemMap(at, bytes, 0, handle, 0) || cuMemRetainAllocationHandle(&again, (void *)at) || cuMemRelease(handle) || cuProfilerStop())
		return 1;
	if (cuMemRelease(again) || cuMemUnmap(at, bytes) || cuMemCreate(&handle, bytes, &in, 0) || cuMemMap(at, bytes, 0, handle, 0))
		return 2;
	return cuProfilerStart() || cuMemRelease(handle) || cuMemUnmap(at, bytes) || cuMemAddressFree(at, bytes) || cuProfilerStop();
}
C
	for window in run profiler; do
		TSTRACE_WINDOW=$window both mapped-$window ./mapped
	done
	# A reset of the device ends what is in its own context, not what is in one that the program made.
	sim_program contexts -isystem "$CUDA_INC" -l:libcuda.so.1 <<'C'
#include <cuda.h>
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
int main(void)
{
	CUcontext own, popped;
	CUdeviceptr kept, gone;
	void *p;
	if (cudaMalloc(&p, 100) || cuCtxCreate_v2(&own, 0, 0) || cuMemAlloc(&kept, 200) || cuMemAlloc(&gone, 300) || cuCtxPopCurrent(&popped))
		return 1;
	return cuDevicePrimaryCtxReset(0) || cuCtxPushCurrent(own) || cuMemFree(kept) || cuCtxDestroy(own);
}
C
	both contexts ./contexts
	holds contexts.jsonl <<'PY'
assert [e["bytes"] for e in t.frees()] == [100, 200, 300] and not t.live(), t.of("memory")
PY
fi

# Where CUPTI does not run nothing is seen, and that is said.
for why in TSTRACE_DEVICE=event TSTRACE_DEVICE=off TSTRACE_SIM_CUPTI_SUBSCRIBE=39; do
	injected blind.jsonl env "$why" ./window >out 2>err || fail "$why: $?"
	cmp window-hooks.plain.out out || fail "$why: another output"
	grep -q 'without LD_PRELOAD' err || { cat err; fail "$why: not told"; }
	valid blind.jsonl
	summary blind.jsonl >out
	grep '^Backend' out | grep -q 'without LD_PRELOAD only CUPTI tells of calls' || { cat out; fail "$why: the summary does not tell"; }
done
exit 0
