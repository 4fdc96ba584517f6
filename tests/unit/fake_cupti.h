/* A CUPTI that does what a test writes into `fake`, for one test program. */
#ifndef TSTRACE_TESTS_UNIT_FAKE_CUPTI_H
#define TSTRACE_TESTS_UNIT_FAKE_CUPTI_H

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/record/record.h"
#include "cupti/cupti.h"
#include "cupti/library.h"
#include "tests/unit/child.h"

#define STRIDE 256              /* bytes of each scripted record */
#define OTHER_CLOCK UINT64_C(1000000000000000000)

static struct {
	CUptiResult subscribe, timestamp, enable_kernel;
	bool hang;
	size_t dropped;
	CUpti_TimestampCallbackFunc clock;
	CUpti_BuffersCallbackRequestFunc request;
	CUpti_BuffersCallbackCompleteFunc complete;
	CUpti_CallbackFunc callback;
	atomic_int calls, kinds, disabled, unsubscribed;
	CUpti_ActivityKernel9 kernels[16];      /* delivered by the next flush */
	unsigned kernel_count;
} fake;

static CUptiResult fake_subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
				  void *user, CUpti_SubscriberParams *params)
{
	(void)user;
	fake.calls++;
	*handle = (CUpti_SubscriberHandle)&fake;
	fake.callback = callback;
	if (fake.subscribe)
		snprintf(params->oldSubscriberName, params->oldSubscriberSize,
			 "CUPTI for somebody");
	return fake.subscribe;
}

static CUptiResult fake_unsubscribe(CUpti_SubscriberHandle handle)
{
	(void)handle;
	fake.calls++;
	fake.unsubscribed++;
	return CUPTI_SUCCESS;
}

static CUptiResult fake_register_clock(CUpti_TimestampCallbackFunc clock)
{
	fake.calls++;
	if (!fake.timestamp)
		fake.clock = clock;
	return fake.timestamp;
}

static uint64_t host_ns(void)
{
	return ts_clock_to_ns(ts_clock_now());
}

static CUptiResult fake_timestamp(uint64_t *now)
{
	fake.calls++;
	*now = fake.clock ? fake.clock() : host_ns() + OTHER_CLOCK;
	return CUPTI_SUCCESS;
}

static CUptiResult fake_register(CUpti_BuffersCallbackRequestFunc request,
				 CUpti_BuffersCallbackCompleteFunc complete)
{
	fake.calls++;
	fake.request = request;
	fake.complete = complete;
	return CUPTI_SUCCESS;
}

static CUptiResult fake_enable(CUpti_ActivityKind kind)
{
	fake.calls++;
	fake.kinds++;
	return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? fake.enable_kernel : CUPTI_SUCCESS;
}

static CUptiResult fake_disable(CUpti_ActivityKind kind)
{
	(void)kind;
	fake.calls++;
	fake.disabled++;
	return CUPTI_SUCCESS;
}

static CUptiResult fake_enable_callback(uint32_t on, CUpti_SubscriberHandle handle,
					CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	(void)on;
	(void)handle;
	(void)domain;
	(void)id;
	fake.calls++;
	return CUPTI_SUCCESS;
}

/* A buffer with the scripted kernels, completed on this thread `times` times. */
static void deliver(int times)
{
	uint8_t *buffer = NULL;
	size_t size = 0, most = 0;

	fake.request(&buffer, &size, &most);
	CHECK(buffer && size >= sizeof(fake.kernels) && size <= 1 << 20);
	for (unsigned i = 0; i < fake.kernel_count; i++)
		memcpy(buffer + i * STRIDE, &fake.kernels[i], sizeof(fake.kernels[i]));
	for (int i = 0; i < times; i++)
		fake.complete(NULL, 0, buffer, size, fake.kernel_count * STRIDE);
	fake.kernel_count = 0;
}

static CUptiResult fake_flush(uint32_t flag)
{
	fake.calls++;
	while (fake.hang)
		sleep(1);
	if (fake.kernel_count && flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)
		deliver(1);
	return CUPTI_SUCCESS;
}

static CUptiResult fake_next(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + STRIDE : buffer;

	if (next + STRIDE > buffer + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)(void *)next;
	return CUPTI_SUCCESS;
}

static CUptiResult fake_dropped(CUcontext context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	*dropped = fake.dropped;
	fake.dropped = 0;
	return CUPTI_SUCCESS;
}

static CUptiResult fake_text(CUptiResult result, const char **text)
{
	(void)result;
	*text = "CUPTI_ERROR_SCRIPTED";
	return CUPTI_SUCCESS;
}

static int open_fake(char *why, size_t bytes)
{
	(void)why;
	(void)bytes;
	cupti_api = (struct cupti_api){
		.cuptiSubscribe_v2 = fake_subscribe,
		.cuptiUnsubscribe = fake_unsubscribe,
		.cuptiActivityRegisterTimestampCallback = fake_register_clock,
		.cuptiGetTimestamp = fake_timestamp,
		.cuptiActivityRegisterCallbacks = fake_register,
		.cuptiActivityEnable = fake_enable,
		.cuptiActivityDisable = fake_disable,
		.cuptiEnableCallback = fake_enable_callback,
		.cuptiActivityFlushAll = fake_flush,
		.cuptiActivityGetNextRecord = fake_next,
		.cuptiActivityGetNumDroppedRecords = fake_dropped,
		.cuptiGetResultString = fake_text,
	};
	return 0;
}

static void kernel(uint64_t start, uint64_t end, uint32_t correlation)
{
	fake.kernels[fake.kernel_count++] = (CUpti_ActivityKernel9){
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.start = start,
		.end = end,
		.contextId = 1,
		.streamId = 7,
		.correlationId = correlation,
		.name = "scripted",
	};
}

#endif
