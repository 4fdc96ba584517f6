/* The simulated driver: capture, graphs, pools, virtual memory. */
#include "simdrv.h"
#include "tests/sim/observer.h"

struct seen {
	unsigned kernels, graphs, nodes, copies;
	uint32_t graph_correlation;
	int same_correlation;
	uint64_t node_ids;
};

static void activity(void *user, const struct sim_activity *work)
{
	struct seen *seen = user;
	seen->kernels += work->kind == SIM_KERNEL;
	seen->copies += work->kind == SIM_MEMCPY;
	seen->graphs += work->kind == SIM_GRAPH;
	if (work->graph_node_id) {
		seen->nodes++;
		if (seen->graph_correlation && seen->graph_correlation != work->correlation)
			seen->same_correlation = 0;
		seen->graph_correlation = work->correlation;
		assert_true(work->end_ns > work->start_ns);
	}
}

static void observe(struct seen *seen)
{
	int (*set)(const struct sim_observer *);
	const struct sim_observer o = {
	    .version = SIM_OBSERVER_VERSION, .user = seen, .activity = activity};
	*(void **)&set = dlsym(drv_lib, "tstrace_sim_observe");
	assert_int_equal(set(seen ? &o : NULL), 0);
}

static void capture_across_streams(void **state)
{
	(void)state;
	CUstream a, b;
	CUevent fork, join;
	CUgraph graph;
	CUgraphExec exec;
	CUdeviceptr p;
	CUgraphNode nodes[8];
	size_t n = 8;
	struct seen seen = {.same_correlation = 1};
	drv_context();
	CUfunction f = drv_kernel("captured");
	OK(D(cuMemAlloc)(&p, 64));
	OK(D(cuStreamCreate)(&a, 0));
	OK(D(cuStreamCreate)(&b, 0));
	OK(D(cuEventCreate)(&fork, 0));
	OK(D(cuEventCreate)(&join, 0));
	OK(D(cuStreamBeginCapture)(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(drv_launch(f, a));
	OK(D(cuEventRecord)(fork, a));
	OK(D(cuStreamWaitEvent)(b, fork, 0));
	OK(D(cuMemsetD8Async)(p, 3, 64, b));
	OK(D(cuEventRecord)(join, b));
	OK(drv_launch(f, a));
	OK(D(cuStreamWaitEvent)(a, join, 0));
	OK(D(cuStreamEndCapture)(a, &graph));
	OK(D(cuGraphGetNodes)(graph, nodes, &n));
	assert_int_equal(n, 3);
	OK(D(cuGraphInstantiate)(&exec, graph, 0));
	OK(D(cuGraphDestroy)(graph));
	observe(&seen);
	OK(D(cuGraphLaunch)(exec, a));
	OK(D(cuStreamSynchronize)(a));
	observe(NULL);
	assert_int_equal(seen.kernels, 2);
	assert_int_equal(seen.nodes, 3);
	assert_int_equal(seen.graphs, 1);
	assert_true(seen.same_correlation);
	unsigned char back[64];
	OK(D(cuMemcpyDtoH)(back, p, 64));
	assert_int_equal(back[63], 3);
	OK(D(cuGraphExecDestroy)(exec));
	assert_int_equal(D(cuGraphLaunch)(exec, a), CUDA_ERROR_INVALID_VALUE);
}

static void capture_errors(void **state)
{
	(void)state;
	CUstreamCaptureStatus status;
	CUstream a, b;
	CUevent e;
	CUgraph graph;
	CUdeviceptr p = 0;
	drv_context();
	CUfunction f = drv_kernel("captured");
	OK(D(cuStreamCreate)(&a, 0));
	OK(D(cuStreamCreate)(&b, CU_STREAM_NON_BLOCKING));
	OK(D(cuEventCreate)(&e, 0));
	assert_int_equal(D(cuStreamBeginCapture)(NULL, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	OK(D(cuStreamBeginCapture)(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
	assert_int_equal(D(cuMemAlloc)(&p, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	assert_int_equal(p, 0);
	assert_int_equal(D(cuStreamEndCapture)(a, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	assert_null(graph);
	OK(D(cuStreamBeginCapture)(a, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(D(cuMemAlloc)(&p, 64));
	assert_int_equal(drv_launch(f, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	assert_int_equal(D(cuStreamEndCapture)(a, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(D(cuStreamBeginCapture)(a, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(D(cuEventRecord)(e, a));
	OK(D(cuStreamWaitEvent)(b, e, 0));
	OK(drv_launch(f, b));
	/* Asking is refused, and changes nothing. */
	assert_int_equal(D(cuStreamIsCapturing)(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	assert_int_equal(D(cuStreamEndCapture)(a, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
	OK(D(cuStreamSynchronize)(b));
	OK(D(cuMemFree)(p));
}

static void memory_nodes(void **state)
{
	(void)state;
	CUstream s;
	CUgraph graph;
	CUgraphExec exec;
	CUdeviceptr p;
	size_t before, during, after, total;
	drv_context();
	OK(D(cuStreamCreate)(&s, 0));
	OK(D(cuStreamBeginCapture)(s, 0));
	OK(D(cuMemAllocAsync)(&p, 1 << 20, s));
	OK(D(cuMemsetD8Async)(p, 1, 1 << 20, s));
	OK(D(cuStreamEndCapture)(s, &graph));
	OK(D(cuGraphInstantiate)(&exec, graph, 0));
	OK(D(cuMemGetInfo)(&before, &total));
	OK(D(cuGraphLaunch)(exec, s));
	OK(D(cuStreamSynchronize)(s));
	OK(D(cuMemGetInfo)(&during, &total));
	assert_int_equal(before - during, 1 << 20);
	assert_int_equal(D(cuGraphLaunch)(exec, s), CUDA_ERROR_INVALID_VALUE);
	OK(D(cuMemFreeAsync)(p, s));
	OK(D(cuStreamSynchronize)(s));
	OK(D(cuMemGetInfo)(&after, &total));
	assert_int_equal(after, before);
	assert_int_equal(D(cuMemFreeAsync)(p, s), CUDA_ERROR_INVALID_VALUE);
	OK(D(cuGraphExecDestroy)(exec));
	OK(D(cuGraphDestroy)(graph));
}

static void pools(void **state)
{
	(void)state;
	CUmemoryPool pool;
	CUdeviceptr p;
	CUstream s;
	cuuint64_t n, keep = 1 << 20;
	drv_context();
	OK(D(cuStreamCreate)(&s, 0));
	const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	OK(D(cuMemPoolCreate)(&pool, &props));
	OK(D(cuMemPoolSetAttribute)(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
	OK(D(cuMemAllocFromPoolAsync)(&p, 4096, pool, s));
	OK(D(cuMemPoolGetAttribute)(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &n));
	assert_int_equal(n, 4096);
	OK(D(cuMemFreeAsync)(p, s));
	assert_int_equal(D(cuMemFreeAsync)(p, s), CUDA_ERROR_INVALID_VALUE);
	OK(D(cuMemPoolGetAttribute)(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &n));
	assert_int_equal(n, 4096);
	OK(D(cuMemPoolTrimTo)(pool, 0));
	OK(D(cuMemPoolGetAttribute)(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &n));
	assert_int_equal(n, 0);
	OK(D(cuMemPoolDestroy)(pool));
	assert_int_equal(D(cuMemPoolTrimTo)(pool, 0), CUDA_ERROR_INVALID_VALUE);
}

static void virtual_memory(void **state)
{
	(void)state;
	CUdeviceptr a, b;
	CUmemGenericAllocationHandle h;
	size_t size;
	const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
					  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	const CUmemAccessDesc rw = {{.type = CU_MEM_LOCATION_TYPE_DEVICE},
				    CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	unsigned value = 0;
	drv_context();
	OK(D(cuMemGetAllocationGranularity)(&size, &prop, 0));
	OK(D(cuMemAddressReserve)(&a, size, 0, 0, 0));
	OK(D(cuMemAddressReserve)(&b, size, 0, 0, 0));
	assert_int_equal(D(cuMemCreate)(&h, size + 1, &prop, 0), CUDA_ERROR_INVALID_VALUE);
	OK(D(cuMemCreate)(&h, size, &prop, 0));
	OK(D(cuMemMap)(a, size, 0, h, 0));
	OK(D(cuMemMap)(b, size, 0, h, 0));
	OK(D(cuMemSetAccess)(a, size, &rw, 1));
	OK(D(cuMemSetAccess)(b, size, &rw, 1));
	OK(D(cuMemsetD32)(a, 0xfeed, 4));
	OK(D(cuMemcpyDtoH)(&value, b + 12, 4)); /* the same bytes at two places */
	assert_int_equal(value, 0xfeed);
	assert_int_equal(D(cuMemAddressFree)(a, size), CUDA_ERROR_INVALID_VALUE);
	OK(D(cuMemRelease)(h));
	OK(D(cuMemUnmap)(a, size));
	OK(D(cuMemUnmap)(b, size));
	OK(D(cuMemAddressFree)(a, size));
	OK(D(cuMemAddressFree)(b, size));
}

int main(void)
{
	drv_open();
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(capture_across_streams), cmocka_unit_test(capture_errors),
	    cmocka_unit_test(memory_nodes),	      cmocka_unit_test(pools),
	    cmocka_unit_test(virtual_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
