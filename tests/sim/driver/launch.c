/* Launches of every form.  A kernel takes TSTRACE_SIM_KERNEL_NS on its stream and computes nothing,
 * unless a test registered a host body for its name: that runs on the launching thread at
 * submission, with the caller's parameters (their sizes are unknown, so they cannot be kept). Graph
 * launches therefore never run bodies. */
#include "graph.h"
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct body {
	const char *name;
	sim_kernel_fn *fn;
};
static void *bodies;

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

sim_kernel_fn *sim_kernel_body(const char *name)
{
	const struct body key = {.name = name};
	struct body **found = bodies ? tfind(&key, &bodies, by_name) : NULL;
	return found ? (*found)->fn : NULL;
}

void tstrace_sim_kernel(const char *name, sim_kernel_fn *fn);
__attribute__((visibility("default"))) void tstrace_sim_kernel(const char *name, sim_kernel_fn *fn)
{
	struct body *body = malloc(sizeof *body);
	sim_lock();
	const char *interned = sim_intern(name);
	if (body && interned) {
		*body = (struct body){interned, fn};
		struct body **found = tsearch(body, &bodies, by_name);
		if (found && *found != body)
			(*found)->fn = fn;
		if (!found || *found != body)
			free(body);
	} else {
		free(body);
	}
	sim_unlock();
}

CUresult sim_launch_check(const struct sim_launch *l)
{
	struct function *f = sim_function_get(l->function);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	for (int i = 0; i < 3; i++)
		if (!l->grid[i] || !l->block[i])
			return CUDA_ERROR_INVALID_VALUE;
	if (l->block[0] > 1024 || l->block[1] > 1024 || l->block[2] > 64 ||
	    l->grid[0] > 2147483647u || l->grid[1] > 65535 || l->grid[2] > 65535 ||
	    (uint64_t)l->block[0] * l->block[1] * l->block[2] > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	int limit = f->attrs[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
	if (l->shared > 232448u || l->shared > (unsigned)limit)
		return CUDA_ERROR_INVALID_VALUE;
	if (l->cooperative && (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] >
				  64u * (2048u / (l->block[0] * l->block[1] * l->block[2])))
		return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
	return CUDA_SUCCESS;
}

CUresult sim_launch_submit(struct stream *stream, const struct sim_launch *l,
			   const struct node *node)
{
	struct function *f = sim_function_get(l->function);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	struct op *op = sim_op_new(sim_config.kernel_ns);
	SIM_ALLOC_CHECK(op);
	sim_fill_activity(&op->work, SIM_KERNEL, stream);
	op->work.name = f->name;
	memcpy(op->work.grid, l->grid, sizeof l->grid);
	memcpy(op->work.block, l->block, sizeof l->block);
	op->work.shared_static = (uint32_t)f->attrs[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES];
	op->work.shared_dynamic = l->shared;
	op->work.registers = (uint32_t)f->attrs[CU_FUNC_ATTRIBUTE_NUM_REGS];
	if (node) {
		op->work.graph_id = node->graph->id;
		op->work.graph_node_id = node->id;
	}
	op->report = true;
	sim_kernel_fn *body = node ? NULL : sim_kernel_body(f->name);
	if (body) {
		stream->refs++;
		sim_unlock();
		body(l->grid, l->block, l->params);
		sim_lock();
		sim_submit(stream, op);
		sim_stream_unref(stream);
		return CUDA_SUCCESS;
	}
	sim_submit(stream, op);
	return CUDA_SUCCESS;
}

static CUresult launch(const struct sim_launch *l, CUstream handle)
{
	CUresult error;
	struct stream *stream = sim_stream_get(handle, &error);
	if (!stream)
		return error;
	error = sim_capture_implicit(stream);
	if (!error)
		error = sim_launch_check(l);
	if (error)
		return error;
	if (!sim_capturing(stream))
		return sim_launch_submit(stream, l, NULL);
	error = sim_capture_check(stream);
	if (error)
		return error;
	struct node *node = sim_capture_add(stream, CU_GRAPH_NODE_TYPE_KERNEL);
	SIM_ALLOC_CHECK(node);
	node->kernel = (CUDA_KERNEL_NODE_PARAMS){
	    .func = l->function,
	    .gridDimX = l->grid[0],
	    .gridDimY = l->grid[1],
	    .gridDimZ = l->grid[2],
	    .blockDimX = l->block[0],
	    .blockDimY = l->block[1],
	    .blockDimZ = l->block[2],
	    .sharedMemBytes = l->shared,
	};
	return CUDA_SUCCESS;
}

static CUresult launch_xyz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			   unsigned by, unsigned bz, unsigned shared, CUstream stream,
			   void **params, bool cooperative)
{
	const struct sim_launch l = {.function = f,
				     .grid = {gx, gy, gz},
				     .block = {bx, by, bz},
				     .shared = shared,
				     .params = params,
				     .cooperative = cooperative};
	return launch(&l, stream);
}

CUresult sim_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
			    unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
			    unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
			    void **kernelParams, void **extra)
{
	if (kernelParams && extra)
		return CUDA_ERROR_INVALID_VALUE;
	return launch_xyz(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
			  sharedMemBytes, hStream, kernelParams, false);
}

