#include "core/trace/spans.h"

#include "core/trace/scan.h"

#include <stdlib.h>
#include <string.h>

/* Device work comes behind the spans that it was launched in, by the buffers of the device's
 * records: so many spans are remembered after their end. */
#define ENDED_MAX (1u << 17)

/* A name's device intervals come nearly in order; 1 MiB a name. */
#define BUSY_MAX (1u << 16)

#define TIME_MAX (UINT64_C(1) << 62) /* as for device intervals: sentinels, not times */

struct ts_span_entry {
	struct ts_span_entry *next, *next_ended;
	uint64_t start, iteration;
	uint32_t hash, path;
	bool has_iteration, is_ended;
	uint32_t id_size;
	char id[];
};

static void grow_buckets(struct ts_spans *spans)
{
	size_t count = spans->bucket_count ? spans->bucket_count * 2 : 256;
	struct ts_span_entry **buckets = ts_grow(NULL, count * sizeof(struct ts_span_entry *));

	memset(buckets, 0, count * sizeof(struct ts_span_entry *));
	for (size_t i = 0; i < spans->bucket_count; i++) {
		struct ts_span_entry *next, *entry = spans->buckets[i];

		for (; entry; entry = next) {
			next = entry->next;
			entry->next = buckets[entry->hash & (count - 1)];
			buckets[entry->hash & (count - 1)] = entry;
		}
	}
	free(spans->buckets);
	spans->buckets = buckets;
	spans->bucket_count = count;
}

static struct ts_span_entry *find(const struct ts_spans *spans, struct ts_str id)
{
	uint32_t hash = ts_map_hash(id);
	struct ts_span_entry *entry =
	    spans->bucket_count ? spans->buckets[hash & (spans->bucket_count - 1)] : NULL;

	while (entry && (entry->hash != hash || entry->id_size != id.size ||
			 memcmp(entry->id, id.at, id.size)))
		entry = entry->next;
	return entry;
}

static struct ts_span_entry *add(struct ts_spans *spans, struct ts_str id)
{
	struct ts_span_entry *entry = ts_grow(NULL, sizeof(*entry) + id.size), **bucket;

	if (spans->entry_count >= spans->bucket_count)
		grow_buckets(spans);
	*entry = (struct ts_span_entry){.hash = ts_map_hash(id), .id_size = (uint32_t)id.size};
	memcpy(entry->id, id.at, id.size);
	bucket = &spans->buckets[entry->hash & (spans->bucket_count - 1)];
	entry->next = *bucket;
	*bucket = entry;
	spans->entry_count++;
	return entry;
}

/* Forgets the span that ended first. */
static void forget(struct ts_spans *spans)
{
	struct ts_span_entry *entry = spans->ended, **at;

	at = &spans->buckets[entry->hash & (spans->bucket_count - 1)];
	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	spans->ended = entry->next_ended;
	spans->ended_count--;
	spans->entry_count--;
	free(entry);
}

static void remember_ended(struct ts_spans *spans, struct ts_span_entry *entry)
{
	entry->is_ended = true;
	if (spans->ended_count)
		*spans->ended_end = entry;
	else
		spans->ended = entry;
	spans->ended_end = &entry->next_ended;
	if (++spans->ended_count > ENDED_MAX)
		forget(spans);
}

static uint32_t sum_number(struct ts_spans *spans, struct ts_str name, uint8_t step)
{
	size_t before = spans->names.count;
	struct ts_str text;
	uint32_t number;
	char *key;

	ts_pool_reset(&spans->scratch);
	key = ts_pool_get(&spans->scratch, name.size + 1);
	key[0] = (char)step;
	memcpy(key + 1, name.at, name.size);
	number = ts_map_add(&spans->names, (struct ts_str){key, name.size + 1});
	if (number != before)
		return number;
	spans->sums =
	    ts_array_room(spans->sums, before, &spans->sum_capacity, sizeof(*spans->sums));
	text = spans->names.texts[number];
	spans->sums[number] = (struct ts_span_sum){
	    .name = {text.at + 1, text.size - 1},
	    .step = step,
	    .is_whole = true,
	    .busy.limit = BUSY_MAX,
	};
	return number;
}

static uint32_t path_number(struct ts_spans *spans, uint32_t above, uint32_t sum)
{
	struct ts_span_path path = {above, sum};
	size_t before = spans->path_ids.count;
	uint32_t number =
	    ts_map_add(&spans->path_ids, (struct ts_str){(const char *)&path, sizeof(path)});

	if (number == before) {
		spans->paths = ts_array_room(spans->paths, before, &spans->path_capacity,
					     sizeof(*spans->paths));
		spans->paths[number] = path;
	}
	return number;
}

static void on_start(struct ts_spans *spans, const struct ts_event *event)
{
	const struct ts_ev_span_start *start = &event->span_start;
	bool has_parent = ts_event_has(event, span_start, parent_id);
	const struct ts_span_entry *parent = has_parent ? find(spans, start->parent_id) : NULL;
	uint32_t above = parent ? parent->path : TS_MAP_NONE;
	struct ts_span_entry *entry;
	struct ts_span_sum *sum;
	uint32_t number;

	if (find(spans, start->id))
		return; /* one id twice: check says so */
	number = sum_number(spans, start->name,
			    ts_event_has(event, span_start, step) ? start->step : TS_STEPS);
	sum = &spans->sums[number];
	if (ts_event_has(event, span_start, continues))
		sum->parts++;
	else
		sum->calls++;
	/* The root that every trace has, and the measured region of a program that has none. */
	sum->is_whole &= !has_parent || ts_str_is(start->source, "auto");
	entry = add(spans, start->id);
	entry->start = start->start_ns;
	entry->path = path_number(spans, above, number);
	entry->has_iteration = ts_event_has(event, span_start, iteration);
	entry->iteration = start->iteration;
	if (entry->has_iteration && entry->start < TIME_MAX)
		ts_iterations_add(&spans->iterations, start->iteration, entry->start, entry->start);
}

