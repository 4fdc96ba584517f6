/* Events of tensors' statistics: what they say, what is refused, and that the program's floating
 * point is as it was. */
#include "tests/unit/record_test.h"

#include <errno.h>
#include <fenv.h>
#include <math.h>

#include "core/tstrace.h"
#include "tests/unit/child.h"

static double real_of(json_t *event, const char *key)
{
	json_t *value = json_object_get(event, key);

	if (!json_is_number(value))
		fail_msg("no number %s in %s", key, json_dumps(event, 0));
	return json_number_value(value);
}

static int record(const char *label, enum tstrace_dtype dtype, const void *data, size_t dims,
		  const uint64_t *sizes, const int64_t *strides)
{
	const struct tstrace_data tensor = {
	    .data = data, .dtype = dtype, .shape = {sizes, dims}, .strides = strides};

	return tstrace_record_tensor_stats(NULL, 0, label, &tensor);
}

/* --- what they say --- */

static void several(void)
{
	static const float matrix[] = {1, -2, 3, 4, -5, 6};
	static const uint16_t halves[] = {0x3c00, 0x7c00, 0x7e00, 0xc000}; /* 1 inf nan -2 */
	const double nan = NAN;
	tstrace_span span = tstrace_begin_span(NULL, "step", TSTRACE_FUNCTION);

	CHECK(!record("matrix", TSTRACE_F32, matrix, 2, (const uint64_t[]){2, 3}, NULL));
	tstrace_end_span(NULL, span);
	CHECK(!record("halves", TSTRACE_F16, halves, 2, (const uint64_t[]){4, 10},
		      (const int64_t[]){1, 0}));
	CHECK(!record("none", TSTRACE_F8E4M3, NULL, 2, (const uint64_t[]){5, 0}, NULL));
	CHECK(!record("nan", TSTRACE_F64, &nan, 0, NULL, NULL));
	CHECK(!tstrace_record_tensor_stats(
	    NULL, span, "of a span before",
	    &(struct tstrace_data){.data = &(int64_t){-9}, .dtype = TSTRACE_I64}));
}

static void expect_absent(json_t *event, const char *key)
{
	if (json_object_get(event, key))
		fail_msg("%s in %s", key, json_dumps(event, 0));
}

static void expect_matrix(json_t *event)
{
	assert_string_equal(text_of(event, "label"), "matrix");
	assert_string_equal(text_of(event, "dtype"), "f32");
	assert_string_equal(text_of(event, "span_id"), "s2");
	assert_int_equal(json_array_size(json_object_get(event, "shape")), 2);
	assert_int_equal(number_of(event, "elements"), 6);
	assert_int_equal(number_of(event, "non_finite"), 0);
	assert_true(fabs(real_of(event, "rms") - sqrt(91.0 / 6)) < 1e-14);
	assert_true(fabs(real_of(event, "std") - sqrt(91.0 / 6 - 49.0 / 36)) < 1e-14);
	assert_true(fabs(real_of(event, "mean") - 7.0 / 6) < 1e-15);
	assert_true(real_of(event, "abs_max") == 6);
	assert_true(real_of(event, "min") == -5 && real_of(event, "max") == 6);
	assert_int_equal(number_of(event, "nan_count"), 0);
	assert_int_equal(number_of(event, "inf_count"), 0);
}

/* One that is not finite makes the schema's three values 0; the finite ones keep theirs. */
static void expect_halves(json_t *event)
{
	assert_int_equal(number_of(event, "elements"), 40);
	assert_int_equal(number_of(event, "non_finite"), 20);
	assert_int_equal(number_of(event, "nan_count"), 10);
	assert_int_equal(number_of(event, "inf_count"), 10);
	assert_true(real_of(event, "rms") == 0 && real_of(event, "mean") == 0 &&
		    real_of(event, "abs_max") == 0);
	assert_true(real_of(event, "min") == -2 && real_of(event, "max") == 1);
	assert_true(real_of(event, "std") == 1.5);
}