CUresult sim_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
				       unsigned int gridDimZ, unsigned int blockDimX,
				       unsigned int blockDimY, unsigned int blockDimZ,
				       unsigned int sharedMemBytes, CUstream hStream,
				       void **kernelParams)
{
	return launch_xyz(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ,
			  sharedMemBytes, hStream, kernelParams, true);
}

CUresult sim_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
			      void **extra)
{
	if (!config || (kernelParams && extra) || (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	bool cooperative = false;
	CUevent done = NULL;
	for (unsigned i = 0; i < config->numAttrs; i++) {
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
			cooperative = config->attrs[i].value.cooperative;
		else if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
			done = config->attrs[i].value.programmaticEvent.event;
	}
	CUresult error =
	    launch_xyz(f, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
		       config->blockDimY, config->blockDimZ, config->sharedMemBytes,
		       config->hStream, kernelParams, cooperative);
	return !error && done ? sim_cuEventRecordWithFlags(done, config->hStream, 0) : error;
}

CUresult sim_cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launchParamsList,
						  unsigned int numDevices, unsigned int flags)
{
	if (!launchParamsList || !numDevices || flags > 3)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < numDevices; i++) {
		const CUDA_LAUNCH_PARAMS *p = &launchParamsList[i];
		CUresult error;
		struct stream *s = sim_stream_get(p->hStream, &error);
		if (!s || s->legacy)
			return s ? CUDA_ERROR_INVALID_VALUE : error;
		error = launch_xyz(p->function, p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX,
				   p->blockDimY, p->blockDimZ, p->sharedMemBytes, p->hStream,
				   p->kernelParams, true);
		if (error)
			return error;
	}
	return CUDA_SUCCESS;
}

/* --- the forms of CUDA 3: shape and parameters are set on the function first ------------------ */

CUresult sim_cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z)
{
	struct function *f = sim_function_get(hfunc);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (x <= 0 || y <= 0 || z <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	f->block[0] = (unsigned)x, f->block[1] = (unsigned)y, f->block[2] = (unsigned)z;
	return CUDA_SUCCESS;
}

CUresult sim_cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes)
{
	struct function *f = sim_function_get(hfunc);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	f->shared = bytes;
	return CUDA_SUCCESS;
}

CUresult sim_cuParamSetSize(CUfunction hfunc, unsigned int numbytes)
{
	return !sim_function_get(hfunc) ? CUDA_ERROR_INVALID_HANDLE
	       : numbytes > 4096	? CUDA_ERROR_INVALID_VALUE
					: CUDA_SUCCESS;
}

CUresult sim_cuParamSeti(CUfunction hfunc, int offset, unsigned int value)
{
	(void)value;
	return !sim_function_get(hfunc) ? CUDA_ERROR_INVALID_HANDLE
	       : offset < 0		? CUDA_ERROR_INVALID_VALUE
					: CUDA_SUCCESS;
}

CUresult sim_cuParamSetf(CUfunction hfunc, int offset, float value)
{
	(void)value;
	return sim_cuParamSeti(hfunc, offset, 0);
}

CUresult sim_cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes)
{
	(void)numbytes;
	return ptr ? sim_cuParamSeti(hfunc, offset, 0) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuLaunchGridAsync(CUfunction hfunc, int grid_width, int grid_height, CUstream hStream)
{
	struct function *f = sim_function_get(hfunc);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (grid_width <= 0 || grid_height <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	return launch_xyz(hfunc, (unsigned)grid_width, (unsigned)grid_height, 1, f->block[0],
			  f->block[1], f->block[2], f->shared, hStream, NULL, false);
}

CUresult sim_cuLaunchGrid(CUfunction f, int grid_width, int grid_height)
{
	return sim_cuLaunchGridAsync(f, grid_width, grid_height, NULL);
}

CUresult sim_cuLaunch(CUfunction f)
{
	return sim_cuLaunchGridAsync(f, 1, 1, NULL);
}
