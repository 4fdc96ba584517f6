/* A driver that knows one device and one context: what hooks ask once a thread is answered, as with
 * a real one. */
#include "preload/cuda_api.h"

#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

static char context;

EXPORT CUresult cuCtxGetDevice(CUdevice *device)
{
	*device = 0;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *current)
{
	*current = (CUcontext)(void *)&context;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
	*free_bytes = (size_t)1 << 33;
	*total_bytes = (size_t)1 << 34;
	return CUDA_SUCCESS;
}