static void test_events(void **state)
{
	json_t *lines = trace_of(several, "several.jsonl"), *event;

	(void)state;
	assert_int_equal(event_count(lines, "tensor_stats"), 5);
	expect_matrix(event_at(lines, "tensor_stats", 0));
	expect_halves(event_at(lines, "tensor_stats", 1));
	event = event_at(lines, "tensor_stats", 2);
	assert_string_equal(text_of(event, "dtype"), "f8e4m3");
	assert_int_equal(number_of(event, "elements"), 0);
	assert_true(real_of(event, "rms") == 0 && real_of(event, "mean") == 0);
	expect_absent(event, "min");
	expect_absent(event, "std");
	event = event_at(lines, "tensor_stats", 3);
	assert_int_equal(json_array_size(json_object_get(event, "shape")), 0);
	assert_int_equal(number_of(event, "nan_count"), 1);
	expect_absent(event, "max");
	event = event_at(lines, "tensor_stats", 4);
	assert_string_equal(text_of(event, "span_id"), "s2");
	assert_true(real_of(event, "mean") == -9 && real_of(event, "abs_max") == 9);
	json_decref(lines);
}

/* --- what is refused --- */

#define REFUSED(text, call) CHECK((call) == -EINVAL && strstr(tstrace_error(), text))

static void refusals(void)
{
	static const uint64_t wide[] = {1ull << 32, 1ull << 32}, one[] = {1};
	static const float x = 1;
	const struct tstrace_data tensor = {.data = &x, .dtype = TSTRACE_F32};

	errno = 77;
	REFUSED("blank", record(NULL, TSTRACE_F32, &x, 1, one, NULL));
	REFUSED("blank", record(" \t", TSTRACE_F32, &x, 1, one, NULL));
	REFUSED("NULL", tstrace_record_tensor_stats(NULL, 0, "t", NULL));
	REFUSED("tensor t: NULL", record("t", TSTRACE_F32, NULL, 1, one, NULL));
	REFUSED("array", record("t", TSTRACE_F32, &x, 1, NULL, NULL));
	REFUSED("element type", record("t", (enum tstrace_dtype)15, &x, 1, one, NULL));
	REFUSED("64 bits", record("t", TSTRACE_U8, &x, 2, wide, (const int64_t[]){0, 0}));
	REFUSED("span", tstrace_record_tensor_stats(NULL, 99, "t", &tensor));
	CHECK(!record("after them", TSTRACE_F32, &x, 1, one, NULL));
	CHECK(errno == 77);
}

static void test_refusals(void **state)
{
	json_t *lines = trace_of(refusals, "refusals.jsonl");

	(void)state;
	assert_int_equal(event_count(lines, "tensor_stats"), 1);
	json_decref(lines);
}

/* --- the program's floating point --- */

/* Rounding up, subnormal numbers flushed and exceptions that trap; a flag that is set. */
static void unusual_floats(void)
{
	static const double data[] = {NAN, 5e-324, 1e-310, INFINITY, 1e308, 1};
	volatile double one = 1, three = 3;

	feclearexcept(FE_ALL_EXCEPT);
	one /= three; /* inexact */
	fesetround(FE_UPWARD);
	feenableexcept(FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_DIVBYZERO);
#ifdef __x86_64__
	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
	unsigned before = __builtin_ia32_stmxcsr();
#endif
	CHECK(!record("all", TSTRACE_F64, data, 1, (const uint64_t[]){6}, NULL));
	CHECK(!record("tiny", TSTRACE_F64, data + 1, 1, (const uint64_t[]){2}, NULL));
#ifdef __x86_64__
	CHECK(__builtin_ia32_stmxcsr() == before);
#endif
	CHECK(fegetround() == FE_UPWARD && fetestexcept(FE_ALL_EXCEPT) == FE_INEXACT);
	fesetenv(FE_DFL_ENV);
}

static void test_floats_are_left_alone(void **state)
{
	json_t *lines = trace_of(unusual_floats, "floats.jsonl"), *event;

	(void)state;
	event = event_at(lines, "tensor_stats", 0);
	assert_true(real_of(event, "min") == 5e-324 && real_of(event, "max") == 1e308);
	event = event_at(lines, "tensor_stats", 1);
	assert_true(real_of(event, "mean") == 5e-311);
	json_decref(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_events),
	    cmocka_unit_test(test_refusals),
	    cmocka_unit_test(test_floats_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
