/* A summary for programs.  The keys are documented in tstrace(1). */
#include "core/out/errors.h"
#include "core/out/json_value.h"
#include "core/out/summary.h"

#include "core/trace/demangle.h"
#include "core/trace/scan.h"

#include <stdlib.h>
#include <string.h>

#define U64 ts_json_u64
#define STR ts_json_str
#define TEXT ts_json_string

static json_t *lost_of(const struct ts_summary *summary)
{
	const struct ts_json *item = NULL;
	json_t *list = json_array();

	while ((item = ts_summary_next_loss(summary, item))) {
		struct ts_lost_cause cause = ts_lost_find(item->key);

		json_array_append_new(
		    list, json_pack("{s:o,s:o,s:o,s:o,s:o}", "cause", STR(item->key), "count",
				    U64(item->number.whole), "what", TEXT(cause.what), "variable",
				    TEXT(cause.variable), "advice", TEXT(cause.advice)));
	}
	return list;
}

static json_t *losses_of(const struct ts_summary *summary)
{
	json_t *losses = json_pack(
	    "{s:b,s:b,s:b,s:b,s:o,s:o,s:o,s:o,s:o,s:b,s:o}", "no_events",
	    !ts_summary_has_events(summary), "meta_missing", !summary->meta, "terminal_missing",
	    !summary->terminal, "last_line_cut", summary->is_cut, "bad_lines",
	    U64(summary->bad_lines), "unknown_kinds", U64(summary->unknown_kinds), "later_sessions",
	    U64(summary->later_sessions), "absurd_intervals", U64(summary->outliers),
	    "unknown_launches", U64(summary->unknown_launches), "bypassed",
	    ts_summary_is_bypassed(summary), "lost", lost_of(summary));

	if (summary->is_cut) {
		json_object_set_new(losses, "cut_line", U64(summary->cut_line));
		json_object_set_new(losses, "cut_offset_bytes", U64(summary->cut_offset));
	}
	if (summary->bad_lines) {
		json_object_set_new(losses, "first_bad_line", U64(summary->first_bad.line));
		json_object_set_new(losses, "first_bad_code", TEXT(summary->first_bad.code));
		json_object_set_new(losses, "first_bad_message", TEXT(summary->first_bad.text));
	}
	return losses;
}

static json_t *events_of(const struct ts_summary *summary)
{
	json_t *events = json_object();

	for (int kind = 0; kind < TS_EVENT_KINDS; kind++)
		if (summary->events[kind])
			json_object_set_new(events, ts_tables[kind].name,
					    U64(summary->events[kind]));
	return events;
}

/* null: the run was recorded whole */
static json_t *windows_of(const struct ts_summary *summary)
{
	const struct ts_windows *w = &summary->windows;
	json_t *windows;

	if (!ts_windows_any(w))
		return json_null();
	windows = json_pack("{s:o,s:o,s:s,s:o,s:o}", "count", U64(w->opened), "recorded_ns",
			    U64(w->recorded_ns), "cause", w->cause, "earlier_frees",
			    U64(w->earlier_frees), "earlier_free_bytes", U64(w->earlier_bytes));
	json_object_set_new(windows, "asked", STR(ts_json_text(summary->meta, "window", "")));
	if (w->is_cut)
		json_object_set_new(windows, "cut_since_ns", U64(w->open_since_ns));
	if (w->has_live) {
		json_object_set_new(windows, "live_bytes", U64(w->live_bytes));
		json_object_set_new(windows, "live_blocks", U64(w->live_blocks));
	}
	return windows;
}

