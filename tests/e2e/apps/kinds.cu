// Every kind of memory the runtime gives, allocated and freed once.
#include "check.h"

static void device_kinds()
{
	cudaPitchedPtr volume;
	size_t pitch;
	void *p;

	CHECK(cudaMalloc(&p, 1000));
	CHECK(cudaFree(p));
	CHECK(cudaMalloc(&p, 0));
	CHECK(cudaFree(p));
	CHECK(cudaFree(nullptr));
	CHECK(cudaMallocPitch(&p, &pitch, 100, 20));
	std::printf("pitch %s\n", pitch >= 100 ? "holds a row" : "too small");
	CHECK(cudaFree(p));
	CHECK(cudaMalloc3D(&volume, make_cudaExtent(100, 20, 3)));
	CHECK(cudaFree(volume.ptr));
	CHECK(cudaMallocManaged(&p, 4096));
	CHECK(cudaFree(p));
}

static void host_kinds()
{
	static char mine[8192];
	void *p, *device;
	unsigned int flags;

	CHECK(cudaMallocHost(&p, 4096));
	CHECK(cudaFreeHost(p));
	CHECK(cudaHostAlloc(&p, 4096, cudaHostAllocMapped | cudaHostAllocPortable));
	CHECK(cudaHostGetDevicePointer(&device, p, 0));
	CHECK(cudaHostGetFlags(&flags, p));
	std::printf("mapped %s\n", device && (flags & cudaHostAllocMapped) ? "yes" : "no");
	CHECK(cudaFreeHost(p));
	CHECK(cudaHostRegister(mine, sizeof(mine), cudaHostRegisterDefault));
	CHECK(cudaHostUnregister(mine));
}

static void array_kinds()
{
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>(), found;
	cudaArray_t array, level;
	cudaMipmappedArray_t mipmap;
	cudaExtent extent;
	unsigned int flags;

	CHECK(cudaMallocArray(&array, &desc, 64, 32));
	CHECK(cudaArrayGetInfo(&found, &extent, &flags, array));
	std::printf("array %zux%zu of %d bits\n", extent.width, extent.height, found.x);
	CHECK(cudaFreeArray(array));
	CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(16, 16, 4), cudaArrayDefault));
	CHECK(cudaFreeArray(array));
	CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(16, 16, 4), cudaArrayLayered));
	CHECK(cudaFreeArray(array));
	CHECK(cudaMallocMipmappedArray(&mipmap, &desc, make_cudaExtent(64, 64, 0), 3));
	CHECK(cudaGetMipmappedArrayLevel(&level, mipmap, 1));
	CHECK(cudaFreeMipmappedArray(mipmap));
}

static void ordered_kinds()
{
	cudaMemPoolProps props = {};
	cudaMemPool_t pool;
	cudaStream_t stream;
	void *p;

	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaMallocAsync(&p, 1 << 16, stream));
	CHECK(cudaFreeAsync(p, stream));
	CHECK(cudaMemPoolCreate(&pool, &props));
	CHECK(cudaMallocFromPoolAsync(&p, 1 << 16, pool, stream));
	CHECK(cudaFreeAsync(p, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaMemPoolDestroy(pool));
	CHECK(cudaStreamDestroy(stream));
}

int main()
{
	device_kinds();
	host_kinds();
	array_kinds();
	ordered_kinds();
	std::printf("every kind done\n");
	return 0;
}
