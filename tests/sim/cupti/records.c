/* From work on the simulated device to activity records of the public layouts. */
#include "tests/sim/cupti/simcupti.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

atomic_bool sim_latency_on, sim_source_on, sim_event_time_on;

/* One row a kind: size in the layouts of CUDA 13 and of CUDA 12, and whether we make any. */
static const struct {
	uint16_t size13, size12;
	enum sim_support support;
} kinds[CUPTI_ACTIVITY_KIND_COUNT] = {
#define SIM_KIND(kind, type13, type12, what) \
	[CUPTI_ACTIVITY_KIND_##kind] = { sizeof(type13), sizeof(type12), what },
#include "tests/sim/cupti/kinds.def"
};

size_t sim_record_size(uint32_t kind)
{
	if (kind >= CUPTI_ACTIVITY_KIND_COUNT)
		return 0;
	return sim_abi() == 12 ? kinds[kind].size12 : kinds[kind].size13;
}

enum sim_support sim_record_support(uint32_t kind)
{
	return kinds[kind].support;
}

/* CUDA 12's records are prefixes of CUDA 13's: append as much as this ABI has. */
static void append(const void *record, const struct sim_stamp *stamp)
{
	const CUpti_Activity *head = record;

	sim_buffer_append(record, sim_record_size(head->kind), stamp);
}

#define STAMP(type, first, last, work) \
	&(struct sim_stamp){ .start_at = offsetof(type, first), .end_at = offsetof(type, last), \
			     .start = (work)->start_ns, .end = (work)->end_ns, .device = true }
#define STAMP_ONCE(type, field, work) \
	&(struct sim_stamp){ .start_at = offsetof(type, field), .end_at = SIM_NO_OFFSET, \
			     .start = (work)->start_ns, .end = (work)->start_ns }

/* --- faults that change what was done, not only its times --- */
#define STREAMS 64
static pthread_mutex_t overlap_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint32_t context, stream;
	uint64_t end;
	unsigned count;
} last_kernel[STREAMS];
static atomic_ulong unknown_count;

static void break_kernel(struct sim_activity *work)
{
	unsigned at = (work->stream_id * 7 + work->context_id) % STREAMS;

	if (sim_faults_every(sim_faults.unknown_correlation, &unknown_count))
		work->correlation |= 0x70000000;
	if (sim_faults.overlap <= 0)
		return;
	pthread_mutex_lock(&overlap_lock);
	if (last_kernel[at].stream != work->stream_id ||
	    last_kernel[at].context != work->context_id)
		memset(&last_kernel[at], 0, sizeof(last_kernel[at]));
	if (last_kernel[at].count++ & 1)
		work->start_ns = last_kernel[at].end - (uint64_t)sim_faults.overlap;
	last_kernel[at].stream = work->stream_id;
	last_kernel[at].context = work->context_id;
	last_kernel[at].end = work->end_ns;
	pthread_mutex_unlock(&overlap_lock);
}

/* --- kinds --- */

/* Graph ids of a node's record: none, and no record, while whole graphs are traced. */
static bool hidden_by_graph(const struct sim_activity *work)
{
	return work->graph_id &&
	       sim_kind_on(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, work->context_id);
}

