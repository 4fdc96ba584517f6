/* Arrays and mipmapped arrays.  cudaArray_t and CUarray are the same handle. */
#include "tests/sim/runtime/runtime.h"

static CUarray raw(cudaArray_const_t array)
{
	return (CUarray)(uintptr_t)array;
}

int rt_format(const struct cudaChannelFormatDesc *desc, CUarray_format *format,
	      unsigned int *channels)
{
	static const CUarray_format formats[3][3] = {
		{ CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32 },
		{ CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
		  CU_AD_FORMAT_UNSIGNED_INT32 },
		{ 0, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT },
	};
	int width, bits[4];

	if (!desc)
		return cudaErrorInvalidValue;
	bits[0] = desc->x;
	bits[1] = desc->y;
	bits[2] = desc->z;
	bits[3] = desc->w;
	for (*channels = 0; *channels < 4 && bits[*channels]; ++*channels)
		if (bits[*channels] != bits[0])
			return cudaErrorInvalidChannelDescriptor;
	width = bits[0] == 8 ? 0 : bits[0] == 16 ? 1 : bits[0] == 32 ? 2 : -1;
	if (width < 0 || *channels == 3 || desc->f < cudaChannelFormatKindSigned ||
	    desc->f > cudaChannelFormatKindFloat)
		return cudaErrorInvalidChannelDescriptor;
	*format = formats[desc->f][width];
	return *format ? 0 : cudaErrorInvalidChannelDescriptor;
}

void rt_channel_desc(struct cudaChannelFormatDesc *desc, CUarray_format format,
		     unsigned int channels)
{
	int bits = 0;

	memset(desc, 0, sizeof(*desc));
	switch (format) {
	case CU_AD_FORMAT_SIGNED_INT8: case CU_AD_FORMAT_UNSIGNED_INT8: bits = 8; break;
	case CU_AD_FORMAT_SIGNED_INT16: case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_HALF: bits = 16; break;
	default: bits = 32; break;
	}
	switch (format) {
	case CU_AD_FORMAT_HALF: case CU_AD_FORMAT_FLOAT:
		desc->f = cudaChannelFormatKindFloat;
		break;
	case CU_AD_FORMAT_SIGNED_INT8: case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT32:
		desc->f = cudaChannelFormatKindSigned;
		break;
	default:
		desc->f = cudaChannelFormatKindUnsigned;
		break;
	}
	desc->x = bits;
	desc->y = channels > 1 ? bits : 0;
	desc->z = channels > 2 ? bits : 0;
	desc->w = channels > 3 ? bits : 0;
}

int rt_array_info(const struct rt_driver *d, CUarray array, CUDA_ARRAY3D_DESCRIPTOR *info,
		  size_t *element)
{
	struct cudaChannelFormatDesc desc;
	int r;

	if (!array)
		return cudaErrorInvalidResourceHandle;
	r = d->cuArray3DGetDescriptor(info, array);
	if (r)
		return r;
	rt_channel_desc(&desc, info->Format, info->NumChannels);
	*element = (size_t)desc.x / 8 * info->NumChannels;
	return 0;
}

static int describe(CUDA_ARRAY3D_DESCRIPTOR *to, const struct cudaChannelFormatDesc *desc,
		    struct cudaExtent extent, unsigned int flags)
{
	*to = (CUDA_ARRAY3D_DESCRIPTOR){ .Width = extent.width, .Height = extent.height,
		.Depth = extent.depth, .Flags = flags };
	return rt_format(desc, &to->Format, &to->NumChannels);
}

RT_API(cudaMallocArray, (cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width,
       size_t height, unsigned int flags), (array, desc, width, height, flags))
{
	CUDA_ARRAY3D_DESCRIPTOR info;
	int r;

	if (!array || !width)
		return cudaErrorInvalidValue;
	r = describe(&info, desc, (struct cudaExtent){ width, height, 0 }, flags);
	return r ? r : (int)d->cuArray3DCreate((CUarray *)array, &info);
}

RT_API(cudaMalloc3DArray, (cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
       struct cudaExtent extent, unsigned int flags), (array, desc, extent, flags))
{
	CUDA_ARRAY3D_DESCRIPTOR info;
	int r;

