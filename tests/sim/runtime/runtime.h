/* The stand-in CUDA runtime: what its files share.
 *
 * Every function of the runtime API is one RT_API block: the macro writes the exported symbol,
 * which brings the runtime up (driver loaded, a context current), reports both edges of the call to
 * the simulated driver and keeps the thread's last error; the block below it is the work.  Nothing
 * in here calls an exported cuda* symbol, because a preloaded library may own that name: shared
 * work lives in rt_* functions, which are hidden.
 *
 * Error values: CUresult and cudaError_t agree on every value the driver returns, so both travel as
 * int and only the exported symbol turns them into cudaError_t. */
#ifndef TSTRACE_SIM_RUNTIME_H
#define TSTRACE_SIM_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cuda.h>
#include <cudaProfiler.h>
#include <cudaTypedefs.h>
#include <cudaProfilerTypedefs.h>
#include <cuda_runtime_api.h>

#define RT_EXPORT  __attribute__((visibility("default")))
#define RT_UNUSED  __attribute__((unused))
#define RT_DEVICES 64           /* most devices looked at; the real limit is lower */

/* Entry points of the driver, one row of driver.def each.  There are two tables: in the second one
 * every function that has a per-thread-default-stream form is that form. */
struct rt_driver {
#define RT_DRV(name, version)    PFN_##name##_v##version name;
#define RT_DRV_PT(name, version) PFN_##name##_v##version name;
#include "tests/sim/runtime/driver.def"
#undef RT_DRV
#undef RT_DRV_PT
};

/* How far the runtime must be up before a function can do its work. */
enum rt_need { RT_NEED_DRIVER, RT_NEED_CONTEXT };

struct rt_call {
	const struct rt_driver *d;
	const char *name, *symbol;
	const void *arguments;          /* laid out as CUPTI's headers have them */
	uint32_t correlation;
};

struct rt_config {
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
};

/* State of one thread.  `last` is what cudaGetLastError returns. */
struct rt_thread {
	int device;
	int last;
	unsigned int depth;
	struct rt_config config[16];
};

extern const int rt_version;            /* CUDART_VERSION of this library: 13000 or 12090 */

/* load.c: open the driver once; returns 0 or the cudaError_t that every later call returns too. */
int rt_load(void);
/* Begin and end an API call.  The caller has set call->arguments, NULL for a call that has none;
 * `symbol` is the kernel's name for launches, else NULL.
 * rt_enter returns 0 or the error with which the call ends; rt_leave must be called in both cases.
 */
int rt_enter(struct rt_call *call, const char *name, enum rt_need need, bool per_thread,
	     const char *symbol);
cudaError_t rt_leave(struct rt_call *call, int result);
const struct rt_driver *rt_driver(bool per_thread);
void *rt_proc_address(const char *name, int version, uint64_t flags, int *status, int *result);

/* context.c */
/* make a context current: the thread's own or a primary one */
int rt_context(void);
int rt_use_device(int device);          /* the primary context of `device` becomes current */
int rt_reset_device(int device);
int rt_primary(int device, CUcontext *context);
int rt_device_flags(unsigned int flags);

/* error.c */
struct rt_thread *rt_thread(void);
int rt_fail(int error);                 /* remember an error as this thread's last one, return it */
void rt_forget_sticky(void);

/* code.c: kernels and variables of registered fat binaries. */
struct rt_code {
	const char *name;
	CUkernel kernel;                /* NULL for a handle that was a CUfunction */
	CUfunction function;            /* what cuLaunchKernel takes: the kernel or the function */
	const void *host;               /* host stub, NULL when the program only has a handle */
};
/* `func` is a host stub, a cudaKernel_t or a cudaFunction_t; *code is filled on success. */
int rt_code(const struct rt_driver *d, const void *func, struct rt_code *code);
/* A handle that the program got from the API and may pass back as `func`.  The name is copied. */
void rt_code_add(CUkernel kernel, CUfunction function, const char *name);
const char *rt_code_name(const void *func);     /* NULL when unknown; loads nothing */
int rt_symbol(const struct rt_driver *d, const void *symbol, CUdeviceptr *address, size_t *size);
/* The function of `func` in the current context, for cuFunc* and cuOccupancy*. */
int rt_function(const struct rt_driver *d, const void *func, CUfunction *function);

/* array.c */
int rt_format(const struct cudaChannelFormatDesc *desc, CUarray_format *format,
	      unsigned int *channels);
void rt_channel_desc(struct cudaChannelFormatDesc *desc, CUarray_format format,
		     unsigned int channels);
int rt_array_info(const struct rt_driver *d, CUarray array, CUDA_ARRAY3D_DESCRIPTOR *info,
		  size_t *element);

/* copy3d.c: copy descriptions in the driver's terms. */
int rt_copy3d(const struct rt_driver *d, const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *to);
void rt_copy1d(CUDA_MEMCPY3D *to, CUdeviceptr dst, CUdeviceptr src, size_t bytes, int kind);
int rt_copy3d_back(const struct rt_driver *d, const CUDA_MEMCPY3D *from,
		   struct cudaMemcpy3DParms *to);

/* graph_kernel.c */
int rt_kernel_params(const struct rt_driver *d, const struct cudaKernelNodeParams *from,
		     CUDA_KERNEL_NODE_PARAMS *to);
