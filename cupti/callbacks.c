/* CUPTI's callbacks: inside the real call of a hook they tell its correlation id.
 *
 * A runtime that is linked in statically is not hooked, the driver calls it makes are: they record the call, with
 * the ids of both.  A call in which no hook was met came by a route we do not see and is recorded here. */
#include <string.h>

#include "core/record/arena.h"
#include "core/record/device.h"
#include "core/record/record.h"
#include "cupti/cupti.h"
#include "cupti/library.h"

static void on_enter(const CUpti_CallbackData *data, bool is_runtime)
{
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
			.h = { .kind = TS_REC_OP, .slots = 2, .route = TS_ROUTE_CUPTI, .device = TS_DEVICE_NONE,
			       .t = begin, .span = ts_self.span },
			.t_end = ts_clock_now(),
			.error = data->functionReturnValue ? *(const int *)data->functionReturnValue : 0,
			.correlation = data->correlationId,
			.name = ts_arena_text(data->symbolName ? data->symbolName : data->functionName),
		};
		ts_commit(ring, 2);
	}
	ts_leave();
}

void CUPTIAPI cupti_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	(void)user;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
			cupti_context_ends();
	} else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) {
		const CUpti_CallbackData *call = data;

		if (call->callbackSite == CUPTI_API_ENTER)
			on_enter(call, domain == CUPTI_CB_DOMAIN_RUNTIME_API);
		else
			on_exit_call(call);
	}
}

static const struct {
	CUpti_CallbackDomain domain;
	CUpti_CallbackId id;
} rows[] = {
#define TS_CALLBACK(domain, name) { CUPTI_CB_DOMAIN_##domain##_API, CUPTI_##domain##_TRACE_CBID_##name },
#include "cupti/callbacks.def"
#undef TS_CALLBACK
};

void cupti_callbacks_enable(CUpti_SubscriberHandle subscriber, bool on)
{
	for (size_t i = 0; i < TS_ARRAY_SIZE(rows); i++)
		cupti_api.cuptiEnableCallback(on, subscriber, rows[i].domain, rows[i].id);
	cupti_api.cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
				      CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
}
