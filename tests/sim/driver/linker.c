/* The JIT linker.  Nothing is compiled: the image that comes out is the first input that a module
 * can be loaded from, or an empty one, of which any kernel can be asked for by name. */
#include "code.h"
#include <stdlib.h>
#include <string.h>

struct link {
	struct object obj;
	void *image; /* NULL: no input yet */
	size_t size;
};

/* The log of a compiler that had nothing to say. */
CUresult sim_jit_options(unsigned n, const CUjit_option *options, void **values)
{
	if (n && (!options || !values))
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < n; i++)
		switch ((int)options[i]) {
		case CU_JIT_INFO_LOG_BUFFER:
		case CU_JIT_ERROR_LOG_BUFFER:
			if (values[i])
				*(char *)values[i] = 0;
			break;
		case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
		case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
		case CU_JIT_WALL_TIME:
			values[i] = NULL; /* a number in the pointer's place, as documented */
			break;
		}
	return CUDA_SUCCESS;
}

CUresult sim_cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues,
			     CUlinkState *stateOut)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!stateOut || (numOptions && (!options || !optionValues)))
		return CUDA_ERROR_INVALID_VALUE;
	struct link *link = sim_object_new(OBJ_LINK, sizeof *link, NULL);
	SIM_ALLOC_CHECK(link);
	*stateOut = (CUlinkState)link;
	/* The buffers are written now: they may be gone when the link is complete. */
	return sim_jit_options(numOptions, options, optionValues);
}

static CUresult add(struct link *link, CUjitInputType type, const void *data, size_t size)
{
	static const char elf[] = {0x7f, 'E', 'L', 'F'};
	if (type != CU_JIT_INPUT_CUBIN && type != CU_JIT_INPUT_PTX &&
	    type != CU_JIT_INPUT_FATBINARY && type != CU_JIT_INPUT_OBJECT &&
	    type != CU_JIT_INPUT_LIBRARY && type != CU_JIT_INPUT_NVVM)
		return CUDA_ERROR_INVALID_VALUE;
	bool loadable =
	    type == CU_JIT_INPUT_CUBIN && size >= sizeof elf && !memcmp(data, elf, sizeof elf);
	if (link->size)
		return CUDA_SUCCESS;
	void *image = calloc(1, loadable ? size : 64);
	SIM_ALLOC_CHECK(image);
	if (loadable)
		memcpy(image, data, size);
	free(link->image);
	link->image = image;
	link->size = loadable ? size : 0;
	return CUDA_SUCCESS;
}

CUresult sim_cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
			      const char *name, unsigned int numOptions, CUjit_option *options,
			      void **optionValues)
{
	struct link *link = sim_object_get(state, OBJ_LINK);
	(void)name;
	if (!link)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!data || !size || (numOptions && (!options || !optionValues)))
		return CUDA_ERROR_INVALID_VALUE;
	return add(link, type, data, size);
}

CUresult sim_cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path,
			      unsigned int numOptions, CUjit_option *options, void **optionValues)
{
	struct link *link = sim_object_get(state, OBJ_LINK);
	void *data;
	size_t size;
	if (!link)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!path || (numOptions && (!options || !optionValues)))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = sim_read_file(path, &data, &size);
	if (error)
		return error;
	error = add(link, type, data, size);
	free(data);
	return error;
}

CUresult sim_cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues,
			  CUlinkState *stateOut)
{
	return sim_cuLinkCreate_v2(numOptions, options, optionValues, stateOut);
}

CUresult sim_cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
			   const char *name, unsigned int numOptions, CUjit_option *options,
			   void **optionValues)
{
	return sim_cuLinkAddData_v2(state, type, data, size, name, numOptions, options,
				    optionValues);
}

CUresult sim_cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
			   unsigned int numOptions, CUjit_option *options, void **optionValues)
{
	return sim_cuLinkAddFile_v2(state, type, path, numOptions, options, optionValues);
}

/* The image is the link's and goes with it. */
CUresult sim_cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
	struct link *link = sim_object_get(state, OBJ_LINK);
	if (!link)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!cubinOut || !link->image)
		return CUDA_ERROR_INVALID_VALUE;
	*cubinOut = link->image;
	if (sizeOut)
		*sizeOut = link->size ? link->size : 64;
	return CUDA_SUCCESS;
}

CUresult sim_cuLinkDestroy(CUlinkState state)
{
	struct link *link = sim_object_get(state, OBJ_LINK);
	if (!link)
		return CUDA_ERROR_INVALID_HANDLE;
	free(link->image);
	sim_object_drop(link);
	return CUDA_SUCCESS;
}
