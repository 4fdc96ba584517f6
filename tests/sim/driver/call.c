/* What happens around every call: the lock, the log, injected errors, the observer. */
#include "sim.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct pending {
	bool is_node;
	struct sim_activity work;
	uint64_t original, node;
	uint32_t graph;
};

bool sim_initialised;
static bool after_fork;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* One pointer: fits the surplus of static TLS, also when the driver is opened at run time. */
static __thread struct sim_thread *self __attribute__((tls_model("initial-exec")));
static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static uint32_t next_correlation;

/* Replaced observers are kept: another thread may be inside one. */
static struct observer_slot {
	struct sim_observer observer;
	struct observer_slot *older;
} * observer_slot;

void sim_lock(void)
{
	pthread_mutex_lock(&lock);
}

void sim_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

bool sim_cond_wait(pthread_cond_t *cond, uint64_t deadline)
{
	const struct timespec t = {.tv_sec = (time_t)(deadline / 1000000000u),
				   .tv_nsec = (long)(deadline % 1000000000u)};
	if (!deadline)
		return !pthread_cond_wait(cond, &lock);
	return !pthread_cond_clockwait(cond, &lock, CLOCK_MONOTONIC, &t);
}

/* A forked child has no device, as with the real driver: every later call says so. */
static void forked(void)
{
	after_fork = sim_initialised;
	pthread_mutex_unlock(&lock);
}

static void thread_gone(void *data)
{
	struct sim_thread *thread = data;
	sim_lock();
	sim_thread_stack_free(thread);
	sim_unlock();
	free(thread->pending);
	free(thread);
	self = NULL;
}

static void make_key(void)
{
	pthread_key_create(&thread_key, thread_gone);
	pthread_atfork(sim_lock, sim_unlock, forked);
}

struct sim_thread *sim_thread(void)
{
	if (self)
		return self;
	pthread_once(&thread_once, make_key);
	self = calloc(1, sizeof *self);
	if (!self)
		abort(); /* a process that cannot have 100 bytes more */
	self->tid = (uint32_t)syscall(SYS_gettid);
	pthread_setspecific(thread_key, self);
	return self;
}

uint64_t sim_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void sim_sleep_until(uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u),
			     .tv_nsec = (long)(ns % 1000000000u)};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

static struct sim_observer *observer(void)
{
	struct observer_slot *slot = __atomic_load_n(&observer_slot, __ATOMIC_ACQUIRE);
	return slot && slot->observer.version ? &slot->observer : NULL;
}

bool sim_observed(void)
{
	return observer() != NULL;
}

EXPORT int tstrace_sim_observe(const struct sim_observer *wanted)
{
	if (wanted && wanted->version != SIM_OBSERVER_VERSION)
		return -1;
	struct observer_slot *slot = calloc(1, sizeof *slot);
	if (!slot)
		return -1;
	if (wanted)
		slot->observer = *wanted;
	sim_lock();
	slot->older = observer_slot;
	__atomic_store_n(&observer_slot, slot, __ATOMIC_RELEASE);
	sim_unlock();
	return 0;
}

static struct pending *pend(void)
{
	struct sim_thread *thread = sim_thread();
	if (thread->npending == thread->pending_capacity) {
		unsigned capacity = thread->pending_capacity ? thread->pending_capacity * 2 : 16;
		struct pending *grown = realloc(thread->pending, capacity * sizeof *grown);
		if (!grown)
			return NULL;
		thread->pending = grown;
		thread->pending_capacity = capacity;
	}
	struct pending *item = &thread->pending[thread->npending++];
	memset(item, 0, sizeof *item);
	return item;
}

void sim_report(const struct sim_activity *work)
{
	struct pending *item = observer() ? pend() : NULL;
	if (item)
		item->work = *work;
}

void sim_report_node(uint64_t original, uint64_t node, uint32_t graph)
{
	struct pending *item = observer() ? pend() : NULL;
	if (item)
		*item = (struct pending){
		    .is_node = true, .original = original, .node = node, .graph = graph};
}

void sim_deliver(void)
{
	struct sim_thread *thread = sim_thread();
	struct sim_observer *o = observer();
	/* An observer that calls the driver appends to the list: take it away first. */
	struct pending *list = thread->pending;
	unsigned n = thread->npending;
	if (!n)
		return;
	thread->pending = NULL;
	thread->npending = thread->pending_capacity = 0;
	for (unsigned i = 0; o && i < n; i++) {
		if (list[i].is_node && o->graph_node)
			o->graph_node(o->user, list[i].original, list[i].node, list[i].graph);
		else if (!list[i].is_node && o->activity)
			o->activity(o->user, &list[i].work);
	}
	if (!thread->pending && n <= 64) {
		thread->pending = list;
		thread->pending_capacity = n;
	} else {
		free(list);
	}
}

