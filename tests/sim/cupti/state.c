/* The connection to the simulated driver, and what is enabled. */
#include "tests/sim/cupti/simcupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONTEXTS 256            /* ids above it follow the global setting */
#define CBID_ROOM 1024

struct sim_driver sim_driver;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool connected, forked, hooked_fork;
static atomic_bool kinds[CUPTI_ACTIVITY_KIND_COUNT];
static atomic_schar by_context[CUPTI_ACTIVITY_KIND_COUNT][CONTEXTS];    /* -1 off, 1 on */
static atomic_schar by_cbid[2][CBID_ROOM];
static atomic_bool uvm_counters[CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT];

static void in_child(void)
{
	atomic_store(&forked, true);
}

bool sim_forked(void)
{
	return atomic_load(&forked);
}

bool sim_connected(void)
{
	return atomic_load(&connected);
}

int sim_abi(void)
{
	static atomic_int abi;
	Dl_info self;

	if (!atomic_load(&abi)) {
		bool twelve = dladdr((void *)sim_abi, &self) && self.dli_fname &&
			      strstr(self.dli_fname, ".so.12");

		atomic_store(&abi, twelve ? 12 : 13);
	}
	return atomic_load(&abi);
}

static CUptiResult find_driver(void)
{
	static const struct sim_observer observer = {
		.version = SIM_OBSERVER_VERSION,
		.api = sim_observe_api,
		.activity = sim_observe_activity,
		.graph_node = sim_observe_graph_node,
	};

	sim_driver.handle = dlopen("libcuda.so.1", RTLD_NOW);
	if (!sim_driver.handle)
		return CUPTI_ERROR_UNKNOWN;
	*(void **)&sim_driver.observe = dlsym(sim_driver.handle, "tstrace_sim_observe");
	*(void **)&sim_driver.id = dlsym(sim_driver.handle, "tstrace_sim_id");
	*(void **)&sim_driver.settle = dlsym(sim_driver.handle, "tstrace_sim_settle");
	if (!sim_driver.observe || sim_driver.observe(&observer))
		return CUPTI_ERROR_UNKNOWN;
	return CUPTI_SUCCESS;
}

