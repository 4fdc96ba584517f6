/* The scripted faults of the stand-in CUPTI, and processes that lack a driver or end too early. */
#include "tests/unit/simcupti_client.h"

static void callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
		     const void *data)
{
	(void)user;
	(void)domain;
	(void)cbid;
	(void)data;
}

static void start_with(const char *fault, const char *value)
{
	setenv(fault, value, 1);
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

/* --- faults --- */
static void test_fault_subscribe(void **state)
{
	CUpti_SubscriberHandle handle;
	char other[64] = "";
	CUpti_SubscriberParams params = { .structSize = CUpti_SubscriberParams_STRUCT_SIZE,
					  .oldSubscriberName = other, .oldSubscriberSize = 64 };

	(void)state;
	setenv("TSTRACE_SIM_CUPTI_SUBSCRIBE", "39", 1);
	setenv("TSTRACE_SIM_CUPTI_OTHER_TOOL", "CUPTI for somebody", 1);
	assert_int_equal(p_cuptiSubscribe_v2(&handle, callback, NULL, &params), 39);
	assert_string_equal(other, "CUPTI for somebody");
	setenv("TSTRACE_SIM_CUPTI_SUBSCRIBE", "35", 1);
	assert_int_equal(p_cuptiSubscribe(&handle, callback, NULL), 35);
	assert_int_equal(p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME), 35);
}

static void test_fault_enable(void **state)
{
	(void)state;
	setenv("TSTRACE_SIM_CUPTI_ENABLE", "49:27,50:41", 1);
	assert_int_equal(p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMORY2), 27);
	assert_int_equal(p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMORY_POOL), 41);
	OK(p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
}

static void test_fault_timestamp(void **state)
{
	uint64_t now = 0;

	(void)state;
	OK(p_cuptiGetTimestamp(&now));
	assert_int_not_equal(now, 0);
	OK(p_cuptiFinalize());
	setenv("TSTRACE_SIM_CUPTI_TIMESTAMP", "999", 1);
	assert_int_equal(p_cuptiGetTimestamp(&now), 999);
}

static CUpti_ActivityKernel10 *second_of_two(void)
{
	past_kernel(1);
	past_kernel(2);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(count_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 2);
	return record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1);
}

static void test_fault_zero_time(void **state)
{
	CUpti_ActivityKernel10 *first, *second;

	(void)state;
	start_with("TSTRACE_SIM_CUPTI_ZERO_TIME", "2");
	second = second_of_two();
	first = record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	assert_true(second->start == 0 && second->end == 0);
	assert_true(first->start && first->end > first->start);
}

static void test_fault_reversed(void **state)
{
	CUpti_ActivityKernel10 *record;

	(void)state;
	start_with("TSTRACE_SIM_CUPTI_REVERSED", "2");
	record = second_of_two();
	assert_true(record->end && record->end < record->start);
}

static void test_fault_sentinel(void **state)
{
	(void)state;
	start_with("TSTRACE_SIM_CUPTI_SENTINEL", "2");
	assert_true(second_of_two()->start == UINT64_C(1) << 63);
}

static void test_fault_end_zero(void **state)
{
	CUpti_ActivityKernel10 *record;

	(void)state;
	start_with("TSTRACE_SIM_CUPTI_END_ZERO", "2");
	record = second_of_two();
	assert_true(record->start && !record->end);
}

static void test_fault_clock(void **state)
{
	CUpti_ActivityKernel10 *record;

	(void)state;
	start_with("TSTRACE_SIM_CUPTI_CLOCK_OFFSET", "1000000000000000000");
	record = second_of_two();
	assert_in_range(record->start, UINT64_C(1000000000000000000),
			UINT64_C(1100000000000000000));
}

static void test_fault_overlap(void **state)
{
	CUpti_ActivityKernel10 *first, *second;

	(void)state;
	start_with("TSTRACE_SIM_CUPTI_OVERLAP", "500");
	second = second_of_two();
	first = record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	assert_in_range(first->end - second->start, 490, 510);
}

static void test_fault_unknown_correlation(void **state)
{
	(void)state;
	start_with("TSTRACE_SIM_CUPTI_UNKNOWN_CORRELATION", "2");
	assert_true(second_of_two()->correlationId > 0x70000000);
}

static void test_fault_dropped(void **state)
{
	size_t dropped = 0;

	(void)state;
	setenv("TSTRACE_SIM_CUPTI_DROP_EVERY", "3", 1);
	start_with("TSTRACE_SIM_CUPTI_DROPPED", "1234");
	for (uint32_t i = 1; i <= 6; i++)
		past_kernel(i);
	OK(p_cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	assert_int_equal(dropped, 1236);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 4);
}

static void test_fault_out_of_order(void **state)
{
	CUpti_ActivityKernel10 *record;

	(void)state;
	buffer_size = 216;
	start_with("TSTRACE_SIM_CUPTI_OUT_OF_ORDER", "1");
	kernel(1, now_ns(), now_ns() + 300 * MS);
	kernel(2, now_ns(), now_ns() + 300 * MS);
	usleep(400 * 1000);
	past_kernel(3);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 3);
	record = record_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 2);
	assert_int_equal(record->correlationId, 1);
}

