/* Contexts: the runtime works in the context that is current on the thread and, where there is
 * none, in the primary context of the thread's device. */
#include "tests/sim/runtime/runtime.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { CUcontext context; bool retained; } primaries[RT_DEVICES];
static atomic_uint resets;      /* devices reset so far: until the first one no context is stale */

/* The primary context of a device, retained once for the life of the process or until a reset. */
int rt_primary(int device, CUcontext *context)
{
	const struct rt_driver *d = rt_driver(false);
	int r = 0, count = 0;

	if (d->cuDeviceGetCount(&count) || device < 0 || device >= count || device >= RT_DEVICES)
		return cudaErrorInvalidDevice;
	pthread_mutex_lock(&lock);
	if (!primaries[device].retained) {
		r = d->cuDevicePrimaryCtxRetain(&primaries[device].context, device);
		primaries[device].retained = r == 0;
	}
	if (!r)
		*context = primaries[device].context;
	pthread_mutex_unlock(&lock);
	return r;
}

int rt_use_device(int device)
{
	CUcontext context;
	int r = rt_primary(device, &context);

	if (r)
		return r;
	rt_thread()->device = device;
	return rt_driver(false)->cuCtxSetCurrent(context);
}

/* Was `context` the primary one of a device that was reset since?  Such a thread starts afresh. */
static bool stale(CUcontext context)
{
	bool found = false;

	if (!atomic_load_explicit(&resets, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < RT_DEVICES && !found; i++)
		found = primaries[i].context == context && !primaries[i].retained;
	pthread_mutex_unlock(&lock);
	return found;
}

int rt_context(void)
{
	CUcontext current = NULL;
	int r = rt_driver(false)->cuCtxGetCurrent(&current);

	if (r)
		return r;
	if (current && !stale(current))
		return 0;
	return rt_use_device(rt_thread()->device);
}

int rt_reset_device(int device)
{
	const struct rt_driver *d = rt_driver(false);
	int r;

	pthread_mutex_lock(&lock);
	atomic_fetch_add(&resets, 1);
	r = d->cuDevicePrimaryCtxReset(device);
	primaries[device].retained = false;
	pthread_mutex_unlock(&lock);
	if (!r)
		r = d->cuCtxSetCurrent(NULL);
	return r;
}

int rt_device_flags(unsigned int flags)
{
	return rt_driver(false)->cuDevicePrimaryCtxSetFlags(rt_thread()->device, flags);
}
