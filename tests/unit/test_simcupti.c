/* The stand-in CUPTI against the rules of the real one, driven through a fake driver. */
#include "tests/unit/simcupti_client.h"

/* --- layouts --- */
static void test_sizes(void **state)
{
	static const struct {
		CUpti_ActivityKind kind;
		size_t size;
	} want[] = {
		{ CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 216 },
		{ CUPTI_ACTIVITY_KIND_KERNEL, 216 },
		{ CUPTI_ACTIVITY_KIND_MEMCPY, 96 },
		{ CUPTI_ACTIVITY_KIND_MEMCPY2, 96 },
		{ CUPTI_ACTIVITY_KIND_MEMSET, 88 },
		{ CUPTI_ACTIVITY_KIND_MEMORY2, 128 },
		{ CUPTI_ACTIVITY_KIND_MEMORY_POOL, 80 },
		{ CUPTI_ACTIVITY_KIND_RUNTIME, 40 },
		{ CUPTI_ACTIVITY_KIND_DRIVER, 40 },
		{ CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 24 },
		{ CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 56 },
		{ CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 56 },
		{ CUPTI_ACTIVITY_KIND_OVERHEAD, 56 },
		{ CUPTI_ACTIVITY_KIND_CONTEXT, 32 },
		{ CUPTI_ACTIVITY_KIND_DEVICE, 184 },
		{ CUPTI_ACTIVITY_KIND_CUDA_EVENT, 56 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		_Alignas(8) uint8_t buffer[512] = { 0 };
		CUpti_Activity *record = NULL;

		((CUpti_Activity *)buffer)->kind = want[i].kind;
		((CUpti_Activity *)(buffer + want[i].size))->kind = CUPTI_ACTIVITY_KIND_RUNTIME;
		OK(p_cuptiActivityGetNextRecord(buffer, want[i].size + 40, &record));
		assert_ptr_equal(record, buffer);
		OK(p_cuptiActivityGetNextRecord(buffer, want[i].size + 40, &record));
		assert_ptr_equal(record, buffer + want[i].size);
		assert_int_equal(p_cuptiActivityGetNextRecord(buffer, want[i].size + 40, &record),
				 CUPTI_ERROR_MAX_LIMIT_REACHED);
		/* cut short: not a record */
		record = NULL;
		assert_int_equal(p_cuptiActivityGetNextRecord(buffer, want[i].size - 8, &record),
				 CUPTI_ERROR_INVALID_KIND);
	}
}

static void test_kernel_fields(void **state)
{
	CUpti_ActivityKernel9 *old;
	uint64_t now = now_ns();

	(void)state;
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	kernel(9, now - 5000, now - 2000);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 1);
	/* CUDA 12's structure is a prefix of what is there now. */
	old = record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	assert_non_null(old);
	assert_int_equal(old->correlationId, 9);
	assert_string_equal(old->name, "_Z5saxpyPf");
	assert_int_equal(old->gridY, 3);
	assert_int_equal(old->dynamicSharedMemory, 64);
	assert_int_equal(old->streamId, 7);
	/* the client's clock, to within what a scheduler may do between two reads */
	assert_in_range(old->start, now - 5000 + CLOCK_SHIFT - MS, now - 5000 + CLOCK_SHIFT + MS);
	assert_in_range(old->end - old->start, 2900, 3100);
}

/* --- flushes --- */
static void test_flush_holds_back_running_work(void **state)
{
	CUpti_ActivityKernel10 *record;

	(void)state;
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	past_kernel(1);
	kernel(2, now_ns(), now_ns() + 60 * MS);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 0);
	usleep(80 * 1000);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 2);
	record = record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1);
	assert_in_range(record->end - record->start, 59 * MS, 61 * MS);
}

static void test_forced_flush_cuts_once(void **state)
{
	CUpti_ActivityKernel10 *record;

	(void)state;
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	kernel(2, now_ns(), now_ns() + 30 * MS);
	OK(p_cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	assert_int_equal(record_count, 1);
	record = record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	assert_int_equal(record->end, 0);
	assert_int_not_equal(record->start, 0);
	usleep(40 * 1000);
	OK(p_cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	assert_int_equal(record_count, 1);
}

static void test_completion_is_on_own_thread(void **state)
{
	(void)state;
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	past_kernel(1);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(completed, 1);
	assert_false(pthread_equal(completer, pthread_self()));
}

static void test_full_buffers_come_without_flush(void **state)
{
	(void)state;
	buffer_size = 4 * 216 + 8;
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	for (uint32_t i = 1; i <= 9; i++)
		past_kernel(i);
	for (int i = 0; i < 200 && completed < 2; i++)
		usleep(5000);
	assert_int_equal(completed, 2);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 9);
	for (unsigned i = 0; i < 9; i++) {
		CUpti_ActivityKernel10 *r = record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, i);

		assert_int_equal(r->correlationId, i + 1);
	}
	assert_int_equal(requested, 3);
}

static void test_no_buffer_means_dropped(void **state)
{
	size_t dropped = 0;

	(void)state;
	refuse_buffers = true;
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	past_kernel(1);
	past_kernel(2);
	OK(p_cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	assert_int_equal(dropped, 2);
	OK(p_cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	assert_int_equal(dropped, 0);
	refuse_buffers = false;
	past_kernel(3);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 1);
}

static void *other_thread(void *arg)
{
	(void)arg;
	past_kernel(2);
	return NULL;
}

static void run_two_threads(bool per_thread, int buffers)
{
	uint8_t value = per_thread;
	size_t size = sizeof(value);
	pthread_t thread;

	OK(p_cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size,
				       &value));
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	past_kernel(1);
	assert_int_equal(pthread_create(&thread, NULL, other_thread, NULL), 0);
	pthread_join(thread, NULL);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 2);
	assert_int_equal(requested, buffers);
	assert_int_equal(completed, buffers);
}

