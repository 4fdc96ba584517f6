/* Statistics of a tensor in device memory: two kernels on the caller's stream, of which only the
 * blocks' results come back.  Where they cannot run (no nvcc when the library was built, a driver
 * before 12.0, a device that the code is not for) the tensor is copied to the host in pieces.
 *
 * Code is loaded once a process, as a library of the driver's, which belongs to no context. Results
 * lie in a variable of it, of which each device has one: nothing is allocated for a tensor, and
 * nothing freed, which would wait for the whole device. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

#include "core/session/reduce_device.h"
#include "core/session/stats.h"
#include "cupti/device.h"

#define PIECE_BYTES (4u << 20)

struct job {
	const struct ts_view *view;
	CUstream stream;
	void *host; /* PIECE_BYTES of memory */
	char *why;
	size_t room;
};
_Static_assert(sizeof(struct ts_parts) <= PIECE_BYTES, "a slot's results are a piece");

static struct {
	pthread_mutex_t lock;
	bool tried;
	CUlibrary library;
	CUkernel range, spread; /* both, or range is NULL */
} code = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Slots in use, the same in all contexts. */
static _Atomic unsigned busy_slots;

static int refuse(struct job *job, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(struct job *job, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(job->why, job->room, format, args);
	va_end(args);
	return error;
}

static int failed(struct job *job, const char *what, CUresult result)
{
	return refuse(job, -EIO, "%s: the driver's error %d", what, (int)result);
}

/* --- the simulated device ------------------------------------------------------- */

/* It runs no code; what its kernels do can be told to it. */
static void simulated_range(const unsigned grid[3], const unsigned block[3], void **params)
{
	struct ts_parts *parts = *(struct ts_parts **)params[1];

	(void)block;
	for (unsigned i = 0; i < grid[0]; i++)
		parts->range[i] = ts_range_none();
	ts_view_range(params[0], &parts->range[0]);
}

static void simulated_spread(const unsigned grid[3], const unsigned block[3], void **params)
{
	struct ts_parts *parts = *(struct ts_parts **)params[1];
	struct ts_center center = ts_center_of(&parts->range[0]);

	(void)block;
	for (unsigned i = 0; i < grid[0]; i++)
		parts->spread[i] = ts_spread_none();
	ts_view_spread(params[0], &center, &parts->spread[0]);
}

static void tell_simulation(void)
{
	void (*tell)(const char *, void (*)(const unsigned *, const unsigned *, void **));

	*(void **)&tell = device_driver_symbol("tstrace_sim_kernel");
	if (!tell)
		return;
	tell(TS_REDUCE_RANGE, simulated_range);
	tell(TS_REDUCE_SPREAD, simulated_spread);
}

/* --- kernels ----------------------------------------------------------------------- */

static void load_code(void)
{
	CUkernel range;

	if (!ts_reduce_ptx[0] || !device_driver.library_load || !device_driver.library_kernel ||
	    !device_driver.library_global || !device_driver.launch)
		return;
	if (device_driver.library_load(&code.library, ts_reduce_ptx, NULL, NULL, 0, NULL, NULL, 0))
		return;
	if (device_driver.library_kernel(&range, code.library, TS_REDUCE_RANGE) ||
	    device_driver.library_kernel(&code.spread, code.library, TS_REDUCE_SPREAD))
		return;
	tell_simulation();
	code.range = range;
}

static bool have_code(void)
{
	bool have;

	pthread_mutex_lock(&code.lock);
	if (!code.tried)
		load_code();
	code.tried = true;
	have = code.range != NULL;
	pthread_mutex_unlock(&code.lock);
	return have;
}

/* -1: all are in use. */
static int take_slot(unsigned slots)
{
	unsigned busy = atomic_load(&busy_slots), free;

	do {
		free = ~busy & ((1u << slots) - 1);
		if (!free)
			return -1;
	} while (!atomic_compare_exchange_weak(&busy_slots, &busy, busy | (free & -free)));
	return __builtin_ctz(free);
}

static CUresult launch(struct job *job, CUkernel kernel, unsigned blocks, CUdeviceptr slot)
{
	void *params[] = {(void *)job->view, &slot};

	/* From 12.0 on, the first driver with libraries, a kernel of one is a function. */
	return device_driver.launch((CUfunction)kernel, blocks, 1, 1, TS_REDUCE_THREADS, 1, 1, 0,
				    job->stream, params, NULL);
}

static CUresult run(struct job *job, CUdeviceptr slot, unsigned blocks, struct ts_stats *stats)
{
	struct ts_parts *parts = job->host;
	struct ts_range range = ts_range_none();
	struct ts_spread spread = ts_spread_none();
	size_t offset = offsetof(struct ts_parts, spread);
	CUresult result = launch(job, code.range, blocks, slot);

	if (!result)
		result = launch(job, code.spread, blocks, slot);
	if (result)
		return result;
	result =
	    device_driver.copy_to_host(parts->range, slot, blocks * sizeof(range), job->stream);
	if (!result)
		result = device_driver.copy_to_host(parts->spread, slot + offset,
						    blocks * sizeof(spread), job->stream);
	if (!result)
		result = device_driver.stream_synchronize(job->stream);
	for (unsigned i = 0; i < blocks && !result; i++) {
		ts_range_merge(&range, &parts->range[i]);
		ts_spread_merge(&spread, &parts->spread[i]);
	}
	if (!result)
		ts_stats_finish(stats, &range, &spread);
	return result;
}

/* False: not by kernels. */
static bool by_kernels(struct job *job, struct ts_stats *stats)
{
	uint64_t wanted = (job->view->count + TS_REDUCE_THREADS - 1) / TS_REDUCE_THREADS;
	unsigned blocks = wanted < TS_REDUCE_BLOCKS ? (unsigned)wanted : TS_REDUCE_BLOCKS;
	size_t bytes, slots;
	CUdeviceptr parts;
	CUresult result;
	int slot;

	if (!have_code() ||
	    device_driver.library_global(&parts, &bytes, code.library, TS_REDUCE_PARTS))
		return false;
	slots = bytes / sizeof(struct ts_parts);
	slot = take_slot(slots < TS_REDUCE_SLOTS ? (unsigned)slots : TS_REDUCE_SLOTS);
	if (slot < 0)
		return false;
	result = run(job, parts + (size_t)slot * sizeof(struct ts_parts), blocks, stats);
	atomic_fetch_and(&busy_slots, ~(1u << slot));
	return !result;
}

/* --- pieces ------------------------------------------------------------------------ */

struct pass {
	struct ts_range range;
	struct ts_spread spread;
	const struct ts_center *center; /* NULL: the first pass */
};

static CUresult reduce_piece(struct job *job, struct ts_view *view, struct pass *pass)
{
	const unsigned char *on_device = view->data;
	CUresult result = device_driver.copy_to_host(job->host, (CUdeviceptr)(uintptr_t)on_device,
						     ts_view_bytes(view), job->stream);

	if (!result)
		result = device_driver.stream_synchronize(job->stream);
	if (result)
		return result;
	view->data = job->host;
	if (pass->center)
		ts_view_spread(view, pass->center, &pass->spread);
	else
		ts_view_range(view, &pass->range);
	view->data = on_device;
	return CUDA_SUCCESS;
}

/* What does not fit is halved along the longest stride: at most as often as a size has bits, for
 * each dimension. */
static CUresult reduce_pieces(struct job *job, struct ts_view *view, struct pass *pass)
{
	const unsigned char *data = view->data;
	uint64_t size, half;
	uint32_t d = 0;
	CUresult result;

	if (ts_view_bytes(view) <= PIECE_BYTES)
		return reduce_piece(job, view, pass);
	while (view->sizes[d] == 1)
		d++;
	size = view->sizes[d];
	half = size / 2;
	view->sizes[d] = half;
	result = reduce_pieces(job, view, pass);
	view->sizes[d] = size - half;
	view->data = data + half * view->strides[d];
	if (!result)
		result = reduce_pieces(job, view, pass);
	view->sizes[d] = size;
	view->data = data;
	return result;
}

static int by_pieces(struct job *job, struct ts_stats *stats)
{
	struct pass pass = {.range = ts_range_none(), .spread = ts_spread_none()};
	struct ts_view view = *job->view;
	struct ts_center center;
	CUresult result = reduce_pieces(job, &view, &pass);

	if (!result) {
		center = ts_center_of(&pass.range);
		pass.center = &center;
		result = reduce_pieces(job, &view, &pass);
	}
	if (result)
		return failed(job, "it cannot be copied to the host", result);
	ts_stats_finish(stats, &pass.range, &pass.spread);
	return 0;
}

/* --- what is asked ----------------------------------------------------------------- */

static bool attribute(CUpointer_attribute which, uint64_t address, void *value)
{
	return !device_driver.pointer_attribute(value, which, address);
}

/* An address that the device cannot read would end all of the program's work on it. */
static int check_addresses(struct job *job, unsigned *type)
{
	uint64_t at = (uintptr_t)job->view->data, end = at + ts_view_bytes(job->view);
	CUdevice current = -1;
	int mapped, managed = 0, device = -1;
	CUdeviceptr start;
	size_t bytes;

	if (at % ts_element_bytes(job->view->dtype))
		return refuse(job, -EINVAL, "%#llx is not aligned to its elements",
			      (unsigned long long)at);
	while (at < end) {
		if (!attribute(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at, &start) ||
		    !attribute(CU_POINTER_ATTRIBUTE_RANGE_SIZE, at, &bytes) ||
		    !attribute(CU_POINTER_ATTRIBUTE_MAPPED, at, &mapped) || !mapped ||
		    start + bytes <= at)
			return refuse(job, -EFAULT, "no memory that the driver knows is at %#llx",
				      (unsigned long long)at);
		at = start + bytes;
	}
	at = (uintptr_t)job->view->data;
	*type = 0;
	attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at, type);
	attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, at, &managed);
	if (*type == CU_MEMORYTYPE_HOST || managed)
		return 0;
	if (!device_driver.context_device(&current) &&
	    attribute(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at, &device) && device != (int)current)
		return refuse(job, -EINVAL,
			      "it is in memory of device %d, the current context is "
			      "of device %d",
			      device, (int)current);
	return 0;
}

