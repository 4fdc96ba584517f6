/* A stand-in for libnvToolsExt.so.1: functions of NVTX that a Python binding calls by name, and the
 * way in which that library finds a tool: NVTX_INJECTION64_PATH, InitializeInjectionNvtx2, and
 * tables of pointers to its function pointers, which here end before what came later. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#undef nvtxRangePush

#define LAST NVTX_CBID_CORE_RangePop    /* older than categories */

static nvtxRangePushA_impl_fntype push_a;
static nvtxRangePushW_impl_fntype push_w;
static nvtxRangePop_impl_fntype pop;
static nvtxMarkA_impl_fntype mark_a;
static nvtxRangeStartA_impl_fntype start_a;
static nvtxRangeEnd_impl_fntype end;

static NvtxFunctionPointer *core[LAST + 1] = {
	[NVTX_CBID_CORE_MarkA] = (NvtxFunctionPointer *)&mark_a,
	[NVTX_CBID_CORE_RangeStartA] = (NvtxFunctionPointer *)&start_a,
	[NVTX_CBID_CORE_RangeEnd] = (NvtxFunctionPointer *)&end,
	[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer *)&push_a,
	[NVTX_CBID_CORE_RangePushW] = (NvtxFunctionPointer *)&push_w,
	[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer *)&pop,
};

static int module_table(NvtxCallbackModule module, NvtxFunctionTable *table, unsigned *size)
{
	if (module != NVTX_CB_MODULE_CORE)
		return 0;
	*table = core;
	*size = LAST + 1;
	return 1;
}

static const void *export_table(uint32_t id)
{
	static const NvtxExportTableCallbacks callbacks = { sizeof(callbacks), module_table };

	return id == NVTX_ETID_CALLBACKS ? &callbacks : NULL;
}

static void find_tool(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *tool = path ? dlopen(path, RTLD_LAZY) : NULL;
	NvtxInitializeInjectionNvtxFunc_t initialize = NULL;

	if (tool)
		*(void **)&initialize = dlsym(tool, "InitializeInjectionNvtx2");
	if (initialize)
		initialize(export_table);
}

static void once(void)
{
	static pthread_once_t found = PTHREAD_ONCE_INIT;

	pthread_once(&found, find_tool);
}

int nvtxRangePushA(const char *message)
{
	once();
	return push_a ? push_a(message) : NVTX_NO_PUSH_POP_TRACKING;
}

int nvtxRangePushW(const wchar_t *message)
{
	once();
	return push_w ? push_w(message) : NVTX_NO_PUSH_POP_TRACKING;
}

int nvtxRangePop(void)
{
	once();
	return pop ? pop() : NVTX_NO_PUSH_POP_TRACKING;
}

void nvtxMarkA(const char *message)
{
	once();
	if (mark_a)
		mark_a(message);
}

nvtxRangeId_t nvtxRangeStartA(const char *message)
{
	once();
	return start_a ? start_a(message) : 0;
}

void nvtxRangeEnd(nvtxRangeId_t id)
{
	once();
	if (end)
		end(id);
}

nvtxDomainHandle_t nvtxDomainCreateA(const char *name)
{
	(void)name;
	return NULL;
}
