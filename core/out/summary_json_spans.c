/* The program's own parts, for programs: spans and iterations. */
#include "core/out/json_value.h"
#include "core/out/summary.h"

#include <stdlib.h>

#define U64 ts_json_u64

json_t *ts_summary_json_spans(const struct ts_summary *summary)
{
	size_t count, *order = ts_rank_spans(summary, &count);
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		const struct ts_span_sum *sum = &summary->spans.sums[order[i]];
		json_t *item = json_pack(
		    "{s:o,s:s,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:b}", "name", ts_json_str(sum->name),
		    "step", ts_step_name(sum->step), "whole_run", sum->is_whole, "calls",
		    U64(sum->calls), "continued_parts", U64(sum->parts), "open_at_end",
		    U64(sum->open_at_end), "without_end", U64(sum->unended), "device_intervals",
		    U64(sum->intervals), "device_busy_ns", U64(sum->busy.folded),
		    "device_busy_is_exact", !sum->busy.late);

		json_array_append_new(list, ts_json_with_durations(item, &sum->host));
	}
	free(order);
	return list;
}

json_t *ts_summary_json_iterations(const struct ts_summary *summary)
{
	const struct ts_iterations *set = &summary->spans.iterations;
	json_t *item = json_pack("{s:o,s:o,s:o}", "count", U64(set->folded), "untimed_events",
				 U64(set->untimed), "late_events", U64(set->late));

	if (set->any) {
		json_object_set_new(item, "lowest_number", U64(set->lowest));
		json_object_set_new(item, "highest_number", U64(set->highest));
	}
	json_object_set_new(item, "begin_to_begin",
			    ts_json_with_durations(json_object(), &set->periods));
	json_object_set_new(item, "first_to_last_event",
			    ts_json_with_durations(json_object(), &set->extents));
	return item;
}
