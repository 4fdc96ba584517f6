/* CUPTI's callbacks: inside the real call of a hook they tell its correlation id; outside of any hook they are
 * a call that came by a route we do not see, and are recorded themselves. */
#include <string.h>

#include "core/record/arena.h"
#include "core/record/device.h"
#include "core/record/record.h"
#include "cupti/cupti.h"
#include "cupti/library.h"

static void on_enter(const CUpti_CallbackData *data)
{
	if (ts_self.depth) {
		ts_device_correlate(ts_self.correlation, data->correlationId);
		return;
	}
	if (!ts_enter()) {
		ts_leave();
		return;
	}
	/* Left at the exit of this call: calls inside it are not recorded again. */
	ts_self.correlation[0] = data->correlationId;
	ts_self.correlation[1] = 0;
	*data->correlationData = ts_clock_now();
}

static void on_exit_call(const CUpti_CallbackData *data)
{
	uint64_t begin = *data->correlationData;
	struct ts_rec_op *op;

	if (!begin)
		return;
	*data->correlationData = 0;
	op = ts_self.ring ? ts_reserve(ts_self.ring, 2) : NULL;
	if (op) {
		*op = (struct ts_rec_op){
			.h = { .kind = TS_REC_OP, .slots = 2, .route = TS_ROUTE_CUPTI, .device = TS_DEVICE_NONE,
			       .t = begin, .span = ts_self.span },
			.t_end = ts_clock_now(),
			.error = data->functionReturnValue ? *(const int *)data->functionReturnValue : 0,
			.correlation = ts_self.correlation[0],
			.correlation2 = ts_self.correlation[1],
			.name = ts_arena_text(data->symbolName ? data->symbolName : data->functionName),
		};
		ts_commit(ts_self.ring, 2);
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
			on_enter(call);
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
