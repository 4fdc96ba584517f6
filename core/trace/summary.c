#include "core/trace/summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Later than any clock that starts at boot or at the epoch: 146 years.  Such times are sentinels,
 * not times. */
#define TIME_MAX (UINT64_C(1) << 62)

static void count_duration(struct ts_durations *sum, uint64_t ns)
{
	if (!sum->count || ns < sum->shortest_ns)
		sum->shortest_ns = ns;
	if (ns > sum->longest_ns)
		sum->longest_ns = ns;
	sum->count++;
	sum->total_ns += ns;
}

/* The entry of `name` in an array that runs beside a map; zeroed when it is new.  Valid until the
 * next call. */
static void *entry_of(struct ts_map *map, void *array, size_t *capacity, size_t item,
		      struct ts_str name)
{
	size_t before = map->count;
	char **items = array;
	uint32_t number = ts_map_add(map, name);

	if (number == before) {
		*items = ts_array_room(*items, before, capacity, item);
		memset(*items + number * item, 0, item);
	}
	return *items + number * item;
}

#define ENTRY(summary, map, array, capacity, name)                                                 \
	entry_of(&(summary)->map, &(summary)->array, &(summary)->capacity,                         \
		 sizeof(*(summary)->array), name)

static bool contains(struct ts_str text, const char *part)
{
	return text.size && memmem(text.at, text.size, part, strlen(part)) != NULL;
}

static void note_failed(struct ts_summary *summary, const struct ts_ev_op *op, uint32_t stack)
{
	struct ts_failed_allocation *failed;

	if (op->bytes > summary->failed_bytes_largest)
		summary->failed_bytes_largest = op->bytes;
	if (summary->failed_count++ >= TS_FAILED_KEPT)
		return;
	failed = &summary->failed[summary->failed_count - 1];
	*failed = (struct ts_failed_allocation){
	    .api = ts_pool_copy(&summary->pool, op->api.size ? op->api : op->op_name),
	    .kind = ts_pool_copy(&summary->pool, op->memory_kind),
	    .device = ts_pool_copy(&summary->pool, op->device),
	    .bytes = op->bytes,
	    .error = op->error,
	    .timestamp_ns = op->timestamp_ns,
	    .stack = stack,
	};
}

/* The whole of a name that the writer may have shortened; `given` is the event's full_name. */
static struct ts_str whole_name(struct ts_summary *summary, struct ts_str name, struct ts_str given)
{
	uint32_t number;

	if (given.size) {
		struct ts_str *full = ENTRY(summary, short_names, full_names, full_capacity, name);

		if (!full->at)
			*full = ts_pool_copy(&summary->pool, given);
		return *full;
	}
	number = ts_map_find(&summary->short_names, name);
	return number == TS_MAP_NONE ? name : summary->full_names[number];
}

static void on_op(struct ts_summary *summary, const struct ts_event *event)
{
	const struct ts_ev_op *op = &event->op;
	struct ts_str api = op->api.size ? op->api : op->op_name;
	uint32_t stack = ts_stacks_take(&summary->stacks, event);
	struct ts_api_sum *sum;

	if (op->untimed) { /* a device record without usable times, not a call */
		summary->untimed++;
		return;
	}
	sum = ENTRY(summary, api_names, apis, api_capacity, api);
	count_duration(&sum->host, op->duration_ns);
	sum->errors += op->error != 0;
	sum->bytes += op->bytes;
	if (op->error && ts_event_has(event, op, bytes) && op->memory_kind.size &&
	    !ts_event_has(event, op, address)) {
		note_failed(summary, op, stack);
	} else if (!op->error && !op->captured &&
		   (ts_event_has(event, op, grid) || contains(api, "GraphLaunch"))) {
		summary->launches++;
		if (ts_event_has(event, op, grid)) {
			struct ts_kernel_sum *kernel =
			    ENTRY(summary, kernel_names, kernels, kernel_capacity,
				  whole_name(summary, op->op_name, op->full_name));

			kernel->launches++;
		}
	}
}

