/* What a summary keeps of each event. */
#include "core/trace/summary.h"

#include <string.h>

/* Later than any clock that starts at boot or at the epoch: 146 years.  Such times are sentinels,
 * not times. */
#define TIME_MAX (UINT64_C(1) << 62)

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

#define ENTRY(table, map, array, capacity, name)                                                   \
	entry_of(&(table)->map, &(table)->array, &(table)->capacity, sizeof(*(table)->array), name)

static bool contains(struct ts_str text, const char *part)
{
	return text.size && memmem(text.at, text.size, part, strlen(part)) != NULL;
}

/* The stacks that held most when an allocation failed. */
static void take_largest(struct ts_summary *summary, struct ts_failed_allocation *failed,
			 const struct ts_json *list)
{
	const struct ts_json *row = list && list->type == TS_JSON_ARRAY ? list->list.first : NULL;

	for (; row && failed->largest_count < TS_LARGEST_KEPT; row = row->next) {
		const struct ts_json *stack = ts_json_get(row, "stack"),
				     *bytes = ts_json_get(row, "bytes"),
				     *count = ts_json_get(row, "count");

		if (!stack || !bytes || stack->type != TS_JSON_NUMBER ||
		    bytes->type != TS_JSON_NUMBER)
			continue;
		failed->largest[failed->largest_count++] = (struct ts_live_at_failure){
		    .stack = ts_stacks_number(&summary->stacks, stack->number.whole),
		    .bytes = bytes->number.whole,
		    .count = count && count->type == TS_JSON_NUMBER ? count->number.whole : 0,
		};
	}
}

static void keep_failed(struct ts_summary *summary, struct ts_failed_allocation *failed,
			const struct ts_event *event, uint32_t stack)
{
	const struct ts_ev_op *op = &event->op;

	*failed = (struct ts_failed_allocation){
	    .api = ts_pool_copy(&summary->pool, op->api.size ? op->api : op->op_name),
	    .kind = ts_pool_copy(&summary->pool, op->memory_kind),
	    .device = ts_pool_copy(&summary->pool, op->device),
	    .bytes = op->bytes,
	    .error = op->error,
	    .timestamp_ns = op->timestamp_ns,
	    .stack = stack,
	    .has_live = ts_event_has(event, op, live_bytes),
	    .live_bytes = op->live_bytes,
	    .has_device_live = ts_event_has(event, op, device_live_bytes),
	    .device_live_bytes = op->device_live_bytes,
	};
	take_largest(summary, failed, op->largest_live);
}

static bool is_of_runtime(struct ts_str api)
{
	return api.size > 4 && !memcmp(api.at, "cuda", 4);
}

