/* Modules and libraries.  Any kernel name exists: functions are made on demand. */
#include "code.h"
#include "sim.h"
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct function *sim_function_get(const void *handle)
{
	struct function *f = sim_object_get(handle, OBJ_FUNCTION);
	return f ? f : sim_object_get(handle, OBJ_KERNEL);
}

static struct function *find_function(struct module *m, const char *name, CUresult *error)
{
	const char *interned = sim_intern(name);
	struct named key = {.name = interned}, **found = tfind(&key, &m->functions, by_name);
	*error = CUDA_SUCCESS;
	if (found)
		return (*found)->data;
	struct named *entry = interned ? malloc(sizeof *entry) : NULL;
	struct function *f =
	    entry ? sim_object_new(m->obj.type == OBJ_LIBRARY ? OBJ_KERNEL : OBJ_FUNCTION,
				   sizeof *f, NULL)
		  : NULL;
	if (!f || !((entry->name = interned), (entry->data = f),
		    tsearch(entry, &m->functions, by_name))) {
		free(entry);
		*error = CUDA_ERROR_OUT_OF_MEMORY;
		return NULL;
	}
	f->name = interned;
	f->module = m;
	sim_function_defaults(f);
	f->previous = m->newest;
	m->newest = f;
	m->nfunctions++;
	return f;
}

static void free_function(void *p)
{
	struct named *entry = p;
	struct function *f = entry->data;
	if (f->twin)
		sim_object_drop(f->twin);
	sim_object_drop(f);
	free(entry);
}

static void free_global(void *p)
{
	struct named *entry = p;
	struct alloc *alloc = entry->data;
	if (sim_memory_find(alloc->address) == alloc)
		sim_memory_drop(alloc, false);
	free(entry);
}

void sim_module_destroy(struct module *m)
{
	tdestroy(m->functions, free_function);
	tdestroy(m->globals, free_global);
	sim_symbols_free(&m->symbols);
	if (m->library)
		m->library->as_module = NULL;
	if (m->as_module) {
		m->as_module->library = NULL;
		sim_module_destroy(m->as_module);
	}
	sim_object_drop(m);
}

/* Kernels that the container names exist from the start; with others come those that are asked for.
 */
static struct module *new_module(enum sim_type type, const void *image, struct context *owner)
{
	CUresult error = CUDA_SUCCESS;
	struct module *m = sim_object_new(type, sizeof *m, owner);
	if (!m)
		return NULL;
	sim_symbols_read(&m->symbols, image);
	for (size_t i = 0; i < m->symbols.nkernels && !error; i++)
		find_function(m, m->symbols.kernels[i], &error);
	if (!error)
		return m;
	sim_module_destroy(m);
	return NULL;
}

/* A __device__ variable; its memory is the device's and zeroed. */
static CUresult find_global(struct module *m, const char *name, CUdeviceptr *dptr, size_t *bytes,
			    bool managed)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!name || (!dptr && !bytes))
		return CUDA_ERROR_INVALID_VALUE;
	const char *interned = sim_intern(name);
	SIM_ALLOC_CHECK(interned);
	struct named key = {.name = interned}, **found = tfind(&key, &m->globals, by_name);
	struct alloc *alloc = found ? (*found)->data : NULL;
	if (!alloc) {
		size_t size = sim_symbols_size(&m->symbols, name);
		if (!size)
			return CUDA_ERROR_NOT_FOUND;
		struct named *entry = malloc(sizeof *entry);
		SIM_ALLOC_CHECK(entry);
		error = sim_memory_new(size, managed ? MEM_MANAGED : MEM_GLOBAL, ctx->device, NULL,
				       &alloc);
		if (error) {
			free(entry);
			return error;
		}
		*entry = (struct named){interned, alloc};
		if (!tsearch(entry, &m->globals, by_name)) {
			free(entry);
			sim_memory_drop(alloc, false);
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
	}
	if (dptr)
		*dptr = alloc->address;
	if (bytes)
		*bytes = alloc->size;
	return CUDA_SUCCESS;
}

CUresult sim_cuModuleLoadData(CUmodule *module, const void *image)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	if (error)
		return error;
	if (!module || !image)
		return CUDA_ERROR_INVALID_VALUE;
	struct module *m = new_module(OBJ_MODULE, image, ctx);
	SIM_ALLOC_CHECK(m);
	*module = (CUmodule)m;
	return CUDA_SUCCESS;
}

CUresult sim_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
				CUjit_option *options, void **optionValues)
{
	CUresult error = sim_jit_options(numOptions, options, optionValues);
	return error ? error : sim_cuModuleLoadData(module, image);
}

CUresult sim_cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
	return sim_cuModuleLoadData(module, fatCubin);
}

CUresult sim_read_file(const char *path, void **data, size_t *size)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return CUDA_ERROR_FILE_NOT_FOUND;
	long n = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
	*size = n > 0 ? (size_t)n : 0;
	*data = *size ? calloc(1, *size + 1) : NULL;
	rewind(file);
	bool ok = *data && fread(*data, 1, *size, file) == *size;
	fclose(file);
	if (!ok)
		free(*data);
	return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

