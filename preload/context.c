/* The driver's view of the calling thread; see context.h. */
#include "preload/context.h"

#include <stdatomic.h>
#include <time.h>

#include "core/env.h"
#include "preload/elf.h"
#include "preload/real.h"

/* --- the driver's functions that we call ourselves ------------------------------- */

#define TS_OWN_CALLS(CALL)                                                                         \
	CALL(cuCtxGetDevice)                                                                       \
	CALL(cuCtxGetCurrent)                                                                      \
	CALL(cuMemGetInfo_v2)                                                                      \
	CALL(cuMemGetAddressRange_v2)                                                              \
	CALL(cuStreamIsCapturing)                                                                  \
	CALL(cuDevicePrimaryCtxGetState)                                                           \
	CALL(cuFuncGetName)                                                                        \
	CALL(cuKernelGetName)

enum own {
#define CALL(name) OWN_##name,
	TS_OWN_CALLS(CALL)
#undef CALL
	OWN_CALLS
};

static const char *const own_names[OWN_CALLS] = {
#define CALL(name) #name,
	TS_OWN_CALLS(CALL)
#undef CALL
};

/* A look-up that found nothing is repeated only after something was loaded. */
static struct {
	_Atomic(void *) function;
	_Atomic unsigned long long loads;
} own[OWN_CALLS];

static void *own_call_slow(enum own which)
{
	unsigned long long loads, unloads;
	void *found;

	ts_objects_counts(&loads, &unloads);
	if (atomic_load(&own[which].loads) == loads)
		return NULL;
	found = ts_real_driver(own_names[which]);
	if (found)
		atomic_store(&own[which].function, found);
	else
		atomic_store(&own[which].loads, loads);
	return found;
}

static inline void *own_call(enum own which)
{
	void *function = atomic_load_explicit(&own[which].function, memory_order_acquire);

	return ts_likely(function) ? function : own_call_slow(which);
}

/* The real function, typed, or NULL. */
#define OWN(name) ((__typeof__(&name))own_call(OWN_##name))

/* A private call of ours: hooks that the driver might run into must not record. */
#define QUIETLY(call)                                                                              \
	({                                                                                         \
		CUresult quiet_;                                                                   \
		ts_self.depth++;                                                                   \
		quiet_ = (call);                                                                   \
		ts_self.depth--;                                                                   \
		quiet_;                                                                            \
	})

/* --- contexts --------------------------------------------------------------------- */

static _Thread_local struct {
	bool known;
	struct ts_where where;
} mine __attribute__((tls_model("initial-exec")));

#define CONTEXTS 1024
static _Atomic(CUcontext) contexts[CONTEXTS];  /* number - 1; a context's address may come again */

unsigned ts_context_number(CUcontext context)
{
	for (unsigned i = 0; context && i < CONTEXTS; i++) {
		CUcontext there = atomic_load(&contexts[i]);

		if (there == context)
			return i + 1;
		if (!there)
			break;
	}
	return 0;
}

static unsigned number_context(CUcontext context)
{
	for (unsigned i = 0; context && i < CONTEXTS; i++) {
		CUcontext there = NULL;

		if (atomic_compare_exchange_strong(&contexts[i], &there, context) || there == context)
			return i + 1;
	}
	return 0;
}

static TS_COLD struct ts_where ask_where(void)
{
	__typeof__(&cuCtxGetDevice) get_device = OWN(cuCtxGetDevice);
	__typeof__(&cuCtxGetCurrent) get_current = OWN(cuCtxGetCurrent);
	struct ts_where where = { TS_DEVICE_NONE, 0 };
	CUcontext context = NULL;
	CUdevice device;

	if (!get_device || QUIETLY(get_device(&device)) != CUDA_SUCCESS)
		return where;
	where.device = (int16_t)device;
	if (get_current && QUIETLY(get_current(&context)) == CUDA_SUCCESS)
		where.context = (uint16_t)number_context(context);
	mine.where = where;
	mine.known = true;
	return where;
}

struct ts_where ts_where(void)
{
	return ts_likely(mine.known) ? mine.where : ask_where();
}

void ts_where_changed(void)
{
	mine.known = false;
}

bool ts_primary_is_active(int device)
{
	__typeof__(&cuDevicePrimaryCtxGetState) get_state = OWN(cuDevicePrimaryCtxGetState);
	unsigned flags;
	int active;

	if (!get_state || QUIETLY(get_state(device, &flags, &active)) != CUDA_SUCCESS)
		return true;
	return active;
}

uint64_t ts_allocation_bytes(uint64_t address)
{
	__typeof__(&cuMemGetAddressRange_v2) get_range = OWN(cuMemGetAddressRange_v2);
	CUdeviceptr base;
	size_t bytes;

	if (!get_range || QUIETLY(get_range(&base, &bytes, address)) != CUDA_SUCCESS)
		return 0;
	return bytes;
}