static void count_interval(struct ts_stream_sum *sum, const struct ts_ev_device_interval *interval)
{
	uint64_t end = interval->start_ns + interval->duration_ns;

	if (!sum->intervals || interval->start_ns < sum->first_ns)
		sum->first_ns = interval->start_ns;
	if (end > sum->last_ns)
		sum->last_ns = end;
	sum->intervals++;
	sum->sum_ns += interval->duration_ns;
	sum->bytes += interval->bytes;
	if (ts_str_is(interval->activity, "kernel"))
		sum->kernels++;
	else if (ts_str_is(interval->activity, "memcpy"))
		sum->copies++;
	else if (ts_str_is(interval->activity, "memset"))
		sum->sets++;
	else
		sum->others++;
	ts_intervals_add(&sum->busy, interval->start_ns, end);
}

/* Waiting is no work: a wait for a stream covers the kernels that it waits for. */
static bool is_work(const struct ts_ev_device_interval *interval)
{
	return !contains(interval->activity, "sync") && !contains(interval->activity, "overhead");
}

/* A stream's id is unique within its context only. */
static struct ts_stream_sum *stream_of(struct ts_summary *summary,
				       const struct ts_ev_device_interval *interval)
{
	struct ts_pool scratch = {0};
	struct ts_str pair = ts_pair_text(&scratch, interval->device, interval->stream_id);
	char *key = ts_pool_get(&scratch, pair.size + sizeof(interval->context));
	struct ts_stream_sum *sum;

	memcpy(key, pair.at, pair.size);
	memcpy(key + pair.size, &interval->context, sizeof(interval->context));
	sum = ENTRY(summary, stream_names, streams, stream_capacity,
		    ((struct ts_str){key, pair.size + sizeof(interval->context)}));
	if (!sum->device.at) {
		sum->device = ts_pool_copy(&summary->pool, interval->device);
		sum->stream = ts_pool_copy(&summary->pool, interval->stream_id);
		sum->context = interval->context;
	}
	ts_pool_free(&scratch);
	return sum;
}

static void on_interval(struct ts_summary *summary, const struct ts_event *event)
{
	const struct ts_ev_device_interval *interval = &event->device_interval;
	struct ts_stream_sum *sum;

	if (!interval->duration_ns) {
		summary->untimed++;
		return;
	}
	if (interval->start_ns >= TIME_MAX || interval->duration_ns >= TIME_MAX) {
		summary->outliers++;
		return;
	}
	summary->intervals++;
	summary->unknown_launches += ts_str_is(interval->launch, "unknown");
	if (interval->clock_error_ns > summary->clock_error_ns)
		summary->clock_error_ns = interval->clock_error_ns;
	ts_map_add(&summary->backends, interval->backend);
	if (ts_str_is(interval->activity, "kernel")) {
		struct ts_kernel_sum *kernel =
		    ENTRY(summary, kernel_names, kernels, kernel_capacity,
			  whole_name(summary, interval->name, interval->full_name));

		count_duration(&kernel->device, interval->duration_ns);
	}
	if (!is_work(interval))
		return;
	sum = stream_of(summary, interval);
	count_interval(sum, interval);
	sum = ENTRY(summary, device_names, devices, device_capacity, interval->device);
	if (!sum->device.at)
		sum->device = ts_pool_copy(&summary->pool, interval->device);
	count_interval(sum, interval);
}

static void on_sample(struct ts_summary *summary, const struct ts_event *event)
{
	const struct ts_ev_device_memory *sample = &event->device_memory;
	struct ts_samples *sum =
	    ENTRY(summary, sample_names, samples, sample_capacity, sample->device);

	sum->count++;
	sum->at_failures += ts_str_is(sample->reason, "failed_allocation");
	if (ts_event_has(event, device_memory, used_bytes)) {
		sum->has_used = true;
		if (sample->used_bytes > sum->most_used_bytes)
			sum->most_used_bytes = sample->used_bytes;
	}
	if (ts_event_has(event, device_memory, free_bytes)) {
		if (!sum->has_free || sample->free_bytes < sum->least_free_bytes)
			sum->least_free_bytes = sample->free_bytes;
		sum->has_free = true;
	}
	if (sample->capacity_bytes > sum->capacity_bytes)
		sum->capacity_bytes = sample->capacity_bytes;
}

static void on_event(struct ts_summary *summary, const struct ts_event *event)
{
	summary->events[event->kind]++;
	switch (event->kind) {
	case TS_TABLE_meta:
		if (summary->meta)
			summary->later_sessions++;
		else
			summary->meta = ts_json_copy(event->json, &summary->pool);
		break;
	case TS_TABLE_op:
		on_op(summary, event);
		break;
	case TS_TABLE_memory:
		ts_live_add(&summary->live, event, ts_stacks_take(&summary->stacks, event));
		break;
	case TS_TABLE_device_memory:
		on_sample(summary, event);
		break;
	case TS_TABLE_device_interval:
		on_interval(summary, event);
		break;
	case TS_TABLE_terminal:
		if (event->json)
			summary->terminal = ts_json_copy(event->json, &summary->pool);
		summary->end_ns = event->terminal.timestamp_ns;
		break;
	default:
		break;
	}
}

