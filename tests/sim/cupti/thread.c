/* What CUPTI keeps for each thread: open API calls, external ids, the thread's buffer. */
#include "tests/sim/cupti/simcupti.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct sim_thread *_Atomic all;
/* initial-exec: one word, and the leak checker of gcc 12 trips over dynamic TLS of a thread. */
static __thread struct sim_thread *own __attribute__((tls_model("initial-exec")));
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(CUpti_ActivityThreadIdType) id_type;

/* The buffer stays where it is: the next flush, or the next thread with this entry, finds it. */
static void thread_ends(void *thread)
{
	own = NULL;
	atomic_store(&((struct sim_thread *)thread)->used, false);
}

static void make_key(void)
{
	pthread_key_create(&key, thread_ends);
}

static struct sim_thread *reuse(void)
{
	for (struct sim_thread *t = atomic_load(&all); t; t = t->next) {
		bool expected = false;

		if (atomic_compare_exchange_strong(&t->used, &expected, true)) {
			t->depth = 0;
			t->quiet = false;
			t->last_error = CUPTI_SUCCESS;
			memset(t->external_count, 0, sizeof(t->external_count));
			return t;
		}
	}
	return NULL;
}

struct sim_thread *sim_thread(void)
{
	struct sim_thread *t = own;

	if (t)
		return t;
	pthread_once(&once, make_key);
	t = reuse();
	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t)
			abort();
		atomic_store(&t->used, true);
		t->next = atomic_load(&all);
		while (!atomic_compare_exchange_weak(&all, &t->next, t))
			;
	}
	own = t;
	pthread_setspecific(key, t);
	return t;
}

struct sim_thread *sim_threads(void)
{
	return atomic_load(&all);
}

uint32_t sim_thread_id(void)
{
	if (atomic_load(&id_type) == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
		return (uint32_t)gettid();
	return (uint32_t)(uintptr_t)pthread_self();
}

CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	if ((unsigned)type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE)
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	atomic_store(&id_type, type);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
	if (!type)
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	*type = atomic_load(&id_type);
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
							    uint64_t id)
{
	struct sim_thread *t = sim_thread();

	if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
	    kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE)
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	if (t->external_count[kind] == SIM_EXTERNAL_DEPTH)
		return sim_result(CUPTI_ERROR_MAX_LIMIT_REACHED);
	t->external[kind][t->external_count[kind]++] = id;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
							   uint64_t *last)
{
	struct sim_thread *t = sim_thread();

	if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
	    kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE)
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	if (!t->external_count[kind])
		return sim_result(CUPTI_ERROR_QUEUE_EMPTY);
	t->external_count[kind]--;
	if (last)
		*last = t->external[kind][t->external_count[kind]];
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetLastError(void)
{
	CUptiResult result = sim_thread()->last_error;

	sim_thread()->last_error = CUPTI_SUCCESS;
	return result;
}

CUptiResult sim_result(CUptiResult result)
{
	if (result != CUPTI_SUCCESS)
		sim_thread()->last_error = result;
	return result;
}