const char *ts_driver_kernel_name(uint64_t handle)
{
	__typeof__(&cuFuncGetName) function_name = OWN(cuFuncGetName);
	__typeof__(&cuKernelGetName) kernel_name = OWN(cuKernelGetName);
	const char *name = NULL;

	if (!handle)
		return NULL;
	if (function_name &&
	    QUIETLY(function_name(&name, (CUfunction)(uintptr_t)handle)) == CUDA_SUCCESS && name)
		return name;
	if (kernel_name && QUIETLY(kernel_name(&name, (CUkernel)(uintptr_t)handle)) == CUDA_SUCCESS)
		return name;
	return NULL;
}

/* --- stream capture ----------------------------------------------------------------- */

static _Atomic int captures;

void ts_capture_begun(int error)
{
	if (!error)
		atomic_fetch_add(&captures, 1);
}

void ts_capture_ended(int error)
{
	int n = atomic_load(&captures);

	/* A capture that went wrong ends too; only "this stream is not capturing" changes nothing. */
	if (error && (error < CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED || error > CUDA_ERROR_CAPTURED_EVENT))
		return;
	while (n > 0 && !atomic_compare_exchange_weak(&captures, &n, n - 1))
		;
}

bool ts_is_capturing(uint64_t stream, bool per_thread)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	__typeof__(&cuStreamIsCapturing) is_capturing;

	if (ts_likely(!atomic_load_explicit(&captures, memory_order_relaxed)))
		return false;
	is_capturing = OWN(cuStreamIsCapturing);
	if (!stream && per_thread)
		stream = (uintptr_t)CU_STREAM_PER_THREAD;
	return is_capturing &&
	       QUIETLY(is_capturing((CUstream)(uintptr_t)stream, &status)) == CUDA_SUCCESS &&
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* --- device memory -------------------------------------------------------------------- */

/* The raw clock's rate is not known here: a first guess of 1 ms in ticks is corrected each time. */
static _Atomic uint64_t last_raw, last_ns, wait_raw;

void ts_memory_record(struct ts_ring *ring, uint8_t reason)
{
	__typeof__(&cuMemGetInfo_v2) get_info = OWN(cuMemGetInfo_v2);
	struct ts_where where = ts_where();
	struct ts_rec_device_memory *rec;
	size_t free_bytes, total_bytes;

	if (!get_info || where.device == TS_DEVICE_NONE || atomic_load(&captures))
		return;
	if (QUIETLY(get_info(&free_bytes, &total_bytes)) != CUDA_SUCCESS)
		return;
	rec = ts_reserve(ring, 1);
	if (!rec)
		return;
	*rec = (struct ts_rec_device_memory){
		.h = { .kind = TS_REC_DEVICE_MEMORY, .slots = 1, .device = where.device,
		       .t = ts_clock_now(), .span = ts_self.span ? ts_self.span : 1 },
		.free_bytes = free_bytes,
		.total_bytes = total_bytes,
		.reason = reason,
	};
	ts_commit(ring, 1);
}

static TS_COLD void memory_due(struct ts_ring *ring, uint64_t now, uint64_t seen)
{
	uint64_t interval = ts_env.memory_ms * 1000000u, ns, before;
	struct timespec t;

	if (!interval) {
		atomic_store(&wait_raw, UINT64_MAX);
		return;
	}
	if (ts_where().device == TS_DEVICE_NONE)
		return;
	clock_gettime(CLOCK_MONOTONIC, &t);
	ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	before = atomic_load(&last_ns);
	if (before && ns - before < interval) {
		uint64_t rate = ns > before ? ((now - seen) << 8) / (ns - before) : 256;

		atomic_store(&wait_raw, (rate ? rate : 1) * interval >> 8);
		return;
	}
	if (!atomic_compare_exchange_strong(&last_raw, &seen, now))
		return;         /* another thread takes this one */
	atomic_store(&last_ns, ns);
	if (!before)
		atomic_store(&wait_raw, interval / 4);
	ts_memory_record(ring, 0);
}

void ts_memory_check(struct ts_ring *ring, uint64_t now)
{
	uint64_t seen = atomic_load_explicit(&last_raw, memory_order_relaxed);

	if (ts_unlikely(now - seen > atomic_load_explicit(&wait_raw, memory_order_relaxed) && now > seen))
		memory_due(ring, now, seen);
}

void ts_context_child(void)
{
	mine.known = false;
	atomic_store(&captures, 0);
	atomic_store(&last_raw, 0);
	atomic_store(&last_ns, 0);
}
