#include "preload/proc.h"

#include "core/record/record.h"
#include "preload/cuda_api.h"
#include "preload/elf.h"
#include "preload/real.h"

/* What the driver gives for a row's own name, version and flags: asked once. */
static _Atomic(void *) canonical[TS_FN_COUNT];

static void *ask(void *real, enum ts_fn via, const char *symbol, int version, uint64_t flags)
{
	void *pfn = NULL;
	CUdriverProcAddressQueryResult status;
	CUresult result;

	if (via == TS_FN_cuGetProcAddress_v2)
		result = ((__typeof__(cuGetProcAddress_v2) *)real)(symbol, &pfn, version, flags,
								   &status);
	else
		result = ((__typeof__(cuGetProcAddress) *)real)(symbol, &pfn, version, flags);
	return result == CUDA_SUCCESS ? pfn : NULL;
}

static void *canonical_of(enum ts_fn fn, void *real, enum ts_fn via)
{
	const struct ts_fn_facts *facts = &ts_fn_facts[fn];
	void *pfn = atomic_load(&canonical[fn]);

	if (!pfn) {
		pfn = ask(real, via, facts->base, facts->version,
			  facts->per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM :
					      CU_GET_PROC_ADDRESS_DEFAULT);
		atomic_store(&canonical[fn], pfn);
	}
	return pfn;
}

/* The newest row not newer than what was asked for; a per-thread one when such was wanted and
 * exists. */
static enum ts_fn best_row(const char *symbol, int version, bool per_thread)
{
	enum ts_fn plain = TS_FN_none, special = TS_FN_none, fn = TS_FN_none;

	while ((fn = ts_fn_next_of_base(symbol, fn)) != TS_FN_none) {
		if (ts_fn_facts[fn].version > version)
			continue;
		if (ts_fn_facts[fn].per_thread)
			special = fn;
		else
			plain = fn;
	}
	return per_thread && special != TS_FN_none ? special : plain;
}

void ts_proc_wrap(void *real, enum ts_fn via, const char *symbol, void **pfn, int version,
		  uint64_t flags)
{
	bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	void *given = *pfn;
	enum ts_fn fn;

	if (!symbol || ts_fn_next_of_base(symbol, TS_FN_none) == TS_FN_none)
		return;
	fn = best_row(symbol, version, per_thread);
	/* Threads that fill one table of theirs at the same time: another one's has its hook. */
	if (fn != TS_FN_none && given == ts_hook_proc[fn])
		return;
	/* Where there is no per-thread form the driver gives the plain one. */
	if (fn == TS_FN_none || canonical_of(fn, real, via) != given ||
	    !ts_real_hold(&ts_real_proc[fn], given))
		ts_lost(TS_LOST_unknown_abi, 1);
	else
		*pfn = ts_hook_proc[fn];
}

void ts_proc_unloaded(void)
{
	for (unsigned fn = 1; fn < TS_FN_COUNT; fn++) {
		void *pfn = atomic_load(&canonical[fn]);

		if (pfn && !ts_address_loaded(pfn))
			atomic_compare_exchange_strong(&canonical[fn], &pfn, NULL);
	}
}