	if (!array || !extent.width)
		return cudaErrorInvalidValue;
	r = describe(&info, desc, extent, flags);
	return r ? r : (int)d->cuArray3DCreate((CUarray *)array, &info);
}

RT_API(cudaMallocMipmappedArray, (cudaMipmappedArray_t *array,
       const struct cudaChannelFormatDesc *desc, struct cudaExtent extent, unsigned int levels,
       unsigned int flags), (array, desc, extent, levels, flags))
{
	CUDA_ARRAY3D_DESCRIPTOR info;
	int r;

	if (!array || !extent.width)
		return cudaErrorInvalidValue;
	r = describe(&info, desc, extent, flags);
	return r ? r : (int)d->cuMipmappedArrayCreate((CUmipmappedArray *)array, &info, levels);
}

RT_API(cudaGetMipmappedArrayLevel, (cudaArray_t *level, cudaMipmappedArray_const_t array,
       unsigned int n), (level, array, n))
{
	if (!level)
		return cudaErrorInvalidValue;
	return d->cuMipmappedArrayGetLevel((CUarray *)level, (CUmipmappedArray)(uintptr_t)array, n);
}

RT_API(cudaFreeArray, (cudaArray_t array), (array))
{
	return array ? (int)d->cuArrayDestroy(raw(array)) : 0;
}

RT_API(cudaFreeMipmappedArray, (cudaMipmappedArray_t array), (array))
{
	return array ? (int)d->cuMipmappedArrayDestroy((CUmipmappedArray)array) : 0;
}

RT_API(cudaArrayGetInfo, (struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
       unsigned int *flags, cudaArray_t array), (desc, extent, flags, array))
{
	CUDA_ARRAY3D_DESCRIPTOR info;
	size_t element;
	int r = rt_array_info(d, raw(array), &info, &element);

	if (r)
		return r;
	if (desc)
		rt_channel_desc(desc, info.Format, info.NumChannels);
	if (extent)
		*extent = (struct cudaExtent){ info.Width, info.Height, info.Depth };
	if (flags)
		*flags = info.Flags;
	return 0;
}

RT_API(cudaGetChannelDesc, (struct cudaChannelFormatDesc *desc, cudaArray_const_t array),
       (desc, array))
{
	CUDA_ARRAY3D_DESCRIPTOR info;
	size_t element;
	int r;

	if (!desc)
		return cudaErrorInvalidValue;
	r = rt_array_info(d, raw(array), &info, &element);
	if (!r)
		rt_channel_desc(desc, info.Format, info.NumChannels);
	return r;
}

RT_EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
		enum cudaChannelFormatKind f)
{
	return (struct cudaChannelFormatDesc){ x, y, z, w, f };
}

RT_API(cudaArrayGetPlane, (cudaArray_t *plane, cudaArray_t array, unsigned int n),
       (plane, array, n))
{
	return d->cuArrayGetPlane((CUarray *)plane, raw(array), n);
}

/* The structs of the next four agree member by member with the driver's. */
RT_API(cudaArrayGetMemoryRequirements, (struct cudaArrayMemoryRequirements *to, cudaArray_t array,
       int device), (to, array, device))
{
	return d->cuArrayGetMemoryRequirements((CUDA_ARRAY_MEMORY_REQUIREMENTS *)to, raw(array),
					       device);
}

RT_API(cudaMipmappedArrayGetMemoryRequirements, (struct cudaArrayMemoryRequirements *to,
       cudaMipmappedArray_t array, int device), (to, array, device))
{
	return d->cuMipmappedArrayGetMemoryRequirements((CUDA_ARRAY_MEMORY_REQUIREMENTS *)to,
			(CUmipmappedArray)array, device);
}

RT_API(cudaArrayGetSparseProperties, (struct cudaArraySparseProperties *to, cudaArray_t array),
       (to, array))
{
	return d->cuArrayGetSparseProperties((CUDA_ARRAY_SPARSE_PROPERTIES *)to, raw(array));
}

RT_API(cudaMipmappedArrayGetSparseProperties, (struct cudaArraySparseProperties *to,
       cudaMipmappedArray_t array), (to, array))
{
	return d->cuMipmappedArrayGetSparseProperties((CUDA_ARRAY_SPARSE_PROPERTIES *)to,
			(CUmipmappedArray)array);
}
