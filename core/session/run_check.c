/* The rules of a run's fields. */
#include "core/session/run_check.h"

#include <stdio.h>
#include <string.h>

#include "core/session/event.h"
#include "core/session/gradient.h"

static bool given_but_blank(const char *text)
{
	return text && ts_text_is_blank(text);
}

static const char *identity_flaw(const struct tstrace_identity *i)
{
	const struct {
		const char *name, *text;
	} wanted[] = {
		{ "identity: workload_id is blank", i->workload_id },
		{ "identity: model_id is blank", i->model_id },
		{ "identity: config_id is blank", i->config_id },
		{ "identity: data_id is blank", i->data_id },
		{ "identity: seed_policy is blank", i->seed_policy },
		{ "identity: precision is blank", i->precision },
		{ "identity: device_state is blank", i->device_state },
	};

	for (size_t k = 0; k < TS_ARRAY_SIZE(wanted); k++)
		if (ts_text_is_blank(wanted[k].text))
			return wanted[k].name;
	if (given_but_blank(i->implementation_id) || given_but_blank(i->pair_id))
		return "identity: implementation_id and pair_id must be NULL or not blank";
	if (!i->physical_batch || !i->accumulation_steps)
		return "identity: physical_batch and accumulation_steps count from 1";
	return NULL;
}

static bool is_in(const char *label, const char *const *labels, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(labels[i], label))
			return true;
	return false;
}

static const char *label_flaw(const char *const *labels, size_t count)
{
	if (count && !labels)
		return "contract: a count of labels without its array";
	for (size_t i = 0; i < count; i++) {
		if (ts_text_is_blank(labels[i]))
			return "contract: a label is blank";
		if (is_in(labels[i], labels, i))
			return "contract: a label is given twice";
	}
	return NULL;
}

/* GPU and CPU labels, when there are any, divide the required ones between them. */
static const char *partition_flaw(const struct tstrace_contract *c)
{
	const char *wrong = "contract: gpu_labels and cpu_labels must divide required_labels";

	if (!c->gpu_count && !c->cpu_count)
		return NULL;
	if (c->gpu_count + c->cpu_count != c->required_count)
		return wrong;
	for (size_t i = 0; i < c->required_count; i++)
		if (is_in(c->required_labels[i], c->gpu_labels, c->gpu_count) ==
		    is_in(c->required_labels[i], c->cpu_labels, c->cpu_count))
			return wrong;
	return NULL;
}

static const char *contract_flaw(const struct tstrace_contract *c)
{
	const enum tstrace_coverage levels[] = { c->operations, c->activations, c->tensors,
						 c->gradients, c->logical_memory,
						 c->physical_memory, c->device_timing };
	const char *flaw = label_flaw(c->required_labels, c->required_count);

	for (size_t i = 0; i < TS_ARRAY_SIZE(levels); i++)
		if ((unsigned)levels[i] > TSTRACE_COMPLETE)
			return "contract: a coverage is none of the three";
	if ((unsigned)c->scope > TSTRACE_PRODUCTION_EQUIVALENT)
		return "contract: the scope is none of the three";
	if (!flaw)
		flaw = label_flaw(c->gpu_labels, c->gpu_count);
	if (!flaw)
		flaw = label_flaw(c->cpu_labels, c->cpu_count);
	if (!flaw)
		flaw = partition_flaw(c);
	if (flaw)
		return flaw;
	if ((c->gradients == TSTRACE_COMPLETE) != (c->gradient_contract != NULL))
		return "contract: complete gradients and a gradient_contract belong together";
	return c->gradient_contract ? ts_gradient_contract_flaw(c->gradient_contract) : NULL;
}

static const char *tag_flaw(const struct tstrace_tag *tags, size_t count)
{
	if (count && !tags)
		return "tag_count without tags";
	for (size_t i = 0; i < count; i++) {
		if (!tags[i].key || !tags[i].value)
			return "a tag's key or value is NULL";
		for (size_t k = 0; k < i; k++)
			if (!strcmp(tags[k].key, tags[i].key))
				return "a tag's key is given twice";
	}
	return NULL;
}

const char *ts_run_flaw(const struct tstrace_run *run)
{
	uint64_t step = run->capture_step ? run->capture_step : 1;
	const char *flaw;

	if (run->size != sizeof(*run))
		return "size must be sizeof(struct tstrace_run)";
	if (given_but_blank(run->entrypoint))
		return "entrypoint is blank";
	if (given_but_blank(run->correlation_id))
		return "correlation_id is blank";
	if (given_but_blank(run->device))
		return "device is blank";
	if ((unsigned)run->phase > TSTRACE_INFER)
		return "phase is neither train nor infer";
	if (run->warmup_steps != TSTRACE_STEP_BEFORE && run->warmup_steps >= step)
		return "warmup_steps must be less than capture_step";
	flaw = tag_flaw(run->tags, run->tag_count);
	if (!flaw && run->identity)
		flaw = identity_flaw(run->identity);
	if (!flaw && run->contract)
		flaw = contract_flaw(run->contract);
	return flaw;
}
