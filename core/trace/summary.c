#include "core/trace/summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/trace/scan.h"

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
	case TS_TABLE_terminal:
		if (event->json)
			summary->terminal = ts_json_copy(event->json, &summary->pool);
		summary->end_ns = event->terminal.timestamp_ns;
		break;
	default:
		ts_summary_take(summary, event);
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
	ts_summary_settle(summary);
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

const struct ts_json *ts_summary_next_loss(const struct ts_summary *summary,
					   const struct ts_json *last)
{
	const struct ts_json *lost = ts_json_get(summary->terminal, "lost"), *item;

	item = last				      ? last->next
	       : lost && lost->type == TS_JSON_OBJECT ? lost->list.first
						      : NULL;
	while (item &&
	       (item->type != TS_JSON_NUMBER || !item->number.is_whole || !item->number.whole))
		item = item->next;
	return item;
}

bool ts_summary_has_events(const struct ts_summary *summary)
{
	for (size_t i = 0; i < TS_EVENT_KINDS; i++)
		if (summary->events[i])
			return true;
	return false;
}

bool ts_summary_is_partial(const struct ts_summary *summary)
{
	return !summary->meta || !summary->terminal || summary->is_cut || summary->bad_lines ||
	       summary->later_sessions || summary->outliers ||
	       ts_summary_next_loss(summary, NULL);
}

uint64_t ts_summary_lost_events(const struct ts_summary *summary)
{
	static const char *const causes[] = {"ring_full", "no_ring", "reentrant", "write_error",
					     "no_memory"};
	const struct ts_json *item = NULL;
	uint64_t count = 0;

	while ((item = ts_summary_next_loss(summary, item)))
		for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
			if (ts_str_is(item->key, causes[i]) &&
			    __builtin_add_overflow(count, item->number.whole, &count))
				return UINT64_MAX;
	return count;
}

bool ts_summary_is_bypassed(const struct ts_summary *summary)
{
	uint64_t lost = ts_summary_lost_events(summary), unknown = summary->unknown_launches;

	return unknown > lost && unknown - lost > summary->intervals / 2;
}

uint64_t ts_summary_threads(const struct ts_summary *summary)
{
	uint64_t count = 0;

	for (size_t i = 0; i < TS_THREADS / 64; i++)
		count += (uint64_t)__builtin_popcountll(summary->threads[i]);
	return count;
}

static void free_table(struct ts_api_table *table)
{
	for (size_t i = 0; i < table->names.count; i++)
		ts_durations_free(&table->sums[i].host);
	ts_map_free(&table->names);
	free(table->sums);
}

void ts_summary_free(struct ts_summary *summary)
{
	struct ts_map *maps[] = {
	    &summary->kernel_names, &summary->stream_names, &summary->device_names,
	    &summary->sample_names, &summary->backends,	    &summary->short_names,
	};

	for (size_t i = 0; i < summary->kernel_names.count; i++)
		ts_durations_free(&summary->kernels[i].device);
	for (size_t i = 0; i < TS_COPIES; i++)
		ts_durations_free(&summary->copies[i].device);
	for (size_t i = 0; i < summary->stream_names.count; i++)
		ts_intervals_free(&summary->streams[i].busy);
	for (size_t i = 0; i < summary->device_names.count; i++)
		ts_intervals_free(&summary->devices[i].busy);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		ts_map_free(maps[i]);
	free(summary->full_names);
	free(summary->kernels);
	free_table(&summary->apis);
	free_table(&summary->operations);
	free(summary->streams);
	free(summary->devices);
	free(summary->samples);
	ts_spans_free(&summary->spans);
	ts_live_free(&summary->live);
	ts_stacks_free(&summary->stacks);
	ts_pool_free(&summary->pool);
	ts_pool_free(&summary->scratch);
}
