/* tstrace.h: every call writes what it should, and refuses what it should with a text that says
 * why. */
#include "tests/unit/record_test.h"

#include <errno.h>
#include <math.h>

#include "core/tstrace.h"
#include "tests/unit/child.h"

static json_t *run(void (*scenario)(void), const char *name)
{
	const char *path = test_path(name);

	if (run_session(scenario, path, NULL))
		fail_msg("%s", said);
	return valid_trace(path);
}

static const uint64_t sizes[] = {2, 3};
static const struct tstrace_shape shape = {sizes, 2};

/* --- events --- */

static void all_events(void)
{
	const char *inputs[] = {"a", "b"};
	tstrace_span span = tstrace_begin_step_span(NULL, "fwd", TSTRACE_FORWARD, TSTRACE_MODULE);
	struct timespec now;
	uint64_t ns;

	CHECK(!tstrace_record_op(NULL, 0,
				 &(struct tstrace_op){.name = "gemm",
						      .inputs = inputs,
						      .input_count = 2,
						      .output = "c",
						      .shape = shape,
						      .dtype = "bf16",
						      .device = "cuda:1",
						      .input_dense_bytes = 24}));
	CHECK(!tstrace_record_tensor(NULL, span,
				     &(struct tstrace_tensor){.tensor_id = "c",
							      .label = "hidden",
							      .shape = shape,
							      .dtype = "F32 ",
							      .requires_grad = true,
							      .category = TSTRACE_ACTIVATION}));
	CHECK(!tstrace_record_scalar(NULL, 0, "loss", -2.5));
	CHECK(!tstrace_record_scalar(NULL, span, "bad", -INFINITY));
	CHECK(!tstrace_record_memory_alloc(
	    NULL, 0,
	    &(struct tstrace_memory){
		.storage_id = "x", .bytes = 10, .category = TSTRACE_PARAMETER}));
	CHECK(!tstrace_record_memory_alloc(
	    NULL, 0,
	    &(struct tstrace_memory){.storage_id = "x", .tensor_id = "view", .bytes = 10}));
	CHECK(!tstrace_record_memory_free(
	    NULL, 0, &(struct tstrace_memory){.storage_id = "x", .bytes = 10}));
	CHECK(!tstrace_record_device_memory(
	    NULL, &(struct tstrace_device_memory){.used_bytes = 5,
						  .free_bytes = TSTRACE_NOT_KNOWN,
						  .reserved_bytes = TSTRACE_NOT_KNOWN,
						  .capacity_bytes = 9}));
	CHECK(!tstrace_record_device_interval(
	    NULL, span,
	    &(struct tstrace_device_interval){"cuda:1", "7", "events", "own", 100, 20}));
	CHECK(!tstrace_record_data_edge(NULL, "a", "c"));
	CHECK(!tstrace_record_gradient(NULL, "net", "w", TSTRACE_PRESENT, 0.5));
	CHECK(!tstrace_record_gradient(NULL, "net", "b", TSTRACE_MISSING, NAN));
	CHECK(!clock_gettime(CLOCK_MONOTONIC, &now));
	CHECK(!tstrace_host_timestamp_ns(NULL, &now, &ns) && ns <= tstrace_elapsed_ns(NULL));
	CHECK(!tstrace_record_completed_host_span(NULL, "io", TSTRACE_FUNCTION, 1, 5, &span));
	CHECK(span > 1);
	CHECK(tstrace_finish(NULL, NULL) == -EBUSY && strstr(tstrace_error(), "fwd"));
	CHECK(!tstrace_end_span(NULL, 2));
	CHECK(!tstrace_finish(NULL, NULL));
}