static void note_bad(struct ts_summary *summary, const struct ts_reader *reader)
{
	const struct ts_problem *problem = &reader->problems.at[0];

	if (!strcmp(problem->code, "parse_kind"))
		summary->unknown_kinds++;
	if (summary->bad_lines++)
		return;
	summary->first_bad.line = reader->line;
	summary->first_bad.offset = reader->offset;
	snprintf(summary->first_bad.code, sizeof(summary->first_bad.code), "%s", problem->code);
	snprintf(summary->first_bad.text, sizeof(summary->first_bad.text), "%s", problem->text);
}

/* True for a first line that was cut off while the trace was begun. */
static bool is_start_of_trace(const struct ts_reader *reader)
{
	static const char begin[] = "{\"kind\":\"meta\",";
	size_t size = sizeof(begin) - 1;

	return reader->line == 1 &&
	       !memcmp(reader->text, begin, reader->size < size ? reader->size : size);
}

/* A file none of whose lines is an event is something else. */
static int refuse(const struct ts_summary *summary, const char *path)
{
	fprintf(stderr,
		"tstrace: %s: this is no trace: line %llu: %s; a trace begins with "
		"{\"kind\":\"meta\",\"schema\":\"candle-graph/trace/10\",...}\n",
		path, (unsigned long long)summary->first_bad.line, summary->first_bad.text);
	return -EINVAL;
}

int ts_summary_read(struct ts_summary *summary, const char *path)
{
	struct ts_reader reader;
	uint64_t good = 0;
	enum ts_read got;
	int error;

	*summary = (struct ts_summary){0};
	error = ts_reader_open(&reader, path);
	if (error)
		return error;
	while ((got = ts_reader_next(&reader)) == TS_READ_EVENT || got == TS_READ_BAD) {
		summary->lines = reader.line;
		if (got == TS_READ_EVENT) {
			good++;
			on_event(summary, &reader.event);
		} else if (reader.is_cut && (good || is_start_of_trace(&reader))) {
			summary->is_cut = true;
			summary->cut_line = reader.line;
			summary->cut_offset = reader.offset;
		} else {
			note_bad(summary, &reader);
		}
		if (got == TS_READ_BAD && !good && reader.line == 1 &&
		    !strcmp(reader.problems.at[0].code, "parse_schema"))
			break; /* a version of the format that this reader does not know: nothing in
				  it can be trusted */
	}
	ts_reader_close(&reader);
	ts_live_finish(&summary->live);
	if (got == TS_READ_FAILED)
		return -EIO;
	return !good && summary->bad_lines ? refuse(summary, path) : 0;
}

struct ts_str ts_summary_backend(const struct ts_summary *summary, struct ts_str *reason)
{
	const struct ts_json *from = summary->terminal;

	if (!ts_json_text(from, "backend", "").size)
		from = summary->meta;
	*reason = ts_json_text(from, "backend_reason", "");
	return ts_json_text(from, "backend", "");
}

bool ts_summary_is_simulated(const struct ts_summary *summary)
{
	return ts_str_is(ts_json_text(ts_json_get(summary->meta, "tags"), "simulated", ""), "true");
}

void ts_summary_free(struct ts_summary *summary)
{
	struct ts_map *maps[] = {
	    &summary->kernel_names, &summary->api_names,    &summary->stream_names,
	    &summary->device_names, &summary->sample_names, &summary->backends,
	    &summary->short_names,
	};

	for (size_t i = 0; i < summary->stream_names.count; i++)
		ts_intervals_free(&summary->streams[i].busy);
	for (size_t i = 0; i < summary->device_names.count; i++)
		ts_intervals_free(&summary->devices[i].busy);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		ts_map_free(maps[i]);
	free(summary->full_names);
	free(summary->kernels);
	free(summary->apis);
	free(summary->streams);
	free(summary->devices);
	free(summary->samples);
	ts_live_free(&summary->live);
	ts_stacks_free(&summary->stacks);
	ts_pool_free(&summary->pool);
}
