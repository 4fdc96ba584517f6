/* What does not fit a row: functions of the runtime's start-up code, and the driver's way to load a
 * tool. */
#include "core/record/record.h"
#include "preload/cuda_api.h"
#include "preload/names.h"
#include "preload/real.h"

typedef void register_function(void **handle, const char *stub, char *device_stub, const char *name,
			       int threads, uint3 *thread, uint3 *block, dim3 *block_size,
			       dim3 *grid_size, int *warp_size);

/* A compiled-in kernel: its stub is what a launch names.  At program start, before any CUDA call:
 * nothing is opened or recorded here. */
#define REGISTER(function, label, find)                                                            \
	extern register_function function label;                                                   \
	void function(void **handle, const char *stub, char *device_stub, const char *name,        \
			int threads,                                                               \
		      uint3 *thread, uint3 *block, dim3 *block_size, dim3 *grid_size,              \
				int *warp_size)                                                    \
	{                                                                                          \
		register_function *real = (register_function *)(find);                             \
                                                                                                   \
		ts_name_stub(stub, name);                                                          \
		if (real)                                                                          \
			real(handle, stub, device_stub, name, threads, thread, block, block_size,  \
			     grid_size, warp_size);                                                \
	}

REGISTER(ts_sym___cudaRegisterFunction, __asm__("__cudaRegisterFunction") TS_EXPORT,
	 ts_real_bound(TS_FN___cudaRegisterFunction, __builtin_return_address(0)))
REGISTER(ts_dlsym___cudaRegisterFunction, ,
	 ts_real_held(&ts_real_dlsym[TS_FN___cudaRegisterFunction]))

/* CUDA_INJECTION64_PATH: the driver opens this library at cuInit and calls this.  The hooks reach
 * what goes through dlsym and cuGetProcAddress from then on only when the library is preloaded as
 * well; what they cannot reach is seen by CUPTI's callbacks.  Being there is enough: the session
 * opens here. */
TS_EXPORT int InitializeInjection(void);
TS_EXPORT int InitializeInjection(void)
{
	ts_self.depth++;
	ts_record_open();
	ts_self.depth--;
	return 1;
}
