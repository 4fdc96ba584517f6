/* The stand-in CUPTI on the simulated driver: what a program does comes out as records. */
#include "tests/unit/simcupti_client.h"

#define DRIVER(X) \
	X(cuInit) X(cuDeviceGet) X(cuCtxCreate) X(cuCtxDestroy) X(cuStreamCreate)                  \
	X(cuStreamDestroy)                                                                         \
	X(cuStreamSynchronize) X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoDAsync) X(cuMemsetD8Async) \
	X(cuModuleLoadData) X(cuModuleGetFunction) X(cuLaunchKernel) X(cuStreamBeginCapture) \
	X(cuStreamEndCapture) X(cuGraphInstantiate) X(cuGraphLaunch) X(cuGraphGetNodes)            \
	X(cuStreamGetId)                                                                           \
	X(cuCtxGetId)
#define X(name) static __typeof__(&name) d_##name;
DRIVER(X)
#undef X

/* cuda.h renames many functions to their newest form: look up what the name stands for. */
#define TEXT(name) TEXT_(name)
#define TEXT_(name) #name

static CUcontext context;
static CUstream stream;
static CUfunction saxpy;

static void load_sim_driver(void)
{
	char path[sizeof(folder) + 64];
	void *driver;

	snprintf(path, sizeof(path), "%s/../sim/libcuda.so.1", folder);
	driver = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!driver) {
		fprintf(stderr, "%s\n", dlerror());
		abort();
	}
#define X(name) *(void **)&d_##name = dlsym(driver, TEXT(name)); if (!d_##name) abort();
	DRIVER(X)
#undef X
}