CUresult sim_cuModuleLoad(CUmodule *module, const char *fname)
{
	void *data;
	size_t size;
	if (!module || !fname)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = sim_read_file(fname, &data, &size);
	if (error)
		return error;
	error = sim_cuModuleLoadData(module, data);
	free(data);
	return error;
}

CUresult sim_cuModuleUnload(CUmodule hmod)
{
	struct module *m = sim_object_get(hmod, OBJ_MODULE);
	if (!m || m->library)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_module_destroy(m);
	return CUDA_SUCCESS;
}

CUresult sim_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

CUresult sim_cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
	struct module *m = sim_object_get(hmod, OBJ_MODULE);
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!hfunc || !name || !*name)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error;
	struct function *f = find_function(m, name, &error);
	if (f)
		*hfunc = (CUfunction)f;
	return error;
}

CUresult sim_cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
	struct module *m = sim_object_get(hmod, OBJ_MODULE);
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	return find_global(m->library ? m->library : m, name, dptr, bytes, false);
}

CUresult sim_cuModuleGetFunctionCount(unsigned int *count, CUmodule hmod)
{
	struct module *m = sim_object_get(hmod, OBJ_MODULE);
	if (!m || !count)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*count = (m->library ? m->library : m)->nfunctions;
	return CUDA_SUCCESS;
}

CUresult sim_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
			       void **jitOptionsValues, unsigned int numJitOptions,
			       CUlibraryOption *libraryOptions, void **libraryOptionValues,
			       unsigned int numLibraryOptions)
{
	if (!library || !code || (numJitOptions && (!jitOptions || !jitOptionsValues)) ||
	    (numLibraryOptions && (!libraryOptions || !libraryOptionValues)))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = sim_jit_options(numJitOptions, jitOptions, jitOptionsValues);
	if (error)
		return error;
	struct module *m = new_module(OBJ_LIBRARY, code, NULL);
	SIM_ALLOC_CHECK(m);
	*library = (CUlibrary)m;
	return CUDA_SUCCESS;
}

CUresult sim_cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
				   CUjit_option *jitOptions, void **jitOptionsValues,
				   unsigned int numJitOptions, CUlibraryOption *libraryOptions,
				   void **libraryOptionValues, unsigned int numLibraryOptions)
{
	void *data;
	size_t size;
	if (!library || !fileName)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error = sim_read_file(fileName, &data, &size);
	if (error)
		return error;
	error = sim_cuLibraryLoadData(library, data, jitOptions, jitOptionsValues, numJitOptions,
				      libraryOptions, libraryOptionValues, numLibraryOptions);
	free(data);
	return error;
}

CUresult sim_cuLibraryUnload(CUlibrary library)
{
	struct module *m = sim_object_get(library, OBJ_LIBRARY);
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_module_destroy(m);
	return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
	struct module *m = sim_object_get(library, OBJ_LIBRARY);
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!pKernel || !name || !*name)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult error;
	struct function *f = find_function(m, name, &error);
	if (f)
		*pKernel = (CUkernel)f;
	return error;
}

CUresult sim_cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
	struct context *ctx;
	CUresult error = sim_current_check(&ctx);
	struct module *m = sim_object_get(library, OBJ_LIBRARY);
	if (error)
		return error;
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!pMod)
		return CUDA_ERROR_INVALID_VALUE;
	if (!m->as_module) {
		m->as_module = new_module(OBJ_MODULE, NULL, NULL);
		SIM_ALLOC_CHECK(m->as_module);
		m->as_module->library = m;
	}
	*pMod = (CUmodule)m->as_module;
	return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
				const char *name)
{
	struct module *m = sim_object_get(library, OBJ_LIBRARY);
	return m ? find_global(m, name, dptr, bytes, false) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
				 const char *name)
{
	struct module *m = sim_object_get(library, OBJ_LIBRARY);
	return m ? find_global(m, name, dptr, bytes, true) : CUDA_ERROR_INVALID_HANDLE;
}

#if CUDA_VERSION >= 12040
CUresult sim_cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
	struct module *m = sim_object_get(lib, OBJ_LIBRARY);
	if (!m || !count)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*count = m->nfunctions;
	return CUDA_SUCCESS;
}

CUresult sim_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
	struct module *m = sim_object_get(lib, OBJ_LIBRARY);
	if (!m || !kernels || !numKernels)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	for (struct function *f = m->newest; f && numKernels; f = f->previous, numKernels--)
		*kernels++ = (CUkernel)f;
	return CUDA_SUCCESS;
}

CUresult sim_cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
					CUmodule mod)
{
	struct module *m = sim_object_get(mod, OBJ_MODULE);
	if (!m || !functions || !numFunctions)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	CUresult error = CUDA_SUCCESS;
	struct function *f = (m->library ? m->library : m)->newest;
	for (; f && numFunctions && !error; f = f->previous, numFunctions--, functions++)
		if (m->library)
			error = sim_cuKernelGetFunction(functions, (CUkernel)f);
		else
			*functions = (CUfunction)f;
	return error;
}
#endif

/* Unified function pointers are an attribute that the simulated device does not have. */
CUresult sim_cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library, const char *symbol)
{
	if (!sim_object_get(library, OBJ_LIBRARY))
		return CUDA_ERROR_INVALID_HANDLE;
	return fptr && symbol ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
}
