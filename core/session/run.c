/* What tstrace_open says of the run, kept until the first line is printed; see run.h. */
#include "core/session/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/env.h"
#include "core/log.h"
#include "core/record/describe.h"
#include "core/record/device.h"
#include "core/record/file.h"
#include "core/record/output.h"
#include "core/session/event.h"
#include "core/session/gradient.h"
#include "core/session/run_check.h"
#include "core/session/tags.h"

/* What the caller gave may be gone when the first line is printed: texts are copied, and nested
 * parts rendered at once. */
static struct {
	bool set;
	char *entrypoint, *correlation_id, *device;
	enum tstrace_phase phase;
	uint64_t capture_step, warmup_steps;
	bool synchronized, region_synchronized;
	struct ts_lines contract, identity;     /* empty: not given */
} kept;

static bool copy(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

const char *ts_run_entrypoint(void)
{
	if (kept.entrypoint)
		return kept.entrypoint;
	return ts_text_is_blank(ts_env.entrypoint) ? ts_output_program() : ts_env.entrypoint;
}

const char *ts_run_device(void)
{
	return kept.device ? kept.device : "cuda:0";
}

/* --- nested parts, rendered --- */

static void render_labels(struct ts_lines *line, const char *key, const char *const *labels,
			  size_t count)
{
	ts_line_raw(line, ",\"");
	ts_line_raw(line, key);
	ts_line_raw(line, "\":[");
	for (size_t i = 0; i < count; i++) {
		ts_line_raw(line, i ? "," : "");
		ts_line_quoted(line, labels[i], strlen(labels[i]));
	}
	ts_line_raw(line, "]");
}

static void render_contract(struct ts_lines *line, const struct tstrace_contract *c)
{
	static const char *const scopes[] = { "unknown", "profiled_work",
					      "production_equivalent" };
	static const char *const levels[] = { "none", "partial", "complete" };
	const struct {
		const char *key;
		enum tstrace_coverage level;
	} parts[] = {
		{ "operations", c->operations },
		{ "activations", c->activations },
		{ "tensors", c->tensors },
		{ "gradients", c->gradients },
		{ "logical_memory", c->logical_memory },
		{ "physical_memory", c->physical_memory },
		{ "device_timing", c->device_timing },
	};

	ts_line_raw(line, ",\"capture_contract\":{\"measurement_scope\":\"");
	ts_line_raw(line, scopes[c->scope]);
	ts_line_raw(line, "\"");
	for (size_t i = 0; i < TS_ARRAY_SIZE(parts); i++)
		ts_line_word(line, parts[i].key, levels[parts[i].level]);
	if (c->gradient_contract)
		ts_gradient_contract_print(line, c->gradient_contract);
	render_labels(line, "required_semantic_labels", c->required_labels, c->required_count);
	render_labels(line, "gpu_expected_semantic_labels", c->gpu_labels, c->gpu_count);
	render_labels(line, "cpu_only_semantic_labels", c->cpu_labels, c->cpu_count);
	ts_line_raw(line, "}");
}

static void render_identity(struct ts_lines *line, const struct tstrace_identity *i)
{
	ts_line_raw(line, ",\"comparison_identity\":{\"workload_id\":");
	ts_line_quoted(line, i->workload_id, strlen(i->workload_id));
	if (i->implementation_id)
		ts_line_string(line, "implementation_id", i->implementation_id);
	ts_line_string(line, "model_id", i->model_id);
	ts_line_string(line, "config_id", i->config_id);
	ts_line_string(line, "data_id", i->data_id);
	ts_line_string(line, "seed_policy", i->seed_policy);
	ts_line_u64(line, "physical_batch", i->physical_batch);
	ts_line_u64(line, "accumulation_steps", i->accumulation_steps);
	ts_line_string(line, "precision", i->precision);
	ts_line_string(line, "device_state", i->device_state);
	if (i->pair_id)
		ts_line_string(line, "pair_id", i->pair_id);
	ts_line_raw(line, "}");
}

int ts_run_set(const struct tstrace_run *run, char *flaw, size_t flaw_bytes)
{
	const char *wrong = run ? ts_run_flaw(run) : NULL;

	if (wrong) {
		snprintf(flaw, flaw_bytes, "run: %s", wrong);
		return -EINVAL;
	}
	if (!run)
		return 0;
	kept.phase = run->phase;
	kept.capture_step = run->capture_step ? run->capture_step : 1;
	kept.warmup_steps = run->warmup_steps == TSTRACE_STEP_BEFORE ? kept.capture_step - 1
								     : run->warmup_steps;
	kept.synchronized = run->device_synchronized;
	kept.region_synchronized =
	    run->device_synchronized || run->measured_region_device_synchronized;
	if (run->contract)
		render_contract(&kept.contract, run->contract);
	if (run->identity)
		render_identity(&kept.identity, run->identity);
	if (!copy(&kept.entrypoint, run->entrypoint) ||
	    !copy(&kept.correlation_id, run->correlation_id) ||
	    !copy(&kept.device, run->device) || kept.contract.broken || kept.identity.broken ||
	    !ts_tags_set(run->tags, run->tag_count)) {
		snprintf(flaw, flaw_bytes, "out of memory");
		return -ENOMEM;
	}
	kept.set = true;
	return 0;
}

void ts_run_child(void)
{
	memset(&kept, 0, sizeof(kept));
	ts_tags_child();
}

/* --- printing --- */

static unsigned days_of_month(unsigned year, unsigned month)
{
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

/* Not by gmtime_r: it takes a lock of libc's, which the child of a fork can inherit held. */
static void print_time(struct ts_lines *line)
{
	uint64_t ms = ts_file->start_realtime_ns / 1000000u, day = ms / 86400000u;
	unsigned s = (unsigned)(ms / 1000u % 86400u), year = 1970, month = 1;
	char value[80];

	while (day >= days_of_month(year, month)) {
		day -= days_of_month(year, month);
		month = month % 12 + 1;
		year += month == 1;
	}
	snprintf(value, sizeof(value), "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", year, month,
		 (unsigned)day + 1, s / 3600, s / 60 % 60, s % 60, (unsigned)(ms % 1000u));
	ts_line_string(line, "timestamp", value);
}

static uint64_t warmup_of_variables(uint64_t step)
{
	if (ts_env.warmup_steps < step)
		return ts_env.warmup_steps;
	ts_say("TSTRACE_WARMUP_STEPS=%lu must be less than TSTRACE_CAPTURE_STEP=%lu; %lu is used",
	       (unsigned long)ts_env.warmup_steps, (unsigned long)step, (unsigned long)(step - 1));
	return step - 1;
}

static void print_ids(struct ts_lines *line, uint64_t step, bool infer)
{
	char value[512];

	snprintf(value, sizeof(value), "run-%d-%llu", (int)getpid(),
		 (unsigned long long)ts_file->start_realtime_ns);
	ts_line_string(line, "run_id", value);
	snprintf(value, sizeof(value), "%.400s/%s-%llu", ts_run_entrypoint(),
		 infer ? "inference" : "update", (unsigned long long)step);
	ts_line_string(line, "correlation_id",
		       kept.correlation_id		      ? kept.correlation_id
		       : ts_text_is_blank(ts_env.correlation_id) ? value
							      : ts_env.correlation_id);
}

static void print_default_contract(struct ts_lines *line)
{
	const struct tstrace_contract automatic = {
		.scope = TSTRACE_PROFILED_WORK,
		.operations = TSTRACE_PARTIAL,
		.logical_memory = TSTRACE_PARTIAL,
		.physical_memory = TSTRACE_PARTIAL,
		.device_timing = ts_device_kind == TS_BACKEND_OFF ? TSTRACE_NONE : TSTRACE_PARTIAL,
	};

	render_contract(line, &automatic);
}

static void put(struct ts_lines *line, struct ts_lines *part)
{
	ts_line_bytes(line, part->text, part->used);
}

void ts_run_print(struct ts_lines *line)
{
	uint64_t step = kept.set ? kept.capture_step : ts_env.capture_step;
	bool infer = kept.set ? kept.phase == TSTRACE_INFER : ts_env.phase == 1;

	print_ids(line, step, infer);
	ts_line_string(line, "entrypoint", ts_run_entrypoint());
	ts_line_word(line, "phase", infer ? "infer" : "train");
	print_time(line);
	ts_line_u64(line, "capture_step", step);
	ts_line_u64(line, "warmup_steps",
		    kept.set ? kept.warmup_steps : warmup_of_variables(step));
	ts_line_string(line, "device", ts_run_device());
	ts_line_bool(line, "measured_region_device_synchronized", kept.region_synchronized);
	ts_line_word(line, "timing_mode", kept.synchronized ? "device_synchronized" : "host");
	if (kept.contract.used)
		put(line, &kept.contract);
	else
		print_default_contract(line);
	if (kept.identity.used)
		put(line, &kept.identity);
	ts_tags_print(line);
}
