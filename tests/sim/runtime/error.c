/* Errors: names, texts and the last error of each thread. */
#include "tests/sim/runtime/runtime.h"

static __thread struct rt_thread thread;

struct rt_thread *rt_thread(void)
{
	return &thread;
}

/* Errors after which the context is lost: cudaGetLastError does not clear them. */
static bool sticky(int error)
{
	switch (error) {
	case cudaErrorECCUncorrectable:
	case cudaErrorNvlinkUncorrectable:
	case cudaErrorContained:
	case cudaErrorIllegalAddress:
	case cudaErrorLaunchTimeout:
	case cudaErrorAssert:
	case cudaErrorHardwareStackError:
	case cudaErrorIllegalInstruction:
	case cudaErrorMisalignedAddress:
	case cudaErrorInvalidAddressSpace:
	case cudaErrorInvalidPc:
	case cudaErrorLaunchFailure:
	case cudaErrorTensorMemoryLeak:
		return true;
	default:
		return false;
	}
}

int rt_fail(int error)
{
	if (!sticky(thread.last))
		thread.last = error;
	return error;
}

void rt_forget_sticky(void)
{
	thread.last = cudaSuccess;
}

/* Both bring the runtime up: where that fails, its error is the last error for good. */
RT_EXPORT cudaError_t cudaGetLastError(void)
{
	int last = rt_load();

	if (last)
		return (cudaError_t)last;
	last = thread.last;
	if (!sticky(last))
		thread.last = cudaSuccess;
	return (cudaError_t)last;
}

RT_EXPORT cudaError_t cudaPeekAtLastError(void)
{
	int failed = rt_load();

	return (cudaError_t)(failed ? failed : thread.last);
}

RT_EXPORT const char *cudaGetErrorName(cudaError_t error)
{
	switch ((int)error) {
#define RT_ERROR(constant, text) case constant: return #constant;
#include "tests/sim/runtime/errors.def"
#undef RT_ERROR
	default: return "unrecognized error code";
	}
}

RT_EXPORT const char *cudaGetErrorString(cudaError_t error)
{
	switch ((int)error) {
#define RT_ERROR(constant, text) case constant: return text;
#include "tests/sim/runtime/errors.def"
#undef RT_ERROR
	default: return "unrecognized error code";
	}
}
