#include "core/out/errors.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct row {
	uint64_t error;
	const char *name;
};

static const struct row runtime[] = {
#define TS_RUNTIME_ERROR(number, name) {number, #name},
#define TS_DRIVER_ERROR(number, name)
#include "core/out/errors.def"
#undef TS_RUNTIME_ERROR
#undef TS_DRIVER_ERROR
};

static const struct row driver[] = {
#define TS_RUNTIME_ERROR(number, name)
#define TS_DRIVER_ERROR(number, name) {number, #name},
#include "core/out/errors.def"
#undef TS_RUNTIME_ERROR
#undef TS_DRIVER_ERROR
};

/* Of both, but for 35, which the runtime alone has. */
static const struct row meanings[] = {
    {1, "invalid value"},     {2, "out of memory"},    {3, "not initialized"},
    {35, "no driver"},	      {100, "no device"},      {101, "invalid device"},
    {201, "invalid context"}, {400, "invalid handle"}, {700, "illegal address"},
    {719, "launch failed"},   {801, "not supported"},  {900, "stream is capturing"},
};

static const char *find(const struct row *rows, size_t count, uint64_t error)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].error == error)
			return rows[i].name;
	return "";
}

static bool is_runtime(struct ts_str api)
{
	if (api.size > 2 && !memcmp(api.at, "__", 2)) /* __cudaLaunchKernel */
		api = (struct ts_str){api.at + 2, api.size - 2};
	return api.size > 4 && !memcmp(api.at, "cuda", 4);
}

#define FIND(rows, error) find(rows, sizeof(rows) / sizeof((rows)[0]), error)

const char *ts_error_name(struct ts_str api, uint64_t error)
{
	if (is_runtime(api))
		return FIND(runtime, error);
	return api.size > 2 && !memcmp(api.at, "cu", 2) ? FIND(driver, error) : "";
}

const char *ts_error_meaning(struct ts_str api, uint64_t error)
{
	return *ts_error_name(api, error) ? FIND(meanings, error) : "";
}

struct ts_error_text ts_format_error(struct ts_str api, uint64_t error)
{
	const char *name = ts_error_name(api, error), *meaning = ts_error_meaning(api, error);
	struct ts_error_text out;

	if (*name)
		snprintf(out.text, sizeof(out.text), "%" PRIu64 " (%s%s%s)", error, meaning,
			 *meaning ? ", " : "", name);
	else
		snprintf(out.text, sizeof(out.text), "%" PRIu64, error);
	return out;
}
