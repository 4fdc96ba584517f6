/* Arrays and mipmapped arrays: rows of host memory, in the order the API addresses them. */
#include "graph.h"
#include <stdlib.h>
#include <string.h>

struct mipmap {
	struct object obj;
	unsigned nlevels;
	struct array **levels;
};

size_t sim_format_size(CUarray_format format, unsigned channels)
{
	size_t size;
	switch ((int)format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		size = 1;
		break;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		size = 2;
		break;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		size = 4;
		break;
	default:
		return 0;
	}
	return channels == 1 || channels == 2 || channels == 4 ? size * channels : 0;
}

static size_t at_least_one(size_t n)
{
	return n ? n : 1;
}

static CUresult create(const CUDA_ARRAY3D_DESCRIPTOR *desc, struct array **out)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	size_t element = desc ? sim_format_size(desc->Format, desc->NumChannels) : 0, size;
	if (!element || !desc->Width ||
	    (desc->Depth && !desc->Height && !(desc->Flags & CUDA_ARRAY3D_LAYERED)) ||
	    __builtin_mul_overflow(desc->Width * element, at_least_one(desc->Height), &size) ||
	    __builtin_mul_overflow(size, at_least_one(desc->Depth), &size))
		return CUDA_ERROR_INVALID_VALUE;
	error = sim_capture_unsafe();
	if (error)
		return error;
	struct array *array = sim_object_new(OBJ_ARRAY, sizeof *array, ctx);
	SIM_ALLOC_CHECK(array);
	error = sim_memory_new(size, MEM_DEVICE, ctx->device, NULL, &array->alloc);
	if (error) {
		sim_object_drop(array);
		return error;
	}
	array->desc = *desc;
	array->element = element;
	array->pitch = desc->Width * element;
	array->slice = array->pitch * at_least_one(desc->Height);
	array->size = size;
	array->data = (unsigned char *)array->alloc->address;
	array->device = ctx->device;
	array->alloc->kind = MEM_EXTERNAL; /* cuMemFree must not take it */
	array->alloc->flags = OBJ_ARRAY;
	sim_report_memory(array->alloc, 1, NULL);
	*out = array;
	return CUDA_SUCCESS;
}

void sim_array_destroy(struct array *array)
{
	if (array->alloc) {
		sim_report_memory(array->alloc, 2, NULL);
		sim_memory_drop(array->alloc, false);
	}
	sim_object_drop(array);
}

CUresult sim_cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
	struct array *array;
	if (!pHandle || !pAllocateArray)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = create(pAllocateArray, &array);
	if (!error)
		*pHandle = (CUarray)array;
	return error;
}

CUresult sim_cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
	if (!pAllocateArray)
		return CUDA_ERROR_INVALID_VALUE;
	const CUDA_ARRAY3D_DESCRIPTOR desc = {
	    .Width = pAllocateArray->Width,
	    .Height = pAllocateArray->Height,
	    .Format = pAllocateArray->Format,
	    .NumChannels = pAllocateArray->NumChannels,
	};
	return sim_cuArray3DCreate_v2(pHandle, &desc);
}

CUresult sim_cuArrayDestroy(CUarray hArray)
{
	struct array *array = sim_object_get(hArray, OBJ_ARRAY);
	if (!array || array->mipmap)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_array_destroy(array);
	return CUDA_SUCCESS;
}

CUresult sim_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
	struct array *array = sim_object_get(hArray, OBJ_ARRAY);
	if (!array || !pArrayDescriptor)
		return array ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*pArrayDescriptor = array->desc;
	return CUDA_SUCCESS;
}

CUresult sim_cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
	struct array *array = sim_object_get(hArray, OBJ_ARRAY);
	if (!array || !pArrayDescriptor)
		return array ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR){array->desc.Width, array->desc.Height,
						    array->desc.Format, array->desc.NumChannels};
	return CUDA_SUCCESS;
}