static void record_kernel(const struct sim_activity *given)
{
	struct sim_activity work = *given;
	CUpti_ActivityKernel10 record = { .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL };
	struct sim_thread *thread = sim_thread();

	if (sim_kind_on(CUPTI_ACTIVITY_KIND_KERNEL, work.context_id))
		record.kind = CUPTI_ACTIVITY_KIND_KERNEL;
	else if (!sim_kind_on(record.kind, work.context_id))
		return;
	break_kernel(&work);
	record.registersPerThread = (uint16_t)work.registers;
	record.deviceId = work.device_id;
	record.contextId = work.context_id;
	record.streamId = work.stream_id;
	record.gridX = (int32_t)work.grid[0];
	record.gridY = (int32_t)work.grid[1];
	record.gridZ = (int32_t)work.grid[2];
	record.blockX = (int32_t)work.block[0];
	record.blockY = (int32_t)work.block[1];
	record.blockZ = (int32_t)work.block[2];
	record.staticSharedMemory = (int32_t)work.shared_static;
	record.dynamicSharedMemory = (int32_t)work.shared_dynamic;
	record.correlationId = work.correlation;
	record.gridId = (int64_t)work.correlation;
	record.name = work.name;
	record.graphNodeId = work.graph_node_id;
	record.graphId = work.graph_id;
	record.channelID = work.stream_id;
	record.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
	if (atomic_load(&sim_latency_on) && thread->depth && thread->depth <= SIM_FRAMES) {
		uint64_t begin = thread->frames[thread->depth - 1].begin_ns;

		record.queued = sim_clock_convert(begin);
		record.submitted = sim_clock_convert(sim_monotonic_ns());
	}
	append(&record, STAMP(CUpti_ActivityKernel10, start, end, &work));
}

static void record_memcpy(const struct sim_activity *work)
{
	CUpti_ActivityMemcpy6 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
		.copyKind = work->copy_kind, .srcKind = work->src_kind, .dstKind = work->dst_kind,
		.flags = work->is_async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
		.bytes = work->bytes, .deviceId = work->device_id, .contextId = work->context_id,
		.streamId = work->stream_id, .correlationId = work->correlation,
		.graphNodeId = work->graph_node_id, .graphId = work->graph_id,
		.channelID = work->stream_id, .channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
		.copyCount = 1,
	};

	if (sim_kind_on(CUPTI_ACTIVITY_KIND_MEMCPY, work->context_id))
		append(&record, STAMP(CUpti_ActivityMemcpy6, start, end, work));
}

static void record_memcpy_p2p(const struct sim_activity *work)
{
	CUpti_ActivityMemcpyPtoP4 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
		.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
		.srcKind = work->src_kind, .dstKind = work->dst_kind,
		.flags = work->is_async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
		.bytes = work->bytes, .deviceId = work->device_id, .contextId = work->context_id,
		.streamId = work->stream_id, .correlationId = work->correlation,
		.srcDeviceId = work->src_device, .srcContextId = work->src_context,
		.dstDeviceId = work->dst_device, .dstContextId = work->dst_context,
		.graphNodeId = work->graph_node_id, .graphId = work->graph_id,
		.channelID = work->stream_id, .channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
	};

	if (sim_kind_on(CUPTI_ACTIVITY_KIND_MEMCPY2, work->context_id))
		append(&record, STAMP(CUpti_ActivityMemcpyPtoP4, start, end, work));
}

static void record_memset(const struct sim_activity *work)
{
	CUpti_ActivityMemset4 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.value = work->value, .bytes = work->bytes, .deviceId = work->device_id,
		.contextId = work->context_id, .streamId = work->stream_id,
		.correlationId = work->correlation,
		.flags = work->is_async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0,
		.memoryKind = work->dst_kind,
		.graphNodeId = work->graph_node_id, .graphId = work->graph_id,
		.channelID = work->stream_id, .channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
	};

	if (sim_kind_on(CUPTI_ACTIVITY_KIND_MEMSET, work->context_id))
		append(&record, STAMP(CUpti_ActivityMemset4, start, end, work));
}

static void record_graph(const struct sim_activity *work)
{
	CUpti_ActivityGraphTrace2 record = {
		.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
		.correlationId = work->correlation, .deviceId = work->device_id,
		.graphId = work->graph_id, .contextId = work->context_id,
		.streamId = work->stream_id, .endDeviceId = work->device_id,
		.endContextId = work->context_id,
	};

	if (sim_kind_on(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, work->context_id))
		append(&record, STAMP(CUpti_ActivityGraphTrace2, start, end, work));
}

