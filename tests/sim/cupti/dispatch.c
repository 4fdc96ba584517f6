/* Callbacks: API edges, resources and synchronisation, for the one subscriber. */
#include "tests/sim/cupti/simcupti.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define CBID_ROOM 1024
_Static_assert(CUPTI_DRIVER_TRACE_CBID_SIZE < CBID_ROOM, "callback table too small");
_Static_assert(CUPTI_RUNTIME_TRACE_CBID_SIZE < CBID_ROOM, "callback table too small");
_Static_assert(CUPTI_RUNTIME_TRACE_CBID_SIZE > 0 && CUPTI_CB_DOMAIN_SIZE == 7, "domains");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool enabled[CUPTI_CB_DOMAIN_SIZE][CBID_ROOM];
static struct subscriber {
	CUpti_CallbackFunc _Atomic function;    /* NULL: nobody subscribed */
	void *_Atomic user;
	char name[CUPTI_SUBSCRIBER_NAME_MAX_LEN + sizeof("CUPTI for ")];
} subscriber;

static void call(CUpti_CallbackDomain domain, uint32_t cbid, const void *data)
{
	CUpti_CallbackFunc function = atomic_load(&subscriber.function);

	if (function && cbid < CBID_ROOM && atomic_load(&enabled[domain][cbid]))
		function(atomic_load(&subscriber.user), domain, cbid, data);
}

static void call_api(const struct sim_api *edge, struct sim_frame *frame)
{
	int result = edge->result;
	CUpti_CallbackData data = {
		.callbackSite = edge->enter ? CUPTI_API_ENTER : CUPTI_API_EXIT,
		.functionName = edge->name,
		.functionParams = edge->params,
		.functionReturnValue = edge->enter ? NULL : &result,
		.symbolName = edge->symbol,
		.context = edge->context,
		.contextUid = edge->context ? edge->context_id : 0,
		.correlationData = &frame->data,
		.correlationId = edge->correlation,
	};

	call(edge->domain == SIM_DRIVER ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API,
	     frame->cbid, &data);
}

static void enter(struct sim_thread *thread, const struct sim_api *edge)
{
	struct sim_frame spill, *frame = &spill;

	/* Deeper than any real nesting: still called back, without correlation data. */
	if (thread->depth < SIM_FRAMES)
		frame = &thread->frames[thread->depth];
	*frame = (struct sim_frame){
		.correlation = edge->correlation, .domain = edge->domain,
		.cbid = sim_cbid(edge->domain, edge->name), .context = edge->context,
		.begin_ns = sim_monotonic_ns(),
	};
	thread->depth++;
	if (sim_api_kind_on(edge->domain, frame->cbid))
		frame->begin = sim_clock_now();
	call_api(edge, frame);
	sim_objects_end(edge);
}

static void leave(struct sim_thread *thread, const struct sim_api *edge)
{
	struct sim_frame lost = { .correlation = edge->correlation, .domain = edge->domain,
				  .cbid = sim_cbid(edge->domain, edge->name) };
	struct sim_frame *frame = &lost;

	/* A call that CUPTI did not see begin has no frame; one left open by a jump is dropped. */
	for (unsigned i = thread->depth; i-- > 0;) {
		if (i >= SIM_FRAMES || thread->frames[i].correlation != edge->correlation)
			continue;
		frame = &thread->frames[i];
		/* Still its own: the subscriber may call the driver. */
		thread->depth = i + 1;
		break;
	}
	call_api(edge, frame);
	if (frame != &lost)
		thread->depth = (unsigned)(frame - thread->frames);
	if (frame->begin && sim_api_kind_on(frame->domain, frame->cbid))
		sim_record_api(frame, (uint32_t)edge->result);
	if (!edge->result && !strcmp(edge->name, "cuInit")) {
		CUpti_ResourceData none = { 0 };

		sim_call_resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, &none);
		sim_record_devices();
	}
}

void sim_observe_api(void *user, const struct sim_api *edge)
{
	struct sim_thread *thread = sim_thread();

	(void)user;
	if (sim_forked() || thread->quiet || !sim_connected())
		return;
	if (edge->enter)
		enter(thread, edge);
	else
		leave(thread, edge);
}

