# Statistics of tensors in device memory: the same as the host's, by kernels and by pieces; nothing of that work is in
# the trace; what cannot be read is refused, and the program's captures, errors and contexts are as they were.
. "$(dirname "$0")/lib.sh"

sim_program ./stats -I"$e2e/../.." -lm <<'C'
#define TSTRACE_DYNAMIC
#include "core/tstrace.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind), cudaGetLastError(void), cudaPeekAtLastError(void);
int cudaMallocManaged(void **p, size_t bytes, unsigned flags), cudaMallocHost(void **p, size_t bytes);
int cudaStreamCreate(void **stream), cudaStreamBeginCapture(void *stream, int mode), cudaSetDevice(int device);
int cudaStreamEndCapture(void *stream, void **graph), cudaGetDevice(int *device);

#define CHECK(what)                                                                                                    \
	do {                                                                                                           \
		if (!(what)) {                                                                                         \
			fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #what, tstrace_error());                       \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)
#define ROWS 1000
#define COLUMNS 3000
#define BYTES (ROWS * COLUMNS * sizeof(float))

/* What a call gives: `traced` in a traced run, nothing in another. */
static int traced(int error)
{
	return tstrace_bound_ ? error : 0;
}

static int record(const char *label, const void *data, void *stream, bool on_device, bool strided)
{
	static const uint64_t whole[] = { ROWS, COLUMNS }, part[] = { 700, 2, ROWS / 2 };
	static const int64_t strides[] = { -4, 0, 2 * COLUMNS };
	const struct tstrace_data tensor = {
		.data = strided ? (const float *)data + 4 * 699 : data,
		.dtype = TSTRACE_F32,
		.shape = { strided ? part : whole, strided ? 3 : 2 },
		.strides = strided ? strides : NULL,
		.on_device = on_device,
		.stream = stream,
	};

	return tstrace_record_tensor_stats(NULL, 0, label, &tensor);
}

static void *without_context(void *data)
{
	CHECK(record("none", data, NULL, true, false) == traced(-ENODEV));
	return NULL;
}

static void refusals(char *device, const float *host)
{
	void *gone, *other, *graph = NULL, *stream, *captured;
	pthread_t thread;
	int current;

	cudaMalloc(&gone, BYTES);
	cudaFree(gone);
	CHECK(record("freed", gone, NULL, true, false) == traced(-EFAULT));
	CHECK(record("of the host", host, NULL, true, false) == traced(-EFAULT));
	CHECK(record("past the end", device + 4, NULL, true, false) == traced(-EFAULT));
	CHECK(record("between elements", device + 2, NULL, true, false) == traced(-EINVAL));
	pthread_create(&thread, NULL, without_context, device);
	pthread_join(thread, NULL);
	CHECK(!cudaSetDevice(1) && !cudaMalloc(&other, 16));
	CHECK(record("of another device", device, NULL, true, false) == traced(-EINVAL));
	CHECK(!cudaGetDevice(&current) && current == 1 && !cudaFree(other) && !cudaSetDevice(0));

	CHECK(!cudaStreamCreate(&stream) && !cudaStreamCreate(&captured));
	CHECK(!cudaStreamBeginCapture(captured, 0));
	CHECK(record("captured", device, captured, true, false) == traced(-EBUSY));
	CHECK(record("legacy stream", device, NULL, true, false) == traced(-EBUSY));
	CHECK(record("beside a capture", device, stream, true, false) == 0);
	CHECK(!cudaStreamEndCapture(captured, &graph) && graph);
}

int main(void)
{
	float *host = malloc(BYTES);
	void *device, *pinned, *managed, *last;
	unsigned random = 1;

	for (size_t i = 0; i < ROWS * COLUMNS; i++, random = random * 1664525 + 1013904223)
		host[i] = (float)((int)random >> 8) * (i % 3 ? 0x1p-100f : 0x1p60f);
	host[12345] = 1.0f / 0.0f;
	CHECK(!cudaMalloc(&device, BYTES) && !cudaMemcpy(device, host, BYTES, 1));
	CHECK(!cudaMallocHost(&pinned, BYTES) && !cudaMallocManaged(&managed, BYTES, 1));
	memcpy(pinned, host, BYTES);
	memcpy(managed, host, BYTES);
	CHECK(cudaMalloc(&last, (size_t)1 << 60));      /* the last error */
	errno = 77;
	CHECK(!record("whole", host, NULL, false, false) && !record("whole", device, NULL, true, false));
	CHECK(!record("part", host, NULL, false, true) && !record("part", device, NULL, true, true));
	CHECK(!record("whole", pinned, NULL, true, false) && !record("whole", managed, NULL, true, false));
	CHECK(errno == 77 && cudaPeekAtLastError() == 2 && cudaGetLastError() == 2);
	refusals(device, host);
	printf("done\n");
	return 0;
}
C

# The three modes say the same: kernels; a driver without libraries, where pieces are copied; the events backend.
compare() {
	holds "$@" <<'PY'
import math
stats = t.of("tensor_stats")
by = {label: [e for e in stats if e["label"] == label] for label in ("whole", "part", "beside a capture")}
assert [len(v) for v in by.values()] == [4, 2, 1] and len(stats) == 7, stats
for first, *rest in by["whole"] + by["beside a capture"], by["part"]:
    for e in rest:
        for key in ("elements", "non_finite", "nan_count", "inf_count", "min", "max", "abs_max"):
            assert e[key] == first[key], (key, e, first)
        for key in ("rms", "mean", "std"):
            assert math.isclose(e[key], first[key], rel_tol=1e-12, abs_tol=0), (key, e, first)
whole, part = by["whole"][0], by["part"][0]
assert whole["elements"] == 3000000 and whole["inf_count"] == 1 and whole["rms"] == 0 and whole["std"] > 1e20, whole
assert part["elements"] == 700000 and part["non_finite"] == 0 and part["rms"] > 0, part
# Nothing of ours: no launch, no copy to the host, no wait, no memory, nothing lost.
assert not t.terminal["lost"], t.terminal
assert not t.launches() and not t.intervals("kernel"), (t.launches(), t.intervals("kernel"))
assert not [e for e in t.of("op") if "stats" in e["op_name"] or "Synchronize" in e["op_name"]], t.of("op")
assert not [e for e in t.of("device_interval") if e["activity"] != "memcpy"], t.of("device_interval")
assert len(t.intervals("memcpy")) == 1, t.intervals("memcpy")
PY
}

export TSTRACE_SIM_DEVICES=2
undisturbed kernels ./stats
valid kernels.jsonl
compare kernels.jsonl
TSTRACE_SIM_FAIL='cuLibraryLoadData:*=200' undisturbed pieces ./stats
compare pieces.jsonl
TSTRACE_DEVICE=event undisturbed events ./stats
compare events.jsonl

# By kernels means by kernels: two launches a tensor, of which the driver tells.
TSTRACE_SIM_LOG=1 traced logged.jsonl ./stats >logged.out 2>logged.err || fail "logged"
if nm "$B/libtstrace.so" | grep -q ts_reduce_ptx && [ -s "$B/gen/reduce.ptx" ]; then
	[ "$(grep -c 'cuLaunchKernel' logged.err)" = 8 ] || { grep cuLaunch logged.err; fail "not by kernels"; }
fi
exit 0