static void put_head(json_t *root, const struct ts_summary *summary, const char *path)
{
	struct ts_str reason, backend = ts_summary_backend(summary, &reason);
	const struct ts_json *meta = summary->meta;
	const struct {
		const char *key;
		json_t *value;
	} head[] = {
	    {"schema", TEXT("tstrace/summary/1")},
	    {"trace", TEXT(path)},
	    {"partial", json_boolean(ts_summary_is_partial(summary))},
	    {"losses", losses_of(summary)},
	    {"run_id", STR(ts_json_text(meta, "run_id", ""))},
	    {"entrypoint", STR(ts_json_text(meta, "entrypoint", ""))},
	    {"host", STR(ts_json_text(meta, "host", ""))},
	    {"timestamp", STR(ts_json_text(meta, "timestamp", ""))},
	    {"device", STR(ts_json_text(meta, "device", ""))},
	    {"simulated", json_boolean(ts_summary_is_simulated(summary))},
	    {"backend", STR(backend)},
	    {"backend_reason", STR(reason)},
	    {"outcome", STR(ts_json_text(summary->terminal, "outcome", "unknown"))},
	    {"reason", STR(ts_json_text(summary->terminal, "reason", ""))},
	    {"end_ns", U64(summary->end_ns)},
	    {"windows", windows_of(summary)},
	    {"events", events_of(summary)},
	    {"calls", U64(summary->calls)},
	    {"threads", U64(ts_summary_threads(summary))},
	    {"marks", U64(summary->marks)},
	};

	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		json_object_set_new(root, head[i].key, head[i].value);
}

json_t *ts_json_with_durations(json_t *object, const struct ts_durations *sum)
{
	json_object_set_new(object, "count", U64(sum->count));
	json_object_set_new(object, "total_ns", U64(sum->total_ns));
	json_object_set_new(object, "mean_ns", U64(ts_durations_mean(sum)));
	json_object_set_new(object, "min_ns", U64(sum->shortest_ns));
	json_object_set_new(object, "p50_ns", U64(ts_durations_quantile(sum, 500)));
	json_object_set_new(object, "p99_ns", U64(ts_durations_quantile(sum, 990)));
	json_object_set_new(object, "max_ns", U64(sum->longest_ns));
	return object;
}

static json_t *kernels_of(const struct ts_summary *summary)
{
	size_t count, *order = ts_rank_kernels(summary, &count);
	uint64_t all_ns = ts_kernel_time(summary);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct ts_kernel_sum *kernel = &summary->kernels[order[i]];
		struct ts_str raw = summary->kernel_names.texts[order[i]];
		char *name = ts_demangle(raw.at);
		json_t *item = json_pack("{s:o,s:o,s:o,s:o,s:o}", "name", TEXT(name), "raw_name",
					 STR(raw), "launches", U64(kernel->launches),
					 "untimed_records", U64(kernel->untimed), "share",
					 ts_json_ratio(kernel->device.total_ns, all_ns));

		json_array_append_new(list, ts_json_with_durations(item, &kernel->device));
		free(name);
	}
	free(order);
	return list;
}

static void put_error(json_t *item, struct ts_str api, uint64_t error)
{
	json_object_set_new(item, "first_error", U64(error));
	json_object_set_new(item, "first_error_name", TEXT(ts_error_name(api, error)));
}

static json_t *calls_of(const struct ts_api_table *table)
{
	size_t count, *order = ts_rank_apis(table, &count);
	uint64_t all_ns = ts_api_time(table);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct ts_api_sum *api = &table->sums[order[i]];
		json_t *item = json_pack(
		    "{s:o,s:o,s:o,s:o,s:o}", "name", STR(table->names.texts[order[i]]),
		    "untimed_calls", U64(api->untimed), "errors", U64(api->errors), "bytes",
		    U64(api->bytes), "share", ts_json_ratio(api->host.total_ns, all_ns));

		if (api->errors)
			put_error(item, table->names.texts[order[i]], api->first_error);
		json_array_append_new(list, ts_json_with_durations(item, &api->host));
	}
	free(order);
	return list;
}