static void record_sync(const struct sim_activity *given)
{
	struct sim_activity work = *given;
	struct sim_thread *thread = sim_thread();
	struct sim_frame *frame = NULL;
	CUpti_ActivitySynchronization2 record = {
		.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		.type = (CUpti_ActivitySynchronizationType)work.sync_type,
		.correlationId = work.correlation, .contextId = work.context_id,
		.streamId = work.stream_id,
		.cudaEventId = work.sync_event_id ? work.sync_event_id
						  : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
		.cudaEventSyncId = work.sync_event_id ? work.sync_event_id
						      : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
	};

	if (thread->depth && thread->depth <= SIM_FRAMES)
		frame = &thread->frames[thread->depth - 1];
	/* Reported as one instant: then it took from the call's begin until now. */
	if (work.end_ns <= work.start_ns) {
		work.end_ns = work.start_ns;
		if (frame && frame->begin_ns < work.start_ns)
			work.start_ns = frame->begin_ns;
	}
	if (sim_kind_on(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, work.context_id)) {
		struct sim_stamp *stamp = STAMP(CUpti_ActivitySynchronization2, start, end, &work);

		stamp->device = false;
		append(&record, stamp);
	}
	if (work.sync_type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE)
		sim_call_sync(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED,
			      frame ? frame->context : NULL, work.address);
	else if (work.sync_type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE)
		sim_call_sync(CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED,
			      frame ? frame->context : NULL, 0);
}

/* Path of the program, as the source of an allocation; the real one names the calling library. */
static const char *program_path(void)
{
	static char path[PATH_MAX];
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	if (!path[0] && readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		path[0] = 0;
	pthread_mutex_unlock(&lock);
	return path;
}

static void record_memory(const struct sim_activity *work)
{
	CUpti_ActivityMemory4 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
		.memoryOperationType = (CUpti_ActivityMemoryOperationType)work->memory_op,
		.memoryKind = (CUpti_ActivityMemoryKind)work->memory_kind,
		.correlationId = work->correlation, .address = work->address,
		.bytes = work->bytes, .processId = (uint32_t)getpid(),
		.deviceId = work->device_id, .contextId = work->context_id,
		.streamId = work->is_async ? work->stream_id : CUPTI_INVALID_STREAM_ID,
		.isAsync = work->is_async, .name = work->name,
		.source = atomic_load(&sim_source_on) ? program_path() : NULL,
	};

	if (work->pool) {
		record.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
		record.memoryPoolConfig.address = work->pool;
		record.memoryPoolConfig.releaseThreshold = work->pool_threshold;
		record.memoryPoolConfig.pool.size = work->pool_size;
		record.memoryPoolConfig.utilizedSize = work->pool_used;
	}
	if (sim_kind_on(CUPTI_ACTIVITY_KIND_MEMORY2, work->context_id))
		append(&record, STAMP_ONCE(CUpti_ActivityMemory4, timestamp, work));
}

static void record_pool(const struct sim_activity *work)
{
	CUpti_ActivityMemoryPool3 record = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL,
		.memoryPoolOperationType = (CUpti_ActivityMemoryPoolOperationType)work->memory_op,
		.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
		.correlationId = work->correlation, .processId = (uint32_t)getpid(),
		.deviceId = work->device_id, .minBytesToKeep = work->bytes,
		.address = work->pool, .size = work->pool_size,
		.releaseThreshold = work->pool_threshold, .utilizedSize = work->pool_used,
	};

	if (sim_kind_on(CUPTI_ACTIVITY_KIND_MEMORY_POOL, work->context_id))
		append(&record, STAMP_ONCE(CUpti_ActivityMemoryPool3, timestamp, work));
}

static void record_event(const struct sim_activity *work)
{
	CUpti_ActivityCudaEvent2 record = {
		.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT,
		.correlationId = work->correlation, .contextId = work->context_id,
		.streamId = work->stream_id, .eventId = work->sync_event_id,
		.deviceId = work->device_id, .cudaEventSyncId = work->sync_event_id,
	};
	uint64_t end = work->end_ns ? work->end_ns : work->start_ns;
	struct sim_stamp stamp = { .start_at = offsetof(CUpti_ActivityCudaEvent2, deviceTimestamp),
				   .end_at = SIM_NO_OFFSET,
				   .start = end,
				   .end = end,
				   .device = true };

	if (sim_kind_on(CUPTI_ACTIVITY_KIND_CUDA_EVENT, work->context_id))
		append(&record, atomic_load(&sim_event_time_on) ? &stamp : NULL);
}

