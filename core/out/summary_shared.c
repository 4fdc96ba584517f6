#include "core/out/rank.h"
#include "core/out/summary.h"

#include "core/trace/scan.h"

struct ts_lost_cause ts_lost_find(struct ts_str name)
{
	static const struct ts_lost_cause causes[] = {
#define TS_LOST(name, variable, what, advice) {#name, variable, what, advice},
#include "core/record/lost.def"
#undef TS_LOST
	};

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (ts_str_is(name, causes[i].name))
			return causes[i];
	return (struct ts_lost_cause){"", "", "", ""};
}

/* The end knows more than the start. */
struct ts_str ts_cuda_text(const struct ts_summary *summary, const char *key)
{
	struct ts_str text = ts_json_text(ts_json_get(summary->terminal, "cuda"), key, "");

	return text.size ? text : ts_json_text(ts_json_get(summary->meta, "cuda"), key, "");
}

size_t ts_no_device_reasons(const struct ts_summary *summary, const char **reasons, size_t max)
{
	struct ts_str why, backend = ts_summary_backend(summary, &why);
	const char *all[6];
	size_t count = 0;

	if (ts_str_is(backend, "off"))
		all[count++] =
		    "device intervals were switched off (TSTRACE_DEVICE=off, or no backend worked)";
	if (summary->untimed)
		all[count++] =
		    "device records came without usable times and are counted as untimed";
	if (summary->outliers)
		all[count++] = "all times of the device records are absurd and were left out";
	if (!summary->terminal)
		all[count++] = "the run was cut off before the device records were delivered";
	if (!backend.size)
		all[count++] = "the trace does not say which backend recorded the device";
	if (!ts_str_is(backend, "off"))
		all[count++] = "CUPTI delivered nothing: another profiler owns it, counters are "
			       "not permitted, or the program "
			       "ended before its work did";
	for (size_t i = 0; i < count && i < max; i++)
		reasons[i] = all[i];
	return count < max ? count : max;
}

const char *ts_copy_name(size_t copy)
{
	static const char *const names[TS_COPIES] = {
	    "direction_unknown",
	    "host_to_device",
	    "device_to_host",
	    "host_to_array",
	    "array_to_host",
	    "array_to_array",
	    "array_to_device",
	    "device_to_array",
	    "device_to_device",
	    "host_to_host",
	    "peer_to_peer",
	    [TS_COPY_SET] = "set",
	    [TS_COPY_PAGES] = "managed_pages",
	};

	return names[copy];
}

const char *ts_step_name(uint8_t step)
{
	static const char *const names[TS_STEPS] = {"forward", "backward", "optimizer"};

	return step < TS_STEPS ? names[step] : "";
}

uint64_t ts_kernel_time(const struct ts_summary *summary)
{
	uint64_t total = 0;

	for (size_t i = 0; i < summary->kernel_names.count; i++)
		total += summary->kernels[i].device.total_ns;
	return total;
}

uint64_t ts_api_time(const struct ts_api_table *table)
{
	uint64_t total = 0;

	for (size_t i = 0; i < table->names.count; i++)
		total += table->sums[i].host.total_ns;
	return total;
}

static uint64_t weigh_kernel(const void *context, size_t index)
{
	const struct ts_summary *summary = context;

	return summary->kernels[index].device.total_ns;
}

static uint64_t weigh_api(const void *context, size_t index)
{
	const struct ts_api_table *table = context;

	return table->sums[index].host.total_ns;
}

static uint64_t weigh_span(const void *context, size_t index)
{
	const struct ts_summary *summary = context;

	return summary->spans.sums[index].host.total_ns;
}

const struct ts_live_share *ts_stack_share(const struct ts_live_scope *scope, size_t number)
{
	return number < scope->stack_count ? &scope->by_stack[number] : &scope->no_stack;
}

static uint64_t weigh_peak(const void *context, size_t index)
{
	return ts_stack_share(context, index)->peak_bytes;
}

static uint64_t weigh_live(const void *context, size_t index)
{
	return ts_stack_share(context, index)->live_bytes;
}

size_t *ts_rank_kernels(const struct ts_summary *summary, size_t *count)
{
	return ts_rank(summary->kernel_names.count, weigh_kernel, summary, 0, count);
}

size_t *ts_rank_apis(const struct ts_api_table *table, size_t *count)
{
	return ts_rank(table->names.count, weigh_api, table, 0, count);
}

size_t *ts_rank_spans(const struct ts_summary *summary, size_t *count)
{
	return ts_rank(summary->spans.names.count, weigh_span, summary, 0, count);
}

size_t *ts_rank_peak_stacks(const struct ts_live_scope *scope, size_t *count)
{
	return ts_rank(scope->stack_count + 1, weigh_peak, scope, 1, count);
}

size_t *ts_rank_live_stacks(const struct ts_live_scope *scope, size_t *count)
{
	return ts_rank(scope->stack_count + 1, weigh_live, scope, 1, count);
}
