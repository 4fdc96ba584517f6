/* What a trace says of its spans, by name and step.  Memory is bounded by the number of names, of
 * ways in which they nest, and of spans that are open at once. */
#ifndef TS_TRACE_SPANS_H
#define TS_TRACE_SPANS_H

#include "core/trace/event.h"
#include "core/trace/intervals.h"
#include "core/trace/iterations.h"
#include "core/trace/map.h"

/* All spans of one name and step. */
struct ts_span_sum {
	struct ts_str name;
	uint8_t step;	      /* TS_STEP_*, or TS_STEPS: none */
	bool is_whole;	      /* the whole run, and nothing that the program began */
	uint64_t calls;	      /* spans that began */
	uint64_t parts;	      /* more of them that only go on with one that was interrupted */
	uint64_t open_at_end; /* ended by the end of the trace */
	uint64_t unended;     /* the trace has no end of them */
	struct ts_durations host;
	uint64_t intervals; /* of the device, launched inside, also in spans within */
	struct ts_intervals busy;
	uint64_t last_interval; /* private: the interval that was counted last */
};

struct ts_span_path {
	uint32_t above, sum;
};

struct ts_span_entry;

struct ts_spans {
	struct ts_map names; /* of sums: the step, then the name */
	struct ts_span_sum *sums;
	size_t sum_capacity;
	struct ts_iterations iterations;
	uint64_t absurd; /* spans whose times are no times */

	struct ts_map path_ids;
	struct ts_span_path *paths; /* a sum inside the sums of the path above */
	size_t path_capacity;
	struct ts_span_entry **buckets;
	size_t bucket_count, entry_count;
	struct ts_span_entry *ended, **ended_end; /* in this order; device work may still come */
	size_t ended_count;
	uint64_t intervals;
	struct ts_pool scratch;
};

/* Takes in any event: what is of spans and iterations.  A device interval counts as busy time of
 * the spans around its launch: give none that has no usable times or is no work. */
void ts_spans_take(struct ts_spans *spans, const struct ts_event *event);

/* After the last event: everything above is final then. */
void ts_spans_finish(struct ts_spans *spans);

/* True when the program, or somebody for it, made spans: the whole run alone is none. */
bool ts_spans_any(const struct ts_spans *spans);

void ts_spans_free(struct ts_spans *spans);

#endif