static void test_events(void **state)
{
	json_t *lines = run(all_events, "events.jsonl"), *e;

	(void)state;
	e = event_at(lines, "op", 0);
	assert_string_equal(text_of(e, "op_name"), "gemm");
	assert_string_equal(text_of(e, "span_id"), "s2");
	assert_int_equal(number_of(e, "output_dense_bytes"), 12);
	assert_int_equal(json_array_size(json_object_get(e, "inputs")), 2);
	e = event_at(lines, "tensor", 0);
	assert_int_equal(number_of(e, "dense_bytes"), 24);
	assert_string_equal(text_of(e, "category"), "activation");
	assert_string_equal(text_of(e, "device"), "cuda:0");
	e = event_at(lines, "tensor_stats", 0);
	assert_true(json_number_value(json_object_get(e, "mean")) == -2.5);
	assert_true(json_number_value(json_object_get(e, "rms")) == 2.5);
	e = event_at(lines, "tensor_stats", 1);
	assert_int_equal(number_of(e, "non_finite"), 1);
	assert_string_equal(text_of(e, "value"), "-inf");
	assert_int_equal(event_count(lines, "memory"), 3);
	assert_string_equal(text_of(event_at(lines, "memory", 1), "tensor_id"), "view");
	e = event_at(lines, "device_memory", 0);
	assert_int_equal(number_of(e, "capacity_bytes"), 9);
	assert_null(json_object_get(e, "free_bytes"));
	assert_int_equal(number_of(event_at(lines, "device_interval", 0), "duration_ns"), 20);
	assert_string_equal(text_of(event_at(lines, "edge", 0), "to_tensor"), "c");
	assert_string_equal(text_of(event_at(lines, "gradient", 1), "event_id"), "gradient-2");
	assert_string_equal(text_of(event_at(lines, "gradient", 1), "state"), "missing");
	json_decref(lines);
}

/* --- refusals --- */

static int op_without_name(void)
{
	return tstrace_record_op(NULL, 0, &(struct tstrace_op){0});
}

static int op_in_the_future(void)
{
	return tstrace_record_op(
	    NULL, 0,
	    &(struct tstrace_op){.name = "x", .timestamp_ns = UINT64_MAX - 5, .duration_ns = 9});
}

static int op_before_its_span(void)
{
	tstrace_span span = tstrace_begin_span(NULL, "inner", TSTRACE_OP);
	int error = tstrace_record_op(
	    NULL, span, &(struct tstrace_op){.name = "x", .timestamp_ns = 1, .duration_ns = 1});

	tstrace_end_span(NULL, span);
	return error;
}

static int op_shape_without_sizes(void)
{
	return tstrace_record_op(NULL, 0, &(struct tstrace_op){.name = "x", .shape = {NULL, 1}});
}

static int span_that_is_none(void)
{
	return tstrace_record_tensor(NULL, 999999, &(struct tstrace_tensor){.tensor_id = "t"});
}

static int tensor_without_id(void)
{
	return tstrace_record_tensor(NULL, 0, &(struct tstrace_tensor){.tensor_id = " "});
}

static int blank_label(void)
{
	return tstrace_record_scalar(NULL, 0, " \t", 1);
}

static int alloc(const char *storage, const char *tensor, uint64_t bytes, const uint64_t *t)
{
	return tstrace_record_memory_alloc(
	    NULL, 0,
	    &(struct tstrace_memory){
		.storage_id = storage, .tensor_id = tensor, .bytes = bytes, .timestamp_ns = t});
}

static int same_tensor_twice(void)
{
	CHECK(!alloc("s1", "t", 8, NULL));
	return alloc("s1", "t", 8, NULL);
}

static int other_size(void)
{
	CHECK(!alloc("s2", "t", 8, NULL));
	return alloc("s2", "u", 9, NULL);
}

static int free_of_other_size(void)
{
	CHECK(!alloc("s3", "t", 8, NULL));
	return tstrace_record_memory_free(NULL, 0,
					  &(struct tstrace_memory){.storage_id = "s3", .bytes = 7});
}

static int free_of_nothing(void)
{
	return tstrace_record_memory_free(NULL, 0, &(struct tstrace_memory){.storage_id = "none"});
}

static int alloc_in_the_future(void)
{
	uint64_t later = UINT64_MAX;

	return alloc("s4", NULL, 8, &later);
}

