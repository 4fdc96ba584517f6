// Graphs: captured from two streams, built by hand, updated, with allocations inside, launched often.
#include "check.h"

__global__ void add(float *x, float by) { x[threadIdx.x] += by; }
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }

static void CUDART_CB count(void *counter) { ++*(int *)counter; }

static void captured(float *x)
{
	cudaStream_t main_stream, side;
	cudaEvent_t fork, join;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	size_t nodes = 0;

	CHECK(cudaStreamCreate(&main_stream));
	CHECK(cudaStreamCreate(&side));
	CHECK(cudaEventCreate(&fork));
	CHECK(cudaEventCreate(&join));
	CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
	CHECK(cudaMemsetAsync(x, 0, 64 * sizeof(float), main_stream));
	CHECK(cudaEventRecord(fork, main_stream));
	CHECK(cudaStreamWaitEvent(side, fork, 0));
	add<<<1, 32, 0, main_stream>>>(x, 1);
	twice<<<1, 32, 0, side>>>(x + 32);
	CHECK(cudaEventRecord(join, side));
	CHECK(cudaStreamWaitEvent(main_stream, join, 0));
	twice<<<1, 64, 0, main_stream>>>(x);
	CHECK(cudaStreamEndCapture(main_stream, &graph));
	CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 3; i++)
		CHECK(cudaGraphLaunch(exec, main_stream));
	CHECK(cudaStreamSynchronize(main_stream));
	std::printf("captured: %zu nodes, 3 launches\n", nodes);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaEventDestroy(fork));
	CHECK(cudaEventDestroy(join));
	CHECK(cudaStreamDestroy(side));
	CHECK(cudaStreamDestroy(main_stream));
}

static void by_hand(float *x)
{
	static int calls;
	float host[32] = { 3 }, back[32] = { 0 };
	cudaGraph_t graph, child, clone;
	cudaGraphNode_t in, kernel, out, host_node, sub, empty;
	cudaGraphExec_t exec;
	cudaGraphExecUpdateResultInfo info;
	float by = 1;
	void *args[] = { &x, &by };
	cudaKernelNodeParams params = {};
	cudaHostNodeParams call = { count, &calls };

	params.func = (void *)add;
	params.gridDim = dim3(1);
	params.blockDim = dim3(32);
	params.kernelParams = args;
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphCreate(&child, 0));
	CHECK(cudaGraphAddEmptyNode(&empty, child, nullptr, 0));
	CHECK(cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, x, host, sizeof(host), cudaMemcpyHostToDevice));
	CHECK(cudaGraphAddKernelNode(&kernel, graph, &in, 1, &params));
	CHECK(cudaGraphAddChildGraphNode(&sub, graph, &kernel, 1, child));
	CHECK(cudaGraphAddMemcpyNode1D(&out, graph, &sub, 1, back, x, sizeof(back), cudaMemcpyDeviceToHost));
	CHECK(cudaGraphAddHostNode(&host_node, graph, &out, 1, &call));
	CHECK(cudaGraphClone(&clone, graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphUpload(exec, 0));
	CHECK(cudaGraphLaunch(exec, 0));
	CHECK(cudaDeviceSynchronize());
	params.func = (void *)add;
	by = 2;
	CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &params));
	CHECK(cudaGraphLaunch(exec, 0));
	CHECK(cudaGraphExecUpdate(exec, graph, &info));
	CHECK(cudaGraphLaunch(exec, 0));
	CHECK(cudaDeviceSynchronize());
	std::printf("by hand: host node ran %d times, update %s\n", calls,
		    info.result == cudaGraphExecUpdateSuccess ? "done" : "refused");
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(clone));
	CHECK(cudaGraphDestroy(child));
	CHECK(cudaGraphDestroy(graph));
}

static void with_memory()
{
	cudaGraph_t graph;
	cudaGraphNode_t alloc, set, release;
	cudaGraphExec_t exec;
	cudaMemAllocNodeParams memory = {};
	cudaMemsetParams clear = {};

	memory.bytesize = 1 << 20;
	memory.poolProps.allocType = cudaMemAllocationTypePinned;
	memory.poolProps.location.type = cudaMemLocationTypeDevice;
	memory.poolProps.location.id = 0;
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &memory));
	clear.dst = memory.dptr;
	clear.elementSize = 1;
	clear.width = 1 << 20;
	clear.height = 1;
	CHECK(cudaGraphAddMemsetNode(&set, graph, &alloc, 1, &clear));
	CHECK(cudaGraphAddMemFreeNode(&release, graph, &set, 1, memory.dptr));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphLaunch(exec, 0));
	CHECK(cudaGraphLaunch(exec, 0));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaDeviceGraphMemTrim(0));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	std::printf("memory nodes: %s\n", memory.dptr ? "an address" : "none");
}

int main()
{
	float *x;

	CHECK(cudaMalloc(&x, 64 * sizeof(float)));
	captured(x);
	by_hand(x);
	with_memory();
	CHECK(cudaFree(x));
	return 0;
}
