/* User objects: what a graph keeps alive for its owner. */
#include "graph.h"
#include <stdlib.h>

struct user {
	struct object obj;
	void *ptr;
	CUhostFn destroy;
	uint64_t refs;
};
struct user_ref {
	struct user_ref *next;
	struct user *user;
	unsigned count;
};

static CUresult release(struct user *user, unsigned count)
{
	if (count > user->refs)
		return CUDA_ERROR_INVALID_VALUE;
	user->refs -= count;
	if (user->refs)
		return CUDA_SUCCESS;
	CUhostFn destroy = user->destroy;
	void *ptr = user->ptr;
	sim_object_drop(user);
	sim_unlock();
	destroy(ptr);
	sim_lock();
	return CUDA_SUCCESS;
}

void sim_users_drop(struct graph *graph)
{
	while (graph->users) {
		struct user_ref *ref = graph->users;
		graph->users = ref->next;
		release(ref->user, ref->count);
		free(ref);
	}
}

CUresult sim_cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy,
				unsigned int initialRefcount, unsigned int flags)
{
	if (!object_out || !destroy || !initialRefcount ||
	    flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
		return CUDA_ERROR_INVALID_VALUE;
	struct user *user = sim_object_new(OBJ_USER, sizeof *user, NULL);
	SIM_ALLOC_CHECK(user);
	user->ptr = ptr;
	user->destroy = destroy;
	user->refs = initialRefcount;
	*object_out = (CUuserObject)user;
	return CUDA_SUCCESS;
}

CUresult sim_cuUserObjectRetain(CUuserObject object, unsigned int count)
{
	struct user *user = sim_object_get(object, OBJ_USER);
	if (!user || !count)
		return CUDA_ERROR_INVALID_VALUE;
	user->refs += count;
	return CUDA_SUCCESS;
}

CUresult sim_cuUserObjectRelease(CUuserObject object, unsigned int count)
{
	struct user *user = sim_object_get(object, OBJ_USER);
	return user && count ? release(user, count) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphRetainUserObject(CUgraph hGraph, CUuserObject object, unsigned int count,
				     unsigned int flags)
{
	struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	struct user *user = sim_object_get(object, OBJ_USER);
	if (!graph || !user || !count || (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE))
		return CUDA_ERROR_INVALID_VALUE;
	struct user_ref *ref = malloc(sizeof *ref);
	SIM_ALLOC_CHECK(ref);
	*ref = (struct user_ref){graph->users, user, count};
	graph->users = ref;
	if (!(flags & CU_GRAPH_USER_OBJECT_MOVE))
		user->refs += count;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphReleaseUserObject(CUgraph hGraph, CUuserObject object, unsigned int count)
{
	struct graph *graph = sim_object_get(hGraph, OBJ_GRAPH);
	struct user *user = sim_object_get(object, OBJ_USER);
	if (!graph || !user || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct user_ref **link = &graph->users; *link; link = &(*link)->next) {
		struct user_ref *ref = *link;
		if (ref->user != user || ref->count < count)
			continue;
		ref->count -= count;
		if (!ref->count) {
			*link = ref->next;
			free(ref);
		}
		return release(user, count);
	}
	return CUDA_ERROR_INVALID_VALUE;
}
