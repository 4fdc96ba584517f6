/* Texture and surface objects: the descriptions are translated and kept, so that a program can ask
 * for what it gave.  Kernels of the simulated device read no textures. */
#include "tests/sim/runtime/runtime.h"

#include <pthread.h>
#include <stdlib.h>

struct object {
	struct object *next;
	unsigned long long handle;
	bool surface, has_view;
	struct cudaResourceDesc resource;
	struct cudaTextureDesc texture;
	struct cudaResourceViewDesc view;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;

static int resource(const struct cudaResourceDesc *from, CUDA_RESOURCE_DESC *to)
{
	int r = 0;

	memset(to, 0, sizeof(*to));
	if (!from)
		return cudaErrorInvalidValue;
	to->resType = (CUresourcetype)from->resType;
	to->flags = from->flags;
	switch (from->resType) {
	case cudaResourceTypeArray:
		to->res.array.hArray = (CUarray)from->res.array.array;
		break;
	case cudaResourceTypeMipmappedArray:
		to->res.mipmap.hMipmappedArray = (CUmipmappedArray)from->res.mipmap.mipmap;
		break;
	case cudaResourceTypeLinear:
		to->res.linear.devPtr = RT_PTR(from->res.linear.devPtr);
		to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
		r = rt_format(&from->res.linear.desc, &to->res.linear.format,
			      &to->res.linear.numChannels);
		break;
	case cudaResourceTypePitch2D:
		to->res.pitch2D.devPtr = RT_PTR(from->res.pitch2D.devPtr);
		to->res.pitch2D.width = from->res.pitch2D.width;
		to->res.pitch2D.height = from->res.pitch2D.height;
		to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
		r = rt_format(&from->res.pitch2D.desc, &to->res.pitch2D.format,
			      &to->res.pitch2D.numChannels);
		break;
	default:
		r = cudaErrorInvalidValue;
	}
	return r;
}

static void texture(const struct cudaTextureDesc *from, CUDA_TEXTURE_DESC *to)
{
	memset(to, 0, sizeof(*to));
	for (int i = 0; i < 3; i++)
		to->addressMode[i] = (CUaddress_mode)from->addressMode[i];
	memcpy(to->borderColor, from->borderColor, sizeof(to->borderColor));
	to->filterMode = (CUfilter_mode)from->filterMode;
	to->flags = (from->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0) |
		    (from->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
		    (from->sRGB ? CU_TRSF_SRGB : 0) |
		    (from->disableTrilinearOptimization ?
		     CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
		    (from->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
	to->maxAnisotropy = from->maxAnisotropy;
	to->mipmapFilterMode = (CUfilter_mode)from->mipmapFilterMode;
	to->mipmapLevelBias = from->mipmapLevelBias;
	to->minMipmapLevelClamp = from->minMipmapLevelClamp;
	to->maxMipmapLevelClamp = from->maxMipmapLevelClamp;
}

/* Copies what is given; NULL parts stay zero. */
static int keep(unsigned long long handle, bool surface, const struct cudaResourceDesc *res,
		const struct cudaTextureDesc *tex, const struct cudaResourceViewDesc *view)
{
	struct object *o = calloc(1, sizeof(*o));

	if (!o)
		return cudaErrorMemoryAllocation;
	o->handle = handle;
	o->surface = surface;
	o->has_view = view != NULL;
	o->resource = *res;
	if (tex)
		o->texture = *tex;
	if (view)
		o->view = *view;
	pthread_mutex_lock(&lock);
	o->next = objects;
	objects = o;
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Copy an object out and, on request, forget it. */
static int look_up(unsigned long long handle, bool surface, struct object *to, bool forget)
{
	struct object **p, *o;

	pthread_mutex_lock(&lock);
	for (p = &objects; *p; p = &(*p)->next)
		if ((*p)->handle == handle && (*p)->surface == surface)
			break;
	o = *p;
	if (o) {
		*to = *o;
		if (forget) {
			*p = o->next;
			free(o);
		}
	}
	pthread_mutex_unlock(&lock);
	return o ? 0 : cudaErrorInvalidValue;
}

RT_API(cudaCreateTextureObject, (cudaTextureObject_t *object, const struct cudaResourceDesc *res,
       const struct cudaTextureDesc *tex, const struct cudaResourceViewDesc *view),
       (object, res, tex, view))
{
	CUDA_RESOURCE_DESC r_desc;
	CUDA_TEXTURE_DESC t_desc;
	int r;

	if (!object || !tex)
		return cudaErrorInvalidValue;
	r = resource(res, &r_desc);
	if (r)
		return r;
	texture(tex, &t_desc);
	_Static_assert(sizeof(struct cudaResourceViewDesc) == sizeof(CUDA_RESOURCE_VIEW_DESC),
		       "same layout");
	r = d->cuTexObjectCreate((CUtexObject *)object, &r_desc, &t_desc,
				 (const CUDA_RESOURCE_VIEW_DESC *)view);
	return r ? r : keep(*object, false, res, tex, view);
}

RT_API(cudaDestroyTextureObject, (cudaTextureObject_t object), (object))
{
	struct object o;

	if (!object)
		return 0;
	look_up(object, false, &o, true);
	return d->cuTexObjectDestroy(object);
}

RT_API(cudaCreateSurfaceObject, (cudaSurfaceObject_t *object, const struct cudaResourceDesc *res),
       (object, res))
{
	CUDA_RESOURCE_DESC desc;
	int r;

	if (!object)
		return cudaErrorInvalidValue;
	r = resource(res, &desc);
	if (!r)
		r = d->cuSurfObjectCreate((CUsurfObject *)object, &desc);
	return r ? r : keep(*object, true, res, NULL, NULL);
}

RT_API(cudaDestroySurfaceObject, (cudaSurfaceObject_t object), (object))
{
	struct object o;

	if (!object)
		return 0;
	look_up(object, true, &o, true);
	return d->cuSurfObjectDestroy(object);
}

RT_API(cudaGetTextureObjectResourceDesc, (struct cudaResourceDesc *to, cudaTextureObject_t object),
       (to, object))
{
	struct object o;
	int r = to ? look_up(object, false, &o, false) : (int)cudaErrorInvalidValue;

	if (!r)
		*to = o.resource;
	return r;
}

RT_API(cudaGetTextureObjectTextureDesc, (struct cudaTextureDesc *to, cudaTextureObject_t object),
       (to, object))
{
	struct object o;
	int r = to ? look_up(object, false, &o, false) : (int)cudaErrorInvalidValue;

	if (!r)
		*to = o.texture;
	return r;
}

RT_API(cudaGetTextureObjectResourceViewDesc, (struct cudaResourceViewDesc *to,
       cudaTextureObject_t object), (to, object))
{
	struct object o;
	int r = to ? look_up(object, false, &o, false) : (int)cudaErrorInvalidValue;

	if (!r && !o.has_view)
		r = cudaErrorInvalidValue;
	if (!r)
		*to = o.view;
	return r;
}

RT_API(cudaGetSurfaceObjectResourceDesc, (struct cudaResourceDesc *to, cudaSurfaceObject_t object),
       (to, object))
{
	struct object o;
	int r = to ? look_up(object, true, &o, false) : (int)cudaErrorInvalidValue;

	if (!r)
		*to = o.resource;
	return r;
}
