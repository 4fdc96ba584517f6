/* A context dies with everything it owns. */
#include "code.h"

void sim_objects_destroy(struct context *owner)
{
	while (owner->objects) {
		struct object *o = owner->objects;
		switch (o->type) {
		case OBJ_STREAM:
			sim_stream_destroy((struct stream *)o);
			break;
		case OBJ_EVENT:
			sim_cuEventDestroy_v2((CUevent)o);
			break;
		case OBJ_MODULE:
			sim_module_destroy((struct module *)o);
			break;
		case OBJ_ALLOC:
			if (((struct alloc *)o)->kind == MEM_POOL)
				sim_pool_give((struct alloc *)o);
			else
				sim_memory_drop((struct alloc *)o, false);
			break;
		case OBJ_ARRAY:
			sim_array_destroy((struct array *)o);
			break;
		case OBJ_MIPMAP:
			sim_cuMipmappedArrayDestroy((CUmipmappedArray)o);
			break;
		default:
			sim_object_drop(o);
		}
	}
}
