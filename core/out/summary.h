/* A summary as text for people and as JSON for programs. */
#ifndef TS_OUT_SUMMARY_H
#define TS_OUT_SUMMARY_H

#include "core/trace/summary.h"
#include "core/trace/symbols.h"

#include <stdio.h>

/* `rows`: how many rows of a table the text shows; the rest is counted. */
void ts_summary_text(FILE *out, struct ts_summary *summary, struct ts_symbols *symbols,
		     const char *path, size_t rows);
void ts_summary_json(FILE *out, struct ts_summary *summary, struct ts_symbols *symbols,
		     const char *path);

/* --- shared by the two --- */

struct ts_lost_cause {
	const char *name, *variable, *what;
};

/* What the trace format's `lost` causes mean; an unknown cause has an empty variable and meaning.
 */
struct ts_lost_cause ts_lost_find(struct ts_str name);

/* Why there may be launches but no device records: fills up to `max` sentences, returns how many.
 */
size_t ts_no_device_reasons(const struct ts_summary *summary, const char **reasons, size_t max);

/* Orders, largest first; for free(). */
size_t *ts_rank_kernels(const struct ts_summary *summary, size_t *count);
size_t *ts_rank_apis(const struct ts_summary *summary, size_t *count);
size_t *ts_rank_peak_stacks(const struct ts_summary *summary,
			    size_t *count); /* numbers of stacks; */
size_t *ts_rank_live_stacks(const struct ts_summary *summary,
			    size_t *count); /* live.stack_count is "no stack" */

/* The sums of a stack by its number in those orders. */
const struct ts_live_stack *ts_live_stack_at(const struct ts_summary *summary, size_t number);

/* The text part, split over two files. */
void ts_summary_text_memory(FILE *out, struct ts_summary *summary, struct ts_symbols *symbols,
			    size_t rows);

#endif
