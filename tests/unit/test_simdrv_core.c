/* The simulated driver: look-ups, error codes, timelines, streams, copies. */
#include "simdrv.h"

static void lookups_all_resolve(void **state)
{
	(void)state;
	Dl_info info;
	unsigned n = 0;
#define LOOKUP(name, version, flags, symbol)                                                       \
	do {                                                                                       \
		void *fn = drv_get(#name, version, flags);                                         \
		if (!fn)                                                                           \
			fail_msg("%s@%d is not found", #name, version);                            \
		assert_true(dladdr(fn, &info) && info.dli_sname);                                  \
		if (flags && strcmp(info.dli_sname, symbol))                                       \
			fail_msg("%s@%d is %s", #name, version, info.dli_sname);                   \
		n++;                                                                               \
	} while (0);
#include "simdrv_lookups.def"
	assert_int_equal(n, 439);
}

static void lookup_status(void **state)
{
	(void)state;
	CUdriverProcAddressQueryResult status;
	void *fn = &fn;
	__typeof__(&cuGetProcAddress) get = D(cuGetProcAddress);
	OK(get("", &fn, 0, 0, &status));
	assert_null(fn);
	assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	OK(get("cuMemAllocAsync", &fn, 11010, 0, &status));
	assert_int_equal(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	OK(get("cuMemAlloc", &fn, 3020, 0, &status));
	assert_ptr_equal(fn, dlsym(drv_lib, "cuMemAlloc_v2"));
	OK(get("cuMemAlloc", &fn, 2000, 0, &status));
	assert_ptr_equal(fn, dlsym(drv_lib, "cuMemAlloc"));
	assert_int_equal(get("cuMemAlloc", &fn, 99000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(get(NULL, &fn, 3020, 0, NULL), CUDA_ERROR_INVALID_VALUE);
	const void *table = &table;
	assert_int_equal(D(cuGetExportTable)(&table, NULL), CUDA_ERROR_NOT_SUPPORTED);
	assert_ptr_equal(table, &table);
}

static void errors_before_init(void **state)
{
	(void)state;
	CUdeviceptr p = 7;
	assert_int_equal(D(cuMemAlloc)(&p, 64), CUDA_ERROR_NOT_INITIALIZED);
	assert_int_equal(p, 7);
	OK(D(cuInit)(0));
	assert_int_equal(D(cuMemAlloc)(&p, 64), CUDA_ERROR_INVALID_CONTEXT);
	assert_int_equal(D(cuDeviceGet)((CUdevice *)&p, 5), CUDA_ERROR_INVALID_DEVICE);
}

static void errors_of_handles(void **state)
{
	(void)state;
	CUdeviceptr p = 7;
	CUstream stream, stale;
	drv_context();
	assert_int_equal(D(cuMemAlloc)(&p, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(D(cuMemAlloc)(NULL, 64), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(D(cuMemAlloc)(&p, (size_t)1 << 45), CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(p, 7);
	assert_int_equal(D(cuMemFree)(0x1234), CUDA_ERROR_INVALID_VALUE);
	OK(D(cuMemFree)(0));
	OK(D(cuMemAlloc)(&p, 64));
	OK(D(cuMemFree)(p));
	assert_int_equal(D(cuMemFree)(p), CUDA_ERROR_INVALID_VALUE);
	OK(D(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
	stale = stream;
	OK(D(cuStreamDestroy)(stream));
	assert_int_equal(D(cuStreamSynchronize)(stale), CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(drv_launch((CUfunction)&p, NULL), CUDA_ERROR_INVALID_HANDLE);
	CUcontext own, popped;
	OK(((CUresult(*)(CUcontext *, unsigned, CUdevice))dlsym(drv_lib, "cuCtxCreate_v2"))(&own, 0,
											    0));
	OK(D(cuCtxPopCurrent)(&popped));
	assert_ptr_equal(own, popped);
	OK(D(cuCtxPushCurrent)(own));
	OK(D(cuCtxDestroy)(own));
	assert_int_equal(D(cuCtxSetCurrent)(own), CUDA_ERROR_INVALID_CONTEXT);
}

static void time_passes(void **state)
{
	(void)state;
	CUevent a, b;
	CUstream s;
	float ms = 0;
	drv_context();
	CUfunction f = drv_kernel("timed");
	OK(D(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING));
	OK(D(cuEventCreate)(&a, 0));
	OK(D(cuEventCreate)(&b, 0));
	OK(D(cuEventRecord)(a, s));
	for (int i = 0; i < 1000; i++)
		OK(drv_launch(f, s));
	OK(D(cuEventRecord)(b, s));
	assert_int_equal(D(cuStreamQuery)(s), CUDA_ERROR_NOT_READY);
	assert_int_equal(D(cuEventElapsedTime)(&ms, a, b), CUDA_ERROR_NOT_READY);
	OK(D(cuStreamSynchronize)(s));
	OK(D(cuEventElapsedTime)(&ms, a, b));
	assert_true(ms >= 19.99f && ms < 200.0f); /* 1000 kernels of 20 us */
	OK(D(cuStreamDestroy)(s));
}

static void legacy_stream_waits(void **state)
{
	(void)state;
	CUstream blocking, free_one;
	drv_context();
	CUfunction f = drv_kernel("legacy");
	OK(D(cuStreamCreate)(&blocking, 0));
	OK(D(cuStreamCreate)(&free_one, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < 500; i++)
		OK(drv_launch(f, blocking));
	OK(D(cuStreamQuery)(free_one));
	assert_int_equal(D(cuStreamQuery)(NULL), CUDA_ERROR_NOT_READY);
	OK(D(cuStreamSynchronize)(NULL));
	OK(D(cuStreamQuery)(blocking));
}

struct order {
	CUdeviceptr device;
	int host_ran;
	unsigned char *pinned;
};

static void host_step(void *data)
{
	struct order *o = data;
	usleep(20000);
	memset(o->pinned, 0x5a, 16);
	o->host_ran++;
}

static void host_functions_in_order(void **state)
{
	(void)state;
	struct order o = {0};
	unsigned char back[16] = {0};
	CUstream s;
	CUevent e;
	drv_context();
	OK(D(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING));
	OK(D(cuEventCreate)(&e, 0));
	OK(D(cuMemAlloc)(&o.device, 16));
	OK(D(cuMemHostAlloc)((void **)&o.pinned, 16, 0));
	OK(D(cuLaunchHostFunc)(s, host_step, &o));
	OK(D(cuMemcpyHtoDAsync)(o.device, o.pinned, 16, s)); /* must see what the function wrote */
	OK(D(cuEventRecord)(e, s));
	assert_int_equal(D(cuEventQuery)(e), CUDA_ERROR_NOT_READY);
	OK(D(cuStreamWaitEvent)(NULL, e, 0));
	OK(D(cuStreamSynchronize)(NULL));
	assert_int_equal(o.host_ran, 1);
	OK(D(cuMemcpyDtoH)(back, o.device, 16));
	assert_int_equal(back[7], 0x5a);
	OK(D(cuStreamSynchronize)(s));
}

static void boxes_move(void **state)
{
	(void)state;
	CUdeviceptr p;
	size_t pitch;
	unsigned char in[4][8], out[4][8];
	CUarray array;
	drv_context();
	for (int i = 0; i < 32; i++)
		in[i / 8][i % 8] = (unsigned char)i;
	OK(D(cuMemAllocPitch)(&p, &pitch, 8, 4, 4));
	CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
			   .srcHost = in,
			   .srcPitch = 8,
			   .WidthInBytes = 8,
			   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			   .dstDevice = p,
			   .dstPitch = pitch,
			   .Height = 4};
	OK(D(cuMemcpy2D)(&c));
	OK(D(cuMemcpyDtoH)(out, p + 2 * pitch, 8));
	assert_memory_equal(out[0], in[2], 8);
	const CUDA_ARRAY_DESCRIPTOR desc = {8, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1};
	OK(D(cuArrayCreate)(&array, &desc));
	c = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			    .srcDevice = p,
			    .srcPitch = pitch,
			    .Height = 4,
			    .dstMemoryType = CU_MEMORYTYPE_ARRAY,
			    .dstArray = array,
			    .WidthInBytes = 8};
	OK(D(cuMemcpy2D)(&c));
	memset(out, 0, sizeof out);
	OK(D(cuMemcpyAtoH)(out, array, 0, 32));
	assert_memory_equal(out, in, 32);
	c.Height = 5;
	assert_int_equal(D(cuMemcpy2D)(&c), CUDA_ERROR_INVALID_VALUE);
	OK(D(cuMemsetD2D8)(p, pitch, 9, 8, 4));
	OK(D(cuMemcpyDtoH)(out, p + 3 * pitch, 8));
	assert_int_equal(out[0][7], 9);
	assert_int_equal(D(cuMemcpyDtoH)(out, p, 4 * pitch + 1), CUDA_ERROR_INVALID_VALUE);
	OK(D(cuArrayDestroy)(array));
	OK(D(cuMemFree)(p));
}

int main(void)
{
	drv_open();
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lookups_all_resolve),
	    cmocka_unit_test(lookup_status),
	    cmocka_unit_test(errors_before_init),
	    cmocka_unit_test(errors_of_handles),
	    cmocka_unit_test(time_passes),
	    cmocka_unit_test(legacy_stream_waits),
	    cmocka_unit_test(host_functions_in_order),
	    cmocka_unit_test(boxes_move),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