static int free_before_alloc(void)
{
	uint64_t early = 0;

	CHECK(!alloc("s5", NULL, 8, NULL));
	return tstrace_record_memory_free(
	    NULL, 0,
	    &(struct tstrace_memory){.storage_id = "s5", .bytes = 8, .timestamp_ns = &early});
}

static int device_memory_of_nothing(void)
{
	return tstrace_record_device_memory(
	    NULL, &(struct tstrace_device_memory){.used_bytes = TSTRACE_NOT_KNOWN,
						  .free_bytes = TSTRACE_NOT_KNOWN,
						  .reserved_bytes = TSTRACE_NOT_KNOWN,
						  .capacity_bytes = TSTRACE_NOT_KNOWN});
}

static int interval_without_duration(void)
{
	return tstrace_record_device_interval(
	    NULL, 0, &(struct tstrace_device_interval){"d", "s", "c", "b", 1, 0});
}

static int interval_without_clock(void)
{
	return tstrace_record_device_interval(
	    NULL, 0, &(struct tstrace_device_interval){"d", "s", NULL, "b", 1, 1});
}

static int edge_to_nothing(void)
{
	return tstrace_record_data_edge(NULL, "a", "");
}

static int call_edge_to_itself(void)
{
	return tstrace_record_call_edge(NULL, 1, 1, 5);
}

static int gradient_of_blank(void)
{
	return tstrace_record_gradient(NULL, "", "k", TSTRACE_MISSING, NAN);
}

static int gradient_present_without_norm(void)
{
	return tstrace_record_gradient(NULL, "r", "k", TSTRACE_PRESENT, 0);
}

static int gradient_negative_zero(void)
{
	return tstrace_record_gradient(NULL, "r", "k", TSTRACE_ZERO, -0.0);
}

static int gradient_missing_with_norm(void)
{
	return tstrace_record_gradient(NULL, "r", "k", TSTRACE_MISSING, 1);
}

static int completed_without_duration(void)
{
	return tstrace_record_completed_host_span(NULL, "x", TSTRACE_OP, 0, 0, NULL);
}

static int completed_in_the_future(void)
{
	return tstrace_record_completed_host_span(NULL, "x", TSTRACE_OP, 5, UINT64_MAX - 5, NULL);
}

static const struct {
	int (*call)(void);
	int error;
	const char *says;
} refusals[] = {
    {op_without_name, -EINVAL, "name"},
    {op_in_the_future, -ERANGE, "end by now"},
    {op_before_its_span, -ERANGE, "within its span"},
    {op_shape_without_sizes, -EINVAL, "array"},
    {span_that_is_none, -EINVAL, "999999"},
    {tensor_without_id, -EINVAL, "tensor_id"},
    {blank_label, -EINVAL, "blank"},
    {same_tensor_twice, -EEXIST, "t is on it"},
    {other_size, -EINVAL, "8 bytes, not 9"},
    {free_of_other_size, -EINVAL, "8 bytes, not 7"},
    {free_of_nothing, -ENOENT, "none is not live"},
    {alloc_in_the_future, -ERANGE, "future"},
    {free_before_alloc, -ERANGE, "before"},
    {device_memory_of_nothing, -EINVAL, "no value"},
    {interval_without_duration, -EINVAL, "duration_ns"},
    {interval_without_clock, -EINVAL, "clock_id"},
    {edge_to_nothing, -EINVAL, "empty"},
    {call_edge_to_itself, -ENOENT, "ended on this thread"},
    {gradient_of_blank, -EINVAL, "blank"},
    {gradient_present_without_norm, -EINVAL, "r/k"},
    {gradient_negative_zero, -EINVAL, "0.0"},
    {gradient_missing_with_norm, -EINVAL, "NAN"},
    {completed_without_duration, -EINVAL, "duration_ns"},
    {completed_in_the_future, -ERANGE, "ended by now"},
};

static void all_refusals(void)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		int error = refusals[i].call();

		if (error != refusals[i].error || !strstr(tstrace_error(), refusals[i].says)) {
			fprintf(stderr, "refusal %zu: %d \"%s\", not %d \"%s\"\n", i, error,
				tstrace_error(), refusals[i].error, refusals[i].says);
			_exit(1);
		}
	}
	CHECK(!tstrace_record_gradient(NULL, "r", "k", TSTRACE_ZERO, 0.0));
}

