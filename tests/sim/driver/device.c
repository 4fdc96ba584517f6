/* Devices: count, names, attributes.  A plausible data-centre card; nothing here is measured. */
#include "sim.h"
#include <stdio.h>
#include <string.h>

#define DEVICE_NAME "Simulated device (tstrace)"

struct device sim_devices[SIM_MAX_DEVICES];

CUresult sim_device_check(CUdevice dev)
{
	return dev < 0 || dev >= sim_config.devices ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult sim_cuInit(unsigned int Flags)
{
	if (Flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_config.devices)
		return CUDA_ERROR_NO_DEVICE;
	sim_initialised = true;
	return CUDA_SUCCESS;
}

CUresult sim_cuDriverGetVersion(int *driverVersion)
{
	if (!driverVersion)
		return CUDA_ERROR_INVALID_VALUE;
	*driverVersion = sim_config.driver_version;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGet(CUdevice *device, int ordinal)
{
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetCount(int *count)
{
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = sim_config.devices;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetName(char *name, int len, CUdevice dev)
{
	if (!name || len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, (size_t)len, "%s", DEVICE_NAME);
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	memcpy(uuid->bytes, "tstrace-sim-dev", 15);
	uuid->bytes[15] = (char)dev;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	return sim_cuDeviceGetUuid(uuid, dev);
}

CUresult sim_cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes = sim_config.memory;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
	if (!major || !minor)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*major = sim_config.cc_major;
	*minor = sim_config.cc_minor;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
	if (!pciBusId || len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(pciBusId, (size_t)len, "0000:%02X:00.0", dev + 1);
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
	unsigned domain, bus, slot;
	if (!dev || !pciBusId)
		return CUDA_ERROR_INVALID_VALUE;
	if (sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot) != 3) {
		domain = 0;
		if (sscanf(pciBusId, "%x:%x", &bus, &slot) != 2)
			return CUDA_ERROR_INVALID_VALUE;
	}
	if (domain || slot || sim_device_check((int)bus - 1))
		return CUDA_ERROR_INVALID_DEVICE;
	*dev = (int)bus - 1;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev)
{
	(void)luid, (void)deviceNodeMask; /* Windows only */
	return sim_device_check(dev) ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_NOT_SUPPORTED;
}

#define ATTR(name, value) [CU_DEVICE_ATTRIBUTE_##name] = (value)
static const int attributes[CU_DEVICE_ATTRIBUTE_MAX] = {
    ATTR(MAX_THREADS_PER_BLOCK, 1024),
    ATTR(MAX_BLOCK_DIM_X, 1024),
    ATTR(MAX_BLOCK_DIM_Y, 1024),
    ATTR(MAX_BLOCK_DIM_Z, 64),
    ATTR(MAX_GRID_DIM_X, 2147483647),
    ATTR(MAX_GRID_DIM_Y, 65535),
    ATTR(MAX_GRID_DIM_Z, 65535),
    ATTR(MAX_SHARED_MEMORY_PER_BLOCK, 49152),
    ATTR(TOTAL_CONSTANT_MEMORY, 65536),
    ATTR(WARP_SIZE, 32),
    ATTR(MAX_PITCH, 2147483647),
    ATTR(MAX_REGISTERS_PER_BLOCK, 65536),
    ATTR(CLOCK_RATE, 1500000),
    ATTR(TEXTURE_ALIGNMENT, 512),
    ATTR(GPU_OVERLAP, 1),
    ATTR(MULTIPROCESSOR_COUNT, 64),
    ATTR(CAN_MAP_HOST_MEMORY, 1),
    ATTR(MAXIMUM_TEXTURE1D_WIDTH, 131072),
    ATTR(MAXIMUM_TEXTURE2D_WIDTH, 131072),
    ATTR(MAXIMUM_TEXTURE2D_HEIGHT, 65536),
    ATTR(MAXIMUM_TEXTURE3D_WIDTH, 16384),
    ATTR(MAXIMUM_TEXTURE3D_HEIGHT, 16384),
    ATTR(MAXIMUM_TEXTURE3D_DEPTH, 16384),
    ATTR(MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768),
    ATTR(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768),
    ATTR(MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048),
    ATTR(SURFACE_ALIGNMENT, 512),
    ATTR(CONCURRENT_KERNELS, 1),
    ATTR(PCI_BUS_ID, 1),
    ATTR(MEMORY_CLOCK_RATE, 1500000),
    ATTR(GLOBAL_MEMORY_BUS_WIDTH, 5120),
    ATTR(L2_CACHE_SIZE, 50 << 20),
    ATTR(MAX_THREADS_PER_MULTIPROCESSOR, 2048),
    ATTR(ASYNC_ENGINE_COUNT, 3),
    ATTR(UNIFIED_ADDRESSING, 1),
    ATTR(MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768),
    ATTR(MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048),
    ATTR(TEXTURE_PITCH_ALIGNMENT, 32),
    ATTR(MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768),
    ATTR(MAXIMUM_SURFACE1D_WIDTH, 32768),
    ATTR(MAXIMUM_SURFACE2D_WIDTH, 131072),
    ATTR(MAXIMUM_SURFACE2D_HEIGHT, 65536),
    ATTR(MAXIMUM_SURFACE3D_WIDTH, 16384),
    ATTR(MAXIMUM_SURFACE3D_HEIGHT, 16384),
    ATTR(MAXIMUM_SURFACE3D_DEPTH, 16384),
    ATTR(MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 268435456),
    ATTR(MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 131072),
    ATTR(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000),
    ATTR(MAXIMUM_TEXTURE2D_LINEAR_PITCH, 2097120),
    ATTR(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 32768),
    ATTR(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 32768),
    ATTR(STREAM_PRIORITIES_SUPPORTED, 1),
    ATTR(GLOBAL_L1_CACHE_SUPPORTED, 1),
    ATTR(LOCAL_L1_CACHE_SUPPORTED, 1),
    ATTR(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472),
    ATTR(MAX_REGISTERS_PER_MULTIPROCESSOR, 65536),
    ATTR(MANAGED_MEMORY, 1),
    ATTR(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2),
    ATTR(PAGEABLE_MEMORY_ACCESS, 0),
    ATTR(CONCURRENT_MANAGED_ACCESS, 1),
    ATTR(COMPUTE_PREEMPTION_SUPPORTED, 1),
    ATTR(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1),
    ATTR(COOPERATIVE_LAUNCH, 1),
    ATTR(COOPERATIVE_MULTI_DEVICE_LAUNCH, 1),
    ATTR(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448),
    ATTR(CAN_FLUSH_REMOTE_WRITES, 1),
    ATTR(HOST_REGISTER_SUPPORTED, 1),
    ATTR(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1),
    ATTR(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1),
    ATTR(MAX_BLOCKS_PER_MULTIPROCESSOR, 32),
    ATTR(RESERVED_SHARED_MEMORY_PER_BLOCK, 1024),
    ATTR(READ_ONLY_HOST_REGISTER_SUPPORTED, 1),
    ATTR(MEMORY_POOLS_SUPPORTED, 1),
    ATTR(TIMELINE_SEMAPHORE_INTEROP_SUPPORTED, 1),
    ATTR(CLUSTER_LAUNCH, 1),
    ATTR(CAN_USE_64_BIT_STREAM_MEM_OPS, 1),
    ATTR(CAN_USE_STREAM_WAIT_VALUE_NOR, 1),
    ATTR(UNIFIED_FUNCTION_POINTERS, 0),
};

CUresult sim_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
	if (!pi || (int)attrib <= 0 || attrib >= CU_DEVICE_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	switch ((int)attrib) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		*pi = sim_config.cc_major;
		break;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		*pi = sim_config.cc_minor;
		break;
	case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
		*pi = dev + 1;
		break;
	default:
		*pi = attributes[attrib];
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetProperties(CUdevprop *prop, CUdevice dev)
{
	if (!prop)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*prop = (CUdevprop){
	    .maxThreadsPerBlock = 1024,
	    .maxThreadsDim = {1024, 1024, 64},
	    .maxGridSize = {2147483647, 65535, 65535},
	    .sharedMemPerBlock = 49152,
	    .totalConstantMemory = 65536,
	    .SIMDWidth = 32,
	    .memPitch = 2147483647,
	    .regsPerBlock = 65536,
	    .clockRate = 1500000,
	    .textureAlign = 512,
	};
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
	if (!canAccessPeer)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev) || sim_device_check(peerDev))
		return CUDA_ERROR_INVALID_DEVICE;
	*canAccessPeer = dev != peerDev;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
				     CUdevice dstDevice)
{
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(srcDevice) || sim_device_check(dstDevice) || srcDevice == dstDevice)
		return CUDA_ERROR_INVALID_DEVICE;
	if ((int)attrib < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
	    attrib > CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED)
		return CUDA_ERROR_INVALID_VALUE;
	*value = attrib != CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements, CUarray_format format,
						unsigned numChannels, CUdevice dev)
{
	if (!maxWidthInElements || !sim_format_size(format, numChannels))
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*maxWidthInElements = 268435456;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev)
{
	if (!pi || (unsigned)type >= CU_EXEC_AFFINITY_TYPE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_device_check(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*pi = 0;
	return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 13000
/* Every operation at every width: a device of the newest kind on a coherent link. */
static CUresult atomics(unsigned int *capabilities, const CUatomicOperation *operations,
			unsigned int count)
{
	if (!capabilities || !operations || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count; i++)
		if ((unsigned)operations[i] > CU_ATOMIC_OPERATION_FLOAT_MAX)
			return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count; i++)
		capabilities[i] = CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED |
				  CU_ATOMIC_CAPABILITY_REDUCTION | CU_ATOMIC_CAPABILITY_SCALAR_32 |
				  CU_ATOMIC_CAPABILITY_SCALAR_64;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetHostAtomicCapabilities(unsigned int *capabilities,
					       const CUatomicOperation *operations,
					       unsigned int count, CUdevice dev)
{
	return sim_device_check(dev) ? CUDA_ERROR_INVALID_DEVICE
				     : atomics(capabilities, operations, count);
}

CUresult sim_cuDeviceGetP2PAtomicCapabilities(unsigned int *capabilities,
					      const CUatomicOperation *operations,
					      unsigned int count, CUdevice srcDevice,
					      CUdevice dstDevice)
{
	if (sim_device_check(srcDevice) || sim_device_check(dstDevice) || srcDevice == dstDevice)
		return CUDA_ERROR_INVALID_DEVICE;
	return atomics(capabilities, operations, count);
}
#endif