static void record_uvm(const struct sim_activity *work)
{
	CUpti_ActivityUnifiedMemoryCounter3 record = {
		.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
		.counterKind = work->copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
			? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH
			: CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
		.value = work->bytes, .address = work->address,
		.srcId = work->src_device, .dstId = work->dst_device,
		.streamId = work->stream_id, .processId = (uint32_t)getpid(),
	};

	if (sim_kind_on(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, work->context_id) &&
	    sim_uvm_counter_on(record.counterKind))
		append(&record, STAMP(CUpti_ActivityUnifiedMemoryCounter3, start, end, work));
}

void sim_observe_activity(void *user, const struct sim_activity *work)
{
	static void (*const make[])(const struct sim_activity *) = {
		[SIM_KERNEL] = record_kernel, [SIM_MEMCPY] = record_memcpy,
		[SIM_MEMSET] = record_memset, [SIM_MEMCPY_P2P] = record_memcpy_p2p,
		[SIM_SYNC] = record_sync, [SIM_GRAPH] = record_graph,
		[SIM_MEMORY] = record_memory, [SIM_POOL] = record_pool,
		[SIM_CONTEXT] = sim_record_context, [SIM_STREAM] = sim_record_stream,
		[SIM_EVENT] = record_event, [SIM_UVM] = record_uvm,
	};

	(void)user;
	if (sim_forked() || !sim_connected() || sim_thread()->quiet)
		return;
	if ((unsigned)work->kind >= sizeof(make) / sizeof(make[0]) || !make[work->kind])
		return;         /* host nodes have no record before CUDA 13.1 */
	if (work->kind != SIM_GRAPH && hidden_by_graph(work))
		return;
	make[work->kind](work);
}

/* --- records that are not work --- */

static void record_external(const struct sim_thread *thread, uint32_t correlation)
{
	if (!sim_kind_on(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, UINT32_MAX))
		return;
	for (int kind = 1; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; kind++) {
		unsigned count = thread->external_count[kind];
		CUpti_ActivityExternalCorrelation record = {
			.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
			.externalKind = (CUpti_ExternalCorrelationKind)kind,
			.externalId = count ? thread->external[kind][count - 1] : 0,
			.correlationId = correlation,
		};

		if (count)
			append(&record, NULL);
	}
}

void sim_record_api(const struct sim_frame *frame, uint32_t result)
{
	CUpti_ActivityAPI record = {
		.kind = frame->domain == SIM_DRIVER ? CUPTI_ACTIVITY_KIND_DRIVER
						    : CUPTI_ACTIVITY_KIND_RUNTIME,
		.cbid = frame->cbid, .start = frame->begin, .end = sim_clock_now(),
		.processId = (uint32_t)getpid(), .threadId = sim_thread_id(),
		.correlationId = frame->correlation, .returnValue = result,
	};

	record_external(sim_thread(), frame->correlation);
	append(&record, NULL);
}

void sim_record_overhead(CUpti_ActivityOverheadKind what, uint64_t begin, uint64_t end)
{
	CUpti_ActivityOverhead3 record = {
		.kind = CUPTI_ACTIVITY_KIND_OVERHEAD, .overheadKind = what,
		.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD, .start = begin, .end = end,
	};

	if (!sim_kind_on(CUPTI_ACTIVITY_KIND_OVERHEAD, UINT32_MAX))
		return;
	record.objectId.pt.processId = (uint32_t)getpid();
	record.objectId.pt.threadId = sim_thread_id();
	append(&record, NULL);
}

void sim_records_reset(void)
{
	atomic_store(&sim_latency_on, false);
	atomic_store(&sim_source_on, false);
	atomic_store(&sim_event_time_on, false);
	atomic_store(&unknown_count, 0);
	pthread_mutex_lock(&overlap_lock);
	memset(last_kernel, 0, sizeof(last_kernel));
	pthread_mutex_unlock(&overlap_lock);
}