static void make_context(void)
{
	static const char image[64] = "\177ELF";
	CUmodule module;
	CUdevice device;

	OK(d_cuInit(0));
	OK(d_cuDeviceGet(&device, 0));
	OK(d_cuCtxCreate(&context, NULL, 0, device));
	OK(d_cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(d_cuModuleLoadData(&module, image));
	OK(d_cuModuleGetFunction(&saxpy, module, "_Z5saxpyPf"));
}

static void launch(unsigned blocks)
{
	OK(d_cuLaunchKernel(saxpy, blocks, 1, 1, 128, 1, 1, 0, stream, NULL, NULL));
}

static void enable_all(void)
{
	static const CUpti_ActivityKind kinds[] = {
		CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_STREAM,
		CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMORY2,
		CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_DRIVER,
	};

	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		OK(p_cuptiActivityEnable(kinds[i]));
}

static void test_program(void **state)
{
	CUpti_ActivityKernel10 *kernel_record;
	CUpti_ActivityMemory4 *allocation, *release;
	CUpti_ActivityMemcpy6 *copy;
	CUpti_ActivitySynchronization2 *sync;
	unsigned long long stream_id, context_id;
	static char host[4096];
	CUdeviceptr memory;

	(void)state;
	buffer_size = 65536;
	enable_all();
	make_context();
	OK(d_cuMemAlloc(&memory, sizeof(host)));
	OK(d_cuMemcpyHtoDAsync(memory, host, sizeof(host), stream));
	launch(8);
	OK(d_cuMemsetD8Async(memory, 7, sizeof(host), stream));
	OK(d_cuStreamSynchronize(stream));
	OK(d_cuMemFree(memory));
	OK(p_cuptiActivityFlushAll(0));

	assert_true(count_of(CUPTI_ACTIVITY_KIND_DEVICE) >= 1);
	assert_int_equal(count_of(CUPTI_ACTIVITY_KIND_CONTEXT), 1);
	assert_true(count_of(CUPTI_ACTIVITY_KIND_STREAM) >= 1);
	assert_int_equal(count_of(CUPTI_ACTIVITY_KIND_MEMSET), 1);
	assert_true(count_of(CUPTI_ACTIVITY_KIND_DRIVER) >= 10);

	OK(d_cuStreamGetId(stream, &stream_id));
	OK(d_cuCtxGetId(context, &context_id));
	assert_int_equal(count_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 1);
	kernel_record = record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	assert_string_equal(kernel_record->name, "_Z5saxpyPf");
	assert_int_equal(kernel_record->gridX, 8);
	assert_int_equal(kernel_record->streamId, stream_id);
	assert_int_equal(kernel_record->contextId, context_id);
	assert_true(kernel_record->start && kernel_record->end > kernel_record->start);

	copy = record_of(CUPTI_ACTIVITY_KIND_MEMCPY, 0);
	assert_non_null(copy);
	assert_int_equal(copy->bytes, sizeof(host));
	assert_int_equal(copy->copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
	assert_true(copy->end <= kernel_record->start);

	sync = record_of(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 0);
	assert_non_null(sync);
	assert_int_equal(sync->type, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
	assert_true(sync->end >= kernel_record->end);

	allocation = record_of(CUPTI_ACTIVITY_KIND_MEMORY2, 0);
	release = record_of(CUPTI_ACTIVITY_KIND_MEMORY2, 1);
	assert_true(allocation && release);
	assert_int_equal(allocation->memoryOperationType,
			 CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
	assert_int_equal(release->memoryOperationType,
			 CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
	assert_int_equal(allocation->address, memory);
	assert_int_equal(allocation->bytes, sizeof(host));
	assert_true(allocation->timestamp < release->timestamp);
}

/* The launch's record carries the call's correlation id, by which a profiler finds its way back. */
static void test_correlation(void **state)
{
	CUpti_ActivityKernel10 *kernel_record;
	CUpti_ActivityAPI *call = NULL;

	(void)state;
	enable_all();
	launch(1);
	OK(d_cuStreamSynchronize(stream));
	OK(p_cuptiActivityFlushAll(0));
	kernel_record = record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	assert_non_null(kernel_record);
	for (unsigned i = 0; i < count_of(CUPTI_ACTIVITY_KIND_DRIVER); i++) {
		CUpti_ActivityAPI *one = record_of(CUPTI_ACTIVITY_KIND_DRIVER, i);

		if (one->cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
			call = one;
	}
	assert_non_null(call);
	assert_int_equal(call->correlationId, kernel_record->correlationId);
	assert_true(call->start <= kernel_record->start + MS);
}

static void test_graph(void **state)
{
	CUpti_ActivityKernel10 *first, *second;
	CUgraphNode nodes[2];
	uint64_t ids[2];
	size_t count = 2;
	CUgraph graph;
	CUgraphExec exec;

	(void)state;
	enable_all();
	OK(d_cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	launch(1);
	launch(2);
	OK(d_cuStreamEndCapture(stream, &graph));
	OK(d_cuGraphGetNodes(graph, nodes, &count));
	assert_int_equal(count, 2);
	OK(p_cuptiGetGraphNodeId(nodes[0], &ids[0]));
	OK(p_cuptiGetGraphNodeId(nodes[1], &ids[1]));
	assert_true(ids[0] && ids[1] && ids[0] != ids[1]);
	OK(d_cuGraphInstantiate(&exec, graph, 0));
	OK(d_cuGraphLaunch(exec, stream));
	OK(d_cuStreamSynchronize(stream));
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(count_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 2);
	first = record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	second = record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1);
	assert_int_equal(first->correlationId, second->correlationId);
	assert_true(first->graphId && first->graphNodeId &&
		    first->graphNodeId != second->graphNodeId);

	record_count = 0;
	OK(p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
	OK(d_cuGraphLaunch(exec, stream));
	OK(d_cuStreamSynchronize(stream));
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(count_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 0);
	assert_int_equal(count_of(CUPTI_ACTIVITY_KIND_GRAPH_TRACE), 1);
}

static unsigned ended[3];

static void resource_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
			      const void *data)
{
	const CUpti_ResourceData *resource = data;
	uint32_t id;

	(void)user;
	(void)domain;
	/* still there: asking for the id works */
	if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
		ended[0] += p_cuptiGetContextId(resource->context, &id) == CUPTI_SUCCESS;
	if (cbid == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING)
		ended[1] += resource->resourceHandle.stream != NULL;
	if (cbid == CUPTI_CBID_RESOURCE_STREAM_CREATED)
		ended[2] += resource->resourceHandle.stream != NULL;
}

/* Last: it ends the context of the others. */
static void test_ends(void **state)
{
	CUpti_SubscriberHandle handle;

	(void)state;
	OK(p_cuptiSubscribe(&handle, resource_callback, NULL));
	OK(p_cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_RESOURCE));
	OK(d_cuStreamCreate(&stream, 0));
	assert_int_equal(ended[2], 1);
	OK(d_cuStreamDestroy(stream));
	assert_int_equal(ended[1], 1);
	OK(d_cuCtxDestroy(context));
	assert_int_equal(ended[0], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_program), CASE(test_correlation), CASE(test_graph), CASE(test_ends),
	};

	find_folder();
	load_sim_driver();
	load_cupti("libcupti.so.13");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
