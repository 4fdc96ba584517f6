/* What a trace says, in memory that does not grow with the trace: per kernel, API, device and
 * stream, and memory. */
#ifndef TS_TRACE_SUMMARY_H
#define TS_TRACE_SUMMARY_H

#include "core/trace/durations.h"
#include "core/trace/intervals.h"
#include "core/trace/live.h"
#include "core/trace/reader.h"
#include "core/trace/spans.h"
#include "core/trace/stacks.h"
#include "core/trace/windows.h"

struct ts_kernel_sum {
	struct ts_durations device; /* of its device intervals */
	uint64_t launches;	    /* seen on the host */
	uint64_t untimed;	    /* device records without usable times */
};

struct ts_api_sum {
	struct ts_durations host;
	uint64_t untimed; /* calls whose duration is not recorded: those that allocate and free */
	uint64_t errors, first_error, bytes;
};

/* By name. */
struct ts_api_table {
	struct ts_map names;
	struct ts_api_sum *sums;
	size_t capacity;
};

/* Copies of one direction, sets, or pages that the driver moved. */
struct ts_copy_sum {
	struct ts_durations device;
	uint64_t bytes;
};

/* Numbers of CUpti_ActivityMemcpyKind, 0 = unknown; behind them what is no copy. */
enum { TS_COPY_KINDS = 11, TS_COPY_SET = TS_COPY_KINDS, TS_COPY_PAGES, TS_COPIES };

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

#define TS_ERROR_OUT_OF_MEMORY 2 /* of the runtime and of the driver */
#define TS_FAILED_KEPT 20
#define TS_LARGEST_KEPT 8 /* of a failed allocation */

struct ts_live_at_failure {
	uint32_t stack; /* number */
	uint64_t bytes, count;
};

struct ts_failed_allocation {
	struct ts_str api, kind, device;
	uint64_t bytes, error, timestamp_ns;
	uint32_t stack; /* number or TS_MAP_NONE */
	bool has_live, has_device_live, has_free;
	uint64_t live_bytes;		     /* of all allocations that tstrace saw */
	uint64_t device_live_bytes;	     /* of those on the device; the host is one too */
	uint64_t free_bytes, capacity_bytes; /* as the driver said just after */
	struct ts_live_at_failure largest[TS_LARGEST_KEPT]; /* on that device, if that is known */
	size_t largest_count; /* 0: not recorded, or only with an earlier failure */
};

/* All that failed with one error of the runtime or the driver. */
#define TS_FAILED_ERRORS 16
struct ts_failed_error {
	uint64_t count, largest_bytes;
	struct ts_failed_allocation first;
};

struct ts_samples { /* of one device's memory as the driver reports it */
	uint64_t count, most_used_bytes, least_free_bytes, capacity_bytes, at_failures;
	bool has_used, has_free;
};

/* What the driver said when an allocation failed. */
#define TS_FAILURE_SAMPLES 64
struct ts_failure_sample {
	struct ts_str device;
	uint64_t timestamp_ns, free_bytes, capacity_bytes;
};

#define TS_THREADS 65536u

struct ts_first_problem {
	uint64_t line, offset;
	char code[48], text[160];
};

struct ts_summary {
	struct ts_pool pool;		/* owns the texts below */
	struct ts_pool scratch;		/* for one event */
	const struct ts_json *meta;	/* NULL: the trace has none */
	const struct ts_json *terminal; /* NULL: the run was cut off */
	uint64_t lines, events[TS_EVENT_KINDS], end_ns;
	uint64_t bad_lines, unknown_kinds;
	struct ts_first_problem first_bad;
	bool is_cut; /* the last line has no end */
	uint64_t cut_line, cut_offset;
	uint64_t later_sessions; /* meta events behind the first */

	struct ts_map kernel_names, stream_names, device_names, sample_names;
	struct ts_kernel_sum *kernels;
	struct ts_api_table apis;
	struct ts_api_table operations; /* tstrace_record_op: no calls of CUDA */
	struct ts_stream_sum *streams, *devices;
	size_t last_stream; /* of the last interval; streams come in runs */
	struct ts_samples *samples;
	size_t kernel_capacity, stream_capacity, device_capacity, sample_capacity;

	/* The writer shortens a huge name and gives all of it once: by the short one. */
	struct ts_map short_names;
	struct ts_str *full_names;
	size_t full_capacity;

	struct ts_copy_sum copies[TS_COPIES];

	uint64_t launches, intervals, untimed, outliers, unknown_launches, clock_error_ns;
	uint64_t calls;			   /* API calls of any kind */
	uint64_t pool_events;		   /* pools that were made, trimmed, destroyed */
	uint64_t threads[TS_THREADS / 64]; /* bit n: a thread with number n mod TS_THREADS called */
	struct ts_map backends;		   /* of device intervals */

	struct ts_windows windows;
	uint64_t marks; /* moments that the program named */
	struct ts_spans spans;
	struct ts_live live;
	struct ts_stacks stacks;
	struct ts_failed_allocation failed[TS_FAILED_KEPT]; /* those without memory */
	size_t failed_kept;
	uint64_t failed_count, failed_bytes_largest; /* of all */
	struct ts_failed_error failed_errors[TS_FAILED_ERRORS];
	size_t failed_error_count;
	struct ts_failure_sample failure_samples[TS_FAILURE_SAMPLES];
	size_t failure_sample_count;
};

/* Reads the whole file.  Returns 0, or -errno after a message; -EINVAL also for a file without a
 * single event. */
int ts_summary_read(struct ts_summary *summary, const char *path);

/* False for a file without a single event. */
bool ts_summary_has_events(const struct ts_summary *summary);

/* True when the trace does not tell everything: it has no begin or no end, is damaged, or something
 * was lost. */
bool ts_summary_is_partial(const struct ts_summary *summary);

/* The cause of loss behind `last` (NULL: the first) that lost something, by name and with how much;
 * NULL: no more. */
const struct ts_json *ts_summary_next_loss(const struct ts_summary *summary,
					   const struct ts_json *last);

/* Events of any kind, launches among them, that were recorded and then lost. */
uint64_t ts_summary_lost_events(const struct ts_summary *summary);

/* True when most device work has no launch that a hook saw, and no loss of events explains it: the
 * program reached CUDA round them. */
bool ts_summary_is_bypassed(const struct ts_summary *summary);

/* How many threads made CUDA calls. */
uint64_t ts_summary_threads(const struct ts_summary *summary);

/* Where device times came from ("cupti", "event", "off") and why, from the terminal, else from
 * meta; empty if unknown. */
struct ts_str ts_summary_backend(const struct ts_summary *summary, struct ts_str *reason);

/* True when the trace says that the device was simulated. */
bool ts_summary_is_simulated(const struct ts_summary *summary);

void ts_summary_free(struct ts_summary *summary);

/* --- between the two files of the summary --- */

/* Takes in an op, memory, device_memory or device_interval event. */
void ts_summary_take(struct ts_summary *summary, const struct ts_event *event);

/* After the last event. */
void ts_summary_settle(struct ts_summary *summary);

#endif
