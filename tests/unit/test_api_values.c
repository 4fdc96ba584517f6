/* The rules of what is recorded in a span: sizes, names, pairs of values, and which are refused. */
#include "tests/unit/record_test.h"

#include <errno.h>
#include <math.h>

#include "core/tstrace.h"
#include "tests/unit/child.h"

#define SAYS(text) (strstr(tstrace_error(), text) != NULL)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static double real_of(json_t *event, const char *key)
{
	json_t *value = json_object_get(event, key);

	assert_true(json_is_number(value));
	return json_number_value(value);
}

/* --- dense bytes: what is given, else by shape and type, else nothing --- */

static const uint64_t six[] = {2, 3}, huge[] = {1ull << 40, 1ull << 30}, empty[] = {5, 0};

static const struct {
	const char *dtype;
	struct tstrace_shape shape;
	uint64_t given;
	json_int_t bytes; /* -1: the key is left out */
} dense[] = {
    {"u8", {six, 2}, 0, 6},	     {"i8", {six, 2}, 0, 6},	{"bool", {six, 2}, 0, 6},
    {"f8", {six, 2}, 0, 6},	     {"u16", {six, 2}, 0, 12},	{"i16", {six, 2}, 0, 12},
    {"f16", {six, 2}, 0, 12},	     {"bf16", {six, 2}, 0, 12}, {"u32", {six, 2}, 0, 24},
    {"i32", {six, 2}, 0, 24},	     {"f32", {six, 2}, 0, 24},	{"u64", {six, 2}, 0, 48},
    {"i64", {six, 2}, 0, 48},	     {"f64", {six, 2}, 0, 48},	{" F64\t", {six, 2}, 0, 48},
    {"f64", {NULL, 0}, 0, 8},	     {"f64", {empty, 2}, 0, 0}, {"f8e4m3", {six, 2}, 0, -1},
    {"i4", {six, 2}, 0, -1},	     {"f6 4", {six, 2}, 0, -1}, {"", {six, 2}, 0, -1},
    {NULL, {six, 2}, 0, -1},	     {"i4", {six, 2}, 3, 3},	{"f32", {six, 2}, 100, 100},
    {"u8", {huge, 1}, 0, 1ll << 40},
};

static void record_dense(void)
{
	for (size_t i = 0; i < COUNT(dense); i++) {
		CHECK(!tstrace_record_tensor(
		    NULL, 0,
		    &(struct tstrace_tensor){.tensor_id = "t",
					     .shape = dense[i].shape,
					     .dtype = dense[i].dtype,
					     .dense_bytes = dense[i].given}));
		CHECK(
		    !tstrace_record_op(NULL, 0,
				       &(struct tstrace_op){.name = "op",
							    .shape = dense[i].shape,
							    .dtype = dense[i].dtype,
							    .output_dense_bytes = dense[i].given}));
	}
}

static void test_dense(void **state)
{
	json_t *lines = trace_of(record_dense, "dense.jsonl"), *tensor, *op;

	(void)state;
	for (size_t i = 0; i < COUNT(dense); i++) {
		tensor = event_at(lines, "tensor", i);
		op = event_at(lines, "op", i);
		assert_int_equal(number_of(tensor, "dense_bytes"), dense[i].bytes);
		assert_int_equal(number_of(op, "output_dense_bytes"), dense[i].bytes);
		assert_int_equal(!json_object_get(op, "output_dense_bytes"), dense[i].bytes < 0);
		assert_string_equal(text_of(op, "dtype"),
				    dense[i].dtype ? dense[i].dtype : "unknown");
	}
	json_decref(lines);
}

static void record_huge(void)
{
	CHECK(!tstrace_record_tensor(
	    NULL, 0,
	    &(struct tstrace_tensor){.tensor_id = "t", .shape = {huge, 2}, .dtype = "f64"}));
}

/* 2^64 - 1, which is more than jansson's numbers hold. */
static void test_saturation(void **state)
{
	const char *path = test_path("huge.jsonl");
	bool saturated = false;
	char *text = NULL;
	size_t room = 0;
	FILE *file;

	(void)state;
	assert_int_equal(run_session(record_huge, path, PATIENT, NULL), 0);
	file = fopen(path, "r");
	assert_non_null(file);
	while (getline(&text, &room, file) > 0)
		saturated |= strstr(text, "\"dense_bytes\":18446744073709551615,") != NULL;
	fclose(file);
	free(text);
	assert_true(saturated);
	expect_valid(path);
}

