/* The driver found at run time, as Rust's cudarc (candle) and many bindings do: no CUDA library is
 * linked; some functions come from dlsym, some from cuGetProcAddress. */
#include <cuda.h>
#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *handle;
static PFN_cuGetProcAddress_v12000 get_proc_address;

static void *by_name(const char *name)
{
	void *p = dlsym(handle, name);

	if (!p) {
		fprintf(stderr, "%s: not found\n", name);
		exit(1);
	}
	return p;
}

static void *by_version(const char *name, int version)
{
	CUdriverProcAddressQueryResult status;
	void *p = NULL;

	if (get_proc_address(name, &p, version, CU_GET_PROC_ADDRESS_DEFAULT, &status) || !p) {
		fprintf(stderr, "%s: not found\n", name);
		exit(1);
	}
	return p;
}

static void check(CUresult result, const char *what)
{
	if (result) {
		fprintf(stderr, "%s: %d\n", what, (int)result);
		exit(1);
	}
}

static const char ptx[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry nothing(.param .u64 p)\n{\n\tret;\n}\n";

int main(void)
{
	PFN_cuMemAlloc_v3020 mem_alloc;
	PFN_cuMemFree_v3020 mem_free;
	PFN_cuMemcpyHtoD_v3020 to_device;
	PFN_cuMemcpyDtoH_v3020 to_host;
	PFN_cuLaunchKernel_v4000 launch;
	PFN_cuModuleGetFunction_v2000 get_function;
	PFN_cuGetProcAddress_v12000 again;
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction function;
	CUdeviceptr p;
	void *args[] = { &p };
	int in = 1234, out = 0;

	handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	check(((PFN_cuInit_v2000)by_name("cuInit"))(0), "cuInit");
	check(((PFN_cuDeviceGet_v2000)by_name("cuDeviceGet"))(&device, 0), "cuDeviceGet");
	check(((PFN_cuDevicePrimaryCtxRetain_v7000)by_name("cuDevicePrimaryCtxRetain"))(&context,
											device),
	      "cuDevicePrimaryCtxRetain");
	check(((PFN_cuCtxSetCurrent_v4000)by_name("cuCtxSetCurrent"))(context), "cuCtxSetCurrent");
	mem_alloc = (PFN_cuMemAlloc_v3020)by_name("cuMemAlloc_v2");
	get_proc_address = (PFN_cuGetProcAddress_v12000)by_name("cuGetProcAddress_v2");
	again = (PFN_cuGetProcAddress_v12000)by_version("cuGetProcAddress", 12000);
	get_proc_address = again;
	mem_free = (PFN_cuMemFree_v3020)by_version("cuMemFree", 12000);
	to_device = (PFN_cuMemcpyHtoD_v3020)by_version("cuMemcpyHtoD", 12000);
	to_host = (PFN_cuMemcpyDtoH_v3020)by_name("cuMemcpyDtoH_v2");
	launch = (PFN_cuLaunchKernel_v4000)by_version("cuLaunchKernel", 12000);
	get_function = (PFN_cuModuleGetFunction_v2000)by_name("cuModuleGetFunction");
	check(((PFN_cuModuleLoadData_v2000)by_name("cuModuleLoadData"))(&module, ptx),
	      "cuModuleLoadData");
	check(get_function(&function, module, "nothing"), "cuModuleGetFunction");
	check(mem_alloc(&p, 4096), "cuMemAlloc");
	check(to_device(p, &in, sizeof(in)), "cuMemcpyHtoD");
	check(launch(function, 8, 1, 1, 64, 1, 1, 0, NULL, args, NULL), "cuLaunchKernel");
	check(to_host(&out, p, sizeof(out)), "cuMemcpyDtoH");
	check(mem_free(p), "cuMemFree");
	check(
	    ((PFN_cuDevicePrimaryCtxRelease_v11000)by_name("cuDevicePrimaryCtxRelease_v2"))(device),
	    "cuDevicePrimaryCtxRelease");
	printf("found at run time: %d\n", out);
	dlclose(handle);
	return 0;
}