void sim_call_resource(CUpti_CallbackIdResource cbid, const CUpti_ResourceData *data)
{
	call(CUPTI_CB_DOMAIN_RESOURCE, cbid, data);
}

void sim_call_sync(CUpti_CallbackIdSync cbid, void *context, uint64_t stream)
{
	CUpti_SynchronizeData data = { .context = context, .stream = (CUstream)(uintptr_t)stream };

	call(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid, &data);
}

void sim_observe_graph_node(void *user, uint64_t original, uint64_t node, uint32_t graph_id)
{
	CUpti_GraphData graph = { .node = (CUgraphNode)(uintptr_t)node,
				  .originalNode = (CUgraphNode)(uintptr_t)original };
	CUpti_ResourceData data = { .resourceDescriptor = &graph };

	(void)user;
	(void)graph_id;
	if (!sim_forked() && sim_connected())
		sim_call_resource(original ? CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED
					   : CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &data);
}

static void tell_owner(CUpti_SubscriberParams *params, const char *name)
{
	if (params && params->oldSubscriberName && params->oldSubscriberSize)
		snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s", name);
}

CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
				       void *user, CUpti_SubscriberParams *params)
{
	CUptiResult result = CUPTI_SUCCESS;

	if (!handle || (params && params->structSize < CUpti_SubscriberParams_STRUCT_SIZE))
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	result = sim_connect();
	if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		tell_owner(params, sim_faults.other_tool ? sim_faults.other_tool : "another tool");
	if (result != CUPTI_SUCCESS)
		return sim_result(result);
	pthread_mutex_lock(&lock);
	if (atomic_load(&subscriber.function)) {
		tell_owner(params, subscriber.name);
		result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	} else {
		const char *name = params ? params->subscriberName : NULL;

		snprintf(subscriber.name, sizeof(subscriber.name), "CUPTI%s%s",
			 name ? " for " : "", name ? name : "");
		memset(enabled, 0, sizeof(enabled));
		atomic_store(&subscriber.user, user);
		atomic_store(&subscriber.function, callback);
		*handle = (CUpti_SubscriberHandle)&subscriber;
	}
	pthread_mutex_unlock(&lock);
	return sim_result(result);
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
				    void *user)
{
	return cuptiSubscribe_v2(handle, callback, user, NULL);
}

static bool valid(CUpti_SubscriberHandle handle)
{
	return (void *)handle == &subscriber && atomic_load(&subscriber.function);
}

void sim_subscriber_reset(void)
{
	pthread_mutex_lock(&lock);
	atomic_store(&subscriber.function, NULL);
	memset(enabled, 0, sizeof(enabled));
	pthread_mutex_unlock(&lock);
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	if (!valid(handle))
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	sim_subscriber_reset();
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
					 CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	if (!valid(handle) || !cbid || cbid >= sim_cbid_limit(domain))
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	atomic_store(&enabled[domain][cbid], enable != 0);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
				       CUpti_CallbackDomain domain)
{
	if (!valid(handle) || !sim_cbid_limit(domain))
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	for (uint32_t cbid = 1; cbid < sim_cbid_limit(domain); cbid++)
		atomic_store(&enabled[domain][cbid], enable != 0);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
	CUptiResult result = CUPTI_SUCCESS;

	for (int domain = CUPTI_CB_DOMAIN_DRIVER_API; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
		if (result == CUPTI_SUCCESS)
			result = cuptiEnableDomain(enable, handle, (CUpti_CallbackDomain)domain);
	return result;
}

CUptiResult CUPTIAPI cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle,
					   CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	if (!enable || !valid(handle) || !cbid || cbid >= sim_cbid_limit(domain))
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	*enable = atomic_load(&enabled[domain][cbid]);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSupportedDomains(size_t *count, CUpti_DomainTable *table)
{
	static CUpti_CallbackDomain domains[] = {
		CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE,
		CUPTI_CB_DOMAIN_SYNCHRONIZE,
	};

	if (!count || !table)
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	*count = sizeof(domains) / sizeof(domains[0]);
	*table = domains;
	return CUPTI_SUCCESS;
}