static void test_fault_on_caller(void **state)
{
	(void)state;
	start_with("TSTRACE_SIM_CUPTI_ON_CALLER", "1");
	past_kernel(1);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 1);
	assert_true(pthread_equal(completer, pthread_self()));
}

static void test_fault_on_both(void **state)
{
	(void)state;
	buffer_size = 216;
	start_with("TSTRACE_SIM_CUPTI_ON_CALLER", "2");
	for (uint32_t i = 0; i < 200; i++)
		kernel(i, now_ns(), now_ns() + MS);
	usleep(5000);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(record_count, 200);
}

static void test_fault_empty_buffers(void **state)
{
	(void)state;
	start_with("TSTRACE_SIM_CUPTI_EMPTY", "1");
	past_kernel(1);
	OK(p_cuptiActivityFlushAll(0));
	assert_int_equal(empty, 1);
	assert_int_equal(completed, 2);
	assert_int_equal(record_count, 1);
}

static void test_fault_slow_flush(void **state)
{
	uint64_t before = now_ns();

	(void)state;
	start_with("TSTRACE_SIM_CUPTI_FLUSH_MS", "30");
	OK(p_cuptiActivityFlushAll(0));
	assert_true(now_ns() - before >= 30 * MS);
}

/* In a process of its own: what a fault does at its end cannot be seen from inside. */
static int in_child(void (*run)(void))
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		run();
		exit(0);
	}
	waitpid(child, &status, 0);
	return status;
}

static void misuse_after_fork(void)
{
	p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
}

static void fail_after_fork(void)
{
	if (p_cuptiActivityFlushAll(0) != CUPTI_ERROR_UNKNOWN)
		_exit(1);
}

static void test_child_of_fork_must_not_use_it(void **state)
{
	int status;

	(void)state;
	start(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	assert_int_equal(in_child(fail_after_fork), 0);
	setenv("TSTRACE_SIM_CUPTI_FORK_ABORT", "1", 1);
	status = in_child(misuse_after_fork);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* --- processes that start afresh: this program run again with a mode as argument --- */
static int rerun(const char *mode)
{
	char command[sizeof(folder) + 64];

	snprintf(command, sizeof(command), "timeout 20 %s/test_simcupti_faults %s", folder, mode);
	return system(command);
}

static void test_late_buffer(void **state)
{
	(void)state;
	setenv("TSTRACE_SIM_CUPTI_LATE", "50", 1);
	assert_int_equal(rerun("late"), 0);
}

static void test_no_driver(void **state)
{
	(void)state;
	assert_int_equal(rerun("no-driver"), 0);
}

static void test_cuda_12(void **state)
{
	(void)state;
	assert_int_equal(rerun("cuda12"), 0);
}

static uint64_t main_returned;

static void complete_late(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
			  size_t valid)
{
	(void)context;
	(void)stream;
	(void)size;
	(void)buffer;
	_exit(valid == 216 && now_ns() - main_returned >= 50 * MS ? 0 : 1);
}

static int mode_late(void)
{
	OK(p_cuptiActivityRegisterCallbacks(request, complete_late));
	OK(p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	past_kernel(1);
	OK(p_cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	main_returned = now_ns();
	return 2;
}

static int mode_no_driver(void)
{
	CUpti_SubscriberHandle handle;

	return !(p_cuptiSubscribe(&handle, callback, NULL) == 999 &&
		 p_cuptiActivityRegisterCallbacks(request, complete) == 0 &&
		 p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME) == 999);
}

static int mode_cuda_12(void)
{
	_Alignas(8) uint8_t buffer[512] = { CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL };
	CUpti_Activity *record = NULL;
	uint32_t version = 0;

	p_cuptiGetVersion(&version);
	buffer[208] = CUPTI_ACTIVITY_KIND_RUNTIME;
	p_cuptiActivityGetNextRecord(buffer, 400, &record);
	p_cuptiActivityGetNextRecord(buffer, 400, &record);
	return !(version == 28 && (uint8_t *)record == buffer + 208);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(test_fault_subscribe), CASE(test_fault_enable), CASE(test_fault_timestamp),
		CASE(test_fault_zero_time), CASE(test_fault_reversed), CASE(test_fault_sentinel),
		CASE(test_fault_end_zero), CASE(test_fault_clock), CASE(test_fault_overlap),
		CASE(test_fault_unknown_correlation), CASE(test_fault_dropped),
		CASE(test_fault_out_of_order), CASE(test_fault_on_caller),
		CASE(test_fault_on_both), CASE(test_fault_empty_buffers),
		CASE(test_fault_slow_flush), CASE(test_child_of_fork_must_not_use_it),
		CASE(test_late_buffer), CASE(test_no_driver), CASE(test_cuda_12),
	};
	const char *mode = argc > 1 ? argv[1] : "";

	find_folder();
	if (strcmp(mode, "no-driver"))
		load_driver();
	load_cupti(strcmp(mode, "cuda12") ? "libcupti.so.13" : "libcupti.so.12");
	if (!strcmp(mode, "late"))
		return mode_late();
	if (!strcmp(mode, "no-driver"))
		return mode_no_driver();
	if (!strcmp(mode, "cuda12"))
		return mode_cuda_12();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
