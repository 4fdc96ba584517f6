/* Devices, contexts and streams: their records, resource callbacks and ids. */
#include "tests/sim/cupti/simcupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 64                /* device names kept for the life of the process */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct live {
	struct live *next;
	struct sim_activity work;       /* as the driver told it */
} *live;

static void append_context(const struct sim_activity *work)
{
	CUpti_ActivityContext3 record = {
		.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
		.contextId = work->context_id, .deviceId = work->device_id,
		.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA,
		.nullStreamId = (uint16_t)work->stream_id,
		.parentContextId = CUPTI_INVALID_CONTEXT_ID,
	};

	sim_buffer_append(&record, sim_record_size(record.kind), NULL);
}

static void append_stream(const struct sim_activity *work)
{
	CUpti_ActivityStream record = {
		.kind = CUPTI_ACTIVITY_KIND_STREAM,
		.contextId = work->context_id, .streamId = work->stream_id,
		.flag = work->value & CU_STREAM_NON_BLOCKING
			? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
			: CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT,
		.correlationId = work->correlation,
	};

	sim_buffer_append(&record, sim_record_size(record.kind), NULL);
}

static void remember(const struct sim_activity *work)
{
	struct live *entry = calloc(1, sizeof(*entry));

	if (!entry)
		abort();
	entry->work = *work;
	pthread_mutex_lock(&lock);
	entry->next = live;
	live = entry;
	pthread_mutex_unlock(&lock);
}

/* Take the object out of the list and copy it to `found`; a context by handle, a stream by both. */
static bool forget(enum sim_activity_kind kind, const void *handle, struct sim_activity *found)
{
	bool known = false;

	pthread_mutex_lock(&lock);
	for (struct live **at = &live; *at && !known; at = &(*at)->next) {
		struct live *entry = *at;

		if (entry->work.kind != kind || entry->work.address != (uintptr_t)handle)
			continue;
		known = true;
		*found = entry->work;
		*at = entry->next;
		free(entry);
		break;
	}
	pthread_mutex_unlock(&lock);
	return known;
}

static CUcontext context_of(uint32_t id)
{
	CUcontext context = NULL;

	pthread_mutex_lock(&lock);
	for (struct live *entry = live; entry; entry = entry->next)
		if (entry->work.kind == SIM_CONTEXT && entry->work.context_id == id)
			context = (CUcontext)(uintptr_t)entry->work.address;
	pthread_mutex_unlock(&lock);
	return context;
}

void sim_record_context(const struct sim_activity *work)
{
	CUpti_ResourceData data = { .context = (CUcontext)(uintptr_t)work->address };

	remember(work);
	if (sim_kind_on(CUPTI_ACTIVITY_KIND_CONTEXT, work->context_id))
		append_context(work);
	sim_call_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
}

void sim_record_stream(const struct sim_activity *work)
{
	CUpti_ResourceData data = { .context = context_of(work->context_id),
				    .resourceHandle.stream = (CUstream)(uintptr_t)work->address };

	remember(work);
	if (sim_kind_on(CUPTI_ACTIVITY_KIND_STREAM, work->context_id))
		append_stream(work);
	sim_call_resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, &data);
}

static void context_ends(CUcontext context)
{
	CUpti_ResourceData data = { .context = context };
	struct sim_activity work;

	if (forget(SIM_CONTEXT, context, &work))
		sim_call_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, &data);
}

static void stream_ends(CUstream stream)
{
	CUpti_ResourceData data = { .resourceHandle.stream = stream };
	struct sim_activity work;

	if (!forget(SIM_STREAM, stream, &work))
		return;
	data.context = context_of(work.context_id);
	sim_call_resource(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, &data);
}

/* Objects end while they are still usable: at the entry of the call that ends them.  A primary
 * context that is only released may live on, so that its end is seen at its reset only. */
void sim_objects_end(const struct sim_api *edge)
{
	if (edge->domain != SIM_DRIVER || !edge->params)
		return;
	if (!strcmp(edge->name, "cuStreamDestroy_v2"))
		stream_ends(((const cuStreamDestroy_v2_params *)edge->params)->hStream);
	else if (!strcmp(edge->name, "cuCtxDestroy_v2"))
		context_ends(((const cuCtxDestroy_v2_params *)edge->params)->ctx);
	else if (!strcmp(edge->name, "cuDevicePrimaryCtxReset_v2") && edge->context)
		context_ends(edge->context);
}

void sim_record_live(CUpti_ActivityKind kind)
{
	struct live *copy = NULL;

	/* Appending may run client code, which must not meet our lock: work on a copy. */
	pthread_mutex_lock(&lock);
	for (struct live *entry = live; entry; entry = entry->next) {
		struct live *to = malloc(sizeof(*to));

		if (!to)
			abort();
		to->work = entry->work;
		to->next = copy;
		copy = to;
	}
	pthread_mutex_unlock(&lock);
	while (copy) {
		struct live *entry = copy;

		if (kind == CUPTI_ACTIVITY_KIND_CONTEXT && entry->work.kind == SIM_CONTEXT)
			append_context(&entry->work);
		if (kind == CUPTI_ACTIVITY_KIND_STREAM && entry->work.kind == SIM_STREAM)
			append_stream(&entry->work);
		copy = entry->next;
		free(entry);
	}
}

/* --- devices --- */

static int attribute(CUdevice device, CUdevice_attribute what)
{
	CUresult (*get)(int *, CUdevice_attribute, CUdevice) = NULL;
	int value = 0;

	*(void **)&get = dlsym(sim_driver.handle, "cuDeviceGetAttribute");
	return get && !get(&value, what, device) ? value : 0;
}

