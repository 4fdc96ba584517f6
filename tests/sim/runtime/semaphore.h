/* External semaphores on streams: the layout of CUDA 11.2, whose functions are called _v2 in CUDA
 * 12 and have the plain name in 13. */
#ifndef TSTRACE_SIM_RUNTIME_SEMAPHORE_H
#define TSTRACE_SIM_RUNTIME_SEMAPHORE_H

#include "tests/sim/runtime/runtime.h"

#define SAME(a, b) _Static_assert(sizeof(a) == sizeof(b), "another layout than the driver's")
SAME(struct cudaExternalSemaphoreSignalParams, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS);
SAME(struct cudaExternalSemaphoreWaitParams, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS);

#define RT_SEMAPHORES(name, driver, from, to)                                                  \
	RT_API_PTSZ(name,                                                                      \
		    (const cudaExternalSemaphore_t *list, const struct from *params,           \
		     unsigned int n, cudaStream_t stream),                                     \
		    (list, params, n, stream))                                                 \
	{                                                                                      \
		return d->driver((const CUexternalSemaphore *)list, (const to *)params, n,     \
				 stream);                                                      \
	}
#define RT_SEMAPHORES_BOTH(version)                                                            \
	RT_SEMAPHORES(cudaSignalExternalSemaphoresAsync##version,                              \
		      cuSignalExternalSemaphoresAsync, cudaExternalSemaphoreSignalParams,      \
		      CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS)                                   \
	RT_SEMAPHORES(cudaWaitExternalSemaphoresAsync##version, cuWaitExternalSemaphoresAsync, \
		      cudaExternalSemaphoreWaitParams, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS)

#endif
