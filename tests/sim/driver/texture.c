/* Texture and surface objects: kept descriptions. */
#include "sim.h"

struct texture {
	struct object obj;
	CUDA_RESOURCE_DESC resource;
	CUDA_TEXTURE_DESC texture;
	CUDA_RESOURCE_VIEW_DESC view;
};

static struct texture *get(unsigned long long handle, enum sim_type type)
{
	return sim_object_get((void *)(uintptr_t)handle, type);
}

static CUresult make(unsigned long long *out, const CUDA_RESOURCE_DESC *res, enum sim_type type)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!out || !res)
		return CUDA_ERROR_INVALID_VALUE;
	if (res->resType == CU_RESOURCE_TYPE_ARRAY &&
	    !sim_object_get(res->res.array.hArray, OBJ_ARRAY))
		return CUDA_ERROR_INVALID_HANDLE;
	struct texture *t = sim_object_new(type, sizeof *t, ctx);
	SIM_ALLOC_CHECK(t);
	t->resource = *res;
	*out = (unsigned long long)(uintptr_t)t;
	return CUDA_SUCCESS;
}

static CUresult destroy(unsigned long long handle, enum sim_type type)
{
	struct texture *t = get(handle, type);
	if (!t)
		return CUDA_ERROR_INVALID_VALUE;
	sim_object_drop(t);
	return CUDA_SUCCESS;
}

CUresult sim_cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
			       const CUDA_TEXTURE_DESC *pTexDesc,
			       const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
	if (!pTexDesc)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = make(pTexObject, pResDesc, OBJ_TEXTURE);
	if (error)
		return error;
	struct texture *t = get(*pTexObject, OBJ_TEXTURE);
	t->texture = *pTexDesc;
	if (pResViewDesc)
		t->view = *pResViewDesc;
	return CUDA_SUCCESS;
}

CUresult sim_cuTexObjectDestroy(CUtexObject texObject)
{
	return destroy(texObject, OBJ_TEXTURE);
}

CUresult sim_cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject)
{
	struct texture *t = get(texObject, OBJ_TEXTURE);
	if (!t || !pResDesc)
		return CUDA_ERROR_INVALID_VALUE;
	*pResDesc = t->resource;
	return CUDA_SUCCESS;
}

CUresult sim_cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject)
{
	struct texture *t = get(texObject, OBJ_TEXTURE);
	if (!t || !pTexDesc)
		return CUDA_ERROR_INVALID_VALUE;
	*pTexDesc = t->texture;
	return CUDA_SUCCESS;
}

CUresult sim_cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *pResViewDesc,
					    CUtexObject texObject)
{
	struct texture *t = get(texObject, OBJ_TEXTURE);
	if (!t || !pResViewDesc)
		return CUDA_ERROR_INVALID_VALUE;
	*pResViewDesc = t->view;
	return CUDA_SUCCESS;
}

CUresult sim_cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)
{
	return make(pSurfObject, pResDesc, OBJ_SURFACE);
}

CUresult sim_cuSurfObjectDestroy(CUsurfObject surfObject)
{
	return destroy(surfObject, OBJ_SURFACE);
}

CUresult sim_cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject)
{
	struct texture *t = get(surfObject, OBJ_SURFACE);
	if (!t || !pResDesc)
		return CUDA_ERROR_INVALID_VALUE;
	*pResDesc = t->resource;
	return CUDA_SUCCESS;
}