static void tell(enum sim_domain domain, bool enter, const char *name, uint32_t correlation,
		 const void *params, const char *symbol, int result)
{
	struct sim_observer *o = observer();
	if (!o || !o->api)
		return;
	sim_lock();
	struct context *ctx = sim_current();
	uint32_t id = ctx ? ctx->id : 0;
	sim_unlock();
	const struct sim_api call = {
	    .domain = domain,
	    .enter = enter,
	    .name = name,
	    .correlation = correlation,
	    .params = params,
	    .result = result,
	    .context = ctx,
	    .context_id = id,
	    .symbol = symbol,
	};
	o->api(o->user, &call);
}

EXPORT uint32_t tstrace_sim_enter(enum sim_domain domain, const char *name, const void *params,
				  const char *symbol)
{
	uint32_t id = __atomic_add_fetch(&next_correlation, 1, __ATOMIC_RELAXED);
	struct sim_thread *thread = sim_thread();
	if (!thread->outer)
		thread->outer = id;
	tell(domain, true, name, id, params, symbol, 0);
	return id;
}

EXPORT void tstrace_sim_leave(enum sim_domain domain, const char *name, uint32_t correlation,
			      const void *params, const char *symbol, int result)
{
	tell(domain, false, name, correlation, params, symbol, result);
	if (sim_thread()->outer == correlation)
		sim_thread()->outer = 0;
}

static bool injected(struct sim_call *call)
{
	unsigned long n = __atomic_add_fetch(&call->entry->calls, 1, __ATOMIC_RELAXED);
	for (struct sim_fault *f = call->entry->faults; f; f = f->next)
		if (!f->nth || f->nth == n) {
			call->result = f->code;
			return true;
		}
	return false;
}

/* True: run the implementation, the lock is held.  False: the result is set already. */
bool sim_begin(struct sim_call *call)
{
	struct sim_thread *thread = sim_thread();
	if (call->function && observer()) {
		sim_lock();
		struct function *f = sim_function_get(call->function);
		call->symbol = f ? f->name : NULL;
		sim_unlock();
	}
	call->correlation =
	    tstrace_sim_enter(SIM_DRIVER, call->entry->name, call->params, call->symbol);
	call->outer_per_thread = thread->per_thread;
	thread->per_thread = call->per_thread;
	sim_lock();
	if (injected(call))
		return false;
	if ((!sim_initialised || after_fork) && !call->entry->early) {
		call->result = CUDA_ERROR_NOT_INITIALIZED;
		return false;
	}
	if (after_fork && !strcmp(call->entry->name, "cuInit")) {
		call->result = CUDA_ERROR_NOT_INITIALIZED;
		return false;
	}
	return true;
}

/* With the thread's name: threads of a tool, too, call the driver. */
static void log_call(const struct sim_call *call)
{
	char thread[16] = "";

	prctl(PR_GET_NAME, thread);
	fprintf(stderr, "simulated CUDA driver: %s = %d on %s\n", call->entry->name,
		(int)call->result, thread);
}

/* What the real driver does at cuInit: open the tool that the environment names, and call it. */
static void load_tool(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *tool = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*start)(void) = tool ? (int (*)(void))dlsym(tool, "InitializeInjection") : NULL;

	if (start)
		start();
}

CUresult sim_end(struct sim_call *call)
{
	static pthread_once_t loaded = PTHREAD_ONCE_INIT;

	sim_unlock();
	sim_thread()->per_thread = call->outer_per_thread;
	sim_deliver();
	if (!call->result && !strcmp(call->entry->name, "cuInit"))
		pthread_once(&loaded, load_tool);
	tstrace_sim_leave(SIM_DRIVER, call->entry->name, call->correlation, call->params,
			  call->symbol, call->result);
	if (sim_config.log)
		log_call(call);
	return call->result;
}

CUresult sim_unsupported(struct sim_call *call)
{
	if (sim_config.log_unsupported)
		fprintf(stderr, "simulated CUDA driver: UNSUPPORTED %s\n", call->entry->name);
	return CUDA_ERROR_NOT_SUPPORTED;
}
