/* Every form of set. */
#include "graph.h"

static CUresult set(CUdeviceptr dst, size_t pitch, unsigned value, unsigned element, size_t width,
		    size_t height, CUstream handle, bool async)
{
	CUresult error;
	struct sim_set what;
	struct stream *stream = sim_stream_get(handle, &error);
	if (!stream)
		return error;
	error = sim_capture_implicit(stream);
	if (!error)
		error = sim_copy_check_set(&what, dst, pitch, value, element, width, height);
	if (error)
		return error;
	if (!sim_capturing(stream))
		return sim_set_submit(stream, &what, async, NULL);
	if (!async) {
		sim_capture_invalidate(stream);
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	}
	error = sim_capture_check(stream);
	if (error)
		return error;
	struct node *node = sim_capture_add(stream, CU_GRAPH_NODE_TYPE_MEMSET);
	SIM_ALLOC_CHECK(node);
	node->set = what;
	node->set_params = (CUDA_MEMSET_NODE_PARAMS){.dst = dst,
						     .pitch = pitch,
						     .value = value,
						     .elementSize = element,
						     .width = width,
						     .height = height};
	return CUDA_SUCCESS;
}

CUresult sim_cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
	return set(dstDevice, 0, uc, 1, N, 1, NULL, false);
}

CUresult sim_cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
	return set(dstDevice, 0, us, 2, N, 1, NULL, false);
}

CUresult sim_cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
	return set(dstDevice, 0, ui, 4, N, 1, NULL, false);
}

CUresult sim_cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
			     size_t Height)
{
	return set(dstDevice, dstPitch, uc, 1, Width, Height, NULL, false);
}

CUresult sim_cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
			      size_t Width, size_t Height)
{
	return set(dstDevice, dstPitch, us, 2, Width, Height, NULL, false);
}

CUresult sim_cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
			      size_t Height)
{
	return set(dstDevice, dstPitch, ui, 4, Width, Height, NULL, false);
}

CUresult sim_cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
	return set(dstDevice, 0, uc, 1, N, 1, hStream, true);
}

CUresult sim_cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
	return set(dstDevice, 0, us, 2, N, 1, hStream, true);
}

CUresult sim_cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
	return set(dstDevice, 0, ui, 4, N, 1, hStream, true);
}

CUresult sim_cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
			       size_t Width, size_t Height, CUstream hStream)
{
	return set(dstDevice, dstPitch, uc, 1, Width, Height, hStream, true);
}

CUresult sim_cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
				size_t Width, size_t Height, CUstream hStream)
{
	return set(dstDevice, dstPitch, us, 2, Width, Height, hStream, true);
}

CUresult sim_cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
				size_t Width, size_t Height, CUstream hStream)
{
	return set(dstDevice, dstPitch, ui, 4, Width, Height, hStream, true);
}
