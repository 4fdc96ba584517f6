/* Callbacks, API records and resources of the stand-in CUPTI. */
#include "tests/unit/simcupti_client.h"

static struct {
	int calls;
	CUpti_CallbackDomain domain;
	CUpti_CallbackId cbid;
	CUpti_CallbackData api;
	uint64_t kept;
	CUpti_GraphData graph;
	CUpti_ResourceData resource;
} seen;

static void callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
		     const void *data)
{
	assert_ptr_equal(user, &seen);
	seen.calls++;
	seen.domain = domain;
	seen.cbid = cbid;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		seen.resource = *(const CUpti_ResourceData *)data;
		if (seen.resource.resourceDescriptor)
			seen.graph = *(CUpti_GraphData *)seen.resource.resourceDescriptor;
		return;
	}
	seen.api = *(const CUpti_CallbackData *)data;
	if (seen.api.callbackSite == CUPTI_API_ENTER)
		*seen.api.correlationData = 77;
	else
		seen.kept = *seen.api.correlationData;
}

static void test_callbacks(void **state)
{
	CUpti_SubscriberHandle handle;
	const char *name;
	uint32_t on;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	OK(p_cuptiSubscribe(&handle, callback, &seen));
	api(SIM_RUNTIME, "cudaMalloc", 1, true);
	api(SIM_RUNTIME, "cudaMalloc", 1, false);
	assert_int_equal(seen.calls, 0);
	OK(p_cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API,
				 CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000));
	api(SIM_RUNTIME, "cudaMalloc", 2, true);
	api(SIM_RUNTIME, "cudaMalloc", 2, false);
	assert_int_equal(seen.calls, 0);
	api(SIM_RUNTIME, "__cudaLaunchKernel", 3, true);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.cbid, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000);
	assert_int_equal(seen.api.correlationId, 3);
	assert_string_equal(seen.api.functionName, "__cudaLaunchKernel");
	assert_string_equal(seen.api.symbolName, "_Z5saxpyPf");
	assert_int_equal(seen.api.contextUid, 20);
	api(SIM_DRIVER, "cuLaunchKernel", 4, true);
	api(SIM_DRIVER, "cuLaunchKernel", 4, false);
	assert_int_equal(seen.calls, 1);
	api(SIM_RUNTIME, "__cudaLaunchKernel", 3, false);
	assert_int_equal(seen.calls, 2);
	assert_int_equal(seen.kept, 77);
	OK(p_cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_DRIVER_API));
	api(SIM_DRIVER, "cuMemAlloc_v2", 5, true);
	assert_int_equal(seen.cbid, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2);
	OK(p_cuptiGetCallbackState(&on, handle, CUPTI_CB_DOMAIN_DRIVER_API, seen.cbid));
	assert_int_equal(on, 1);
	OK(p_cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API,
				  CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, &name));
	assert_string_equal(name, "cudaMalloc_v3020");
	OK(p_cuptiUnsubscribe(handle));
	api(SIM_DRIVER, "cuMemAlloc_v2", 5, false);
	assert_int_equal(seen.calls, 3);
	assert_int_equal(p_cuptiUnsubscribe(handle), CUPTI_ERROR_INVALID_PARAMETER);
}

