/* Tests of the simulated driver reach it as programs do: dlopen, then cuGetProcAddress. */
#ifndef TS_TEST_SIMDRV_H
#define TS_TEST_SIMDRV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *drv_lib;

/* TS_SIM_DIR, or ../sim beside the test. */
static void *drv_open(void)
{
	char path[4096] = "", *slash;
	const char *dir = getenv("TS_SIM_DIR");
	if (dir) {
		snprintf(path, sizeof path, "%s/libcuda.so.1", dir);
	} else if (readlink("/proc/self/exe", path, sizeof path - 64) > 0 &&
		   (slash = strrchr(path, '/'))) {
		strcpy(slash, "/../sim/libcuda.so.1");
	}
	drv_lib = dlopen(path, RTLD_NOW);
	if (!drv_lib)
		fail_msg("%s", dlerror());
	return drv_lib;
}

static void *drv_get(const char *name, int version, cuuint64_t flags)
{
	CUresult (*get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
	void *fn = NULL;
	*(void **)&get = dlsym(drv_lib, "cuGetProcAddress_v2");
	assert_non_null(get);
	assert_int_equal(get(name, &fn, version, flags, NULL), 0);
	return fn;
}

/* D(cuMemAlloc)(...): the newest form, as the header's macros name it. */
#define D(name) ((__typeof__(&name))drv_get(#name, 13000, 0))
#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

static inline CUcontext drv_context(void)
{
	CUcontext ctx;
	OK(D(cuInit)(0));
	OK(D(cuDevicePrimaryCtxRetain)(&ctx, 0));
	OK(D(cuCtxSetCurrent)(ctx));
	return ctx;
}

static inline CUfunction drv_kernel(const char *name)
{
	static const char image[64];
	CUmodule module;
	CUfunction f;
	OK(D(cuModuleLoadData)(&module, image));
	OK(D(cuModuleGetFunction)(&f, module, name));
	return f;
}

static inline CUresult drv_launch(CUfunction f, CUstream stream)
{
	return D(cuLaunchKernel)(f, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
}

#endif
