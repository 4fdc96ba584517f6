/* The stand-in runtime on the simulated driver: every function of the installed header exists and
 * stands a call with nothing but zeros; semaphores and conditions by way of the runtime. */
#include "simdrv.h"
#include <cuda_runtime_api.h>

#ifndef CUDA_RT_H
#error "CUDA_RT_H: the path of cuda_runtime_api.h"
#endif

static void *rt_lib;

/* R(cudaMalloc)(...) */
#define R(name) ((__typeof__(&name))dlsym(rt_lib, #name))

typedef cudaError_t any_fn(long, long, long, long, long, long, long, long, long, long, long, long,
			   long, long, long, long, long, long);

static void header_stands_zeros(void **state)
{
	(void)state;
	static const char prototype[] = "cudaError_t CUDARTAPI ";
	char line[4096], name[128];
	unsigned n = 0;
	FILE *header = fopen(CUDA_RT_H, "r");
	assert_non_null(header);
	while (fgets(line, sizeof line, header)) {
		const char *p = strstr(line, prototype);
		if (!p || sscanf(p + strlen(prototype), "%127[A-Za-z0-9_]", name) != 1)
			continue;
		any_fn *fn;
		*(void **)&fn = dlsym(rt_lib, name);
		if (!fn)
			fail_msg("%s does not exist", name);
		cudaError_t result = fn(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		if (!strcmp(R(cudaGetErrorName)(result), "unrecognized error code"))
			fail_msg("%s: %d is no result", name, (int)result);
		n++;
	}
	fclose(header);
	assert_true(n > 250);
	R(cudaGetLastError)();
}

static cudaExternalSemaphore_t semaphore(void)
{
	cudaExternalSemaphore_t s;
	struct cudaExternalSemaphoreHandleDesc desc = {
	    .type = cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd, .handle.fd = dup(2)};
	OK(R(cudaImportExternalSemaphore)(&s, &desc));
	return s;
}

static void semaphores(void **state)
{
	(void)state;
	cudaStream_t a, b;
	cudaGraph_t graph;
	cudaGraphNode_t node;
	cudaGraphExec_t exec;
	cudaExternalSemaphore_t s = semaphore();
	struct cudaExternalSemaphoreSignalParams up = {.params.fence.value = 1};
	struct cudaExternalSemaphoreWaitParams till = {.params.fence.value = 2};
	struct cudaExternalSemaphoreSignalNodeParams params = {&s, &up, 1}, got;
	OK(R(cudaStreamCreateWithFlags)(&a, cudaStreamNonBlocking));
	OK(R(cudaStreamCreateWithFlags)(&b, cudaStreamNonBlocking));
	OK(R(cudaWaitExternalSemaphoresAsync)(&s, &till, 1, a));
	OK(R(cudaSignalExternalSemaphoresAsync)(&s, &up, 1, b));
	OK(R(cudaStreamSynchronize)(b));
	assert_int_equal(R(cudaStreamQuery)(a), cudaErrorNotReady);
	OK(R(cudaGraphCreate)(&graph, 0));
	OK(R(cudaGraphAddExternalSemaphoresSignalNode)(&node, graph, NULL, 0, &params));
	up.params.fence.value = 2; /* the node has its own copy until told */
	OK(R(cudaGraphExternalSemaphoresSignalNodeGetParams)(node, &got));
	assert_int_equal(got.paramsArray[0].params.fence.value, 1);
	OK(R(cudaGraphExternalSemaphoresSignalNodeSetParams)(node, &params));
	OK(R(cudaGraphInstantiate)(&exec, graph, 0));
	OK(R(cudaGraphLaunch)(exec, b));
	OK(R(cudaStreamSynchronize)(a));
	OK(R(cudaGraphExecDestroy)(exec));
	OK(R(cudaGraphDestroy)(graph));
	OK(R(cudaDestroyExternalSemaphore)(s));
	assert_int_equal(R(cudaSignalExternalSemaphoresAsync)(&s, &up, 1, b),
			 cudaErrorInvalidResourceHandle);
	assert_int_equal(R(cudaGetLastError)(), cudaErrorInvalidResourceHandle);
}

/* A body captured into a conditional node runs when the default says so. */
static void conditions(void **state)
{
	(void)state;
	cudaStream_t s;
	cudaGraph_t graph, body;
	cudaGraphNode_t node;
	cudaGraphExec_t exec;
	unsigned char *p, seen[2] = {0, 0};
	struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional};
	OK(R(cudaMalloc)((void **)&p, 2));
	OK(R(cudaMemset)(p, 0, 2));
	OK(R(cudaStreamCreateWithFlags)(&s, cudaStreamNonBlocking));
	OK(R(cudaGraphCreate)(&graph, 0));
	for (unsigned value = 0; value < 2; value++) {
		OK(R(cudaGraphConditionalHandleCreate)(&params.conditional.handle, graph, value,
						       cudaGraphCondAssignDefault));
		params.conditional.type = cudaGraphCondTypeIf;
		params.conditional.size = 1;
		OK(R(cudaGraphAddNode)(&node, graph, NULL, NULL, 0, &params));
		body = params.conditional.phGraph_out[0];
		OK(R(cudaStreamBeginCaptureToGraph)(s, body, NULL, NULL, 0,
						    cudaStreamCaptureModeGlobal));
		OK(R(cudaMemsetAsync)(p + value, 7, 1, s));
		OK(R(cudaStreamEndCapture)(s, NULL));
	}
	OK(R(cudaGraphInstantiate)(&exec, graph, 0));
	OK(R(cudaGraphLaunch)(exec, s));
	OK(R(cudaStreamSynchronize)(s));
	OK(R(cudaMemcpy)(seen, p, 2, cudaMemcpyDeviceToHost));
	assert_int_equal(seen[0], 0);
	assert_int_equal(seen[1], 7);
	OK(R(cudaGraphExecDestroy)(exec));
	OK(R(cudaGraphDestroy)(graph));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(semaphores), cmocka_unit_test(conditions),
	    cmocka_unit_test(header_stands_zeros), /* last: it ends the device's context as well */
	};
	char path[4096];
	Dl_info info;
	drv_open(); /* the runtime finds the driver by its name, which is loaded already */
	dladdr(dlsym(drv_lib, "cuInit"), &info);
	snprintf(path, sizeof path, "%.*s/libcudart.so.13",
		 (int)(strrchr(info.dli_fname, '/') - info.dli_fname), info.dli_fname);
	rt_lib = dlopen(path, RTLD_NOW);
	if (!rt_lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
