/* CUPTI's callbacks: inside the real call of a hook they tell its correlation id.
 *
 * A runtime that is linked in statically is not hooked, the driver calls it makes are: they record
 * the call, with the ids of both.  A call in which no hook was met came by a route we do not see
 * and is recorded here. */
#include <string.h>

#include "core/record/arena.h"
#include "core/record/device.h"
#include "core/record/record.h"
#include "cupti/cupti.h"
#include "cupti/library.h"

static void on_enter(const CUpti_CallbackData *data, bool is_runtime)
{
	*data->correlationData = 0;     /* CUPTI does not promise what lies there */
	if (ts_self.depth) {
		ts_device_correlate(ts_self.correlation, data->correlationId);
		if (ts_self.unhooked && !is_runtime) {
			ts_device_correlate(ts_self.correlation, ts_self.unhooked);
			ts_self.unhooked_inside++;
		}
	} else if (!ts_self.unhooked) {
		ts_self.unhooked = data->correlationId;
		ts_self.unhooked_inside = 0;
		*data->correlationData = ts_clock_now();
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
	return domain == CUPTI_CB_DOMAIN_RUNTIME_API ?
		       id == CUPTI_RUNTIME_TRACE_CBID_cudaMallocManaged_v6000 :
		       id == CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged;
}

static void on_exit_call(const CUpti_CallbackData *data)
{
	uint64_t begin = *data->correlationData;
	struct ts_ring *ring;
	struct ts_rec_op *op;

	if (!begin)
		return;
	*data->correlationData = 0;
	ts_self.unhooked = 0;
	if (ts_self.unhooked_inside)
		return;
	ring = ts_enter();
	op = ring ? ts_reserve(ring, 2) : NULL;
	if (op) {
		*op = (struct ts_rec_op){
			.h = { .kind = TS_REC_OP,
			       .slots = 2,
			       .route = TS_ROUTE_CUPTI,
			       .device = TS_DEVICE_NONE,
			       .t = begin,
			       .span = ts_self.span },
			.t_end = ts_clock_now(),
			.error =
			    data->functionReturnValue ? *(const int *)data->functionReturnValue : 0,
			.correlation = data->correlationId,
			.name =
			    ts_arena_text(data->symbolName ? data->symbolName : data->functionName),
		};
		ts_commit(ring, 2);
	}
	ts_leave();
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

		/* Allocations are the hooks' affair; these two only tell that the memory is there.
		 */
		if (is_managed_allocation(domain, id)) {
			if (call->callbackSite == CUPTI_API_EXIT)
				cupti_managed_used();
		} else if (call->callbackSite == CUPTI_API_ENTER) {
			on_enter(call, domain == CUPTI_CB_DOMAIN_RUNTIME_API);
		} else {
			on_exit_call(call);
		}
	}
}

static const struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId id;
} rows[] = {
#define TS_CALLBACK(domain, name)                                                                  \
	{ CUPTI_CB_DOMAIN_##domain##_API, CUPTI_##domain##_TRACE_CBID_##name },
#include "cupti/callbacks.def"
#undef TS_CALLBACK
	{ CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMallocManaged_v6000 },
	{ CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged },
	{ CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED },
	{ CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING },
};

void cupti_callbacks_enable(CUpti_SubscriberHandle subscriber, bool on)
{
	for (size_t i = 0; i < TS_ARRAY_SIZE(rows); i++)
		cupti_api.cuptiEnableCallback(on, subscriber, rows[i].domain, rows[i].id);
}