CUptiResult sim_connect(void)
{
	CUptiResult result = CUPTI_SUCCESS;
	bool expected = false;

	if (sim_forked()) {
		static const char message[] = "libcupti (simulated): used in a child of fork()\n";

		sim_faults_read();
		if (sim_faults.fork_abort && write(2, message, sizeof(message) - 1))
			abort();
		return CUPTI_ERROR_UNKNOWN;
	}
	if (atomic_load(&connected))
		return CUPTI_SUCCESS;
	pthread_mutex_lock(&lock);
	if (!atomic_load(&connected)) {
		sim_faults_read();
		result = (CUptiResult)sim_faults.subscribe;
		if (result == CUPTI_SUCCESS)
			result = find_driver();
		if (atomic_compare_exchange_strong(&hooked_fork, &expected, true))
			pthread_atfork(NULL, NULL, in_child);
		atomic_store(&connected, result == CUPTI_SUCCESS);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

void sim_disconnect(void)
{
	pthread_mutex_lock(&lock);
	if (atomic_exchange(&connected, false))
		sim_driver.observe(NULL);
	pthread_mutex_unlock(&lock);
}

/* --- kinds --- */

bool sim_kind_on(CUpti_ActivityKind kind, uint32_t context_id)
{
	int special = context_id < CONTEXTS ? atomic_load(&by_context[kind][context_id]) : 0;

	return special ? special > 0 : atomic_load(&kinds[kind]);
}

bool sim_api_kind_on(enum sim_domain domain, uint32_t cbid)
{
	bool driver = domain == SIM_DRIVER;
	int special = cbid < CBID_ROOM ? atomic_load(&by_cbid[driver][cbid]) : 0;

	if (special)
		return special > 0;
	return atomic_load(
	    &kinds[driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME]);
}

bool sim_uvm_counter_on(int counter)
{
	return counter >= 0 && counter < CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT &&
	       atomic_load(&uvm_counters[counter]);
}

void sim_kinds_reset(void)
{
	memset(kinds, 0, sizeof(kinds));
	memset(by_context, 0, sizeof(by_context));
	memset(by_cbid, 0, sizeof(by_cbid));
	memset(uvm_counters, 0, sizeof(uvm_counters));
}

/* What enabling `kind` comes to; CUPTI_SUCCESS when it can be done. */
static CUptiResult may_enable(CUpti_ActivityKind kind)
{
	CUptiResult result = sim_connect();

	if (result != CUPTI_SUCCESS)
		return result;
	if ((unsigned)kind >= CUPTI_ACTIVITY_KIND_COUNT || kind == CUPTI_ACTIVITY_KIND_INVALID)
		return CUPTI_ERROR_INVALID_KIND;
	result = sim_faults_enable(kind);
	if (result != CUPTI_SUCCESS)
		return result;
	if (sim_record_support(kind) == SIM_REFUSED)
		return CUPTI_ERROR_NOT_COMPATIBLE;
	/* Serialised and concurrent kernel tracing exclude each other. */
	if ((kind == CUPTI_ACTIVITY_KIND_KERNEL &&
	     atomic_load(&kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL])) ||
	    (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
	     atomic_load(&kinds[CUPTI_ACTIVITY_KIND_KERNEL])))
		return CUPTI_ERROR_NOT_COMPATIBLE;
	return sim_deliver_start() ? CUPTI_ERROR_OUT_OF_MEMORY : CUPTI_SUCCESS;
}

/* RUNTIME and DRIVER as a whole override what was said of single functions before. */
static void forget_cbids(CUpti_ActivityKind kind)
{
	if (kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER)
		memset(by_cbid[kind == CUPTI_ACTIVITY_KIND_DRIVER], 0, sizeof(by_cbid[0]));
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
	CUptiResult result = may_enable(kind);

	if (result == CUPTI_SUCCESS) {
		sim_clock_sample();
		forget_cbids(kind);
		if (!atomic_exchange(&kinds[kind], true) && sim_faults.stale_ends)
			sim_buffers_go_stale();
	}
	return sim_result(result);
}

CUptiResult CUPTIAPI cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
	CUptiResult result = cuptiActivityEnable(kind);

	if (result != CUPTI_SUCCESS)
		return result;
	if (kind == CUPTI_ACTIVITY_KIND_DEVICE)
		sim_record_devices();
	sim_record_live(kind);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
	CUptiResult result = sim_connect();

	if (result != CUPTI_SUCCESS)
		return sim_result(result);
	if ((unsigned)kind >= CUPTI_ACTIVITY_KIND_COUNT || kind == CUPTI_ACTIVITY_KIND_INVALID)
		return sim_result(CUPTI_ERROR_INVALID_KIND);
	forget_cbids(kind);
	atomic_store(&kinds[kind], false);
	return CUPTI_SUCCESS;
}

static CUptiResult set_for_context(CUcontext context, CUpti_ActivityKind kind, signed char value)
{
	CUptiResult result = may_enable(kind);
	uint32_t id;

	if (result == CUPTI_SUCCESS)
		result = cuptiGetContextId(context, &id);
	if (result == CUPTI_SUCCESS && id >= CONTEXTS)
		result = CUPTI_ERROR_MAX_LIMIT_REACHED;
	if (result == CUPTI_SUCCESS)
		atomic_store(&by_context[kind][id], value);
	return sim_result(result);
}

CUptiResult CUPTIAPI cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
	return set_for_context(context, kind, 1);
}

CUptiResult CUPTIAPI cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind)
{
	return set_for_context(context, kind, -1);
}

static CUptiResult set_for_cbid(int driver, CUpti_CallbackId cbid, bool enable)
{
	CUptiResult result = may_enable(driver ? CUPTI_ACTIVITY_KIND_DRIVER
					       : CUPTI_ACTIVITY_KIND_RUNTIME);

	if (result == CUPTI_SUCCESS &&
	    !sim_cbid_name(driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, cbid))
		result = CUPTI_ERROR_INVALID_PARAMETER;
	if (result == CUPTI_SUCCESS)
		atomic_store(&by_cbid[driver][cbid], enable ? 1 : -1);
	return sim_result(result);
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
	return set_for_cbid(1, cbid, enable);
}

CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
	return set_for_cbid(0, cbid, enable);
}

CUptiResult CUPTIAPI
cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig *config,
					   uint32_t count)
{
	CUptiResult result = sim_connect();

	if (result != CUPTI_SUCCESS)
		return sim_result(result);
	if (!config || !count)
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	for (uint32_t i = 0; i < count; i++) {
		if ((unsigned)config[i].kind >= CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT)
			return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
		atomic_store(&uvm_counters[config[i].kind], config[i].enable != 0);
	}
	return CUPTI_SUCCESS;
}