/* Only what failed for want of memory has a story of its own, others are counted by their error. */
static void note_failed(struct ts_summary *summary, const struct ts_event *event, uint32_t stack)
{
	const struct ts_ev_op *op = &event->op;
	struct ts_str api = op->api.size ? op->api : op->op_name;
	struct ts_failed_error *same = summary->failed_errors;
	struct ts_failed_error *end = same + summary->failed_error_count;

	summary->failed_count++;
	if (op->bytes > summary->failed_bytes_largest)
		summary->failed_bytes_largest = op->bytes;
	if (op->error == TS_ERROR_OUT_OF_MEMORY && summary->failed_kept < TS_FAILED_KEPT)
		keep_failed(summary, &summary->failed[summary->failed_kept++], event, stack);
	while (same < end && (same->first.error != op->error ||
			      is_of_runtime(same->first.api) != is_of_runtime(api)))
		same++;
	if (same == end) {
		if (summary->failed_error_count == TS_FAILED_ERRORS)
			return;
		summary->failed_error_count++;
		*same = (struct ts_failed_error){0};
		keep_failed(summary, &same->first, event, stack);
	}
	same->count++;
	if (op->bytes > same->largest_bytes)
		same->largest_bytes = op->bytes;
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

static struct ts_kernel_sum *kernel_of(struct ts_summary *summary, struct ts_str name,
				       struct ts_str full_name)
{
	return ENTRY(summary, kernel_names, kernels, kernel_capacity,
		     whole_name(summary, name, full_name));
}

/* A device record that is a moment: no call, and no time. */
static void on_moment(struct ts_summary *summary, const struct ts_ev_op *op)
{
	if (!op->untimed) {
		summary->pool_events++;
		return;
	}
	summary->untimed++;
	if (ts_str_is(op->activity, "kernel"))
		kernel_of(summary, op->op_name, op->full_name)->untimed++;
}

static void see_thread(struct ts_summary *summary, uint64_t thread)
{
	summary->threads[thread % TS_THREADS / 64] |= UINT64_C(1) << thread % 64;
}

/* A call that CUPTI told and that no table of the hooks names has its name only. */
static bool is_by_program(const struct ts_ev_op *op)
{
	return !op->api.size && !ts_str_is(op->route, "cupti");
}

static void count_call(struct ts_summary *summary, const struct ts_ev_op *op, struct ts_str api)
{
	struct ts_api_table *table = is_by_program(op) ? &summary->operations : &summary->apis;
	struct ts_api_sum *sum = ENTRY(table, names, sums, capacity, api);

	if (op->memory_kind.size && !op->duration_ns)
		sum->untimed++;
	else
		ts_durations_add(&sum->host, op->duration_ns);
	if (op->error && !sum->errors++)
		sum->first_error = op->error;
	sum->bytes += op->bytes;
}

static void on_op(struct ts_summary *summary, const struct ts_event *event)
{
	const struct ts_ev_op *op = &event->op;
	struct ts_str api = op->api.size ? op->api : op->op_name;
	uint32_t stack = ts_stacks_take(&summary->stacks, event);

	if (op->untimed || op->activity.size) {
		on_moment(summary, op);
		return;
	}
	if (op->mark) {
		ts_windows_take(&summary->windows, op);
		summary->marks += op->source.size != 0;
		return;
	}
	if (!is_by_program(op)) {
		summary->calls++;
		if (ts_event_has(event, op, thread))
			see_thread(summary, op->thread);
	}
	count_call(summary, op, api);
	if (op->error && ts_event_has(event, op, bytes) && op->memory_kind.size &&
	    !ts_event_has(event, op, address)) {
		note_failed(summary, event, stack);
	} else if (!op->error && !op->captured &&
		   (ts_event_has(event, op, grid) || contains(api, "GraphLaunch"))) {
		summary->launches++;
		if (ts_event_has(event, op, grid))
			kernel_of(summary, op->op_name, op->full_name)->launches++;
	}
}

/* Its call, if one was made: frees that were only inferred, or done by a reset, were none. */
static void on_memory(struct ts_summary *summary, const struct ts_event *event)
{
	const struct ts_ev_memory *memory = &event->memory;
	struct ts_api_sum *sum;

	ts_live_add(&summary->live, event, ts_stacks_take(&summary->stacks, event));
	if (!memory->api.size || memory->inferred || memory->reset || memory->restored)
		return;
	summary->calls++;
	if (ts_event_has(event, memory, thread))
		see_thread(summary, memory->thread);
	sum = ENTRY(&summary->apis, names, sums, capacity, memory->api);
	sum->untimed++;
	sum->bytes += memory->bytes;
}

static void count_copy(struct ts_summary *summary, const struct ts_ev_device_interval *interval)
{
	struct ts_copy_sum *sum;

	if (ts_str_is(interval->activity, "memcpy"))
		sum = &summary->copies[interval->activity_copy_kind < TS_COPY_KINDS
					   ? interval->activity_copy_kind
					   : 0];
	else if (ts_str_is(interval->activity, "memset"))
		sum = &summary->copies[TS_COPY_SET];
	else if (ts_str_is(interval->activity, "uvm"))
		sum = &summary->copies[TS_COPY_PAGES];
	else
		return;
	sum->bytes += interval->bytes;
	ts_durations_add(&sum->device, interval->duration_ns);
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

/* A stream's id is unique within its context only.  One and the same often comes many times in a
 * row. */
static struct ts_stream_sum *stream_of(struct ts_summary *summary,
				       const struct ts_ev_device_interval *interval)
{
	struct ts_stream_sum *sum;
	struct ts_str pair;
	char *key;

	if (summary->last_stream < summary->stream_names.count) {
		sum = &summary->streams[summary->last_stream];
		if (sum->context == interval->context &&
		    ts_str_equals(sum->stream, interval->stream_id) &&
		    ts_str_equals(sum->device, interval->device))
			return sum;
	}
	ts_pool_reset(&summary->scratch);
	pair = ts_pair_text(&summary->scratch, interval->device, interval->stream_id);
	key = ts_pool_get(&summary->scratch, pair.size + sizeof(interval->context));
	memcpy(key, pair.at, pair.size);
	memcpy(key + pair.size, &interval->context, sizeof(interval->context));
	sum = ENTRY(summary, stream_names, streams, stream_capacity,
		    ((struct ts_str){key, pair.size + sizeof(interval->context)}));
	if (!sum->device.at) {
		sum->device = ts_pool_copy(&summary->pool, interval->device);
		sum->stream = ts_pool_copy(&summary->pool, interval->stream_id);
		sum->context = interval->context;
	}
	summary->last_stream = (size_t)(sum - summary->streams);
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
	if (ts_str_is(interval->activity, "kernel"))
		ts_durations_add(&kernel_of(summary, interval->name, interval->full_name)->device,
				 interval->duration_ns);
	count_copy(summary, interval);
	if (!is_work(interval))
		return;
	ts_spans_take(&summary->spans, event);
	sum = stream_of(summary, interval);
	count_interval(sum, interval);
	sum = ENTRY(summary, device_names, devices, device_capacity, interval->device);
	if (!sum->device.at)
		sum->device = ts_pool_copy(&summary->pool, interval->device);
	count_interval(sum, interval);
}

static void note_failure_sample(struct ts_summary *summary,
				const struct ts_ev_device_memory *sample)
{
	if (summary->failure_sample_count == TS_FAILURE_SAMPLES)
		return;
	summary->failure_samples[summary->failure_sample_count++] = (struct ts_failure_sample){
	    .device = ts_pool_copy(&summary->pool, sample->device),
	    .timestamp_ns = sample->timestamp_ns,
	    .free_bytes = sample->free_bytes,
	    .capacity_bytes = sample->capacity_bytes,
	};
}

static void on_sample(struct ts_summary *summary, const struct ts_event *event)
{
	const struct ts_ev_device_memory *sample = &event->device_memory;
	struct ts_samples *sum =
	    ENTRY(summary, sample_names, samples, sample_capacity, sample->device);

	sum->count++;
	if (ts_str_is(sample->reason, "failed_allocation")) {
		sum->at_failures++;
		if (ts_event_has(event, device_memory, free_bytes))
			note_failure_sample(summary, sample);
	}
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

void ts_summary_take(struct ts_summary *summary, const struct ts_event *event)
{
	if (event->kind == TS_TABLE_op)
		on_op(summary, event);
	else if (event->kind == TS_TABLE_memory)
		on_memory(summary, event);
	else if (event->kind == TS_TABLE_device_memory)
		on_sample(summary, event);
	else if (event->kind == TS_TABLE_device_interval)
		on_interval(summary, event);
	if (event->kind != TS_TABLE_device_interval)
		ts_spans_take(&summary->spans, event);
}

/* The driver is asked right after the failure: its answer is the first that is not earlier. */
static void match_sample(const struct ts_summary *summary, struct ts_failed_allocation *failed)
{
	const struct ts_failure_sample *best = NULL;

	for (size_t i = 0; i < summary->failure_sample_count; i++) {
		const struct ts_failure_sample *sample = &summary->failure_samples[i];

		if (sample->timestamp_ns < failed->timestamp_ns ||
		    !ts_str_equals(sample->device, failed->device))
			continue;
		if (!best || sample->timestamp_ns < best->timestamp_ns)
			best = sample;
	}
	if (!best)
		return;
	failed->has_free = true;
	failed->free_bytes = best->free_bytes;
	failed->capacity_bytes = best->capacity_bytes;
}

void ts_summary_settle(struct ts_summary *summary)
{
	ts_live_finish(&summary->live);
	ts_spans_finish(&summary->spans);
	ts_windows_finish(&summary->windows, summary->terminal, summary->end_ns);
	for (size_t i = 0; i < summary->failed_kept; i++)
		match_sample(summary, &summary->failed[i]);
	for (size_t i = 0; i < summary->failed_error_count; i++)
		match_sample(summary, &summary->failed_errors[i].first);
	for (size_t i = 0; i < summary->device_names.count; i++)
		ts_intervals_finish(&summary->devices[i].busy);
	for (size_t i = 0; i < summary->stream_names.count; i++)
		ts_intervals_finish(&summary->streams[i].busy);
}
