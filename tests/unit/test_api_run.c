/* Opening: what the first line says of a run, and every flaw for which a run is refused before a
 * file is touched. */
#include "tests/unit/record_test.h"

#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>

#include "core/tstrace.h"
#include "tests/unit/child.h"

/* --- a run with all there is, and each way to spoil it --- */

struct whole {
	const char *labels[2], *gpu[2], *cpu[2];
	struct tstrace_gradient_entry entries[3];
	struct tstrace_gradient_family families[2];
	struct tstrace_gradient_contract gradients;
	struct tstrace_contract contract;
	struct tstrace_identity identity;
	struct tstrace_tag tags[2];
	struct tstrace_run run;
};

static void make_whole(struct whole *w)
{
	*w = (struct whole){
	    .labels = {"fwd", "data"},
	    .gpu = {"fwd"},
	    .cpu = {"data"},
	    .entries = {{"net", "a", "dense"}, {"net", "b", "dense"}, {"net", "c", "frozen"}},
	    .families = {{"dense", TSTRACE_ACTIVE, 2}, {"frozen", TSTRACE_INACTIVE, 0}},
	    .identity = {.implementation_id = "git:1",
			 .workload_id = "w",
			 .model_id = "m",
			 .config_id = "c",
			 .data_id = "d",
			 .seed_policy = "fixed",
			 .physical_batch = 8,
			 .accumulation_steps = 2,
			 .precision = "bf16",
			 .device_state = "exclusive",
			 .pair_id = "p"},
	    .tags = {{"k", "1"}, {"l", ""}},
	};
	w->gradients = (struct tstrace_gradient_contract){.expected = w->entries,
							  .expected_count = 3,
							  .families = w->families,
							  .family_count = 2};
	w->contract = (struct tstrace_contract){.gradients = TSTRACE_COMPLETE,
						.required_labels = w->labels,
						.required_count = 2,
						.gpu_labels = w->gpu,
						.gpu_count = 1,
						.cpu_labels = w->cpu,
						.cpu_count = 1,
						.gradient_contract = &w->gradients};
	w->run = tstrace_run_of(TSTRACE_TRAIN, "net::update", 3, "cuda:0");
	w->run.contract = &w->contract;
	w->run.identity = &w->identity;
	w->run.tags = w->tags;
	w->run.tag_count = 2;
}