/* --- names of values --- */

static void record_names(void)
{
	static const double norms[] = {1, NAN, 0, NAN};

	for (unsigned i = 0; i < 5; i++) {
		CHECK(!tstrace_record_tensor(
		    NULL, 0,
		    &(struct tstrace_tensor){.tensor_id = "t",
					     .label = i ? "label" : NULL,
					     .requires_grad = i & 1,
					     .category = (enum tstrace_category)i}));
		CHECK(!tstrace_record_memory_alloc(
		    NULL, 0,
		    &(struct tstrace_memory){.storage_id = "s",
					     .op_name = i ? "gemm" : NULL,
					     .category = (enum tstrace_category)i}));
		CHECK(!tstrace_record_memory_free(NULL, 0,
						  &(struct tstrace_memory){.storage_id = "s"}));
	}
	CHECK(tstrace_record_tensor(
		  NULL, 0, &(struct tstrace_tensor){.tensor_id = "t", .category = 5}) == -EINVAL);
	CHECK(SAYS("category"));
	CHECK(tstrace_record_memory_alloc(
		  NULL, 0, &(struct tstrace_memory){.storage_id = "s", .category = 5}) == -EINVAL);
	for (unsigned i = 0; i < 4; i++)
		CHECK(!tstrace_record_gradient(NULL, "r", "k", (enum tstrace_gradient)i, norms[i]));
}

static void test_names(void **state)
{
	static const char *const categories[] = {"other", "parameter", "activation", "gradient",
						 "optimizer"};
	static const char *const states[] = {"present", "missing", "zero", "non_finite"};
	json_t *lines = trace_of(record_names, "names.jsonl"), *e;
	char id[16];

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		e = event_at(lines, "tensor", i);
		assert_string_equal(text_of(e, "category"), categories[i]);
		assert_int_equal(json_is_true(json_object_get(e, "requires_grad")), i & 1);
		assert_int_equal(json_object_get(e, "label") != NULL, i != 0);
		e = event_at(lines, "memory", 2 * i);
		assert_string_equal(text_of(e, "category"), categories[i]);
		assert_string_equal(text_of(e, "action"), "alloc");
		assert_int_equal(json_object_get(e, "op_name") != NULL, i != 0);
		assert_string_equal(text_of(event_at(lines, "memory", 2 * i + 1), "action"),
				    "free");
	}
	for (size_t i = 0; i < 4; i++) {
		e = event_at(lines, "gradient", i);
		snprintf(id, sizeof(id), "gradient-%zu", i + 1);
		assert_string_equal(text_of(e, "event_id"), id);
		assert_string_equal(text_of(e, "state"), states[i]);
		assert_int_equal(json_object_get(e, "norm") != NULL, i == 0 || i == 2);
	}
	json_decref(lines);
}

/* --- gradients: the pairs of state and norm --- */

static const double norms[] = {NAN, 0.0, -0.0, 0.5, -0.5, INFINITY, -INFINITY, 5e-324};
static const bool fits[4][COUNT(norms)] = {
    [TSTRACE_PRESENT] = {0, 0, 0, 1, 0, 0, 0, 1},
    [TSTRACE_MISSING] = {1, 0, 0, 0, 0, 0, 0, 0},
    [TSTRACE_ZERO] = {0, 1, 0, 0, 0, 0, 0, 0},
    [TSTRACE_NON_FINITE] = {1, 0, 0, 0, 0, 0, 0, 0},
};

static void record_gradients(void)
{
	static char long_key[20000];

	for (unsigned i = 0; i < 4; i++) {
		for (size_t k = 0; k < COUNT(norms); k++) {
			int error = tstrace_record_gradient(NULL, "r", "k",
							    (enum tstrace_gradient)i, norms[k]);

			CHECK(error == (fits[i][k] ? 0 : -EINVAL));
			CHECK(!error || SAYS("r/k"));
		}
	}
	CHECK(tstrace_record_gradient(NULL, "r", "k", (enum tstrace_gradient)4, NAN) == -EINVAL);
	CHECK(tstrace_record_gradient(NULL, NULL, "k", TSTRACE_MISSING, NAN) == -EINVAL);
	CHECK(tstrace_record_gradient(NULL, "r", " \t", TSTRACE_MISSING, NAN) == -EINVAL);
	memset(long_key, 'k', sizeof(long_key) - 1);
	CHECK(tstrace_record_gradient(NULL, "r", long_key, TSTRACE_MISSING, NAN) == -E2BIG);
	CHECK(SAYS("too long"));
	/* Refused ones took no number; the same root and key may come again. */
	CHECK(!tstrace_record_gradient(NULL, "r", "k", TSTRACE_MISSING, NAN));
}