static void test_graph_node_callbacks(void **state)
{
	CUpti_SubscriberHandle handle;
	uint64_t id;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	OK(p_cuptiSubscribe(&handle, callback, &seen));
	OK(p_cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_RESOURCE));
	(*observer)->graph_node((*observer)->user, 0, 100, 1);
	assert_int_equal(seen.cbid, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
	(*observer)->graph_node((*observer)->user, 100, 200, 2);
	assert_int_equal(seen.cbid, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
	OK(p_cuptiGetGraphNodeId(seen.graph.originalNode, &id));
	assert_int_equal(id, 100);
	OK(p_cuptiGetGraphNodeId(seen.graph.node, &id));
	assert_int_equal(id, 200);
	assert_int_equal(p_cuptiGetGraphNodeId(NULL, &id), CUPTI_ERROR_INVALID_PARAMETER);
	assert_int_equal(p_cuptiGetContextId((CUcontext)3, &(uint32_t){ 0 }),
			 CUPTI_ERROR_INVALID_CONTEXT);
}

static void driver_call(const char *name, const void *params)
{
	struct sim_api call = { .domain = SIM_DRIVER, .enter = true, .name = name, .correlation = 1,
				.params = params, .context = (void *)20, .context_id = 20 };

	(*observer)->api((*observer)->user, &call);
	call.enter = false;
	(*observer)->api((*observer)->user, &call);
}

static void test_contexts_and_streams(void **state)
{
	CUpti_SubscriberHandle handle;
	CUpti_ActivityStream *stream;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	OK(p_cuptiSubscribe(&handle, callback, &seen));
	OK(p_cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_RESOURCE));
	start(CUPTI_ACTIVITY_KIND_STREAM);
	report(&(struct sim_activity){ .kind = SIM_CONTEXT, .context_id = 5, .device_id = 1,
				       .address = 1000, .memory_op = 1 });
	assert_int_equal(seen.cbid, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	assert_ptr_equal(seen.resource.context, (void *)1000);
	report(&(struct sim_activity){ .kind = SIM_STREAM,
				       .context_id = 5,
				       .stream_id = 8,
				       .address = 2000,
				       .memory_op = 1,
				       .value = CU_STREAM_NON_BLOCKING });
	assert_int_equal(seen.cbid, CUPTI_CBID_RESOURCE_STREAM_CREATED);
	assert_ptr_equal(seen.resource.context, (void *)1000);
	assert_ptr_equal(seen.resource.resourceHandle.stream, (void *)2000);
	/* what is there already is told on request only */
	OK(p_cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_CONTEXT));
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(count_of(CUPTI_ACTIVITY_KIND_CONTEXT), 1);
	stream = record_of(CUPTI_ACTIVITY_KIND_STREAM, 0);
	assert_int_equal(stream->streamId, 8);
	assert_int_equal(stream->flag, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
	driver_call("cuStreamDestroy_v2", &(cuStreamDestroy_v2_params){ (void *)2000 });
	assert_int_equal(seen.cbid, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
	driver_call("cuCtxDestroy_v2", &(cuCtxDestroy_v2_params){ (void *)1000 });
	assert_int_equal(seen.cbid, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
	assert_int_equal(seen.calls, 4);
	driver_call("cuCtxDestroy_v2", &(cuCtxDestroy_v2_params){ (void *)1000 });
	assert_int_equal(seen.calls, 4);
}

static void test_api_records(void **state)
{
	CUpti_ActivityAPI *record;
	CUpti_ActivityExternalCorrelation *external;
	uint64_t last = 0;

	(void)state;
	start(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
	OK(p_cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 41));
	OK(p_cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 42));
	api(SIM_RUNTIME, "cudaMalloc", 1, true);
	api(SIM_RUNTIME, "cudaMalloc", 1, false);
	OK(p_cuptiActivityFlushAll(0));
	/* no API kind on: an external id has no record to precede */
	assert_int_equal(record_count, 0);
	OK(p_cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, 1));
	api(SIM_RUNTIME, "cudaMalloc", 2, true);
	api(SIM_RUNTIME, "cudaMalloc", 2, false);
	api(SIM_RUNTIME, "cudaFree", 3, true);
	api(SIM_RUNTIME, "cudaFree", 3, false);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 2);
	external = (void *)records[0];
	assert_int_equal(external->kind, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
	assert_int_equal(external->externalId, 42);
	assert_int_equal(external->correlationId, 2);
	record = (void *)records[1];
	assert_int_equal(record->kind, CUPTI_ACTIVITY_KIND_RUNTIME);
	assert_int_equal(record->cbid, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020);
	assert_true(record->start && record->start <= record->end);
	OK(p_cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last));
	assert_int_equal(last, 42);
	OK(p_cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL));
	assert_int_equal(p_cuptiActivityPopExternalCorrelationId(
				 CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL),
			 CUPTI_ERROR_QUEUE_EMPTY);
}

static void test_second_subscriber(void **state)
{
	CUpti_SubscriberHandle first, second;
	char other[64] = "";
	CUpti_SubscriberParams mine = { .structSize = CUpti_SubscriberParams_STRUCT_SIZE,
					.subscriberName = "one" };
	CUpti_SubscriberParams params = { .structSize = CUpti_SubscriberParams_STRUCT_SIZE,
					  .oldSubscriberName = other, .oldSubscriberSize = 64 };

	(void)state;
	OK(p_cuptiSubscribe_v2(&first, callback, &seen, &mine));
	assert_int_equal(p_cuptiSubscribe_v2(&second, callback, &seen, &params), 39);
	assert_string_equal(other, "CUPTI for one");
	OK(p_cuptiUnsubscribe(first));
	OK(p_cuptiSubscribe(&second, callback, &seen));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_callbacks), CASE(test_graph_node_callbacks),
		CASE(test_contexts_and_streams), CASE(test_api_records),
		CASE(test_second_subscriber),
	};

	find_folder();
	load_driver();
	load_cupti("libcupti.so.13");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