/* BAD(name, what is wrong, a part of what tstrace_error() says) */
#define BAD_RUNS(BAD)                                                                              \
	BAD(size, w->run.size--, "sizeof")                                                         \
	BAD(entrypoint_empty, w->run.entrypoint = "", "entrypoint")                                \
	BAD(entrypoint_blank, w->run.entrypoint = " \t\n", "entrypoint")                           \
	BAD(correlation_blank, w->run.correlation_id = " ", "correlation_id")                      \
	BAD(device_blank, w->run.device = "", "device")                                            \
	BAD(phase, w->run.phase = (enum tstrace_phase)2, "phase")                                  \
	BAD(warmup_equal, w->run.warmup_steps = 3, "warmup_steps")                                 \
	BAD(warmup_more, w->run.warmup_steps = UINT64_MAX - 1, "warmup_steps")                     \
	BAD(tag_twice, w->tags[1].key = "k", "twice")                                              \
	BAD(tag_without_value, w->tags[1].value = NULL, "tag")                                     \
	BAD(workload, w->identity.workload_id = " ", "workload_id")                                \
	BAD(model, w->identity.model_id = NULL, "model_id")                                        \
	BAD(config, w->identity.config_id = "", "config_id")                                       \
	BAD(data, w->identity.data_id = "\t", "data_id")                                           \
	BAD(seed, w->identity.seed_policy = "", "seed_policy")                                     \
	BAD(precision, w->identity.precision = " ", "precision")                                   \
	BAD(device_state, w->identity.device_state = "", "device_state")                           \
	BAD(implementation, w->identity.implementation_id = " ", "implementation_id")              \
	BAD(pair, w->identity.pair_id = "", "pair_id")                                             \
	BAD(batch, w->identity.physical_batch = 0, "physical_batch")                               \
	BAD(accumulation, w->identity.accumulation_steps = 0, "accumulation_steps")                \
	BAD(scope, w->contract.scope = (enum tstrace_scope)3, "scope")                             \
	BAD(coverage, w->contract.tensors = (enum tstrace_coverage)3, "coverage")                  \
	BAD(label_blank, w->labels[0] = w->gpu[0] = " ", "blank")                                  \
	BAD(label_twice, w->labels[1] = w->cpu[0] = "fwd", "twice")                                \
	BAD(label_unclassified, w->contract.cpu_count = 0, "divide")                               \
	BAD(label_on_both, w->cpu[0] = "fwd", "divide")                                            \
	BAD(label_not_required, w->cpu[0] = "other", "divide")                                     \
	BAD(label_beyond, (w->cpu[1] = "fwd", w->contract.cpu_count = 2), "divide")                \
	BAD(labels_missing, w->contract.required_labels = NULL, "array")                           \
	BAD(contract_missing, w->contract.gradient_contract = NULL, "belong together")             \
	BAD(contract_unwanted, w->contract.gradients = TSTRACE_PARTIAL, "belong together")         \
	BAD(expects_nothing, w->gradients.expected_count = 0, "no parameter")                      \
	BAD(no_family, w->gradients.family_count = 0, "no family")                                 \
	BAD(digest, w->gradients.manifest_sha256 = "sha256:be44", "digest")                        \
	BAD(root_blank, w->entries[0].root = " ", "blank")                                         \
	BAD(key_blank, w->entries[1].key = "", "blank")                                            \
	BAD(member_family_blank, w->entries[2].family = NULL, "blank")                             \
	BAD(same_key, w->entries[1].key = "a", "same root and key")                                \
	BAD(family_blank, w->families[0].family = "", "blank")                                     \
	BAD(family_twice, w->families[1] = w->families[0], "twice")                                \
	BAD(family_without_member, w->entries[2].family = "dense", "no member")                    \
	BAD(family_undeclared, w->gradients.family_count = 1, "not declared")                      \
	BAD(expectation, w->families[0].expectation = (enum tstrace_expectation)3, "expectation")  \
	BAD(inactive_minimum, w->families[1].min_present = 1, "min_present")                       \
	BAD(active_minimum_0, w->families[0].min_present = 0, "min_present")                       \
	BAD(active_minimum_3, w->families[0].min_present = 3, "min_present")                       \
	BAD(conditional_0,                                                                         \
	    (w->families[0].expectation = TSTRACE_DATA_CONDITIONAL,                                \
	     w->families[0].min_present = 0),                                                      \
	    "min_present")                                                                         \
	BAD(conditional_3,                                                                         \
	    (w->families[0].expectation = TSTRACE_DATA_CONDITIONAL,                                \
	     w->families[0].min_present = 3),                                                      \
	    "min_present")

#define SPOIL(name, how, says)                                                                     \
	static void spoil_##name(struct whole *w)                                                  \
	{                                                                                          \
		how;                                                                               \
	}
BAD_RUNS(SPOIL)

static const struct {
	const char *name;
	void (*spoil)(struct whole *w);
	const char *says;
} bad_runs[] = {
#define ROW(name, how, says) {#name, spoil_##name, says},
    BAD_RUNS(ROW)
#undef ROW
};

static const char *asked; /* path that the child asks for */

