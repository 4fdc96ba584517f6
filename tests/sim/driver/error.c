/* Names and texts of the error codes. */
#include "sim.h"
#include <ctype.h>
#include <string.h>

#define X(code) {code, #code},
static const struct {
	CUresult code;
	const char *name;
} names[] = {
#include "errors.h"
};
#undef X

static const struct {
	CUresult code;
	const char *text;
} texts[] = {
    {CUDA_SUCCESS, "no error"},
    {CUDA_ERROR_INVALID_VALUE, "invalid argument"},
    {CUDA_ERROR_NOT_INITIALIZED, "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "driver shutting down"},
    {CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "invalid device context"},
    {CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"},
    {CUDA_ERROR_NOT_SUPPORTED, "operation not supported"},
    {CUDA_ERROR_UNKNOWN, "unknown error"},
};

CUresult sim_cuGetErrorName(CUresult error, const char **pStr)
{
	if (!pStr)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].code == error) {
			*pStr = names[i].name;
			return CUDA_SUCCESS;
		}
	*pStr = NULL;
	return CUDA_ERROR_INVALID_VALUE;
}

/* Codes without a text of their own say their name in words. */
CUresult sim_cuGetErrorString(CUresult error, const char **pStr)
{
	const char *name;
	CUresult result = sim_cuGetErrorName(error, pStr);
	if (result)
		return result;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].code == error) {
			*pStr = texts[i].text;
			return CUDA_SUCCESS;
		}
	char words[128];
	size_t n = 0;
	for (name = *pStr + strlen("CUDA_ERROR_"); *name && n + 1 < sizeof words; name++)
		words[n++] = *name == '_' ? ' ' : (char)tolower((unsigned char)*name);
	words[n] = 0;
	*pStr = sim_intern(words);
	return *pStr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
