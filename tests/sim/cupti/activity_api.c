/* The rest of the activity interface: buffers, flushes, attributes, switches. */
#include "tests/sim/cupti/simcupti.h"

#include <string.h>

#define VERSION_13 130001
#define VERSION_12 28                   /* 12.9 update 1 */

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	sim_connect();
	*version = sim_abi() == 12 ? VERSION_12 : VERSION_13;
	if (sim_faults.version)
		*version = (uint32_t)sim_faults.version;
	return CUPTI_SUCCESS;
}

/* Succeeds without a driver, as the real one does. */
CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
						    CUpti_BuffersCallbackCompleteFunc complete)
{
	if (!request || !complete)
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	if (sim_forked())
		return sim_result(sim_connect());
	sim_request = request;
	sim_complete = complete;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback)
{
	CUptiResult result = sim_connect();

	if (result == CUPTI_SUCCESS && !callback)
		result = CUPTI_ERROR_INVALID_PARAMETER;
	if (result == CUPTI_SUCCESS)
		sim_clock_set(callback);
	return sim_result(result);
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t *timestamp)
{
	CUptiResult result = sim_connect();

	if (result == CUPTI_SUCCESS && sim_faults.timestamp)
		result = (CUptiResult)sim_faults.timestamp;
	if (result == CUPTI_SUCCESS && !timestamp)
		result = CUPTI_ERROR_INVALID_PARAMETER;
	if (result == CUPTI_SUCCESS)
		*timestamp = sim_clock_now();
	return sim_result(result);
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
	CUptiResult result = sim_connect();

	if (result != CUPTI_SUCCESS)
		return sim_result(result);
	if (!sim_request)
		return sim_result(CUPTI_ERROR_INVALID_OPERATION);
	if (sim_deliver_start())
		return sim_result(CUPTI_ERROR_UNKNOWN);
	sim_deliver_flush(flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlush(CUcontext context, uint32_t stream_id, uint32_t flag)
{
	(void)context;
	(void)stream_id;
	return cuptiActivityFlushAll(flag);
}

CUptiResult CUPTIAPI cuptiActivityFlushPeriod(uint32_t milliseconds)
{
	CUptiResult result = sim_connect();

	if (result == CUPTI_SUCCESS)
		sim_deliver_period(milliseconds);
	return sim_result(result);
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
						CUpti_Activity **record)
{
	uint8_t *next = buffer;
	CUpti_Activity head;
	size_t size;

	if (!buffer || !record)
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	if (*record)
		next = (uint8_t *)*record + sim_record_size((*record)->kind);
	if (next >= buffer + valid)
		return sim_result(CUPTI_ERROR_MAX_LIMIT_REACHED);
	memcpy(&head, next, sizeof(head));
	size = sim_record_size(head.kind);
	if (!size || size > (size_t)(buffer + valid - next))
		return sim_result(CUPTI_ERROR_INVALID_KIND);
	*record = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream_id,
						       size_t *dropped)
{
	CUptiResult result = sim_connect();

	(void)context;
	(void)stream_id;
	if (result == CUPTI_SUCCESS && !dropped)
		result = CUPTI_ERROR_INVALID_PARAMETER;
	if (result != CUPTI_SUCCESS)
		return sim_result(result);
	*dropped = sim_buffers_dropped() + (size_t)sim_faults.dropped;
	sim_faults.dropped = 0;
	return CUPTI_SUCCESS;
}

/* --- attributes --- */

static struct attribute {
	size_t size;            /* of the value; 0: not an attribute */
	size_t value;
} attributes[] = {
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE] = { sizeof(size_t), 3200000 },
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP] = { sizeof(size_t), 8u << 20 },
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT] = { sizeof(size_t), 250 },
	[CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE] = { sizeof(size_t), 25000 },
	[CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT] = { sizeof(size_t), 250 },
	[CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER] = { sizeof(uint8_t), 0 },
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE] = { sizeof(size_t), 3 },
	[CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE] = { sizeof(size_t), 3 },
	[CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED] = { sizeof(uint8_t), 0 },
	[CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER] = { sizeof(uint8_t), 1 },
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS] = { sizeof(size_t), 16u << 20 },
};

static CUptiResult find_attribute(CUpti_ActivityAttribute which, const size_t *size,
				  const void *value, struct attribute **found)
{
	CUptiResult result = sim_connect();

	if (result != CUPTI_SUCCESS)
		return result;
	if (!size || !value || (size_t)which >= sizeof(attributes) / sizeof(attributes[0]))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*found = &attributes[which];
	return *size < (*found)->size ? CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT : CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute which, size_t *size,
					       void *value)
{
	struct attribute *found;
	CUptiResult result = find_attribute(which, size, value, &found);

	if (result != CUPTI_SUCCESS)
		return sim_result(result);
	found->value = 0;
	memcpy(&found->value, value, found->size);
	if (which == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER)
		atomic_store(&sim_per_thread_buffers, found->value != 0);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetAttribute(CUpti_ActivityAttribute which, size_t *size,
					       void *value)
{
	struct attribute *found;
	CUptiResult result = find_attribute(which, size, value, &found);

	if (result != CUPTI_SUCCESS)
		return sim_result(result);
	*size = found->size;
	memcpy(value, &found->value, found->size);
	return CUPTI_SUCCESS;
}

/* --- switches --- */

static CUptiResult set_switch(atomic_bool *which, bool on)
{
	CUptiResult result = sim_connect();

	if (result == CUPTI_SUCCESS && which)
		atomic_store(which, on);
	return sim_result(result);
}

CUptiResult CUPTIAPI cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	return set_switch(&sim_latency_on, enable);
}

CUptiResult CUPTIAPI cuptiActivityEnableAllocationSource(uint8_t enable)
{
	return set_switch(&sim_source_on, enable);
}

CUptiResult CUPTIAPI cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable)
{
	return set_switch(&sim_event_time_on, enable);
}

CUptiResult CUPTIAPI cuptiActivityEnableLaunchAttributes(uint8_t enable)
{
	return set_switch(NULL, enable);
}

CUptiResult CUPTIAPI cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	return set_switch(NULL, enable);
}

CUptiResult CUPTIAPI cuptiActivityEnableDeviceGraph(uint8_t enable)
{
	return set_switch(NULL, enable);
}

/* Blackwell only; the simulated device is no such one. */
CUptiResult CUPTIAPI cuptiActivityEnableHWTrace(uint8_t enable)
{
	(void)enable;
	return sim_result(CUPTI_ERROR_NOT_SUPPORTED);
}

CUptiResult CUPTIAPI cuptiActivityConfigurePCSampling(CUcontext context,
						      CUpti_ActivityPCSamplingConfig *config)
{
	(void)context;
	(void)config;
	return sim_result(CUPTI_ERROR_NOT_SUPPORTED);
}

CUptiResult CUPTIAPI cuptiDeviceSupported(CUdevice device, int *support)
{
	(void)device;
	if (!support)
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	*support = 1;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiFinalize(void)
{
	if (sim_forked())
		return sim_result(sim_connect());
	sim_disconnect();
	sim_kinds_reset();
	sim_subscriber_reset();
	sim_deliver_reset();
	sim_buffers_reset();
	sim_records_reset();
	sim_clock_set(NULL);
	attributes[CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER].value = 1;
	return CUPTI_SUCCESS;
}