static void bad_then_good(void)
{
	tstrace_session *session = NULL;
	struct whole w;
	int wrong = 0;

	for (size_t i = 0; i < sizeof(bad_runs) / sizeof(bad_runs[0]); i++) {
		make_whole(&w);
		bad_runs[i].spoil(&w);
		if (tstrace_open(&session, asked, &w.run) == -EINVAL && !session &&
		    strstr(tstrace_error(), bad_runs[i].says) && access(asked, F_OK))
			continue;
		fprintf(stderr, "%s: \"%s\"\n", bad_runs[i].name, tstrace_error());
		wrong++;
		if (session)
			break;
	}
	CHECK(!wrong);
	make_whole(&w);
	CHECK(!tstrace_open(&session, asked, &w.run) && session);
	tstrace_end_span(session, tstrace_begin_span(session, "fwd", TSTRACE_MODULE));
	tstrace_end_span(session, tstrace_begin_span(session, "data", TSTRACE_MODULE));
	CHECK(!tstrace_record_gradient(session, "net", "a", TSTRACE_PRESENT, 1));
	CHECK(!tstrace_record_gradient(session, "net", "b", TSTRACE_PRESENT, 2));
	CHECK(!tstrace_record_gradient(session, "net", "c", TSTRACE_MISSING, __builtin_nan("")));
}

static void test_bad_runs(void **state)
{
	json_t *lines;

	(void)state;
	asked = test_path("bad.jsonl");
	if (run_session(bad_then_good, test_path("not.jsonl"), NULL))
		fail_msg("%s", said);
	lines = valid_trace(asked);
	assert_int_equal(event_count(lines, "gradient"), 3);
	assert_int_equal(access(test_path("not.jsonl"), F_OK), -1);
	json_decref(lines);
}

/* --- the first line --- */

static const struct tstrace_run *wanted;

static void open_wanted(void)
{
	CHECK(!tstrace_open(NULL, asked, wanted));
}

static json_t *meta_of(const struct tstrace_run *run, const char *name)
{
	json_t *lines, *meta;

	wanted = run;
	asked = test_path(name);
	if (run_session(open_wanted, test_path("not.jsonl"), NULL))
		fail_msg("%s", said);
	lines = valid_trace(asked);
	meta = json_incref(json_array_get(lines, 0));
	assert_string_equal(text_of(meta, "kind"), "meta");
	json_decref(lines);
	return meta;
}

static bool is_true(json_t *event, const char *key)
{
	json_t *value = json_object_get(event, key);

	assert_true(json_is_boolean(value));
	return json_is_true(value);
}

