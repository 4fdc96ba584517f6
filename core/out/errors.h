/* CUDA's errors in words. */
#ifndef TS_OUT_ERRORS_H
#define TS_OUT_ERRORS_H

#include "core/trace/pool.h"

/* CUDA's name of an error that `api` returned, as cudaErrorNoDevice; empty when it is not known. */
const char *ts_error_name(struct ts_str api, uint64_t error);

/* What it means in a word or two; empty for those that are rare. */
const char *ts_error_meaning(struct ts_str api, uint64_t error);

struct ts_error_text {
	char text[128];
};

/* "2 (out of memory, cudaErrorMemoryAllocation)", as far as known. */
struct ts_error_text ts_format_error(struct ts_str api, uint64_t error);

#endif
