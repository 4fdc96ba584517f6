/* CUPTI's callbacks: inside the real call of a hook they tell its correlation id.
 *
 * A runtime that is linked in statically is not hooked, the driver calls it makes are: they record
 * the call, with the ids of both.  A call in which no hook was met came by a route we do not see
 * (the library was loaded by CUDA_INJECTION64_PATH alone, RTLD_DEEPBIND): it is recorded here, by
 * its parameters where the tables of the hooks know them, else by those of the driver's call inside
 * it, else by its name.
 *
 * Where no hook can be met at all, more calls are told, and those that keep what is alive outside
 * the window as well: with hooks they would cost twice. */
#include <string.h>

#include "core/record/arena.h"
#include "core/record/device.h"
#include "core/record/record.h"
#include "cupti/cupti.h"
#include "cupti/library.h"

/* The hook tables' rows of each callback: the one that its parameters are read by, and the one that
 * has its name.  0 none. */
struct known {
	uint16_t row, name;
};
static struct known of_driver[CUPTI_DRIVER_TRACE_CBID_SIZE];
static struct known of_runtime[CUPTI_RUNTIME_TRACE_CBID_SIZE];

static struct known what(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	const struct known nothing = {0, 0};

	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		return id < TS_ARRAY_SIZE(of_runtime) ? of_runtime[id] : nothing;
	return id < TS_ARRAY_SIZE(of_driver) ? of_driver[id] : nothing;
}

/* Counts how often callbacks went off: a call that was under way then may not be told to end. */
static _Atomic uint32_t turn;

static void on_enter(const CUpti_CallbackData *data, bool is_runtime, struct known known)
{
	bool outside = ts_outside();

	*data->correlationData = 0; /* CUPTI does not promise what lies there */
	cupti_call_begins(data->correlationId);
	if (ts_self.own) {
		cupti_own_call(data->correlationId);
		return;
	}
	if (ts_self.depth) {
		ts_device_correlate(ts_self.correlation, data->correlationId);
		if (ts_self.unhooked && !is_runtime) {
			ts_device_correlate(ts_self.correlation, ts_self.unhooked);
			ts_self.unhooked_inside++;
		}
		return;
	}
	if (outside)
		cupti_own_call(data->correlationId);
	if (outside && !(known.name && ts_teller->keeps(known.name)))
		return; /* recorded by nobody: the window is shut, warms up, or opens this moment */
	if (!ts_self.unhooked || ts_self.unhooked_turn != turn) {
		ts_self.unhooked = data->correlationId;
		ts_self.unhooked_turn = turn;
		ts_self.unhooked_inside = 0;
		ts_self.unhooked_bytes = 0;
		ts_self.unhooked_opaque = known.row ? 0 : 1u + known.name;
		*data->correlationData =
			known.row ? ts_teller->enter(known.row) : ts_clock_now();
	} else if (known.row && !is_runtime) {
		if (ts_self.unhooked_opaque)
			*data->correlationData = ts_teller->enter(known.row);
		else
			ts_teller->inside(known.row, data->functionParams);
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
static void record_name(const CUpti_CallbackData *data, uint64_t begin, int result)
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

static void on_exit_call(const CUpti_CallbackData *data, bool is_runtime, struct known known)
{
	struct ts_told told = {.begin = *data->correlationData,
			       .correlation = data->correlationId,
			       .kernel = data->symbolName};
	bool outermost = ts_self.unhooked && ts_self.unhooked == data->correlationId;

	if (outermost)
		ts_self.unhooked = 0;
	/* One that we did not see begin has anything there. */
	if (!told.begin || (!outermost && !ts_self.unhooked))
		return;
	if (data->functionReturnValue)
		told.result = *(const int *)data->functionReturnValue;
	if (!outermost) {
		/* The driver's call inside a runtime's that we cannot read. */
		if (ts_self.unhooked_opaque && !is_runtime && known.row) {
			told.correlation2 = ts_self.unhooked;
			told.name = ts_self.unhooked_opaque - 1;
			ts_self.unhooked_inside +=
				ts_teller->exit(known.row, data->functionParams, &told);
		}
		return;
	}
	*data->correlationData = 0;
	if (ts_self.unhooked_inside) {
		if (known.row)
			ts_teller->drop(known.row);
	} else if (!(known.row && ts_teller->exit(known.row, data->functionParams, &told)) &&
		   !(known.name && ts_teller->exit_unread(known.name, &told)) && !ts_outside()) {
		record_name(data, told.begin, told.result);
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
		struct known known = what(domain, id);

		if (call->callbackSite == CUPTI_API_ENTER) {
			on_enter(call, is_runtime, known);
		} else {
			if (is_managed_allocation(domain, id))
				cupti_managed_used();
			on_exit_call(call, is_runtime, known);
		}
	}
}

static const struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId id;
	const char *name;
	bool alone;             /* only where no hook can be met */
} rows[] = {
#define TS_CALLBACK(domain, name)                                                                  \
	{CUPTI_CB_DOMAIN_##domain##_API, CUPTI_##domain##_TRACE_CBID_##name, #name, false},
#define TS_CALLBACK_ALONE(domain, name)                                                            \
	{CUPTI_CB_DOMAIN_##domain##_API, CUPTI_##domain##_TRACE_CBID_##name, #name, true},
#include "cupti/callbacks.def"
#undef TS_CALLBACK
#undef TS_CALLBACK_ALONE
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, NULL, false},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, NULL, false},
};

/* The runtime's names end in the version that brought them: cudaMalloc_v3020. */
static struct known find(const char *name, bool is_runtime)
{
	const char *end = is_runtime ? strrchr(name, '_') : NULL;
	struct known known = {0, 0};
	char exported[96];

	if (!end || end[1] != 'v')
		end = name + strlen(name);
	if (!ts_teller || (size_t)(end - name) >= sizeof(exported))
		return known;
	memcpy(exported, name, (size_t)(end - name));
	exported[end - name] = '\0';
	known.name = (uint16_t)ts_teller->name(exported);
	/* No header says how CUPTI lays out the compiler's own entry points, __cudaLaunchKernel. */
	if (*name != '_' && ts_teller->reads(known.name))
		known.row = known.name;
	return known;
}

/* Once, before any callback is on. */
static void find_all(void)
{
	static bool found;

	if (found)
		return;
	for (size_t i = 0; i < TS_ARRAY_SIZE(rows); i++) {
		if (rows[i].domain == CUPTI_CB_DOMAIN_RUNTIME_API)
			of_runtime[rows[i].id] = find(rows[i].name, true);
		else if (rows[i].domain == CUPTI_CB_DOMAIN_DRIVER_API)
			of_driver[rows[i].id] = find(rows[i].name, false);
	}
	found = true;
}

void cupti_callbacks_enable(CUpti_SubscriberHandle subscriber, enum cupti_callbacks which)
{
	bool alone = ts_teller && !ts_teller->hooked();

	find_all();
	if (which != CUPTI_CALLBACKS_ALL)
		turn++;
	for (size_t i = 0; i < TS_ARRAY_SIZE(rows); i++) {
		struct known known = what(rows[i].domain, rows[i].id);
		bool resource = rows[i].domain == CUPTI_CB_DOMAIN_RESOURCE;
		bool on = which != CUPTI_CALLBACKS_NONE;

		if (which == CUPTI_CALLBACKS_OUTSIDE && !resource)
			on = alone && known.name && ts_teller->keeps(known.name);
		if (rows[i].alone && !alone)
			continue;
		cupti_api.cuptiEnableCallback(on, subscriber, rows[i].domain, rows[i].id);
	}
}
