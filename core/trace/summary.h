/* What a trace says, in memory that does not grow with the trace: per kernel, API, device and
 * stream, and memory. */
#ifndef TS_TRACE_SUMMARY_H
#define TS_TRACE_SUMMARY_H

#include "core/trace/intervals.h"
#include "core/trace/live.h"
#include "core/trace/reader.h"
#include "core/trace/stacks.h"

/* Durations of one thing. */
struct ts_durations {
	uint64_t count, total_ns, shortest_ns, longest_ns;
};

struct ts_kernel_sum {
	struct ts_durations device; /* of its device intervals */
	uint64_t launches;	    /* seen on the host */
};

struct ts_api_sum {
	struct ts_durations host;
	uint64_t errors, bytes;
};

/* One stream of a device, or the whole device. */
struct ts_stream_sum {
	struct ts_str device, stream; /* stream empty: all of the device */
	uint64_t context;
	uint64_t intervals, kernels, copies, sets, others;
	uint64_t sum_ns; /* of all durations: counts overlapping work several times */
	uint64_t first_ns,
	    last_ns; /* start of the first, end of the last, on the clock of the intervals */
	uint64_t bytes;
	struct ts_intervals busy;
};

#define TS_FAILED_KEPT 20

struct ts_failed_allocation {
	struct ts_str api, kind, device;
	uint64_t bytes, error, timestamp_ns;
	uint32_t stack; /* number or TS_MAP_NONE */
};

struct ts_samples { /* of one device's memory as the driver reports it */
	uint64_t count, most_used_bytes, least_free_bytes, capacity_bytes, at_failures;
	bool has_used, has_free;
};

struct ts_first_problem {
	uint64_t line, offset;
	char code[48], text[160];
};

struct ts_summary {
	struct ts_pool pool;		/* owns the texts below */
	const struct ts_json *meta;	/* NULL: the trace has none */
	const struct ts_json *terminal; /* NULL: the run was cut off */
	uint64_t lines, events[TS_EVENT_KINDS], end_ns;
	uint64_t bad_lines, unknown_kinds;
	struct ts_first_problem first_bad;
	bool is_cut; /* the last line has no end */
	uint64_t cut_line, cut_offset;
	uint64_t later_sessions; /* meta events behind the first */

	struct ts_map kernel_names, api_names, stream_names, device_names, sample_names;
	struct ts_kernel_sum *kernels;
	struct ts_api_sum *apis;
	struct ts_stream_sum *streams, *devices;
	struct ts_samples *samples;
	size_t kernel_capacity, api_capacity, stream_capacity, device_capacity, sample_capacity;

	/* The writer shortens a huge name and gives all of it once: by the short one. */
	struct ts_map short_names;
	struct ts_str *full_names;
	size_t full_capacity;

	uint64_t launches, intervals, untimed, outliers, unknown_launches, clock_error_ns;
	struct ts_map backends; /* of device intervals */

	struct ts_live live;
	struct ts_stacks stacks;
	struct ts_failed_allocation failed[TS_FAILED_KEPT];
	uint64_t failed_count, failed_bytes_largest;
};

/* Reads the whole file.  Returns 0, or -errno after a message; -EINVAL also for a file without a
 * single event. */
int ts_summary_read(struct ts_summary *summary, const char *path);

/* Where device times came from ("cupti", "event", "off") and why, from the terminal, else from
 * meta; empty if unknown. */
struct ts_str ts_summary_backend(const struct ts_summary *summary, struct ts_str *reason);

/* True when the trace says that the device was simulated. */
bool ts_summary_is_simulated(const struct ts_summary *summary);

void ts_summary_free(struct ts_summary *summary);

#endif