static void test_defaults(void **state)
{
	static const struct {
		const char *name;
		enum tstrace_phase phase;
		uint64_t step;
		const char *correlation, *phase_text, *mode;
		json_int_t warmup;
		bool synchronized, region, flag;
	} rows[] = {
	    {"training", TSTRACE_TRAIN, 6, "e/update-6", "train", "host", 5, 0, 0, 0},
	    {"first", TSTRACE_TRAIN, 1, "e/update-1", "train", "host", 0, 0, 0, 0},
	    {"inference", TSTRACE_INFER, 6, "e/inference-6", "infer", "host", 5, 0, 0, 0},
	    {"synchronized", TSTRACE_TRAIN, 2, "e/update-2", "train", "device_synchronized", 1, 1,
	     0, 1},
	    {"region", TSTRACE_TRAIN, 2, "e/update-2", "train", "host", 1, 0, 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tstrace_run run = tstrace_run_of(rows[i].phase, "e", rows[i].step, "cuda:1");
		json_t *meta;

		run.device_synchronized = rows[i].synchronized;
		run.measured_region_device_synchronized = rows[i].region;
		meta = meta_of(&run, rows[i].name);
		assert_string_equal(text_of(meta, "correlation_id"), rows[i].correlation);
		assert_string_equal(text_of(meta, "phase"), rows[i].phase_text);
		assert_string_equal(text_of(meta, "timing_mode"), rows[i].mode);
		assert_string_equal(text_of(meta, "device"), "cuda:1");
		assert_int_equal(number_of(meta, "capture_step"), (json_int_t)rows[i].step);
		assert_int_equal(number_of(meta, "warmup_steps"), rows[i].warmup);
		assert_int_equal(is_true(meta, "measured_region_device_synchronized"),
				 rows[i].flag);
		assert_null(json_object_get(meta, "comparison_identity"));
		assert_null(json_object_get(meta, "candle_version"));
		assert_true(json_is_object(json_object_get(meta, "tags")));
		json_decref(meta);
	}
}

/* run-<pid>-<unix ns>; YYYY-MM-DDTHH:MM:SS.mmmZ; and what is left to the session. */
static void test_ids(void **state)
{
	const struct tstrace_run run = {.size = sizeof(run), .correlation_id = "mine/7"};
	json_t *meta = meta_of(&run, "ids.jsonl");
	const char *id = text_of(meta, "run_id"), *time = text_of(meta, "timestamp");
	static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ";
	char expected[64];

	(void)state;
	snprintf(expected, sizeof(expected), "run-%lld-%lld", (long long)number_of(meta, "pid"),
		 (long long)number_of(json_object_get(meta, "clock"), "realtime_ns"));
	assert_string_equal(id, expected);
	assert_int_equal(strlen(time), strlen(shape));
	for (size_t i = 0; shape[i]; i++)
		assert_true(shape[i] == 'd' ? isdigit((unsigned char)time[i])
					    : time[i] == shape[i]);
	assert_string_equal(text_of(meta, "correlation_id"), "mine/7");
	assert_string_equal(text_of(meta, "entrypoint"), "test_api_run");
	assert_string_equal(text_of(meta, "device"), "cuda:0");
	assert_int_equal(number_of(meta, "capture_step"), 1);
	assert_int_equal(number_of(meta, "warmup_steps"), 0);
	assert_string_equal(text_of(meta, "schema"), "candle-graph/trace/10");
	json_decref(meta);
}

/* Every level and scope by its name, and every key also where it is at its default. */
static void test_contract(void **state)
{
	static const char *const scopes[] = {"unknown", "profiled_work", "production_equivalent"};
	static const char *const levels[] = {"none", "partial", "complete"};
	static const char *const covered[] = {"operations",	"activations",	   "tensors",
					      "logical_memory", "physical_memory", "device_timing"};
	static const char *const lists[] = {
	    "required_semantic_labels", "gpu_expected_semantic_labels", "cpu_only_semantic_labels"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const enum tstrace_coverage level = (enum tstrace_coverage)i;
		const struct tstrace_contract contract = {.scope = (enum tstrace_scope)i,
							  .operations = level,
							  .activations = level,
							  .tensors = level,
							  .logical_memory = level,
							  .physical_memory = level,
							  .device_timing = level};
		const struct tstrace_run run = {.size = sizeof(run), .contract = &contract};
		json_t *meta = meta_of(&run, scopes[i]), *c;

		c = json_object_get(meta, "capture_contract");
		assert_string_equal(text_of(c, "measurement_scope"), scopes[i]);
		for (size_t k = 0; k < sizeof(covered) / sizeof(covered[0]); k++)
			assert_string_equal(text_of(c, covered[k]), levels[i]);
		assert_string_equal(text_of(c, "gradients"), "none");
		assert_null(json_object_get(c, "gradient_contract"));
		for (size_t k = 0; k < 3; k++) {
			assert_true(json_is_array(json_object_get(c, lists[k])));
			assert_int_equal(json_array_size(json_object_get(c, lists[k])), 0);
		}
		json_decref(meta);
	}
}

/* Families of all three kinds, and the identity, as they were given. */
static void test_whole(void **state)
{
	struct whole w;
	json_t *meta, *part, *item;

	(void)state;
	make_whole(&w);
	w.families[0].expectation = TSTRACE_DATA_CONDITIONAL;
	/* Nothing of the contract happened: the trace is not valid, its first line is. */
	w.run.phase = TSTRACE_INFER;
	wanted = &w.run;
	asked = test_path("contract.jsonl");
	if (run_session(open_wanted, test_path("not.jsonl"), NULL))
		fail_msg("%s", said);
	part = trace_lines(asked);
	meta = json_incref(json_array_get(part, 0));
	json_decref(part);
	part = json_object_get(json_object_get(meta, "capture_contract"), "gradient_contract");
	item = json_array_get(json_object_get(part, "families"), 0);
	assert_string_equal(text_of(item, "expectation"), "data_conditional");
	assert_int_equal(number_of(item, "min_present"), 2);
	item = json_array_get(json_object_get(part, "families"), 1);
	assert_string_equal(text_of(item, "family"), "frozen");
	assert_string_equal(text_of(item, "expectation"), "inactive");
	assert_int_equal(number_of(item, "min_present"), 0);
	item = json_array_get(json_object_get(part, "expected"), 2);
	assert_string_equal(text_of(item, "root"), "net");
	assert_string_equal(text_of(item, "key"), "c");
	assert_string_equal(text_of(item, "family"), "frozen");
	part = json_object_get(meta, "comparison_identity");
	assert_string_equal(text_of(part, "implementation_id"), "git:1");
	assert_string_equal(text_of(part, "seed_policy"), "fixed");
	assert_int_equal(number_of(part, "physical_batch"), 8);
	assert_int_equal(number_of(part, "accumulation_steps"), 2);
	assert_string_equal(text_of(part, "device_state"), "exclusive");
	assert_string_equal(text_of(part, "pair_id"), "p");
	assert_string_equal(text_of(json_object_get(meta, "tags"), "k"), "1");
	assert_string_equal(text_of(json_object_get(meta, "tags"), "l"), "");
	json_decref(meta);
}

/* --- the file --- */

static void open_twice(void)
{
	tstrace_session *session = NULL;

	CHECK(!tstrace_open(&session, asked, NULL) && session);
	CHECK(strcmp(tstrace_path(session), asked));
	session = NULL;
	CHECK(tstrace_open(&session, asked, NULL) == -EALREADY && session);
}

/* A file that is there stays what it is; folders are made. */
static void test_no_overwriting(void **state)
{
	char text[16] = "";
	struct stat status;
	FILE *file;

	(void)state;
	asked = test_path("there.jsonl");
	file = fopen(asked, "w");
	assert_true(file && fputs("mine\n", file) >= 0 && !fclose(file));
	if (run_session(open_twice, test_path("not.jsonl"), NULL))
		fail_msg("%s", said);
	file = fopen(asked, "r");
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, "mine\n");
	wanted = NULL;
	asked = test_path("a/b/c/deep.jsonl");
	if (run_session(open_wanted, test_path("not.jsonl"), NULL))
		fail_msg("%s", said);
	assert_int_equal(stat(asked, &status), 0);
	expect_valid(asked);
}

