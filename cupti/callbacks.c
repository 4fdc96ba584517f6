/* CUPTI's callbacks: inside the real call of a hook they tell its correlation id.
 *
 * A runtime that is linked in statically is not hooked, the driver calls it makes are: they record
 * the call, with the ids of both.  A call in which no hook was met came by a route we do not see
 * (the library was loaded by CUDA_INJECTION64_PATH alone, RTLD_DEEPBIND): it is recorded here, by
 * its parameters where the tables of the hooks know them, else by those of the driver's call inside
 * it, else by its name. */
#include <string.h>

#include "core/record/arena.h"
#include "core/record/device.h"
#include "core/record/record.h"
#include "cupti/cupti.h"
#include "cupti/library.h"

/* The hook tables' row of each callback; 0 none. */
static uint16_t rows_of_driver[CUPTI_DRIVER_TRACE_CBID_SIZE];
static uint16_t rows_of_runtime[CUPTI_RUNTIME_TRACE_CBID_SIZE];

static unsigned row_of(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		return id < TS_ARRAY_SIZE(rows_of_runtime) ? rows_of_runtime[id] : 0;
	return id < TS_ARRAY_SIZE(rows_of_driver) ? rows_of_driver[id] : 0;
}

static void on_enter(const CUpti_CallbackData *data, bool is_runtime, unsigned row)
{
	*data->correlationData = 0; /* CUPTI does not promise what lies there */
	cupti_call_begins(data->correlationId);
	if (ts_self.own) {
		cupti_own_call(data->correlationId);
	} else if (ts_self.depth) {
		ts_device_correlate(ts_self.correlation, data->correlationId);
		if (ts_self.unhooked && !is_runtime) {
			ts_device_correlate(ts_self.correlation, ts_self.unhooked);
			ts_self.unhooked_inside++;
		}
	} else if (ts_outside()) {
		/* Recorded by nobody: a window warms up, or opens this moment. */
		cupti_own_call(data->correlationId);
	} else if (!ts_self.unhooked) {
		ts_self.unhooked = data->correlationId;
		ts_self.unhooked_inside = 0;
		ts_self.unhooked_opaque = !row;
		*data->correlationData = row ? ts_teller->enter(row) : ts_clock_now();
	} else if (ts_self.unhooked_opaque && row && !is_runtime) {
		*data->correlationData = ts_teller->enter(row);
	}
}

/* A context's device, while the context is sure to live. */
static void on_context(const CUpti_ResourceData *data)
{
	uint32_t context, device;

	if (cupti_api.cuptiGetContextId && cupti_api.cuptiGetDeviceId &&
	    cupti_api.cuptiGetContextId(data->context, &context) == CUPTI_SUCCESS &&
	    cupti_api.cuptiGetDeviceId(data->context, &device) == CUPTI_SUCCESS)
		cupti_context_device(context, device);
}

static bool is_managed_allocation(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	return domain == CUPTI_CB_DOMAIN_RUNTIME_API
		   ? id == CUPTI_RUNTIME_TRACE_CBID_cudaMallocManaged_v6000
		   : id == CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged;
}

/* All that is known of it is the name. */
static void record_name(const CUpti_CallbackData *data, unsigned row, uint64_t begin, int result)
{
	const char *name = data->symbolName ? data->symbolName : data->functionName;
	struct ts_ring *ring = ts_enter();
	struct ts_rec_op *op = ring ? ts_reserve(ring, 2) : NULL;

	if (op) {
		*op = (struct ts_rec_op){
			.h = {.kind = TS_REC_OP,
			  .slots = 2,
			  .route = TS_ROUTE_CUPTI,
			  .device = TS_DEVICE_NONE,
			  .fn = (uint16_t)row,
			  .t = begin,
			  .span = ts_self.span ? ts_self.span : 1},
			.t_end = ts_clock_now(),
			.error = result,
			.correlation = data->correlationId,
			.name = ts_arena_text(name),
		};
		ts_commit(ring, 2);
	}
	ts_leave();
}

static void on_exit_call(const CUpti_CallbackData *data, bool is_runtime, unsigned row)
{
	struct ts_told told = {.begin = *data->correlationData,
			       .correlation = data->correlationId,
			       .kernel = data->symbolName};

	/* One that we did not see begin has anything there. */
	if (!told.begin || !ts_self.unhooked)
		return;
	if (data->functionReturnValue)
		told.result = *(const int *)data->functionReturnValue;
	if (ts_self.unhooked != data->correlationId) {
		/* The driver's call inside a runtime's that we cannot read. */
		if (ts_self.unhooked_opaque && !is_runtime && row) {
			told.correlation2 = ts_self.unhooked;
			ts_self.unhooked_inside +=
				ts_teller->exit(row, data->functionParams, &told);
		}
		return;
	}
	*data->correlationData = 0;
	ts_self.unhooked = 0;
	if (ts_self.unhooked_inside) {
		if (row)
			ts_teller->drop(row);
	} else if (!row || !ts_teller->exit(row, data->functionParams, &told)) {
		record_name(data, row, told.begin, told.result);
	}
}

void CUPTIAPI cupti_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			     const void *data)
{
	(void)user;
	if (cupti_off)
		return;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
			on_context(data);
		else if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
			cupti_context_ends();
	} else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) {
		const CUpti_CallbackData *call = data;
		bool is_runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
		unsigned row = row_of(domain, id);

		if (call->callbackSite == CUPTI_API_ENTER) {
			on_enter(call, is_runtime, row);
		} else {
			if (is_managed_allocation(domain, id))
				cupti_managed_used();
			on_exit_call(call, is_runtime, row);
		}
	}
}

static const struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId id;
	const char *name;
} rows[] = {
#define TS_CALLBACK(domain, name)                                                                  \
	{CUPTI_CB_DOMAIN_##domain##_API, CUPTI_##domain##_TRACE_CBID_##name, #name},
#include "cupti/callbacks.def"
#undef TS_CALLBACK
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, NULL},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, NULL},
};

/* The runtime's names end in the version that brought them: cudaMalloc_v3020. */
static unsigned find_row(const char *name, bool is_runtime)
{
	const char *end = is_runtime ? strrchr(name, '_') : NULL;
	char exported[96];

	/* No header says how CUPTI lays out the compiler's own entry points, __cudaLaunchKernel. */
	if (!ts_teller || !name || *name == '_')
		return 0;
	if (!end || end[1] != 'v')
		end = name + strlen(name);
	if ((size_t)(end - name) >= sizeof(exported))
		return 0;
	memcpy(exported, name, (size_t)(end - name));
	exported[end - name] = '\0';
	return ts_teller->row(exported);
}

/* Once, before any callback is on. */
static void find_rows(void)
{
	static bool found;

	if (found)
		return;
	for (size_t i = 0; i < TS_ARRAY_SIZE(rows); i++) {
		if (rows[i].domain == CUPTI_CB_DOMAIN_RUNTIME_API)
			rows_of_runtime[rows[i].id] = (uint16_t)find_row(rows[i].name, true);
		else if (rows[i].domain == CUPTI_CB_DOMAIN_DRIVER_API)
			rows_of_driver[rows[i].id] = (uint16_t)find_row(rows[i].name, false);
	}
	found = true;
}

void cupti_callbacks_enable(CUpti_SubscriberHandle subscriber, bool on, bool resources)
{
	find_rows();
	for (size_t i = 0; i < TS_ARRAY_SIZE(rows); i++)
		if (rows[i].domain != CUPTI_CB_DOMAIN_RESOURCE || resources)
			cupti_api.cuptiEnableCallback(on, subscriber, rows[i].domain, rows[i].id);
}