static void test_refusals(void **state)
{
	json_t *lines = run(all_refusals, "refused.jsonl");

	(void)state;
	assert_int_equal(event_count(lines, "op"), 0);
	assert_int_equal(event_count(lines, "memory"), 4);
	/* A refused call takes no number. */
	assert_string_equal(text_of(event_at(lines, "gradient", 0), "event_id"), "gradient-1");
	assert_int_equal(number_of(event_at(lines, "terminal", 0), "unmatched_frees"), 1);
	json_decref(lines);
}

/* --- open --- */

static const char *asked; /* path that the child asks for */

static void open_whole(void)
{
	const char *labels[] = {"fwd", "data"}, *gpu[] = {"fwd"}, *cpu[] = {"data"};
	const struct tstrace_gradient_entry entries[] = {{"net", "layer0.bias", "dense"},
							 {"net", "layer0.weight", "dense"}};
	const struct tstrace_gradient_family families[] = {{"dense", TSTRACE_ACTIVE, 2}};
	const struct tstrace_gradient_contract gradients = {
	    .expected = entries, .expected_count = 2, .families = families, .family_count = 1};
	const struct tstrace_contract contract = {.scope = TSTRACE_PRODUCTION_EQUIVALENT,
						  .gradients = TSTRACE_COMPLETE,
						  .required_labels = labels,
						  .required_count = 2,
						  .gpu_labels = gpu,
						  .gpu_count = 1,
						  .cpu_labels = cpu,
						  .cpu_count = 1,
						  .gradient_contract = &gradients};
	const struct tstrace_identity identity = {.workload_id = "w",
						  .model_id = "m",
						  .config_id = "c",
						  .data_id = "d",
						  .seed_policy = "fixed",
						  .physical_batch = 8,
						  .accumulation_steps = 1,
						  .precision = "bf16",
						  .device_state = "exclusive"};
	const struct tstrace_tag tags[] = {{"b", "2"}, {"a", "1"}};
	struct tstrace_run bad, good = tstrace_run_of(TSTRACE_INFER, "net::go", 6, "cuda:3");
	tstrace_session *session = NULL;

	good.contract = &contract;
	good.identity = &identity;
	good.tags = tags;
	good.tag_count = 2;
	bad = good;
	bad.warmup_steps = 6;
	CHECK(tstrace_open(&session, asked, &bad) == -EINVAL && !session);
	CHECK(strstr(tstrace_error(), "warmup_steps") && access(asked, F_OK));
	CHECK(!tstrace_open(&session, asked, &good) && session);
	CHECK(!strcmp(tstrace_path(session), asked));
	CHECK(tstrace_open(NULL, "other", NULL) == -EALREADY);
	tstrace_end_span(session, tstrace_begin_span(session, "fwd", TSTRACE_MODULE));
	tstrace_end_span(session, tstrace_begin_span(session, "data", TSTRACE_MODULE));
	CHECK(!tstrace_record_gradient(session, "net", "layer0.bias", TSTRACE_PRESENT, 1));
	CHECK(!tstrace_record_gradient(session, "net", "layer0.weight", TSTRACE_PRESENT, 2));
	CHECK(!tstrace_finish(session, NULL));
}