static const char *device_name(CUdevice device)
{
	static char names[NAMES][128];
	CUresult (*get)(char *, int, CUdevice) = NULL;

	if (device < 0 || device >= NAMES)
		return "";
	*(void **)&get = dlsym(sim_driver.handle, "cuDeviceGetName");
	if (get && !names[device][0])
		get(names[device], sizeof(names[device]), device);
	return names[device];
}

static void append_device(CUdevice device)
{
	CUresult (*total)(size_t *, CUdevice) = NULL;
	size_t bytes = 0;
	CUpti_ActivityDevice5 record = {
		.kind = CUPTI_ACTIVITY_KIND_DEVICE,
		.flags = CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS,
		.id = (uint32_t)device, .name = device_name(device), .isCudaVisible = 1,
	};

	*(void **)&total = dlsym(sim_driver.handle, "cuDeviceTotalMem_v2");
	if (total && !total(&bytes, device))
		record.globalMemorySize = bytes;
#define ATTRIBUTE(field, what)                                                                     \
	record.field = (uint32_t)attribute(device, CU_DEVICE_ATTRIBUTE_##what)
	ATTRIBUTE(numMultiprocessors, MULTIPROCESSOR_COUNT);
	ATTRIBUTE(numThreadsPerWarp, WARP_SIZE);
	ATTRIBUTE(coreClockRate, CLOCK_RATE);
	ATTRIBUTE(numMemcpyEngines, ASYNC_ENGINE_COUNT);
	ATTRIBUTE(l2CacheSize, L2_CACHE_SIZE);
	ATTRIBUTE(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK);
	ATTRIBUTE(maxSharedMemoryPerBlock, MAX_SHARED_MEMORY_PER_BLOCK);
	ATTRIBUTE(computeCapabilityMajor, COMPUTE_CAPABILITY_MAJOR);
	ATTRIBUTE(computeCapabilityMinor, COMPUTE_CAPABILITY_MINOR);
#undef ATTRIBUTE
	sim_buffer_append(&record, sim_record_size(record.kind), NULL);
}

void sim_record_devices(void)
{
	struct sim_thread *thread = sim_thread();
	CUresult (*get)(int *) = NULL;
	bool quiet = thread->quiet;
	int count = 0;

	if (!sim_kind_on(CUPTI_ACTIVITY_KIND_DEVICE, UINT32_MAX))
		return;
	*(void **)&get = dlsym(sim_driver.handle, "cuDeviceGetCount");
	/* Our own calls are not the program's: neither called back nor recorded. */
	thread->quiet = true;
	if (!get || get(&count))
		count = 0;
	for (int device = 0; device < count; device++)
		append_device(device);
	thread->quiet = quiet;
}

/* --- ids --- */

static bool ask_driver(enum sim_handle what, const void *handle, uint64_t *id)
{
	static const char *const names[] = { [SIM_ID_CONTEXT] = "cuCtxGetId",
					     [SIM_ID_STREAM] = "cuStreamGetId" };
	CUresult (*get)(const void *, unsigned long long *) = NULL;
	struct sim_thread *thread = sim_thread();
	bool quiet = thread->quiet, known;
	unsigned long long value = 0;

	if (sim_driver.id)
		return !sim_driver.id(what, handle, id);
	if (what > SIM_ID_STREAM)
		return false;
	*(void **)&get = dlsym(sim_driver.handle, names[what]);
	thread->quiet = true;
	known = get && !get(handle, &value);
	thread->quiet = quiet;
	*id = value;
	return known;
}

static CUptiResult id32(enum sim_handle what, const void *handle, uint32_t *out,
			CUptiResult unknown)
{
	CUptiResult result = sim_connect();
	uint64_t id;

	if (result == CUPTI_SUCCESS && !out)
		result = CUPTI_ERROR_INVALID_PARAMETER;
	if (result == CUPTI_SUCCESS && !ask_driver(what, handle, &id))
		result = unknown;
	if (result == CUPTI_SUCCESS)
		*out = (uint32_t)id;
	return sim_result(result);
}

CUptiResult CUPTIAPI cuptiGetContextId(CUcontext context, uint32_t *id)
{
	return id32(SIM_ID_CONTEXT, context, id, CUPTI_ERROR_INVALID_CONTEXT);
}

CUptiResult CUPTIAPI cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id)
{
	return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUptiResult CUPTIAPI cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread,
					uint32_t *id)
{
	(void)context;
	if (!stream)
		stream = per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
	return id32(SIM_ID_STREAM, stream, id, CUPTI_ERROR_INVALID_STREAM);
}

CUptiResult CUPTIAPI cuptiGetGraphId(CUgraph graph, uint32_t *id)
{
	return id32(SIM_ID_GRAPH, graph, id, CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult CUPTIAPI cuptiGetGraphExecId(CUgraphExec exec, uint32_t *id)
{
	return id32(SIM_ID_GRAPH_EXEC, exec, id, CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, uint64_t *id)
{
	CUptiResult result = sim_connect();

	if (result == CUPTI_SUCCESS && (!node || !id || !ask_driver(SIM_ID_GRAPH_NODE, node, id)))
		result = CUPTI_ERROR_INVALID_PARAMETER;
	return sim_result(result);
}

CUptiResult CUPTIAPI cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
	CUptiResult result = sim_connect();

	if (result == CUPTI_SUCCESS && !id)
		result = CUPTI_ERROR_INVALID_PARAMETER;
	if (result != CUPTI_SUCCESS)
		return sim_result(result);
	result = CUPTI_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&lock);
	for (struct live *entry = live; entry; entry = entry->next)
		if (entry->work.kind == SIM_CONTEXT &&
		    entry->work.address == (uintptr_t)context) {
			*id = entry->work.device_id;
			result = CUPTI_SUCCESS;
		}
	pthread_mutex_unlock(&lock);
	return sim_result(result);
}
