/* A summary as text for people and as JSON for programs. */
#ifndef TS_OUT_SUMMARY_H
#define TS_OUT_SUMMARY_H

#include "core/trace/summary.h"
#include "core/trace/symbols.h"

#include <jansson.h>
#include <stdio.h>

/* `rows`: how many rows of a table the text shows; the rest is counted. */
void ts_summary_text(FILE *out, struct ts_summary *summary, struct ts_symbols *symbols,
		     const char *path, size_t rows);
void ts_summary_json(FILE *out, struct ts_summary *summary, struct ts_symbols *symbols,
		     const char *path);

/* --- shared by the two --- */

struct ts_lost_cause {
	const char *name, *variable, *what, *advice;
};

/* What the trace format's `lost` causes mean; an unknown cause has empty texts. */
struct ts_lost_cause ts_lost_find(struct ts_str name);

/* A value of the part of the trace that says which CUDA it met, as "driver"; empty if it is not
 * there. */
struct ts_str ts_cuda_text(const struct ts_summary *summary, const char *key);

/* Why there may be launches but no device records: fills up to `max` sentences, returns how many.
 */
size_t ts_no_device_reasons(const struct ts_summary *summary, const char **reasons, size_t max);

/* Copies in one direction, sets, pages: as in struct ts_summary, in words with '_' for a space. */
const char *ts_copy_name(size_t copy);

/* "forward" and so on; empty of a span that is no step. */
const char *ts_step_name(uint8_t step);

/* Device time of all kernels, and host time of all calls of a table. */
uint64_t ts_kernel_time(const struct ts_summary *summary);
uint64_t ts_api_time(const struct ts_api_table *table);

/* Orders, largest first; for free(). */
size_t *ts_rank_kernels(const struct ts_summary *summary, size_t *count);
size_t *ts_rank_apis(const struct ts_api_table *table, size_t *count);
size_t *ts_rank_spans(const struct ts_summary *summary, size_t *count);
/* numbers of stacks; the scope's stack_count is "no stack" */
size_t *ts_rank_peak_stacks(const struct ts_live_scope *scope, size_t *count);
size_t *ts_rank_live_stacks(const struct ts_live_scope *scope, size_t *count);

/* The share of a stack by its number in those orders. */
const struct ts_live_share *ts_stack_share(const struct ts_live_scope *scope, size_t number);

/* Adds the numbers of some durations to an object. */
json_t *ts_json_with_durations(json_t *object, const struct ts_durations *sum);

/* The parts of the JSON. */
json_t *ts_summary_json_spans(const struct ts_summary *summary);
json_t *ts_summary_json_iterations(const struct ts_summary *summary);
json_t *ts_summary_json_memory(const struct ts_summary *summary, struct ts_symbols *symbols);

/* The parts of the text. */
void ts_summary_text_losses(FILE *out, const struct ts_summary *summary);
void ts_summary_text_time(FILE *out, const struct ts_summary *summary, size_t rows);
void ts_summary_text_spans(FILE *out, const struct ts_summary *summary, size_t rows);
void ts_summary_text_memory(FILE *out, struct ts_summary *summary, struct ts_symbols *symbols,
			    size_t rows);

#endif
