/* The simulated driver: managed memory's advice, shared physical memory, green contexts, the
 * linker, tensor maps, what modules list, graphs as DOT. */
#include "simdrv.h"

static int range(CUdeviceptr p, CUmem_range_attribute what)
{
	int value = 77;
	OK(D(cuMemRangeGetAttribute)(&value, sizeof value, what, p, 4096));
	return value;
}

static void advice(void **state)
{
	(void)state;
	drv_context();
	CUdeviceptr p;
	const CUmemLocation gpu = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
			    cpu = {.type = CU_MEM_LOCATION_TYPE_HOST},
			    none = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 9};
	OK(D(cuMemAllocManaged)(&p, 4096, CU_MEM_ATTACH_GLOBAL));
	assert_int_equal(range(p, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_INVALID);
	OK(D(cuMemAdvise)(p, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, gpu));
	OK(D(cuMemAdvise)(p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, cpu));
	OK(D(cuMemAdvise)(p, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, gpu));
	OK(D(cuMemAdvise)(p, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, cpu));
	assert_int_equal(range(p, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 1);
	assert_int_equal(range(p, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), CU_DEVICE_CPU);
	assert_int_equal(range(p, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE),
			 CU_MEM_LOCATION_TYPE_HOST);
	int by[3];
	OK(D(cuMemRangeGetAttribute)(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 4096));
	assert_int_equal(by[0], 0);
	assert_int_equal(by[1], CU_DEVICE_CPU);
	assert_int_equal(by[2], CU_DEVICE_INVALID);
	OK(D(cuMemPrefetchAsync)(p, 4096, gpu, 0, NULL));
	assert_int_equal(range(p, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), 0);
	assert_int_equal(D(cuMemAdvise)(p, 8192, CU_MEM_ADVISE_SET_READ_MOSTLY, gpu),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(D(cuMemAdvise)(p, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, none),
			 CUDA_ERROR_INVALID_DEVICE);
	OK(D(cuMemFree)(p));
}

static void batches(void **state)
{
	(void)state;
	drv_context();
	CUdeviceptr p[3];
	size_t sizes[3] = {4096, 4096, 4096}, firsts[2] = {0, 2};
	CUmemLocation places[2] = {{.type = CU_MEM_LOCATION_TYPE_DEVICE},
				   {.type = CU_MEM_LOCATION_TYPE_HOST}};
	CUstream s;
	OK(D(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < 3; i++)
		OK(D(cuMemAllocManaged)(&p[i], 4096, CU_MEM_ATTACH_GLOBAL));
	__typeof__(&cuMemPrefetchBatchAsync) prefetch = D(cuMemPrefetchBatchAsync);
	OK(prefetch(p, sizes, 3, places, firsts, 2, 0, s));
	OK(D(cuStreamSynchronize)(s));
	assert_int_equal(range(p[1], CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), 0);
	assert_int_equal(range(p[2], CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), CU_DEVICE_CPU);
	OK(D(cuMemDiscardBatchAsync)(p, sizes, 3, 0, s));
	assert_int_equal(range(p[2], CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION),
			 CU_DEVICE_INVALID);
	OK(D(cuMemDiscardAndPrefetchBatchAsync)(p, sizes, 3, places, firsts, 1, 0, s));
	assert_int_equal(range(p[2], CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), 0);
	firsts[1] = 3;
	assert_int_equal(prefetch(p, sizes, 3, places, firsts, 2, 0, s), CUDA_ERROR_INVALID_VALUE);
	sizes[1] = 8192;
	assert_int_equal(prefetch(p, sizes, 3, places, firsts, 1, 0, s), CUDA_ERROR_INVALID_VALUE);
}

#define CHUNK ((size_t)2 << 20)

static CUdeviceptr map(CUmemGenericAllocationHandle handle)
{
	CUdeviceptr p;
	const CUmemAccessDesc access = {.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
					.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	OK(D(cuMemAddressReserve)(&p, CHUNK, 0, 0, 0));
	OK(D(cuMemMap)(p, CHUNK, 0, handle, 0));
	OK(D(cuMemSetAccess)(p, CHUNK, &access, 1));
	return p;
}

/* The same bytes under two handles; the memory lives until the last is gone. */
static void shared_memory(void **state)
{
	(void)state;
	drv_context();
	CUmemGenericAllocationHandle a, b;
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
				    .location.type = CU_MEM_LOCATION_TYPE_DEVICE,
				    .requestedHandleTypes =
					CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
	int fd = -1;
	unsigned char byte = 0;
	__typeof__(&cuMemExportToShareableHandle) give = D(cuMemExportToShareableHandle);
	__typeof__(&cuMemImportFromShareableHandle) take = D(cuMemImportFromShareableHandle);
	OK(D(cuMemCreate)(&a, CHUNK, &prop, 0));
	OK(give(&fd, a, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	OK(take(&b, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	assert_int_equal(close(fd), 0);
	CUdeviceptr p = map(a), q = map(b);
	OK(D(cuMemsetD8)(p, 42, CHUNK));
	OK(D(cuMemUnmap)(p, CHUNK));
	OK(D(cuMemRelease)(a));
	OK(D(cuMemcpyDtoH)(&byte, q + CHUNK - 1, 1));
	assert_int_equal(byte, 42);
	OK(D(cuMemUnmap)(q, CHUNK));
	OK(D(cuMemRelease)(b));
	assert_int_equal(give(&fd, b, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
			 CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(take(&b, (void *)0, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
			 CUDA_ERROR_INVALID_VALUE);
	prop.requestedHandleTypes = 0;
	OK(D(cuMemCreate)(&a, CHUNK, &prop, 0));
	assert_int_equal(give(&fd, a, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
			 CUDA_ERROR_INVALID_VALUE);
	/* Handles of mapped memory are counted, apart from the mappings. */
	p = map(a);
	OK(D(cuMemRetainAllocationHandle)(&b, (void *)(uintptr_t)p));
	assert_true(a == b);
	OK(D(cuMemRelease)(a));
	OK(D(cuMemUnmap)(p, CHUNK));
	OK(D(cuMemRelease)(b));
	assert_int_equal(D(cuMemRelease)(b), CUDA_ERROR_INVALID_VALUE);
	CUmemoryPool pool;
	OK(D(cuDeviceGetDefaultMemPool)(&pool, 0));
	assert_int_equal(D(cuMemPoolExportToShareableHandle)(
			     &fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
			 CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(D(cuMemPoolExportToShareableHandle)(
			     &fd, (CUmemoryPool)&pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
			 CUDA_ERROR_INVALID_VALUE);
}

static void green_contexts(void **state)
{
	(void)state;
	CUcontext primary = drv_context(), ctx, of;
	CUdevResource all, half[2], rest, got;
	CUdevResourceDesc desc;
	CUgreenCtx green, back;
	CUstream s;
	CUevent e;
	CUdeviceptr p;
	unsigned n = 2, *gate;
	unsigned long long id = 0;
	OK(D(cuDeviceGetDevResource)(0, &all, CU_DEV_RESOURCE_TYPE_SM));
	OK(D(cuDevSmResourceSplitByCount)(half, &n, &all, &rest, 0, 12));
	assert_int_equal(n, 2);
	assert_int_equal(half[1].sm.smCount, 16);
	assert_int_equal(rest.sm.smCount, all.sm.smCount - 32);
	OK(D(cuDevResourceGenerateDesc)(&desc, half, 1));
	OK(D(cuGreenCtxCreate)(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
	OK(D(cuGreenCtxGetDevResource)(green, &got, CU_DEV_RESOURCE_TYPE_SM));
	assert_int_equal(got.sm.smCount, 16);
	OK(D(cuGreenCtxGetId)(green, &id));
	assert_true(id != 0);
	OK(D(cuCtxFromGreenCtx)(&ctx, green));
	assert_int_equal(D(cuCtxDestroy)(ctx), CUDA_ERROR_INVALID_CONTEXT);
	OK(D(cuGreenCtxStreamCreate)(&s, green, CU_STREAM_NON_BLOCKING, 0));
	OK(((__typeof__(&cuStreamGetCtx_v2))drv_get("cuStreamGetCtx", 12050, 0))(s, &of, &back));
	assert_ptr_equal(back, green);
	assert_null(of);
	OK(D(cuStreamGetGreenCtx)(NULL, &back));
	assert_null(back);
	CUfunction f = drv_kernel("k");
	OK(D(cuCtxSetCurrent)(ctx));
	OK(D(cuEventCreate)(&e, 0));
	OK(D(cuMemAlloc)(&p, 64));
	OK(D(cuMemHostAlloc)((void **)&gate, sizeof *gate, 0));
	*gate = 0;
	OK(D(cuStreamWaitValue32)(s, (CUdeviceptr)gate, 1, CU_STREAM_WAIT_VALUE_EQ));
	OK(drv_launch(f, s));
	OK(D(cuGreenCtxRecordEvent)(green, e));
	assert_int_equal(D(cuEventQuery)(e), CUDA_ERROR_NOT_READY);
	OK(D(cuGreenCtxWaitEvent)(green, e));
	OK(D(cuCtxSetCurrent)(primary)); /* whose stream may write: it waits for nothing */
	OK(D(cuStreamWriteValue32)(CU_STREAM_PER_THREAD, (CUdeviceptr)gate, 1, 0));
	OK(D(cuEventSynchronize)(e));
	OK(D(cuStreamQuery)(s));
	OK(D(cuEventDestroy)(e));
	OK(D(cuCtxSetCurrent)(primary));
	OK(D(cuGreenCtxDestroy)(green));
	assert_int_equal(D(cuGreenCtxDestroy)(green), CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(D(cuStreamSynchronize)(s), CUDA_ERROR_INVALID_HANDLE);
	OK(D(cuMemFree)(p)); /* the primary context's from then on */
	half[0].type = CU_DEV_RESOURCE_TYPE_INVALID;
	assert_int_equal(D(cuDevResourceGenerateDesc)(&desc, half, 1),
			 CUDA_ERROR_INVALID_RESOURCE_TYPE);
}

static void linker(void **state)
{
	(void)state;
	drv_context();
	CUlinkState link;
	CUmodule module;
	CUfunction f;
	char log[32] = "unwritten", ptx[] = ".version 8.0";
	void *image, *values[] = {log, (void *)sizeof log};
	size_t size = 0;
	CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
	OK(D(cuLinkCreate)(2, options, values, &link));
	assert_string_equal(log, "");
	assert_null(values[1]);
	assert_int_equal(D(cuLinkComplete)(link, &image, &size), CUDA_ERROR_INVALID_VALUE);
	OK(D(cuLinkAddData)(link, CU_JIT_INPUT_PTX, ptx, sizeof ptx, "a", 0, NULL, NULL));
	assert_int_equal(D(cuLinkAddFile)(link, CU_JIT_INPUT_CUBIN, "/nonexistent", 0, NULL, NULL),
			 CUDA_ERROR_FILE_NOT_FOUND);
	OK(D(cuLinkComplete)(link, &image, &size));
	assert_true(size > 0);
	OK(D(cuModuleLoadData)(&module, image));
	OK(D(cuLinkDestroy)(link));
	OK(D(cuModuleGetFunction)(&f, module, "any"));
	OK(drv_launch(f, NULL));
	OK(D(cuModuleUnload)(module));
	assert_int_equal(D(cuLinkDestroy)(link), CUDA_ERROR_INVALID_HANDLE);
}

static void tensor_maps(void **state)
{
	(void)state;
	drv_context();
	CUtensorMap map, before;
	CUdeviceptr p;
	const cuuint64_t dim[2] = {128, 64}, stride[1] = {256}, odd[1] = {250};
	const cuuint32_t box[2] = {64, 32}, big[2] = {64, 512}, step[2] = {1, 1};
	OK(D(cuMemAlloc)(&p, 128 * 64 * 2));
	__typeof__(&cuTensorMapEncodeTiled) tiled = D(cuTensorMapEncodeTiled);
#define TILED(address, strides, boxes)                                                             \
	tiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, address, dim, strides, boxes, step, 0,    \
	      CU_TENSOR_MAP_SWIZZLE_128B, 0, 0)
	OK(TILED((void *)p, stride, box));
	before = map;
	assert_int_equal(TILED((void *)p, odd, box), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(TILED((void *)p, stride, big), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(TILED((void *)(p + 8), stride, box), CUDA_ERROR_INVALID_VALUE);
	assert_memory_equal(&map, &before, sizeof map);
	OK(D(cuTensorMapReplaceAddress)(&map, (void *)(p + 64)));
	assert_memory_not_equal(&map, &before, sizeof map);
}

static void listed_kernels(void **state)
{
	(void)state;
	static const char image[64];
	drv_context();
	CUlibrary lib;
	CUmodule module;
	CUkernel kernels[4] = {NULL}, a, b;
	CUfunction functions[4] = {NULL};
	unsigned n = 9;
	const char *name;
	OK(D(cuLibraryLoadData)(&lib, image, NULL, NULL, 0, NULL, NULL, 0));
	OK(D(cuLibraryGetKernel)(&a, lib, "a"));
	OK(D(cuLibraryGetKernel)(&b, lib, "b"));
	OK(D(cuLibraryGetKernelCount)(&n, lib));
	assert_int_equal(n, 2);
	OK(D(cuLibraryEnumerateKernels)(kernels, 4, lib));
	assert_true((kernels[0] == a && kernels[1] == b) || (kernels[0] == b && kernels[1] == a));
	assert_null(kernels[2]);
	OK(D(cuLibraryGetModule)(&module, lib));
	OK(D(cuModuleEnumerateFunctions)(functions, 1, module));
	OK(D(cuFuncGetName)(&name, functions[0]));
	assert_true(!strcmp(name, "a") || !strcmp(name, "b"));
	assert_null(functions[1]);
	void *unified;
	assert_int_equal(D(cuLibraryGetUnifiedFunction)(&unified, lib, "a"), CUDA_ERROR_NOT_FOUND);
	OK(D(cuLibraryUnload)(lib));
	assert_int_equal(D(cuLibraryEnumerateKernels)(kernels, 4, lib), CUDA_ERROR_INVALID_HANDLE);
}

/* What is set on one of the two handles of a kernel holds for launches by the other. */
static void two_handles(void **state)
{
	(void)state;
	static const char image[64];
	drv_context();
	CUlibrary lib;
	CUkernel k;
	CUfunction f;
	const unsigned shared = 100000;
	OK(D(cuLibraryLoadData)(&lib, image, NULL, NULL, 0, NULL, NULL, 0));
	OK(D(cuLibraryGetKernel)(&k, lib, "k"));
	OK(D(cuKernelGetFunction)(&f, k));
	__typeof__(&cuLaunchKernel) launch = D(cuLaunchKernel);
	assert_int_equal(launch((CUfunction)k, 1, 1, 1, 32, 1, 1, shared, NULL, NULL, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	OK(D(cuFuncSetAttribute)(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared));
	OK(launch((CUfunction)k, 1, 1, 1, 32, 1, 1, shared, NULL, NULL, NULL));
	OK(D(cuKernelSetAttribute)(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0, k, 0));
	assert_int_equal(launch(f, 1, 1, 1, 32, 1, 1, shared, NULL, NULL, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	OK(D(cuLibraryUnload)(lib));
	assert_int_equal(launch(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL),
			 CUDA_ERROR_INVALID_HANDLE);
}

static void dot(void **state)
{
	(void)state;
	char path[] = "/tmp/tstrace-dot.XXXXXX", text[4096] = "";
	drv_context();
	CUgraph graph;
	CUgraphNode a, b;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	OK(D(cuGraphCreate)(&graph, 0));
	OK(D(cuGraphAddEmptyNode)(&a, graph, NULL, 0));
	const CUDA_KERNEL_NODE_PARAMS params = {.func = drv_kernel("drawn"), 1, 1, 1, 1, 1, 1};
	OK(D(cuGraphAddKernelNode)(&b, graph, &a, 1, &params));
	OK(D(cuGraphDebugDotPrint)(graph, path, 0));
	assert_true(read(fd, text, sizeof text - 1) > 0);
	assert_non_null(strstr(text, "drawn"));
	assert_non_null(strstr(text, " -> "));
	close(fd);
	unlink(path);
	assert_int_equal(D(cuGraphDebugDotPrint)(graph, "/nonexistent/x", 0),
			 CUDA_ERROR_OPERATING_SYSTEM);
	OK(D(cuGraphDestroy)(graph));
	assert_int_equal(D(cuGraphDebugDotPrint)(graph, path, 0), CUDA_ERROR_INVALID_VALUE);
}

static void empty_log(void **state)
{
	(void)state;
	drv_context();
	CUlogIterator at = 5;
	char text[16] = "unwritten";
	size_t size = sizeof text;
	OK(D(cuLogsCurrent)(&at, 0));
	OK(D(cuLogsDumpToMemory)(&at, text, &size, 0));
	assert_int_equal(size, 0);
	assert_string_equal(text, "");
	assert_int_equal(D(cuLogsUnregisterCallback)((CUlogsCallbackHandle)text),
			 CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(advice),
	    cmocka_unit_test(batches),
	    cmocka_unit_test(shared_memory),
	    cmocka_unit_test(green_contexts),
	    cmocka_unit_test(linker),
	    cmocka_unit_test(tensor_maps),
	    cmocka_unit_test(listed_kernels),
	    cmocka_unit_test(two_handles),
	    cmocka_unit_test(dot),
	    cmocka_unit_test(empty_log),
	};
	drv_open();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