static void test_gradients(void **state)
{
	json_t *lines = trace_of(record_gradients, "gradients.jsonl");

	(void)state;
	assert_int_equal(event_count(lines, "gradient"), 6);
	assert_string_equal(text_of(event_at(lines, "gradient", 5), "event_id"), "gradient-6");
	assert_true(real_of(event_at(lines, "gradient", 1), "norm") == 5e-324);
	json_decref(lines);
}

/* --- scalars --- */

static const struct {
	double value, magnitude, mean;
	json_int_t non_finite;
	const char *kept;
} scalars[] = {
    {2.5, 2.5, 2.5, 0, ""},	  {-2.5, 2.5, -2.5, 0, ""},	     {0, 0, 0, 0, ""},
    {1e308, 1e308, 1e308, 0, ""}, {-5e-324, 5e-324, -5e-324, 0, ""}, {0.1, 0.1, 0.1, 0, ""},
    {NAN, 0, 0, 1, "nan"},	  {INFINITY, 0, 0, 1, "inf"},	     {-INFINITY, 0, 0, 1, "-inf"},
};

static void record_scalars(void)
{
	for (size_t i = 0; i < COUNT(scalars); i++)
		CHECK(!tstrace_record_scalar(NULL, 0, "loss", scalars[i].value));
	CHECK(tstrace_record_scalar(NULL, 0, NULL, 1) == -EINVAL && SAYS("blank"));
	CHECK(tstrace_record_scalar(NULL, 0, "", 1) == -EINVAL);
	CHECK(tstrace_record_scalar(NULL, 0, " \r\n", 1) == -EINVAL);
}

static void test_scalars(void **state)
{
	json_t *lines = trace_of(record_scalars, "scalars.jsonl"), *e;

	(void)state;
	assert_int_equal(event_count(lines, "tensor_stats"), COUNT(scalars));
	for (size_t i = 0; i < COUNT(scalars); i++) {
		e = event_at(lines, "tensor_stats", i);
		assert_true(real_of(e, "rms") == scalars[i].magnitude);
		assert_true(real_of(e, "abs_max") == scalars[i].magnitude);
		assert_true(real_of(e, "mean") == scalars[i].mean);
		assert_int_equal(number_of(e, "non_finite"), scalars[i].non_finite);
		assert_int_equal(number_of(e, "elements"), 1);
		assert_int_equal(json_array_size(json_object_get(e, "shape")), 0);
		assert_string_equal(text_of(e, "dtype"), "f64");
		assert_string_equal(text_of(e, "value"), scalars[i].kept);
	}
	json_decref(lines);
}

/* --- memory: one clock, pairs by device and storage --- */

struct step {
	bool alloc;
	const char *device, *storage, *tensor;
	uint64_t bytes, at; /* 0: now */
	int error;
	const char *says;
};

/* In this order; times in nanoseconds, all past. */
static const struct step steps[] = {
    {true, "cuda:0", "a", "t", 8, 10, 0, ""},
    {true, "cuda:0", "a", "view", 8, 20, 0, ""},
    {true, "cuda:0", "a", "view", 8, 30, -EEXIST, "view is on it"},
    {true, "cuda:0", "a", "big", 9, 30, -EINVAL, "8 bytes, not 9"},
    {true, "cuda:0", "a", "early", 8, 5, -ERANGE, "before"},
    {true, "cuda:1", "a", "t", 9, 30, 0, ""}, /* another device's */
    {false, "cuda:2", "a", NULL, 8, 30, -ENOENT, "not live"},
    {false, "cuda:0", "a", NULL, 9, 30, -EINVAL, "8 bytes, not 9"},
    {false, "cuda:0", "a", NULL, 8, 5, -ERANGE, "before"},
    {false, "cuda:0", "a", NULL, 8, 40, 0, ""}, /* with its alias */
    {false, "cuda:0", "a", "view", 8, 50, -ENOENT, "not live"},
    {true, "cuda:0", "a", "t", 5, 60, 0, ""}, /* again, of another size */
    {false, "cuda:0", "a", NULL, 5, 0, 0, ""},
    {false, "cuda:1", "a", "t", 9, 0, 0, ""},
    {true, NULL, "b", NULL, 0, 0, 0, ""}, /* the run's device; of no size */
    {false, "cuda:0", "b", NULL, 0, 0, 0, ""},
    {true, NULL, " ", NULL, 1, 0, -EINVAL, "storage_id"},
    {true, NULL, NULL, NULL, 1, 0, -EINVAL, "storage_id"},
    {true, NULL, "c", NULL, 1, UINT64_MAX, -ERANGE, "future"},
    {false, NULL, "c", NULL, 1, UINT64_MAX, -ERANGE, "future"},
};

