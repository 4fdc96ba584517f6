/* Reaching the driver the way the real runtime does: lazily, by the bare name libcuda.so.1, with
 * one dlsym and everything else through cuGetProcAddress.  Also the frame of every API call. */
#include "tests/sim/runtime/runtime.h"

#include <dlfcn.h>
#include <pthread.h>

#include "tests/sim/observer.h"

static struct rt_driver tables[2];
static PFN_cuGetProcAddress_v12000 get_proc_address;
static __typeof__(&tstrace_sim_enter) sim_enter;
static __typeof__(&tstrace_sim_leave) sim_leave;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int load_result;

/* Stands in for an entry point that the driver lacks: the call fails, the program goes on. */
static CUresult missing(void)
{
	return CUDA_ERROR_NOT_SUPPORTED;
}

/* Look a driver function up.  *status and *result may be NULL; returns NULL when there is none. */
void *rt_proc_address(const char *name, int version, uint64_t flags, int *status, int *result)
{
	CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	void *pointer = NULL;
	int r = get_proc_address(name, &pointer, version, flags, &found);

	if (status)
		*status = found;
	if (result)
		*result = r;
	return r ? NULL : pointer;
}

static void *entry(const char *name, int version, uint64_t flags)
{
	void *pointer = rt_proc_address(name, version, flags, NULL, NULL);

	return pointer ? pointer : (void *)missing;
}

static void fill_tables(void)
{
	/* The real runtime begins with a look-up of the empty name. */
	rt_proc_address("", 0, 0, NULL, NULL);
#define RT_DRV(name, version) \
	tables[0].name = tables[1].name = (PFN_##name##_v##version)entry(#name, version, 0);
#define RT_DRV_PT(name, version)                                                               \
	tables[0].name = (PFN_##name##_v##version)entry(#name, version, 0);                    \
	tables[1].name = (PFN_##name##_v##version)entry(#name, version > 7000 ? version : 7000,\
			CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
#include "tests/sim/runtime/driver.def"
#undef RT_DRV
#undef RT_DRV_PT
}

static int load_driver(void)
{
	void *handle = dlopen("libcuda.so.1", RTLD_NOW);
	int version = 0;
	int r;

	if (!handle)
		return cudaErrorInsufficientDriver;
	get_proc_address = (PFN_cuGetProcAddress_v12000)dlsym(handle, "cuGetProcAddress_v2");
	if (!get_proc_address)
		return cudaErrorInsufficientDriver;
	sim_enter = (__typeof__(sim_enter))dlsym(handle, "tstrace_sim_enter");
	sim_leave = (__typeof__(sim_leave))dlsym(handle, "tstrace_sim_leave");
	if (!sim_leave)
		sim_enter = NULL;
	fill_tables();
	r = tables[0].cuDriverGetVersion(&version);
	if (r || version < rt_version / 1000 * 1000)
		return cudaErrorInsufficientDriver;
	return tables[0].cuInit(0);
}

static void load_once(void)
{
	load_result = load_driver();
}

int rt_load(void)
{
	pthread_once(&once, load_once);
	return load_result;
}

const struct rt_driver *rt_driver(bool per_thread)
{
	return &tables[per_thread];
}

int rt_enter(struct rt_call *call, const char *name, enum rt_need need, bool per_thread,
	     const char *symbol)
{
	int r = rt_load();

	call->d = &tables[per_thread];
	call->name = name;
	call->symbol = symbol;
	call->correlation = 0;
	if (r)
		return r;
	if (sim_enter)
		call->correlation = sim_enter(SIM_RUNTIME, name, call->arguments, symbol);
	return need == RT_NEED_CONTEXT ? rt_context() : 0;
}

cudaError_t rt_leave(struct rt_call *call, int result)
{
	if (call->correlation)
		sim_leave(SIM_RUNTIME, call->name, call->correlation, call->arguments, call->symbol,
			  result);
	return result ? (cudaError_t)rt_fail(result) : cudaSuccess;
}
