/* Names: of callbacks (rows made from the toolkit's headers at build time), results and domains. */
#include "tests/sim/cupti/simcupti.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct row {
	const char *name;
	uint32_t cbid;
};

/* The numbers are the headers' own enumerators, so that a wrong row does not compile. */
#define SIM_CBID_driver(name) { #name, CUPTI_DRIVER_TRACE_CBID_##name },
#define SIM_CBID_runtime(name) { #name, CUPTI_RUNTIME_TRACE_CBID_##name },
static const struct row driver_rows[] = {
#include "cbid_driver.inc"
};
static const struct row runtime_rows[] = {
#include "cbid_runtime.inc"
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Runtime rows end in the version of the ABI (cudaMalloc_v3020); exported names do not. */
static size_t bare_length(const char *name, long *version)
{
	size_t length = strlen(name), digits = length;

	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	*version = 0;
	if (length - digits < 4 || digits < 2 || strncmp(name + digits - 2, "_v", 2))
		return length;
	*version = strtol(name + digits, NULL, 10);
	return digits - 2;
}

struct key {
	char name[96];
	long version;
	uint32_t cbid;
};

static struct key driver_keys[COUNT(driver_rows)], runtime_keys[COUNT(runtime_rows)];
static const char *driver_names[CUPTI_DRIVER_TRACE_CBID_SIZE];
static const char *runtime_names[CUPTI_RUNTIME_TRACE_CBID_SIZE];

/* Newest version first: it is the one that the look-up below stops at. */
static int by_name(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->version < y->version) - (x->version > y->version);
}

static void index_rows(const struct row *rows, size_t count, struct key *keys, const char **names)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = bare_length(rows[i].name, &keys[i].version);

		if (length >= sizeof(keys[i].name))
			length = sizeof(keys[i].name) - 1;
		memcpy(keys[i].name, rows[i].name, length);
		keys[i].cbid = rows[i].cbid;
		names[rows[i].cbid] = rows[i].name;
	}
	qsort(keys, count, sizeof(keys[0]), by_name);
}

static void index_all(void)
{
	index_rows(driver_rows, COUNT(driver_rows), driver_keys, driver_names);
	index_rows(runtime_rows, COUNT(runtime_rows), runtime_keys, runtime_names);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

uint32_t sim_cbid(enum sim_domain domain, const char *function)
{
	const struct key *keys = domain == SIM_DRIVER ? driver_keys : runtime_keys;
	size_t low = 0, high = domain == SIM_DRIVER ? COUNT(driver_keys) : COUNT(runtime_keys);
	size_t count = high;

	pthread_once(&once, index_all);
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(keys[middle].name, function) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && !strcmp(keys[low].name, function) ? keys[low].cbid : 0;
}

uint32_t sim_cbid_limit(CUpti_CallbackDomain domain)
{
	static const uint32_t limits[CUPTI_CB_DOMAIN_SIZE] = {
		[CUPTI_CB_DOMAIN_DRIVER_API] = CUPTI_DRIVER_TRACE_CBID_SIZE,
		[CUPTI_CB_DOMAIN_RUNTIME_API] = CUPTI_RUNTIME_TRACE_CBID_SIZE,
		[CUPTI_CB_DOMAIN_RESOURCE] = CUPTI_CBID_RESOURCE_SIZE,
		[CUPTI_CB_DOMAIN_SYNCHRONIZE] = CUPTI_CBID_SYNCHRONIZE_SIZE,
		[CUPTI_CB_DOMAIN_NVTX] = 1,
		[CUPTI_CB_DOMAIN_STATE] = CUPTI_CBID_STATE_SIZE,
	};

	return (unsigned)domain < CUPTI_CB_DOMAIN_SIZE ? limits[domain] : 0;
}

const char *sim_cbid_name(CUpti_CallbackDomain domain, uint32_t cbid)
{
	pthread_once(&once, index_all);
	if (cbid >= sim_cbid_limit(domain))
		return NULL;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		return driver_names[cbid];
	return domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_names[cbid] : NULL;
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
					  const char **name)
{
	const char *found = sim_cbid_name(domain, cbid);

	if (!name)
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	*name = found;
	return sim_result(found ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
}

static const struct {
	CUptiResult code;
	const char *name, *message;
} results[] = {
#define SIM_RESULT(code, message) { code, #code, message },
#include "tests/sim/cupti/results.def"
};

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char **text)
{
	if (!text)
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	*text = NULL;
	for (size_t i = 0; i < COUNT(results); i++)
		if (results[i].code == result)
			*text = results[i].name;
	return sim_result(*text ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult CUPTIAPI cuptiGetErrorMessage(CUptiResult result, const char **text)
{
	if (!text)
		return sim_result(CUPTI_ERROR_INVALID_PARAMETER);
	*text = NULL;
	for (size_t i = 0; i < COUNT(results); i++)
		if (results[i].code == result)
			*text = results[i].message;
	return sim_result(*text ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
}