static void record_memory(void)
{
	while (tstrace_elapsed_ns(NULL) < 100)
		;
	for (size_t i = 0; i < COUNT(steps); i++) {
		const struct step *s = &steps[i];
		const struct tstrace_memory memory = {.storage_id = s->storage,
						      .tensor_id = s->tensor,
						      .device = s->device,
						      .bytes = s->bytes,
						      .timestamp_ns = s->at ? &s->at : NULL};
		int error = s->alloc ? tstrace_record_memory_alloc(NULL, 0, &memory)
				     : tstrace_record_memory_free(NULL, 0, &memory);

		if (error != s->error || (error && !SAYS(s->says))) {
			fprintf(stderr, "step %zu: %d \"%s\"\n", i, error, tstrace_error());
			_exit(1);
		}
	}
	CHECK(tstrace_record_memory_alloc(NULL, 0, NULL) == -EINVAL);
	CHECK(tstrace_record_memory_free(NULL, 0, NULL) == -EINVAL);
}

static void test_memory(void **state)
{
	json_t *lines = trace_of(record_memory, "memory.jsonl"), *e;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(steps); i++) {
		if (steps[i].error)
			continue;
		e = event_at(lines, "memory", n++);
		assert_string_equal(text_of(e, "action"), steps[i].alloc ? "alloc" : "free");
		assert_string_equal(text_of(e, "storage_id"), steps[i].storage);
		assert_string_equal(text_of(e, "tensor_id"),
				    steps[i].tensor ? steps[i].tensor : steps[i].storage);
		assert_string_equal(text_of(e, "device"),
				    steps[i].device ? steps[i].device : "cuda:0");
		assert_int_equal(number_of(e, "bytes"), (json_int_t)steps[i].bytes);
		if (steps[i].at)
			assert_int_equal(number_of(e, "timestamp_ns"), (json_int_t)steps[i].at);
	}
	assert_int_equal(event_count(lines, "memory"), n);
	assert_int_equal(number_of(event_at(lines, "terminal", 0), "unmatched_frees"), 2);
	json_decref(lines);
}

/* --- what a device has; its work --- */

static void record_device(void)
{
	static const uint64_t later = UINT64_MAX, at = 7;
	const char *texts[4] = {"cuda:1", "7", "events", "own"};

	while (tstrace_elapsed_ns(NULL) < 100)
		;
	for (unsigned i = 0; i < 16; i++) {
		const struct tstrace_device_memory memory = {
		    .timestamp_ns = &at,
		    .used_bytes = i & 1 ? 1 : TSTRACE_NOT_KNOWN,
		    .free_bytes = i & 2 ? 2 : TSTRACE_NOT_KNOWN,
		    .reserved_bytes = i & 4 ? 0 : TSTRACE_NOT_KNOWN,
		    .capacity_bytes = i & 8 ? 4 : TSTRACE_NOT_KNOWN};

		CHECK(tstrace_record_device_memory(NULL, &memory) == (i ? 0 : -EINVAL));
	}
	CHECK(tstrace_record_device_memory(NULL, NULL) == -EINVAL && SAYS("NULL"));
	CHECK(tstrace_record_device_memory(
		  NULL, &(struct tstrace_device_memory){.timestamp_ns = &later}) == -ERANGE);
	for (unsigned i = 0; i < 4; i++) {
		for (unsigned k = 0; k < 2; k++) {
			const char *good = texts[i];

			texts[i] = k ? NULL : " ";
			CHECK(tstrace_record_device_interval(
				  NULL, 0,
				  &(struct tstrace_device_interval){texts[0], texts[1], texts[2],
								    texts[3], 1, 1}) == -EINVAL);
			texts[i] = good;
		}
	}
	CHECK(tstrace_record_device_interval(NULL, 0, NULL) == -EINVAL);
	/* By a clock of its own: no time is too late, but one of no length is none. */
	CHECK(!tstrace_record_device_interval(
	    NULL, 0, &(struct tstrace_device_interval){"d", "s", "c", "b", INT64_MAX, 1}));
	CHECK(tstrace_record_device_interval(
		  NULL, 0, &(struct tstrace_device_interval){"d", "s", "c", "b", 5, 0}) == -EINVAL);
}