static int check_stream(struct job *job)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUresult result = device_driver.stream_capturing(job->stream, &status);

	if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT || (!result && status))
		return refuse(job, -EBUSY, "its stream is being captured");
	return result ? refuse(job, -EINVAL,
			       "its stream is none of the current context's "
			       "(the driver's error %d)",
			       (int)result)
		      : 0;
}

static int reduce(struct job *job, struct ts_stats *stats)
{
	unsigned type;
	int error = check_stream(job);
	CUresult result;

	if (!error)
		error = check_addresses(job, &type);
	if (error)
		return error;
	if (type == CU_MEMORYTYPE_HOST) {
		result = device_driver.stream_synchronize(job->stream);
		if (result)
			return failed(job, "its stream", result);
		ts_stats_host(job->view, stats);
		return 0;
	}
	return by_kernels(job, stats) ? 0 : by_pieces(job, stats);
}

static int device_stats(const struct ts_view *view, void *stream, struct ts_stats *stats, char *why,
			size_t room)
{
	struct job job = {.view = view, .stream = stream, .why = why, .room = room};
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUcontext context = NULL;
	int error;

	if (!device_driver_load() || !device_driver.stream_capturing ||
	    !device_driver.capture_mode || !device_driver.pointer_attribute)
		return refuse(&job, -ENODEV, "no driver of CUDA 10.2 or later is loaded");
	if (device_driver.context_current(&context) || !context)
		return refuse(&job, -ENODEV, "this thread has no current context");
	job.host =
	    mmap(NULL, PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (job.host == MAP_FAILED)
		return refuse(&job, -ENOMEM, "out of memory");
	/* A capture of another thread's must not be broken by what we do. */
	device_driver.capture_mode(&mode);
	ts_self.own++;
	error = reduce(&job, stats);
	ts_self.own--;
	device_driver.capture_mode(&mode);
	munmap(job.host, PIECE_BYTES);
	return error;
}

int (*const ts_stats_device)(const struct ts_view *view, void *stream, struct ts_stats *stats,
			     char *why, size_t room) = device_stats;

void device_stats_child(void)
{
	pthread_mutex_init(&code.lock, NULL);
	code.tried = false;
	code.range = NULL;
	busy_slots = 0;
}