static json_t *stream_of(const struct ts_stream_sum *sum)
{
	json_t *idle = ts_json_with_durations(json_object(), &sum->busy.gaps);

	json_object_set_new(idle, "longest_from_ns", U64(sum->busy.longest_gap_from));
	return json_pack(
	    "{s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o}", "intervals",
	    U64(sum->intervals), "kernels", U64(sum->kernels), "copies", U64(sum->copies), "sets",
	    U64(sum->sets), "others", U64(sum->others), "busy_ns", U64(sum->busy.folded),
	    "busy_is_exact", !sum->busy.late, "busy_share",
	    ts_json_ratio(sum->busy.folded, sum->last_ns - sum->first_ns), "idle_gaps", idle,
	    "sum_of_durations_ns", U64(sum->sum_ns), "first_start_ns", U64(sum->first_ns),
	    "last_end_ns", U64(sum->last_ns), "bytes", U64(sum->bytes));
}

static json_t *device_of(const struct ts_summary *summary, const struct ts_stream_sum *sum)
{
	json_t *device = stream_of(sum), *streams = json_array();

	json_object_set_new(device, "device", STR(sum->device));
	for (size_t i = 0; i < summary->stream_names.count; i++) {
		json_t *stream;

		if (!ts_str_equals(summary->streams[i].device, sum->device))
			continue;
		stream = stream_of(&summary->streams[i]);
		json_object_set_new(stream, "context", U64(summary->streams[i].context));
		json_object_set_new(stream, "stream", STR(summary->streams[i].stream));
		json_array_append_new(streams, stream);
	}
	json_object_set_new(device, "streams", streams);
	return device;
}

static json_t *copies_of(const struct ts_summary *summary)
{
	json_t *list = json_array();

	for (size_t i = 0; i < TS_COPIES; i++) {
		const struct ts_copy_sum *sum = &summary->copies[i];

		if (!sum->device.count)
			continue;
		json_array_append_new(
		    list, ts_json_with_durations(
			      json_pack("{s:s,s:o,s:o}", "direction", ts_copy_name(i), "bytes",
					U64(sum->bytes), "gigabytes_per_second",
					ts_json_ratio(sum->bytes, sum->device.total_ns)),
			      &sum->device));
	}
	return list;
}

static void put_devices(json_t *root, const struct ts_summary *summary)
{
	bool is_missing = summary->launches && !summary->intervals;
	json_t *devices = json_array(), *why = json_array();
	const char *reasons[6];
	size_t count = is_missing ? ts_no_device_reasons(summary, reasons, 6) : 0;

	for (size_t i = 0; i < summary->device_names.count; i++)
		json_array_append_new(devices, device_of(summary, &summary->devices[i]));
	for (size_t i = 0; i < count; i++)
		json_array_append_new(why, TEXT(reasons[i]));
	json_object_set_new(root, "devices", devices);
	json_object_set_new(root, "copies", copies_of(summary));
	json_object_set_new(root, "launches", U64(summary->launches));
	json_object_set_new(root, "device_intervals", U64(summary->intervals));
	json_object_set_new(root, "untimed_device_records", U64(summary->untimed));
	json_object_set_new(root, "pool_events", U64(summary->pool_events));
	json_object_set_new(root, "unknown_launches", U64(summary->unknown_launches));
	json_object_set_new(root, "clock_error_ns", U64(summary->clock_error_ns));
	json_object_set_new(root, "device_records_missing", json_boolean(is_missing));
	json_object_set_new(root, "device_records_missing_reasons", why);
}

void ts_summary_json(FILE *out, struct ts_summary *summary, struct ts_symbols *symbols,
		     const char *path)
{
	json_t *root = json_object();

	put_head(root, summary, path);
	json_object_set_new(root, "kernels", kernels_of(summary));
	json_object_set_new(root, "apis", calls_of(&summary->apis));
	json_object_set_new(root, "operations", calls_of(&summary->operations));
	json_object_set_new(root, "spans", ts_summary_json_spans(summary));
	json_object_set_new(root, "iterations", ts_summary_json_iterations(summary));
	put_devices(root, summary);
	json_object_set_new(root, "memory", ts_summary_json_memory(summary, symbols));
	ts_json_print(root, out);
}