int rt_add_node(const struct rt_driver *d, cudaGraphNode_t *node, cudaGraph_t graph,
		const cudaGraphNode_t *after, const cudaGraphEdgeData *edges, size_t n,
		struct cudaGraphNodeParams *params);

/* memory.c, used by both generations of the API */
int rt_advise(const struct rt_driver *d, const void *ptr, size_t count, int advice,
	      CUmemLocation location);

/* interop.c: the answer of a function that the stand-in does not have. */
cudaError_t rt_unsupported(const char *name);

#define RT_UNPAREN(...) __VA_ARGS__

/* A structure of the arguments, in their order and of their types. */
#define RT_MAP1(m, x) m(x)
#define RT_MAP2(m, x, ...) m(x) RT_MAP1(m, __VA_ARGS__)
#define RT_MAP3(m, x, ...) m(x) RT_MAP2(m, __VA_ARGS__)
#define RT_MAP4(m, x, ...) m(x) RT_MAP3(m, __VA_ARGS__)
#define RT_MAP5(m, x, ...) m(x) RT_MAP4(m, __VA_ARGS__)
#define RT_MAP6(m, x, ...) m(x) RT_MAP5(m, __VA_ARGS__)
#define RT_MAP7(m, x, ...) m(x) RT_MAP6(m, __VA_ARGS__)
#define RT_MAP8(m, x, ...) m(x) RT_MAP7(m, __VA_ARGS__)
#define RT_MAP9(m, x, ...) m(x) RT_MAP8(m, __VA_ARGS__)
#define RT_MAP10(m, x, ...) m(x) RT_MAP9(m, __VA_ARGS__)
#define RT_PICK(a, b, c, d, e, f, g, h, i, j, map, ...) map
#define RT_MAP(m, ...)                                                                         \
	RT_PICK(__VA_ARGS__, RT_MAP10, RT_MAP9, RT_MAP8, RT_MAP7, RT_MAP6, RT_MAP5, RT_MAP4,   \
		RT_MAP3, RT_MAP2, RT_MAP1, )(m, __VA_ARGS__)
#define RT_MEMBER(arg) __typeof__(arg) arg;
#define RT_PARAMS(...) const struct { RT_MAP(RT_MEMBER, __VA_ARGS__) } params_ = { __VA_ARGS__ }

#define RT_DEFINE(symbol, impl, need, per_thread, params, args)                                \
	RT_EXPORT cudaError_t symbol(RT_UNPAREN params);                                       \
	RT_EXPORT cudaError_t symbol(RT_UNPAREN params)                                        \
	{                                                                                      \
		RT_PARAMS args;                                                                \
		struct rt_call call_ = { .arguments = &params_ };                                 \
		int result_ = rt_enter(&call_, #symbol, need, per_thread, NULL);               \
		if (!result_)                                                                  \
			result_ = impl(call_.d, RT_UNPAREN args);                              \
		return rt_leave(&call_, result_);                                              \
	}
#define RT_BODY(name, params) \
	static int name##_impl(const struct rt_driver *d RT_UNUSED, RT_UNPAREN params)

/* A function that has no stream and needs a context; one that only needs the driver; and the two
 * families whose default stream depends on how the caller was compiled. */
#define RT_API(name, params, args)                                                             \
	RT_BODY(name, params);                                                                 \
	RT_DEFINE(name, name##_impl, RT_NEED_CONTEXT, false, params, args)                     \
	RT_BODY(name, params)
#define RT_API_DRIVER(name, params, args)                                                      \
	RT_BODY(name, params);                                                                 \
	RT_DEFINE(name, name##_impl, RT_NEED_DRIVER, false, params, args)                      \
	RT_BODY(name, params)
#define RT_API_PTDS(name, params, args)                                                        \
	RT_BODY(name, params);                                                                 \
	RT_DEFINE(name, name##_impl, RT_NEED_CONTEXT, false, params, args)                     \
	RT_DEFINE(name##_ptds, name##_impl, RT_NEED_CONTEXT, true, params, args)               \
	RT_BODY(name, params)
#define RT_API_PTSZ(name, params, args)                                                        \
	RT_BODY(name, params);                                                                 \
	RT_DEFINE(name, name##_impl, RT_NEED_CONTEXT, false, params, args)                     \
	RT_DEFINE(name##_ptsz, name##_impl, RT_NEED_CONTEXT, true, params, args)               \
	RT_BODY(name, params)
/* Without parameters. */
#define RT_API_VOID(name, need)                                                                \
	static int name##_impl(const struct rt_driver *d RT_UNUSED);                           \
	RT_EXPORT cudaError_t name(void)                                                       \
	{                                                                                      \
		struct rt_call call_ = { .arguments = NULL };                                     \
		int result_ = rt_enter(&call_, #name, need, false, NULL);                      \
		if (!result_)                                                                  \
			result_ = name##_impl(call_.d);                                        \
		return rt_leave(&call_, result_);                                              \
	}                                                                                      \
	static int name##_impl(const struct rt_driver *d RT_UNUSED)

#define RT_PTR(p) ((CUdeviceptr)(uintptr_t)(p))

#endif
