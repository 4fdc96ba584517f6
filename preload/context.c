/* The driver's view of the calling thread; see context.h. */
#include "preload/context.h"

#include <errno.h>

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
	CALL(cuKernelGetName)                                                                      \
	CALL(cuDeviceGetCount)                                                                     \
	CALL(cuPointerGetAttribute)

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

void ts_context_unloaded(void)
{
	for (unsigned i = 0; i < OWN_CALLS; i++) {
		void *function = atomic_load(&own[i].function);

		if (function && !ts_address_loaded(function))
			atomic_compare_exchange_strong(&own[i].function, &function, NULL);
	}
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

_Thread_local struct ts_where_known ts_where_here __attribute__((tls_model("initial-exec")));

#define CONTEXTS 1024
static _Atomic(CUcontext) contexts[CONTEXTS];  /* number - 1; a context's address may come again */
static _Atomic bool made_by_program[CONTEXTS];

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

		if (atomic_compare_exchange_strong(&contexts[i], &there, context) ||
		    there == context)
			return i + 1;
	}
	return 0;
}

void ts_context_made(CUcontext context)
{
	unsigned number = number_context(context);

	if (number)
		atomic_store(&made_by_program[number - 1], true);
}

void ts_context_destroyed(CUcontext context)
{
	unsigned number = ts_context_number(context);

	if (number)
		atomic_store(&made_by_program[number - 1], false);
}

struct ts_where ts_where_ask(void)
{
	__typeof__(&cuCtxGetDevice) get_device;
	__typeof__(&cuCtxGetCurrent) get_current;
	struct ts_where where = { TS_DEVICE_NONE, 0, false };
	CUcontext context = NULL;
	CUdevice device;
	int saved = errno;

	get_device = OWN(cuCtxGetDevice);
	get_current = OWN(cuCtxGetCurrent);
	if (get_device && QUIETLY(get_device(&device)) == CUDA_SUCCESS) {
		where.device = (int16_t)device;
		if (get_current && QUIETLY(get_current(&context)) == CUDA_SUCCESS)
			where.context = (uint16_t)number_context(context);
		where.own = where.context && atomic_load(&made_by_program[where.context - 1]);
		ts_where_here = (struct ts_where_known){ where, true };
	}
	errno = saved;
	return where;
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

int16_t ts_device_of(uint64_t address, int16_t otherwise)
{
	static _Atomic int devices;
	__typeof__(&cuDeviceGetCount) get_count = OWN(cuDeviceGetCount);
	__typeof__(&cuPointerGetAttribute) get_attribute = OWN(cuPointerGetAttribute);
	int count = atomic_load_explicit(&devices, memory_order_relaxed), device;
	int saved = errno;

	if (!count && get_count && QUIETLY(get_count(&count)) == CUDA_SUCCESS)
		atomic_store(&devices, count);
	if (count <= 1 || !get_attribute ||
	    QUIETLY(get_attribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address)) !=
		CUDA_SUCCESS)
		device = otherwise;
	errno = saved;
	return (int16_t)device;
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

_Atomic int ts_captures;

void ts_capture_begun(int error)
{
	if (!error)
		atomic_fetch_add(&ts_captures, 1);
}

void ts_capture_ended(int error)
{
	int n = atomic_load(&ts_captures);

	/* A capture that went wrong ends too; only "this stream is not capturing" changes nothing.
	 */
	if (error &&
	    (error < CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED || error > CUDA_ERROR_CAPTURED_EVENT))
		return;
	while (n > 0 && !atomic_compare_exchange_weak(&ts_captures, &n, n - 1))
		;
}

bool ts_is_capturing_asked(uint64_t stream, bool per_thread)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	__typeof__(&cuStreamIsCapturing) is_capturing;
	int saved = errno;
	bool yes;

	is_capturing = OWN(cuStreamIsCapturing);
	if (!stream && per_thread)
		stream = (uintptr_t)CU_STREAM_PER_THREAD;
	yes = is_capturing &&
	      QUIETLY(is_capturing((CUstream)(uintptr_t)stream, &status)) == CUDA_SUCCESS &&
	      status != CU_STREAM_CAPTURE_STATUS_NONE;
	errno = saved;
	return yes;
}

/* --- device memory -------------------------------------------------------------------- */

_Atomic uint64_t ts_memory_due;
static _Atomic uint64_t last_raw, last_ns;      /* of the last checkpoint */

static void take_memory(struct ts_ring *ring, uint8_t reason)
{
	__typeof__(&cuMemGetInfo_v2) get_info = OWN(cuMemGetInfo_v2);
	struct ts_where where = ts_where();
	struct ts_rec_device_memory *rec;
	size_t free_bytes, total_bytes;

	if (!get_info || where.device == TS_DEVICE_NONE || atomic_load(&ts_captures))
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

void ts_memory_record(struct ts_ring *ring, uint8_t reason)
{
	int saved = errno;

	take_memory(ring, reason);
	errno = saved;
}

/* The raw clock's rate is not known here: the first guess, a tick for 4 ns, is far too early, and
 * each time that it is too early the rate since the last checkpoint says when to come again. */
void ts_memory_checkpoint(struct ts_ring *ring, uint64_t now)
{
	uint64_t interval = ts_env.memory_ms * 1000000u, ns, before,
		 due = atomic_load(&ts_memory_due), rate;

	if (!interval) {
		atomic_store(&ts_memory_due, UINT64_MAX);
		return;
	}
	if (now < due || ts_where().device == TS_DEVICE_NONE)
		return;
	ns = ts_monotonic_ns();
	before = atomic_load(&last_ns);
	rate = before && ns > before ? ((now - atomic_load(&last_raw)) << 8) / (ns - before) : 64;
	rate = rate ? rate : 1;
	if (before && ns - before < interval) {
		atomic_store(&ts_memory_due, atomic_load(&last_raw) + (rate * interval >> 8));
		return;
	}
	if (!atomic_compare_exchange_strong(&ts_memory_due, &due, now + (rate * interval >> 8)))
		return;         /* another thread takes this one */
	atomic_store(&last_raw, now);
	atomic_store(&last_ns, ns);
	ts_memory_record(ring, 0);
}

void ts_context_child(void)
{
	ts_where_changed();
	atomic_store(&ts_captures, 0);
	atomic_store(&ts_memory_due, 0);
	atomic_store(&last_raw, 0);
	atomic_store(&last_ns, 0);
}