CUresult sim_cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
					  CUarray harray, CUdevice device)
{
	struct array *array = sim_object_get(harray, OBJ_ARRAY);
	if (!array || !memoryRequirements)
		return array ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	if (sim_device_check(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*memoryRequirements =
	    (CUDA_ARRAY_MEMORY_REQUIREMENTS){.size = array->size, .alignment = 512};
	return CUDA_SUCCESS;
}

CUresult sim_cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
				    const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
				    unsigned int numMipmapLevels)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!pHandle || !pMipmappedArrayDesc || !numMipmapLevels || numMipmapLevels > 32)
		return CUDA_ERROR_INVALID_VALUE;
	struct mipmap *m = sim_object_new(OBJ_MIPMAP, sizeof *m, ctx);
	SIM_ALLOC_CHECK(m);
	m->levels = calloc(numMipmapLevels, sizeof *m->levels);
	CUDA_ARRAY3D_DESCRIPTOR desc = *pMipmappedArrayDesc;
	while (!error && m->levels && m->nlevels < numMipmapLevels) {
		error = create(&desc, &m->levels[m->nlevels]);
		if (error)
			break;
		m->levels[m->nlevels]->mipmap = m;
		sim_object_disown(&m->levels[m->nlevels]->obj);
		m->nlevels++;
		desc.Width = at_least_one(desc.Width / 2);
		desc.Height = desc.Height > 1 ? desc.Height / 2 : desc.Height;
		desc.Depth = desc.Depth > 1 && !(desc.Flags & CUDA_ARRAY3D_LAYERED) ? desc.Depth / 2
										    : desc.Depth;
	}
	if (!m->levels || error) {
		sim_cuMipmappedArrayDestroy((CUmipmappedArray)m);
		return error ? error : CUDA_ERROR_OUT_OF_MEMORY;
	}
	*pHandle = (CUmipmappedArray)m;
	return CUDA_SUCCESS;
}

CUresult sim_cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray,
				      unsigned int level)
{
	struct mipmap *m = sim_object_get(hMipmappedArray, OBJ_MIPMAP);
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!pLevelArray || level >= m->nlevels)
		return CUDA_ERROR_INVALID_VALUE;
	*pLevelArray = (CUarray)m->levels[level];
	return CUDA_SUCCESS;
}

CUresult sim_cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
	struct mipmap *m = sim_object_get(hMipmappedArray, OBJ_MIPMAP);
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < m->nlevels; i++)
		sim_array_destroy(m->levels[i]);
	free(m->levels);
	sim_object_drop(m);
	return CUDA_SUCCESS;
}

CUresult
sim_cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements,
					  CUmipmappedArray mipmap, CUdevice device)
{
	const struct mipmap *m = sim_object_get(mipmap, OBJ_MIPMAP);
	if (!m || !memoryRequirements)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	if (sim_device_check(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*memoryRequirements = (CUDA_ARRAY_MEMORY_REQUIREMENTS){.alignment = 512};
	for (unsigned i = 0; i < m->nlevels; i++)
		memoryRequirements->size += (m->levels[i]->size + 511) / 512 * 512;
	return CUDA_SUCCESS;
}

/* No format of several planes and no sparse array is made here, so none has these properties. */
CUresult sim_cuArrayGetPlane(CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx)
{
	(void)pPlaneArray, (void)planeIdx;
	return sim_object_get(hArray, OBJ_ARRAY) ? CUDA_ERROR_INVALID_VALUE
						 : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties,
					CUarray array)
{
	(void)sparseProperties;
	return sim_object_get(array, OBJ_ARRAY) ? CUDA_ERROR_INVALID_VALUE
						: CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *sparseProperties,
						 CUmipmappedArray mipmap)
{
	(void)sparseProperties;
	return sim_object_get(mipmap, OBJ_MIPMAP) ? CUDA_ERROR_INVALID_VALUE
						  : CUDA_ERROR_INVALID_HANDLE;
}