static void test_device(void **state)
{
	static const char *const keys[] = {"used_bytes", "free_bytes", "reserved_bytes",
					   "capacity_bytes"};
	json_t *lines = trace_of(record_device, "device.jsonl"), *e;

	(void)state;
	assert_int_equal(event_count(lines, "device_memory"), 15);
	for (unsigned i = 1; i < 16; i++) {
		e = event_at(lines, "device_memory", i - 1);
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(json_object_get(e, keys[k]) != NULL, i >> k & 1);
		assert_int_equal(number_of(e, "timestamp_ns"), 7);
	}
	assert_int_equal(event_count(lines, "device_interval"), 1);
	e = event_at(lines, "device_interval", 0);
	assert_int_equal(number_of(e, "start_ns"), INT64_MAX);
	json_decref(lines);
}

/* --- edges between tensors --- */

static int data_edge(const char *from, const char *to)
{
	return tstrace_record_data_edge(NULL, from, to);
}

static void record_edges(void)
{
	static const char *const inputs[] = {"in1", "in2", ""};
	char name[16];

	CHECK(data_edge("t", "t") == -ENOENT && SAYS("tensor t is in no"));
	CHECK(!tstrace_record_tensor(NULL, 0, &(struct tstrace_tensor){.tensor_id = "t"}));
	CHECK(!data_edge("t", "t"));
	CHECK(data_edge("t", "in1") == -ENOENT && SAYS("tensor in1 is in no"));
	CHECK(tstrace_record_op(
		  NULL, 0, &(struct tstrace_op){.inputs = inputs, .input_count = 3}) == -EINVAL);
	CHECK(data_edge("t", "in1") == -ENOENT);
	CHECK(!tstrace_record_op(
	    NULL, 0,
	    &(struct tstrace_op){
		.name = "op", .inputs = inputs, .input_count = 3, .output = "out"}));
	CHECK(!data_edge("in1", "out") && !data_edge("in2", "out"));
	CHECK(data_edge("", "out") == -EINVAL && data_edge("out", "") == -EINVAL && SAYS("empty"));
	CHECK(data_edge(NULL, "out") == -EINVAL && data_edge("out", NULL) == -EINVAL);
	/* A tensor that only memory names is none. */
	CHECK(!tstrace_record_memory_alloc(
	    NULL, 0, &(struct tstrace_memory){.storage_id = "m", .tensor_id = "only"}));
	CHECK(data_edge("only", "out") == -ENOENT);
	CHECK(!tstrace_record_memory_free(NULL, 0, &(struct tstrace_memory){.storage_id = "m"}));
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		CHECK(data_edge(name, "t") == -ENOENT);
		CHECK(!tstrace_record_tensor(NULL, 0, &(struct tstrace_tensor){.tensor_id = name}));
	}
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		CHECK(!data_edge(name, "t"));
	}
}

static void test_data_edges(void **state)
{
	json_t *lines = trace_of(record_edges, "edges.jsonl");

	(void)state;
	assert_int_equal(event_count(lines, "edge"), 3003);
	assert_string_equal(text_of(event_at(lines, "edge", 1), "edge_kind"), "data");
	assert_string_equal(text_of(event_at(lines, "edge", 1), "from_tensor"), "in1");
	json_decref(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_dense),   cmocka_unit_test(test_saturation),
	    cmocka_unit_test(test_names),   cmocka_unit_test(test_gradients),
	    cmocka_unit_test(test_scalars), cmocka_unit_test(test_memory),
	    cmocka_unit_test(test_device),  cmocka_unit_test(test_data_edges),
	};

	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
