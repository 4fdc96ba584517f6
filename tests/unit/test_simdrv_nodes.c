/* The simulated driver: nodes of every kind, their attributes, conditions, external semaphores. */
#include "simdrv.h"

static CUgraph new_graph(void)
{
	CUgraph graph;
	OK(D(cuGraphCreate)(&graph, 0));
	return graph;
}

static CUstream launch(CUgraph graph)
{
	CUgraphExec exec;
	CUstream stream;
	OK(D(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
	OK(D(cuGraphInstantiate)(&exec, graph, 0));
	OK(D(cuGraphLaunch)(exec, stream));
	OK(D(cuGraphExecDestroy)(exec));
	return stream;
}

static CUgraphNodeParams memset_of(CUdeviceptr p, unsigned value, size_t n)
{
	CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
	params.memset.dst = p;
	params.memset.value = value;
	params.memset.elementSize = 1;
	params.memset.width = n;
	params.memset.height = 1;
	return params;
}

static CUgraphNode add(CUgraph graph, CUgraphNodeParams *params)
{
	CUgraphNode node;
	OK(D(cuGraphAddNode)(&node, graph, NULL, NULL, 0, params));
	return node;
}

static unsigned char byte_at(CUdeviceptr p)
{
	unsigned char byte;
	OK(D(cuMemcpyDtoH)(&byte, p, 1));
	return byte;
}

static void kernel_attributes(void **state)
{
	(void)state;
	drv_context();
	CUgraph graph = new_graph(), clone;
	CUgraphNode a, b, c;
	CUkernelNodeAttrValue value = {.priority = -3}, got;
	const CUDA_KERNEL_NODE_PARAMS params = {
	    drv_kernel("k"), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL, NULL};
	OK(D(cuGraphAddKernelNode)(&a, graph, NULL, 0, &params));
	OK(D(cuGraphAddKernelNode)(&b, graph, &a, 1, &params));
	__typeof__(&cuGraphKernelNodeGetAttribute) get = D(cuGraphKernelNodeGetAttribute);
	OK(get(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got));
	assert_int_equal(got.priority, 0);
	OK(D(cuGraphKernelNodeSetAttribute)(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
	OK(D(cuGraphKernelNodeCopyAttributes)(b, a));
	OK(get(b, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got));
	assert_int_equal(got.priority, -3);
	OK(D(cuGraphClone)(&clone, graph));
	OK(D(cuGraphNodeFindInClone)(&c, b, clone));
	OK(get(c, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got));
	assert_int_equal(got.priority, -3);
	assert_int_equal(get(a, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, &got),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(get((CUgraphNode)&value, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got),
			 CUDA_ERROR_INVALID_VALUE);
	OK(D(cuGraphDestroy)(clone));
	OK(D(cuGraphDestroy)(graph));
	assert_int_equal(get(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got), CUDA_ERROR_INVALID_VALUE);
}

/* Both layouts of a kernel node's parameters are read and written in one node. */
static void kernel_layouts(void **state)
{
	(void)state;
	drv_context();
	CUgraphNode node;
	CUDA_KERNEL_NODE_PARAMS_v1 old = {
	    .func = drv_kernel("k"), 4, 1, 1, 64, 1, 1, .sharedMemBytes = 16};
	CUDA_KERNEL_NODE_PARAMS now;
	CUgraph graph = new_graph();
	CUresult (*add_v1)(CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
			   const CUDA_KERNEL_NODE_PARAMS_v1 *);
	CUresult (*get_v1)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v1 *);
	*(void **)&add_v1 = dlsym(drv_lib, "cuGraphAddKernelNode");
	*(void **)&get_v1 = dlsym(drv_lib, "cuGraphKernelNodeGetParams");
	OK(add_v1(&node, graph, NULL, 0, &old));
	OK(D(cuGraphKernelNodeGetParams)(node, &now));
	assert_int_equal(now.blockDimX, 64);
	assert_ptr_equal(now.func, old.func);
	assert_null(now.kern);
	now.gridDimX = 7;
	OK(D(cuGraphKernelNodeSetParams)(node, &now));
	OK(get_v1(node, &old));
	assert_int_equal(old.gridDimX, 7);
	old.blockDimX = 2000;
	assert_int_equal(add_v1(&node, graph, NULL, 0, &old), CUDA_ERROR_INVALID_VALUE);
	size_t n = 0;
	OK(D(cuGraphGetNodes)(graph, NULL, &n));
	assert_int_equal(n, 1);
	OK(D(cuGraphDestroy)(graph));
}

static void batch_nodes(void **state)
{
	(void)state;
	drv_context();
	CUdeviceptr p;
	CUstream s;
	CUgraph graph;
	CUgraphNode node;
	CUgraphExec exec;
	CUgraphNodeType type;
	size_t n = 1;
	OK(D(cuMemAlloc)(&p, 64));
	OK(D(cuMemsetD8)(p, 0, 64));
	CUstreamBatchMemOpParams ops[2] = {
	    {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = p}},
	    {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64, .address = p + 8}},
	};
	ops[0].writeValue.value = 5;
	ops[1].writeValue.value64 = 6;
	OK(D(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING));
	OK(D(cuStreamBeginCapture)(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(D(cuStreamBatchMemOp)(s, 2, ops, 0));
	OK(D(cuStreamEndCapture)(s, &graph));
	OK(D(cuGraphGetNodes)(graph, &node, &n));
	assert_int_equal(n, 1);
	OK(D(cuGraphNodeGetType)(node, &type));
	assert_int_equal(type, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
	OK(D(cuGraphInstantiate)(&exec, graph, 0));
	ops[0].writeValue.value = 50; /* the node has a copy */
	OK(D(cuGraphLaunch)(exec, s));
	OK(D(cuStreamSynchronize)(s));
	assert_int_equal(byte_at(p), 5);
	assert_int_equal(byte_at(p + 8), 6);
	CUDA_BATCH_MEM_OP_NODE_PARAMS params = {.count = 1, .paramArray = ops}, got;
	OK(D(cuGraphExecBatchMemOpNodeSetParams)(exec, node, &params));
	OK(D(cuGraphLaunch)(exec, s));
	OK(D(cuStreamSynchronize)(s));
	assert_int_equal(byte_at(p), 50);
	OK(D(cuGraphBatchMemOpNodeGetParams)(node, &got));
	assert_int_equal(got.count, 2);
	params.paramArray = NULL;
	assert_int_equal(D(cuGraphBatchMemOpNodeSetParams)(node, &params),
			 CUDA_ERROR_INVALID_VALUE);
	ops[0].operation = 77;
	assert_int_equal(D(cuStreamBatchMemOp)(s, 2, ops, 0), CUDA_ERROR_INVALID_VALUE);
	OK(D(cuGraphDestroy)(graph));
	OK(D(cuGraphExecDestroy)(exec));
}

static CUgraphNodeParams condition_of(CUgraph graph, unsigned value, int type, unsigned size)
{
	CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
	OK(D(cuGraphConditionalHandleCreate)(&params.conditional.handle, graph, NULL, value,
					     CU_GRAPH_COND_ASSIGN_DEFAULT));
	params.conditional.type = type;
	params.conditional.size = size;
	return params;
}

/* Which of two bodies ran is seen by what it wrote. */
static unsigned char ran(unsigned value, int type, unsigned size)
{
	CUdeviceptr p;
	CUgraph graph = new_graph();
	OK(D(cuMemAlloc)(&p, 16));
	OK(D(cuMemsetD8)(p, 0, 16));
	CUgraphNodeParams params = condition_of(graph, value, type, size);
	add(graph, &params);
	for (unsigned i = 0; i < size; i++) {
		CUgraphNodeParams set = memset_of(p, i + 1, 16);
		add(params.conditional.phGraph_out[i], &set);
	}
	OK(D(cuStreamSynchronize)(launch(graph)));
	assert_int_equal(D(cuGraphDestroy)(params.conditional.phGraph_out[0]),
			 CUDA_ERROR_INVALID_VALUE);
	OK(D(cuGraphDestroy)(graph));
	unsigned char seen = byte_at(p);
	OK(D(cuMemFree)(p));
	return seen;
}

static void conditions(void **state)
{
	(void)state;
	drv_context();
	assert_int_equal(ran(1, CU_GRAPH_COND_TYPE_IF, 1), 1);
	assert_int_equal(ran(0, CU_GRAPH_COND_TYPE_IF, 1), 0);
	assert_int_equal(ran(0, CU_GRAPH_COND_TYPE_IF, 2), 2);
	assert_int_equal(ran(1, CU_GRAPH_COND_TYPE_WHILE, 1), 1);
	assert_int_equal(ran(0, CU_GRAPH_COND_TYPE_WHILE, 1), 0);
	assert_int_equal(ran(2, 2 /* switch */, 3), 3);
	assert_int_equal(ran(3, 2, 3), 0);
	CUgraph graph = new_graph();
	CUgraphNode node;
	CUgraphNodeParams params = condition_of(graph, 1, CU_GRAPH_COND_TYPE_WHILE, 2);
	assert_int_equal(D(cuGraphAddNode)(&node, graph, NULL, NULL, 0, &params),
			 CUDA_ERROR_INVALID_VALUE);
	OK(D(cuGraphDestroy)(graph));
	graph = new_graph();
	params.conditional.size = 1; /* the handle went with its graph */
	assert_int_equal(D(cuGraphAddNode)(&node, graph, NULL, NULL, 0, &params),
			 CUDA_ERROR_INVALID_VALUE);
	OK(D(cuGraphDestroy)(graph));
}

static CUexternalSemaphore semaphore(CUexternalSemaphoreHandleType type)
{
	CUexternalSemaphore s;
	const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {.type = type, .handle.fd = dup(2)};
	OK(D(cuImportExternalSemaphore)(&s, &desc));
	assert_int_equal(close(desc.handle.fd), -1); /* it became the driver's */
	return s;
}

static void semaphores(void **state)
{
	(void)state;
	drv_context();
	CUstream a, b;
	CUgraph graph;
	CUexternalSemaphore line =
				semaphore(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD),
			    flag = semaphore(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD);
	CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS up = {.params.fence.value = 3};
	CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS till = {.params.fence.value = 3};
	__typeof__(&cuSignalExternalSemaphoresAsync) up_by = D(cuSignalExternalSemaphoresAsync);
	__typeof__(&cuWaitExternalSemaphoresAsync) wait = D(cuWaitExternalSemaphoresAsync);
	OK(D(cuStreamCreate)(&a, CU_STREAM_NON_BLOCKING));
	OK(D(cuStreamCreate)(&b, CU_STREAM_NON_BLOCKING));
	OK(wait(&line, &till, 1, a));
	assert_int_equal(D(cuStreamQuery)(a), CUDA_ERROR_NOT_READY);
	up.params.fence.value = 2;
	OK(up_by(&line, &up, 1, b));
	OK(D(cuStreamSynchronize)(b));
	assert_int_equal(D(cuStreamQuery)(a), CUDA_ERROR_NOT_READY);
	up.params.fence.value = 3;
	OK(up_by(&line, &up, 1, b));
	OK(D(cuStreamSynchronize)(a));
	/* A binary one is taken by its wait. */
	OK(up_by(&flag, &up, 1, b));
	OK(wait(&flag, &till, 1, a));
	OK(D(cuStreamSynchronize)(a));
	OK(wait(&flag, &till, 1, a));
	assert_int_equal(D(cuStreamQuery)(a), CUDA_ERROR_NOT_READY);
	/* Captured, the signal is a node. */
	OK(D(cuStreamBeginCapture)(b, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(up_by(&flag, &up, 1, b));
	OK(D(cuStreamEndCapture)(b, &graph));
	CUstream c = launch(graph);
	OK(D(cuStreamSynchronize)(c));
	OK(D(cuStreamSynchronize)(a));
	OK(D(cuGraphDestroy)(graph));
	OK(D(cuDestroyExternalSemaphore)(flag));
	assert_int_equal(D(cuDestroyExternalSemaphore)(flag), CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(up_by(&flag, &up, 1, b), CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(wait(&line, NULL, 1, a), CUDA_ERROR_INVALID_VALUE);
	OK(D(cuDestroyExternalSemaphore)(line));
}

static void stream_attributes(void **state)
{
	(void)state;
	drv_context();
	CUstream a, b;
	CUstreamAttrValue value = {.priority = -2}, got;
	OK(D(cuStreamCreateWithPriority)(&a, 0, -1));
	OK(D(cuStreamCreate)(&b, 0));
	OK(D(cuStreamGetAttribute)(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got));
	assert_int_equal(got.priority, -1);
	OK(D(cuStreamSetAttribute)(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
	int priority;
	OK(D(cuStreamGetPriority)(a, &priority));
	assert_int_equal(priority, -2);
	value.syncPolicy = CU_SYNC_POLICY_YIELD;
	OK(D(cuStreamSetAttribute)(a, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
	OK(D(cuStreamCopyAttributes)(b, a));
	OK(D(cuStreamGetAttribute)(b, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &got));
	assert_int_equal(got.syncPolicy, CU_SYNC_POLICY_YIELD);
	assert_int_equal(D(cuStreamSetAttribute)(a, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value),
			 CUDA_ERROR_INVALID_VALUE);
	OK(D(cuStreamDestroy)(a));
	assert_int_equal(D(cuStreamGetAttribute)(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got),
			 CUDA_ERROR_INVALID_HANDLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(kernel_attributes), cmocka_unit_test(kernel_layouts),
	    cmocka_unit_test(batch_nodes),	 cmocka_unit_test(conditions),
	    cmocka_unit_test(semaphores),	 cmocka_unit_test(stream_attributes),
	};
	setenv("TSTRACE_SIM_KERNEL_NS", "1000", 1);
	drv_open();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