/* The vector of the format's description; order matters; the digest is of lengths and bytes. */
static void test_digest(void **state)
{
	const struct tstrace_gradient_entry entries[] = {{"net", "layer0.bias", "dense"},
							 {"net", "layer0.weight", "dense"},
							 {"net", "layer0.bias", "dense"},
							 {"netl", "ayer0.bias", "dense"}};
	char digest[72], other[72];

	(void)state;
	assert_int_equal(tstrace_gradient_manifest(entries, 2, digest), 0);
	assert_string_equal(
	    digest, "sha256:be44812bdf7f246c105e84572f02f6aa5593328cd3a1242487407c69a0c50dfa");
	assert_int_equal(tstrace_gradient_manifest(entries + 1, 2, other), 0);
	assert_string_not_equal(digest, other);
	assert_int_equal(tstrace_gradient_manifest(entries, 1, digest), 0);
	assert_int_equal(tstrace_gradient_manifest(entries + 3, 1, other), 0);
	assert_string_not_equal(digest, other);
	assert_int_equal(tstrace_gradient_manifest(NULL, 1, other), -EINVAL);
	assert_non_null(strstr(tstrace_error(), "manifest"));
	assert_int_equal(tstrace_gradient_manifest(entries, 1, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bad_runs),
	    cmocka_unit_test(test_defaults),
	    cmocka_unit_test(test_ids),
	    cmocka_unit_test(test_contract),
	    cmocka_unit_test(test_whole),
	    cmocka_unit_test(test_digest),
	    cmocka_unit_test(test_no_overwriting),
	};

	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