static void on_end(struct ts_spans *spans, const struct ts_event *event)
{
	const struct ts_ev_span_end *end = &event->span_end;
	struct ts_span_entry *entry = find(spans, end->id);
	struct ts_span_sum *sum;

	if (!entry || entry->is_ended)
		return;
	sum = &spans->sums[spans->paths[entry->path].sum];
	sum->open_at_end += end->open_at_end;
	if (entry->start >= TIME_MAX || end->duration_ns >= TIME_MAX) {
		spans->absurd++;
	} else {
		ts_durations_add(&sum->host, end->duration_ns);
		if (entry->has_iteration)
			ts_iterations_add(&spans->iterations, entry->iteration, entry->start,
					  entry->start + end->duration_ns);
	}
	remember_ended(spans, entry);
}

/* Counts in each span around the launch; once where spans of one name are inside each other. */
static void on_interval(struct ts_spans *spans, const struct ts_ev_device_interval *interval)
{
	const struct ts_span_entry *entry = find(spans, interval->span_id);
	uint32_t path = entry ? entry->path : TS_MAP_NONE;

	spans->intervals++;
	for (; path != TS_MAP_NONE; path = spans->paths[path].above) {
		struct ts_span_sum *sum = &spans->sums[spans->paths[path].sum];

		if (sum->last_interval == spans->intervals)
			continue;
		sum->last_interval = spans->intervals;
		sum->intervals++;
		ts_intervals_add(&sum->busy, interval->start_ns,
				 interval->start_ns + interval->duration_ns);
	}
}

#define ITERATION_OF(table)                                                                        \
	do {                                                                                       \
		if (ts_event_has(event, table, iteration))                                         \
			ts_iterations_see(&spans->iterations, event->table.iteration);             \
	} while (0)

#define TIMED_ITERATION_OF(table, duration)                                                        \
	do {                                                                                       \
		if (!ts_event_has(event, table, iteration))                                        \
			break;                                                                     \
		if (ts_event_has(event, table, timestamp_ns) &&                                    \
		    event->table.timestamp_ns < TIME_MAX && (duration) < TIME_MAX)                 \
			ts_iterations_add(&spans->iterations, event->table.iteration,              \
					  event->table.timestamp_ns,                               \
					  event->table.timestamp_ns + (duration));                 \
		else                                                                               \
			ts_iterations_see(&spans->iterations, event->table.iteration);             \
	} while (0)

void ts_spans_take(struct ts_spans *spans, const struct ts_event *event)
{
	switch (event->kind) {
	case TS_TABLE_span_start:
		on_start(spans, event);
		break;
	case TS_TABLE_span_end:
		on_end(spans, event);
		break;
	case TS_TABLE_device_interval:
		on_interval(spans, &event->device_interval);
		break;
	case TS_TABLE_op:
		TIMED_ITERATION_OF(op, event->op.duration_ns);
		break;
	case TS_TABLE_memory:
		TIMED_ITERATION_OF(memory, (uint64_t)0);
		break;
	case TS_TABLE_tensor_stats:
		TIMED_ITERATION_OF(tensor_stats, (uint64_t)0);
		break;
	case TS_TABLE_tensor:
		ITERATION_OF(tensor);
		break;
	case TS_TABLE_gradient:
		ITERATION_OF(gradient);
		break;
	default:
		break;
	}
}

void ts_spans_finish(struct ts_spans *spans)
{
	for (size_t i = 0; i < spans->bucket_count; i++)
		for (const struct ts_span_entry *entry = spans->buckets[i]; entry;
		     entry = entry->next)
			spans->sums[spans->paths[entry->path].sum].unended += !entry->is_ended;
	for (size_t i = 0; i < spans->names.count; i++)
		ts_intervals_finish(&spans->sums[i].busy);
	ts_iterations_finish(&spans->iterations);
}

bool ts_spans_any(const struct ts_spans *spans)
{
	for (size_t i = 0; i < spans->names.count; i++)
		if (!spans->sums[i].is_whole)
			return true;
	return false;
}

void ts_spans_free(struct ts_spans *spans)
{
	for (size_t i = 0; i < spans->bucket_count; i++)
		while (spans->buckets[i]) {
			struct ts_span_entry *next = spans->buckets[i]->next;

			free(spans->buckets[i]);
			spans->buckets[i] = next;
		}
	for (size_t i = 0; i < spans->names.count; i++) {
		ts_durations_free(&spans->sums[i].host);
		ts_intervals_free(&spans->sums[i].busy);
	}
	ts_iterations_free(&spans->iterations);
	ts_map_free(&spans->names);
	ts_map_free(&spans->path_ids);
	ts_pool_free(&spans->scratch);
	free(spans->sums);
	free(spans->paths);
	free(spans->buckets);
}
