/* Tensor maps: 128 bytes that only the device reads.  Parameters are checked as documented; what is
 * written names the tensor and nothing more. */
#include "sim.h"
#include <string.h>

#if CUDA_VERSION >= 12000
struct shape {
	CUtensorMapDataType type;
	cuuint32_t rank;
	const cuuint64_t *dim, *strides; /* rank and rank - 1 of them */
	const cuuint32_t *element_strides;
	CUtensorMapInterleave interleave;
	CUtensorMapSwizzle swizzle;
};

/* Without interleaving a map has at least one dimension, of an image (im2col) three. */
static bool valid(const CUtensorMap *map, const void *address, const struct shape *s,
		  cuuint32_t least)
{
	const bool blocks = s->interleave == CU_TENSOR_MAP_INTERLEAVE_32B;
	const uintptr_t align = blocks ? 32 : 16;
	if (!map || (uintptr_t)map % 64 || !address || (uintptr_t)address % align)
		return false;
	if (!s->dim || !s->element_strides || (s->rank > 1 && !s->strides) ||
	    s->rank < (s->interleave ? 3 : least) || s->rank > 5)
		return false;
	if ((unsigned)s->type > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ + 3u ||
	    (unsigned)s->interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
	    (unsigned)s->swizzle > CU_TENSOR_MAP_SWIZZLE_128B + 3u)
		return false;
	for (cuuint32_t i = 0; i < s->rank; i++)
		if (!s->dim[i] || s->dim[i] > (cuuint64_t)1 << 32 || !s->element_strides[i] ||
		    s->element_strides[i] > 8)
			return false;
	for (cuuint32_t i = 0; i + 1 < s->rank; i++)
		if (s->strides[i] % align || s->strides[i] >= (cuuint64_t)1 << 40)
			return false;
	return true;
}

static void encode(CUtensorMap *map, void *address, const struct shape *s)
{
	memset(map, 0, sizeof *map);
	map->opaque[0] = (cuuint64_t)(uintptr_t)address;
	map->opaque[1] = s->rank | (cuuint64_t)s->type << 8 | (cuuint64_t)s->interleave << 16 |
			 (cuuint64_t)s->swizzle << 24;
	for (cuuint32_t i = 0; i < s->rank; i++)
		map->opaque[2 + i] = s->dim[i];
}

CUresult sim_cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
				    cuuint32_t tensorRank, void *globalAddress,
				    const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
				    const cuuint32_t *boxDim, const cuuint32_t *elementStrides,
				    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
				    CUtensorMapL2promotion l2Promotion,
				    CUtensorMapFloatOOBfill oobFill)
{
	const struct shape s = {tensorDataType, tensorRank, globalDim, globalStrides,
				elementStrides, interleave, swizzle};
	if (!valid(tensorMap, globalAddress, &s, 1) || !boxDim ||
	    (unsigned)l2Promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
	    (unsigned)oobFill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
		return CUDA_ERROR_INVALID_VALUE;
	for (cuuint32_t i = 0; i < tensorRank; i++)
		if (!boxDim[i] || boxDim[i] > 256)
			return CUDA_ERROR_INVALID_VALUE;
	encode(tensorMap, globalAddress, &s);
	return CUDA_SUCCESS;
}

CUresult sim_cuTensorMapEncodeIm2col(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
    void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
    const int *pixelBoxLowerCorner, const int *pixelBoxUpperCorner, cuuint32_t channelsPerPixel,
    cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
	const struct shape s = {tensorDataType, tensorRank, globalDim, globalStrides,
				elementStrides, interleave, swizzle};
	if (!valid(tensorMap, globalAddress, &s, 3) || !pixelBoxLowerCorner ||
	    !pixelBoxUpperCorner || !channelsPerPixel || channelsPerPixel > 256 ||
	    !pixelsPerColumn || pixelsPerColumn > 1024 ||
	    (unsigned)l2Promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
	    (unsigned)oobFill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
		return CUDA_ERROR_INVALID_VALUE;
	encode(tensorMap, globalAddress, &s);
	return CUDA_SUCCESS;
}

CUresult sim_cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)
{
	if (!tensorMap || (uintptr_t)tensorMap % 64 || !globalAddress ||
	    (uintptr_t)globalAddress % 16)
		return CUDA_ERROR_INVALID_VALUE;
	tensorMap->opaque[0] = (cuuint64_t)(uintptr_t)globalAddress;
	return CUDA_SUCCESS;
}
#endif

#if CUDA_VERSION >= 12080
CUresult sim_cuTensorMapEncodeIm2colWide(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
    void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
    int pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth, cuuint32_t channelsPerPixel,
    cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
    CUtensorMapFloatOOBfill oobFill)
{
	const int lower[5] = {pixelBoxLowerCornerWidth}, upper[5] = {pixelBoxUpperCornerWidth};
	if ((unsigned)mode > CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_cuTensorMapEncodeIm2col(tensorMap, tensorDataType, tensorRank, globalAddress,
					   globalDim, globalStrides, lower, upper, channelsPerPixel,
					   pixelsPerColumn, elementStrides, interleave, swizzle,
					   l2Promotion, oobFill);
}
#endif