static void test_buffer_per_thread(void **state)
{
	(void)state;
	run_two_threads(true, 2);
}

static void test_one_buffer_for_all(void **state)
{
	(void)state;
	run_two_threads(false, 1);
}

#define WRITERS 4
#define EACH 2000

static void *submit(void *first)
{
	for (uint32_t i = 0; i < EACH; i++)
		past_kernel((uint32_t)(uintptr_t)first + i);
	return NULL;
}

/* Field case 4.09: threads fill and complete buffers at once. */
static void test_threads_lose_nothing(void **state)
{
	pthread_t threads[WRITERS];

	(void)state;
	buffer_size = 2000;
	memset(correlations, 0, sizeof(correlations));
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	for (uintptr_t i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, submit, (void *)(1 + i * EACH)),
				 0);
	for (int i = 0; i < 50; i++)
		OK(p_cuptiActivityFlushAll(i & 1));
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	OK(p_cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	assert_int_equal(record_count, WRITERS * EACH);
	for (int i = 1; i <= WRITERS * EACH; i++)
		assert_int_equal(correlations[i], 1);
	assert_int_equal(requested, completed);
}

/* --- what is enabled --- */
static void test_only_enabled_kinds(void **state)
{
	struct sim_activity copy = { .kind = SIM_MEMCPY, .copy_kind = 1, .bytes = 64,
				     .context_id = 20, .start_ns = 1, .end_ns = 2 };

	(void)state;
	assert_int_equal(p_cuptiActivityFlushAll(0), CUPTI_ERROR_INVALID_OPERATION);
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	report(&copy);
	past_kernel(1);
	OK(p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
	report(&copy);
	OK(p_cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	past_kernel(2);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(count_of(CUPTI_ACTIVITY_KIND_MEMCPY), 1);
	assert_int_equal(count_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 1);
	assert_int_equal(record_count, 2);
}

static void test_refused_kinds(void **state)
{
	(void)state;
	assert_int_equal(p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID),
			 CUPTI_ERROR_INVALID_KIND);
	assert_int_equal(p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_COUNT),
			 CUPTI_ERROR_INVALID_KIND);
	assert_int_equal(p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE),
			 CUPTI_ERROR_NOT_COMPATIBLE);
	OK(p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	assert_int_equal(p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL),
			 CUPTI_ERROR_NOT_COMPATIBLE);
	assert_int_equal(p_cuptiActivityEnableHWTrace(1), CUPTI_ERROR_NOT_SUPPORTED);
}

static void test_one_context_only(void **state)
{
	(void)state;
	start(CUPTI_ACTIVITY_KIND_MEMSET);
	OK(p_cuptiActivityEnableContext((CUcontext)20, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	past_kernel(1);
	report(&(struct sim_activity){
		.kind = SIM_KERNEL, .context_id = 21, .start_ns = 1, .end_ns = 2, .name = "k" });
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 1);
}

static void graph_launch(void)
{
	struct sim_activity node = { .kind = SIM_KERNEL, .correlation = 9, .context_id = 20,
				     .graph_id = 3, .start_ns = 1, .end_ns = 2, .name = "k" };
	struct sim_activity graph = { .kind = SIM_GRAPH, .correlation = 9, .context_id = 20,
				      .graph_id = 3, .start_ns = 1, .end_ns = 9 };

	for (uint64_t i = 1; i <= 20; i++) {
		node.graph_node_id = i;
		report(&node);
	}
	report(&graph);
}

static void test_graph_nodes_share_correlation(void **state)
{
	(void)state;
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	graph_launch();
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 20);
	for (unsigned i = 0; i < 20; i++) {
		CUpti_ActivityKernel10 *r = record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, i);

		assert_int_equal(r->correlationId, 9);
		assert_int_equal(r->graphNodeId, i + 1);
		assert_int_equal(r->graphId, 3);
	}
}

static void test_graph_trace_hides_nodes(void **state)
{
	CUpti_ActivityGraphTrace2 *graph;

	(void)state;
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	OK(p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
	graph_launch();
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 1);
	graph = record_of(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 0);
	assert_int_equal(graph->correlationId, 9);
	assert_int_equal(graph->graphId, 3);
}

static void test_unified_memory_needs_its_counter(void **state)
{
	struct sim_activity work = { .kind = SIM_UVM, .copy_kind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
				     .bytes = 4096, .start_ns = 1, .end_ns = 2 };
	CUpti_ActivityUnifiedMemoryCounterConfig config = {
		.kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, .enable = 1
	};

	(void)state;
	start(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	report(&work);
	OK(p_cuptiActivityConfigureUnifiedMemoryCounter(&config, 1));
	report(&work);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_sizes), CASE(test_kernel_fields),
		CASE(test_flush_holds_back_running_work), CASE(test_forced_flush_cuts_once),
		CASE(test_completion_is_on_own_thread), CASE(test_full_buffers_come_without_flush),
		CASE(test_no_buffer_means_dropped), CASE(test_buffer_per_thread),
		CASE(test_one_buffer_for_all),
		CASE(test_threads_lose_nothing), CASE(test_only_enabled_kinds),
		CASE(test_refused_kinds), CASE(test_one_context_only),
		CASE(test_graph_nodes_share_correlation), CASE(test_graph_trace_hides_nodes),
		CASE(test_unified_memory_needs_its_counter),
	};

	find_folder();
	load_driver();
	load_cupti("libcupti.so.13");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
