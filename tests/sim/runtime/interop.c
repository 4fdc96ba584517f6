/* Versions, driver entry points, profiler control, and what is shared with other processes or APIs.
 */
#include "tests/sim/runtime/runtime.h"
#include "tests/sim/variable.h"

#include <unistd.h>

RT_EXPORT cudaError_t cudaRuntimeGetVersion(int *version)
{
	if (!version)
		return (cudaError_t)rt_fail(cudaErrorInvalidValue);
	*version = rt_version;
	return cudaSuccess;
}

/* Documented: 0 where there is no driver, which is not an error. */
RT_EXPORT cudaError_t cudaDriverGetVersion(int *version)
{
	int r;

	if (!version)
		return (cudaError_t)rt_fail(cudaErrorInvalidValue);
	*version = 0;
	r = rt_load();
	if (r != cudaErrorInsufficientDriver)
		rt_driver(false)->cuDriverGetVersion(version);
	return cudaSuccess;
}

/* Only the version that the caller compiled against and the default-stream mode differ. */
static int entry_point(const char *symbol, void **to, int version, unsigned long long flags,
		       enum cudaDriverEntryPointQueryResult *status, bool per_thread)
{
	int found = 0, r = 0;
	void *pointer;

	if (!symbol || !to)
		return cudaErrorInvalidValue;
	if (flags == cudaEnableDefault && per_thread)
		flags = cudaEnablePerThreadDefaultStream;
	pointer = rt_proc_address(symbol, version, flags, &found, &r);
	if (status)
		*status = (enum cudaDriverEntryPointQueryResult)found;
	*to = pointer;
	/* A name that is not there is told by the status alone, if the caller looks at it. */
	return r == CUDA_ERROR_NOT_FOUND ? (status ? 0 : cudaErrorSymbolNotFound) : r;
}

#define ENTRY_POINT(symbol, per_thread)                                                        \
	static int symbol##_impl(const struct rt_driver *d RT_UNUSED, const char *name,        \
			void **to, unsigned long long flags,                                   \
			enum cudaDriverEntryPointQueryResult *status)                          \
	{                                                                                      \
		return entry_point(name, to, rt_version, flags, status, per_thread);           \
	}                                                                                      \
	RT_DEFINE(symbol, symbol##_impl, RT_NEED_DRIVER, per_thread, (const char *name,        \
		  void **to, unsigned long long flags,                                         \
		  enum cudaDriverEntryPointQueryResult *status), (name, to, flags, status))
#define ENTRY_POINT_VERSION(symbol, per_thread)                                                \
	static int symbol##_impl(const struct rt_driver *d RT_UNUSED, const char *name,        \
			void **to, unsigned int version, unsigned long long flags,             \
			enum cudaDriverEntryPointQueryResult *status)                          \
	{                                                                                      \
		return entry_point(name, to, (int)version, flags, status, per_thread);         \
	}                                                                                      \
	RT_DEFINE(symbol, symbol##_impl, RT_NEED_DRIVER, per_thread, (const char *name,        \
		  void **to, unsigned int version, unsigned long long flags,                   \
		  enum cudaDriverEntryPointQueryResult *status),                               \
		  (name, to, version, flags, status))

ENTRY_POINT(cudaGetDriverEntryPoint, false)
ENTRY_POINT(cudaGetDriverEntryPoint_ptsz, true)
ENTRY_POINT_VERSION(cudaGetDriverEntryPointByVersion, false)
ENTRY_POINT_VERSION(cudaGetDriverEntryPointByVersion_ptsz, true)

RT_API_VOID(cudaProfilerStart, RT_NEED_CONTEXT)
{
	return d->cuProfilerStart();
}

RT_API_VOID(cudaProfilerStop, RT_NEED_CONTEXT)
{
	return d->cuProfilerStop();
}

/* --- between processes: the driver decides
 * --------------------------------------------------------- */

RT_API(cudaIpcGetEventHandle, (cudaIpcEventHandle_t *handle, cudaEvent_t event), (handle, event))
{
	return d->cuIpcGetEventHandle((CUipcEventHandle *)handle, event);
}

RT_API(cudaIpcOpenEventHandle, (cudaEvent_t *event, cudaIpcEventHandle_t handle), (event, handle))
{
	CUipcEventHandle h;

	memcpy(&h, &handle, sizeof(h));
	return d->cuIpcOpenEventHandle(event, h);
}

RT_API(cudaIpcGetMemHandle, (cudaIpcMemHandle_t *handle, void *ptr), (handle, ptr))
{
	return d->cuIpcGetMemHandle((CUipcMemHandle *)handle, RT_PTR(ptr));
}

RT_API(cudaIpcOpenMemHandle, (void **ptr, cudaIpcMemHandle_t handle, unsigned int flags),
       (ptr, handle, flags))
{
	CUipcMemHandle h;

	memcpy(&h, &handle, sizeof(h));
	return d->cuIpcOpenMemHandle((CUdeviceptr *)ptr, h, flags);
}