static void test_open(void **state)
{
	json_t *lines, *meta, *contract, *gradient;

	(void)state;
	asked = test_path("folder/whole.jsonl");
	if (run_session(open_whole, test_path("not.jsonl"), "TSTRACE_TAGS=a=0,c=3", NULL))
		fail_msg("%s", said);
	lines = valid_trace(asked);
	meta = event_at(lines, "meta", 0);
	assert_string_equal(text_of(meta, "correlation_id"), "net::go/inference-6");
	assert_string_equal(text_of(meta, "device"), "cuda:3");
	assert_string_equal(text_of(meta, "phase"), "infer");
	assert_int_equal(number_of(meta, "warmup_steps"), 5);
	assert_string_equal(text_of(json_object_get(meta, "tags"), "a"), "1");
	assert_string_equal(text_of(json_object_get(meta, "tags"), "c"), "3");
	assert_string_equal(text_of(json_object_get(meta, "comparison_identity"), "model_id"), "m");
	contract = json_object_get(meta, "capture_contract");
	assert_string_equal(text_of(contract, "gradients"), "complete");
	gradient = json_object_get(contract, "gradient_contract");
	/* The vector of the format's description. */
	assert_string_equal(
	    text_of(gradient, "manifest_sha256"),
	    "sha256:be44812bdf7f246c105e84572f02f6aa5593328cd3a1242487407c69a0c50dfa");
	assert_string_equal(text_of(event_at(lines, "span_start", 0), "name"), "net::go");
	json_decref(lines);
}

static const struct tstrace_run good_run = {.size = sizeof(struct tstrace_run), .capture_step = 2};
static const struct tstrace_identity bad_identity = {.workload_id = "w"};
static const char *const twice[] = {"x", "x"};
static const struct tstrace_contract bad_labels = {.required_labels = twice, .required_count = 2};
static const struct tstrace_contract half_contract = {.gradients = TSTRACE_COMPLETE};
static const struct tstrace_tag same_tags[] = {{"k", "1"}, {"k", "2"}};

static void wrong_runs(void)
{
	const struct {
		struct tstrace_run run;
		const char *says;
	} rows[] = {
	    {{.size = 1}, "sizeof"},
	    {{.size = sizeof(good_run), .entrypoint = " "}, "entrypoint"},
	    {{.size = sizeof(good_run), .correlation_id = ""}, "correlation_id"},
	    {{.size = sizeof(good_run), .device = "\t"}, "device"},
	    {{.size = sizeof(good_run), .phase = 7}, "phase"},
	    {{.size = sizeof(good_run), .warmup_steps = 1}, "warmup_steps"},
	    {{.size = sizeof(good_run), .tags = same_tags, .tag_count = 2}, "twice"},
	    {{.size = sizeof(good_run), .identity = &bad_identity}, "model_id"},
	    {{.size = sizeof(good_run), .contract = &bad_labels}, "twice"},
	    {{.size = sizeof(good_run), .contract = &half_contract}, "belong together"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK(tstrace_open(NULL, asked, &rows[i].run) == -EINVAL);
		CHECK(strstr(tstrace_error(), rows[i].says));
		CHECK(access(asked, F_OK));
	}
	CHECK(tstrace_open(NULL, "/proc/none/x.jsonl", &good_run) < 0);
	CHECK(!tstrace_open(NULL, asked, &good_run));
}

static void test_wrong_runs(void **state)
{
	(void)state;
	asked = test_path("wrong.jsonl");
	if (run_session(wrong_runs, test_path("not.jsonl"), NULL))
		fail_msg("%s", said);
	json_decref(valid_trace(asked));
}

/* --- iterations --- */

static void iterations(void)
{
	for (uint64_t n = 10; n < 13; n++) {
		CHECK(!tstrace_step(NULL, n));
		tstrace_end_span(NULL, tstrace_begin_span(NULL, "s", TSTRACE_OP));
		CHECK(!tstrace_record_scalar(NULL, 0, "loss", (double)n));
	}
	CHECK(!tstrace_step_end(NULL));
	CHECK(!tstrace_record_gradient(NULL, "after", "all", TSTRACE_ZERO, 0));
}

static void test_iterations(void **state)
{
	json_t *lines = run(iterations, "steps.jsonl");

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(number_of(event_at(lines, "tensor_stats", i), "iteration"),
				 10 + (json_int_t)i);
	assert_int_equal(number_of(event_at(lines, "span_start", 1), "iteration"), 10);
	assert_null(json_object_get(event_at(lines, "gradient", 0), "iteration"));
	json_decref(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_events),     cmocka_unit_test(test_refusals),
	    cmocka_unit_test(test_open),       cmocka_unit_test(test_wrong_runs),
	    cmocka_unit_test(test_iterations),
	};

	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
