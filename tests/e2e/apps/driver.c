/* The driver API alone, linked with -lcuda. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                            \
	do {                                                                                   \
		CUresult check_ = (call);                                                      \
		const char *name_ = "?";                                                       \
		if (check_ != CUDA_SUCCESS) {                                                  \
			cuGetErrorName(check_, &name_);                                        \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name_);  \
			exit(1);                                                               \
		}                                                                              \
	} while (0)

static const char ptx[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry nothing(.param .u64 p)\n{\n\tret;\n}\n";

static void launch(CUfunction function, CUstream stream, CUdeviceptr p)
{
	void *args[] = { &p };
	CUlaunchConfig config;

	memset(&config, 0, sizeof(config));
	config.gridDimX = 2;
	config.gridDimY = config.gridDimZ = 1;
	config.blockDimX = 64;
	config.blockDimY = config.blockDimZ = 1;
	config.hStream = stream;
	CHECK(cuLaunchKernel(function, 4, 1, 1, 128, 1, 1, 0, stream, args, NULL));
	CHECK(cuLaunchKernelEx(&config, function, args, NULL));
	CHECK(cuLaunchCooperativeKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, args));
}

/* Virtual memory management: reserve, create, map, use, take down. */
static void virtual_memory(CUdevice device)
{
	CUmemAllocationProp prop;
	CUmemAccessDesc access;
	CUmemGenericAllocationHandle handle;
	CUdeviceptr address;
	size_t size = 0;

	memset(&prop, 0, sizeof(prop));
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = device;
	access.location = prop.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	CHECK(cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	CHECK(cuMemAddressReserve(&address, size, 0, 0, 0));
	CHECK(cuMemCreate(&handle, size, &prop, 0));
	CHECK(cuMemMap(address, size, 0, handle, 0));
	CHECK(cuMemSetAccess(address, size, &access, 1));
	CHECK(cuMemsetD8(address, 1, size));
	CHECK(cuCtxSynchronize());
	CHECK(cuMemUnmap(address, size));
	CHECK(cuMemRelease(handle));
	CHECK(cuMemAddressFree(address, size));
}

int main(void)
{
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction function;
	CUstream stream;
	CUdeviceptr p, q;
	void *pinned;
	char in[64] = "through the driver", out[64] = "";

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoadData(&module, ptx));
	CHECK(cuModuleGetFunction(&function, module, "nothing"));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc(&p, 64));
	CHECK(cuMemAllocAsync(&q, 64, stream));
	CHECK(cuMemHostAlloc(&pinned, 4096, 0));
	CHECK(cuMemcpyHtoD(p, in, 64));
	launch(function, stream, p);
	CHECK(cuMemcpyDtoDAsync(q, p, 64, stream));
	CHECK(cuMemcpyDtoHAsync(out, q, 64, stream));
	CHECK(cuStreamSynchronize(stream));
	printf("%s\n", out);
	CHECK(cuMemsetD32(p, 0x2a2a2a2a, 4));
	CHECK(cuMemcpyDtoH(out, p, 16));
	printf("%.16s\n", out);
	virtual_memory(device);
	CHECK(cuMemFreeAsync(q, stream));
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuMemFreeHost(pinned));
	CHECK(cuMemFree(p));
	CHECK(cuStreamDestroy(stream));
	CHECK(cuModuleUnload(module));
	CHECK(cuDevicePrimaryCtxRelease(device));
	printf("driver done\n");
	return 0;
}