RT_API(cudaIpcCloseMemHandle, (void *ptr), (ptr))
{
	return d->cuIpcCloseMemHandle(RT_PTR(ptr));
}

RT_API(cudaExternalMemoryGetMappedBuffer, (void **ptr, cudaExternalMemory_t memory,
       const struct cudaExternalMemoryBufferDesc *desc), (ptr, memory, desc))
{
	CUDA_EXTERNAL_MEMORY_BUFFER_DESC to;

	if (!desc)
		return cudaErrorInvalidValue;
	to = (CUDA_EXTERNAL_MEMORY_BUFFER_DESC){ .offset = desc->offset, .size = desc->size,
		.flags = desc->flags };
	return d->cuExternalMemoryGetMappedBuffer((CUdeviceptr *)ptr, (CUexternalMemory)memory,
						  &to);
}

RT_API(cudaDestroyExternalMemory, (cudaExternalMemory_t memory), (memory))
{
	return d->cuDestroyExternalMemory((CUexternalMemory)memory);
}

/* The two descriptions agree member by member. */
RT_API(cudaImportExternalMemory, (cudaExternalMemory_t *memory,
       const struct cudaExternalMemoryHandleDesc *desc), (memory, desc))
{
	CUDA_EXTERNAL_MEMORY_HANDLE_DESC to = { 0 };

	if (!memory || !desc)
		return cudaErrorInvalidValue;
	to.type = (CUexternalMemoryHandleType)desc->type;
	_Static_assert(sizeof(to.handle) == sizeof(desc->handle), "same layout");
	memcpy(&to.handle, &desc->handle, sizeof(to.handle));
	to.size = desc->size;
	to.flags = desc->flags;
	return d->cuImportExternalMemory((CUexternalMemory *)memory, &to);
}

RT_API(cudaImportExternalSemaphore, (cudaExternalSemaphore_t *semaphore,
       const struct cudaExternalSemaphoreHandleDesc *desc), (semaphore, desc))
{
	CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC to = { 0 };

	if (!semaphore || !desc)
		return cudaErrorInvalidValue;
	to.type = (CUexternalSemaphoreHandleType)desc->type;
	_Static_assert(sizeof(to.handle) == sizeof(desc->handle), "same layout");
	memcpy(&to.handle, &desc->handle, sizeof(to.handle));
	to.flags = desc->flags;
	return d->cuImportExternalSemaphore((CUexternalSemaphore *)semaphore, &to);
}

RT_API(cudaDestroyExternalSemaphore, (cudaExternalSemaphore_t semaphore), (semaphore))
{
	return d->cuDestroyExternalSemaphore((CUexternalSemaphore)semaphore);
}

/* --- the driver's log
 * ------------------------------------------------------------------------------ */

RT_API_DRIVER(cudaLogsRegisterCallback, (cudaLogsCallback_t callback, void *data,
	      cudaLogsCallbackHandle *handle), (callback, data, handle))
{
	return d->cuLogsRegisterCallback((CUlogsCallback)callback, data, handle);
}

RT_API_DRIVER(cudaLogsUnregisterCallback, (cudaLogsCallbackHandle handle), (handle))
{
	return d->cuLogsUnregisterCallback(handle);
}

RT_API_DRIVER(cudaLogsCurrent, (cudaLogIterator *iterator, unsigned int flags), (iterator, flags))
{
	return d->cuLogsCurrent(iterator, flags);
}

RT_API_DRIVER(cudaLogsDumpToFile, (cudaLogIterator *iterator, const char *path,
	      unsigned int flags), (iterator, path, flags))
{
	return d->cuLogsDumpToFile(iterator, path, flags);
}

RT_API_DRIVER(cudaLogsDumpToMemory, (cudaLogIterator *iterator, char *buffer, size_t *size,
	      unsigned int flags), (iterator, buffer, size, flags))
{
	return d->cuLogsDumpToMemory(iterator, buffer, size, flags);
}

/* --- everything else
 * ------------------------------------------------------------------------------- */

/* It fails, and says so when asked to. */
cudaError_t rt_unsupported(const char *name)
{
	static const char prefix[] = "libcudart (simulated): unsupported ";
	char line[160];
	size_t n = sizeof(prefix) - 1, length = strlen(name);
	const char *log = sim_variable("LOG_UNSUPPORTED");

	if (log && strcmp(log, "0") && n + length + 1 < sizeof(line)) {
		memcpy(line, prefix, n);
		memcpy(line + n, name, length);
		line[n + length] = '\n';
		if (write(STDERR_FILENO, line, n + length + 1) < 0)
			return (cudaError_t)rt_fail(cudaErrorNotSupported);
	}
	return (cudaError_t)rt_fail(cudaErrorNotSupported);
}
