/* cuGetProcAddress: the newest form not newer than what was asked for, per-thread form when wanted.
 */
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct sim_version **sorted;

static int by_base(const void *a, const void *b)
{
	const struct sim_version *x = *(const struct sim_version *const *)a;
	const struct sim_version *y = *(const struct sim_version *const *)b;
	int order = strcmp(x->base, y->base);
	return order ? order : x->version - y->version;
}

static unsigned first_of(const char *base)
{
	unsigned low = 0, high = sim_nversions;
	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (strcmp(sorted[middle]->base, base) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void *look_up(const char *base, int version, bool per_thread,
		     CUdriverProcAddressQueryResult *status)
{
	const struct sim_version *plain = NULL, *threaded = NULL;
	bool known = false;
	for (unsigned i = first_of(base); i < sim_nversions && !strcmp(sorted[i]->base, base);
	     i++) {
		known = true;
		if (sorted[i]->version > version)
			break;
		if (sorted[i]->per_thread)
			threaded = sorted[i];
		else
			plain = sorted[i];
	}
	const struct sim_version *best = per_thread && threaded ? threaded : plain;
	*status = best	  ? CU_GET_PROC_ADDRESS_SUCCESS
		  : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
			  : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return best ? sim_entries[best->entry].fn : NULL;
}

CUresult sim_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
				 CUdriverProcAddressQueryResult *symbolStatus)
{
	const cuuint64_t known =
	    CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	if (!symbol || !pfn || (flags & ~known) || flags == known ||
	    cudaVersion > sim_config.driver_version)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sorted) {
		sorted = malloc(sim_nversions * sizeof *sorted);
		SIM_ALLOC_CHECK(sorted);
		for (unsigned i = 0; i < sim_nversions; i++)
			sorted[i] = &sim_versions[i];
		qsort(sorted, sim_nversions, sizeof *sorted, by_base);
	}
	CUdriverProcAddressQueryResult status;
	*pfn = look_up(symbol, cudaVersion, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
		       &status);
	if (symbolStatus)
		*symbolStatus = status;
	return CUDA_SUCCESS;
}

/* The form of CUDA 11.3 had no status: what it does not find is an error. */
CUresult sim_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
	CUresult error = sim_cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
	return !error && !*pfn ? CUDA_ERROR_NOT_FOUND : error;
}

/* Private tables of the vendor's own libraries: not simulated, and never will be. */
CUresult sim_cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
	static bool said;
	(void)ppExportTable, (void)pExportTableId;
	if (!said)
		fputs("simulated CUDA driver: cuGetExportTable is not supported: NVIDIA's own "
		      "runtime and CUPTI need the real driver; a program with the static runtime, "
		      "nvcc's default, must be built with -cudart shared to run here\n",
		      stderr);
	said = true;
	return CUDA_ERROR_NOT_SUPPORTED;
}
