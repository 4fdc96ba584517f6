/* Statistics of tensors against a plain reference in numbers of 113 bits and 15 of exponent: huge,
 * tiny, cancelling elements, every code of the small types, every kind of stride. */
#include "tests/unit/record_test.h"

#include <errno.h>
#include <float.h>
#include <math.h>

#include "core/session/stats.h"

#if defined(__x86_64__)
typedef __float128 quad;
#else
typedef long double quad;
#endif

/* --- the reference --- */

static double code_value(unsigned code, int exponent_bits, int mantissa_bits)
{
	int bias = (1 << (exponent_bits - 1)) - 1, exponent = (int)(code >> mantissa_bits);
	double mantissa = ldexp(code & ((1u << mantissa_bits) - 1), -mantissa_bits);
	int ones = (1 << exponent_bits) - 1;

	exponent &= ones;
	if (code >> (exponent_bits + mantissa_bits))
		return -code_value(code & ((1u << (exponent_bits + mantissa_bits)) - 1),
				   exponent_bits, mantissa_bits);
	/* E4M3 has no infinities, and one NaN a sign. */
	if (exponent == ones && exponent_bits != 4)
		return mantissa ? (double)NAN : (double)INFINITY;
	if (exponent_bits == 4 && code == 0x7f)
		return NAN;
	return exponent ? ldexp(1 + mantissa, exponent - bias) : ldexp(mantissa, 1 - bias);
}

static quad reference_value(const void *at, enum tstrace_dtype dtype)
{
	switch (dtype) {
	case TSTRACE_U8: return *(const uint8_t *)at;
	case TSTRACE_I8: return *(const int8_t *)at;
	case TSTRACE_U16: return *(const uint16_t *)at;
	case TSTRACE_I16: return *(const int16_t *)at;
	case TSTRACE_U32: return *(const uint32_t *)at;
	case TSTRACE_I32: return *(const int32_t *)at;
	case TSTRACE_U64: return *(const uint64_t *)at;
	case TSTRACE_I64: return *(const int64_t *)at;
	case TSTRACE_BOOL: return *(const uint8_t *)at != 0;
	case TSTRACE_F8E4M3: return code_value(*(const uint8_t *)at, 4, 3);
	case TSTRACE_F8E5M2: return code_value(*(const uint8_t *)at, 5, 2);
	case TSTRACE_F16: return code_value(*(const uint16_t *)at, 5, 10);
	case TSTRACE_BF16: return code_value(*(const uint16_t *)at, 8, 7);
	case TSTRACE_F32: return *(const float *)at;
	case TSTRACE_F64: return *(const double *)at;
	}
	fail_msg("no such type");
	return 0;
}

struct reference {
	uint64_t elements, finite, nan, inf;
	quad sum, squares, deviations, min, max, mean;
};

/* All codes of BF16 cancel over more bits than 113: what a rounding loses is kept. */
static void add(quad *sum, quad *lost, quad x)
{
	quad total = *sum + x;

	*lost += (*sum < 0 ? -*sum : *sum) >= (x < 0 ? -x : x) ? (*sum - total) + x
							      : (x - total) + *sum;
	*sum = total;
}

/* Element `n` in the order of the indices. */
static const char *element(const struct tstrace_data *t, uint64_t n)
{
	int64_t at = 0, dense = 1;

	for (size_t d = t->shape.count; d-- > 0;) {
		int64_t size = (int64_t)t->shape.sizes[d];

		at += (int64_t)(n % (uint64_t)size) * (t->strides ? t->strides[d] : dense);
		n /= (uint64_t)size;
		dense *= size;
	}
	return (const char *)t->data + at * (int64_t)ts_element_bytes((uint32_t)t->dtype);
}

static struct reference reference_of(const struct tstrace_data *t)
{
	struct reference r = { .elements = 1 };
	quad lost = 0;

	for (size_t d = 0; d < t->shape.count; d++)
		r.elements *= t->shape.sizes[d];
	for (uint64_t n = 0; n < r.elements; n++) {
		quad x = reference_value(element(t, n), t->dtype);

		if (x != x || x - x != 0) {
			r.nan += x != x;
			r.inf += x == x;
			continue;
		}
		r.min = !r.finite || x < r.min ? x : r.min;
		r.max = !r.finite || x > r.max ? x : r.max;
		r.finite++;
		add(&r.sum, &lost, x);
		r.squares += x * x;
	}
	r.mean = r.finite ? (r.sum + lost) / (quad)r.finite : 0;
	for (uint64_t n = 0; n < r.elements; n++) {
		quad x = reference_value(element(t, n), t->dtype);

		if (x - x == 0)
			r.deviations += (x - r.mean) * (x - r.mean);
	}
	return r;
}

/* --- comparison --- */

static void near(const char *what, double value, quad want)
{
	quad distance = value - want, room = (want < 0 ? -want : want) * (quad)1e-6;

	/* Beside what a double near zero can be apart. */
	if (distance < 0)
		distance = -distance;
	if (!(distance <= room + (quad)DBL_TRUE_MIN))
		fail_msg("%s is %.17g, not %.17Lg", what, value, (long double)want);
}

static quad root(quad square)
{
	long double r = sqrtl((long double)square);

	return square > 0 ? (r + square / (quad)r) / 2 : 0;
}

static struct ts_stats check(const struct tstrace_data *t)
{
	struct reference r = reference_of(t);
	quad n = r.finite ? (quad)r.finite : 1;
	uint64_t repeat, elements;
	struct ts_stats s;
	struct ts_view view;

	assert_int_equal(ts_view_of(t, &view, &repeat, &elements), 0);
	assert_true(elements == r.elements);
	assert_true(view.count * repeat == elements);
	ts_stats_host(&view, &s);
	assert_true(s.finite * repeat == r.finite);
	assert_true(s.nan * repeat == r.nan);
	assert_true(s.inf * repeat == r.inf);
	near("min", s.min, r.min);
	near("max", s.max, r.max);
	near("abs_max", s.abs_max, -r.min > r.max ? -r.min : r.max);
	near("mean", s.mean, r.mean);
	near("rms", s.rms, root(r.squares / n));
	near("std", s.std, root(r.deviations / n));
	assert_false(signbit(s.rms) || signbit(s.abs_max) || signbit(s.std));
	return s;
}

static struct ts_stats check_flat(enum tstrace_dtype dtype, const void *data, uint64_t count)
{
	const struct tstrace_data t = { .data = data, .dtype = dtype, .shape = { &count, 1 } };

	return check(&t);
}

#define FLAT(dtype, ...)                                                                           \
	check_flat(dtype, __VA_ARGS__, sizeof(__VA_ARGS__) / ts_element_bytes(dtype))

/* --- adversarial elements --- */

static void test_huge(void **state)
{
	static double many[5000];
	struct ts_stats s;

	(void)state;
	FLAT(TSTRACE_F64, ((double[]){ 1e308, 1.7e308, -1.6e308, 1e300 }));
	FLAT(TSTRACE_F64, ((double[]){ DBL_MAX, -DBL_MAX }));
	FLAT(TSTRACE_F64, ((double[]){ 0x1p900, -0x1p899, 0x1.8p900, 3 }));
	FLAT(TSTRACE_F32, ((float[]){ FLT_MAX, -FLT_MAX, FLT_MAX, 1 }));
	for (size_t i = 0; i < 5000; i++)
		many[i] = DBL_MAX;
	s = FLAT(TSTRACE_F64, many);
	assert_true(s.mean == DBL_MAX && s.rms == DBL_MAX && s.std == 0);
	for (size_t i = 0; i < 5000; i++)
		many[i] = i % 2 ? DBL_MAX : -DBL_MAX;
	assert_true(FLAT(TSTRACE_F64, many).std == DBL_MAX);
}

static void test_tiny(void **state)
{
	(void)state;
	FLAT(TSTRACE_F64, ((double[]){ 1e-300, 2e-300, -5e-301 }));
	FLAT(TSTRACE_F64, ((double[]){ 1e-170, 2e-170, -5e-171, 0 }));
	FLAT(TSTRACE_F64, ((double[]){ DBL_TRUE_MIN, 0, 0, 0 }));
	FLAT(TSTRACE_F64, ((double[]){ DBL_TRUE_MIN, -3 * DBL_TRUE_MIN, DBL_MIN }));
	FLAT(TSTRACE_F64, ((double[]){ 5e-324, 1e-310, 1e-308 }));
	FLAT(TSTRACE_F64, ((double[]){ 1e-300, 1e300, 1 }));
	FLAT(TSTRACE_F32, ((float[]){ FLT_TRUE_MIN, -FLT_TRUE_MIN, 2 * FLT_TRUE_MIN }));
}

static void test_cancelling(void **state)
{
	static double many[30000];
	static float singles[30000];
	const double third = 1.0 / 3;
	struct ts_stats s;

	(void)state;
	/* More bits than the reference has. */
	s = check_flat(TSTRACE_F64, (double[]){ 1e16, 1, -1e16 }, 3);
	assert_true(s.mean == third);
	for (double big = 1e100; big < 1e308; big *= 1e4) {
		const double data[] = { big, 1, -big };
		const uint64_t three = 3;
		const struct tstrace_data t = { .data = data,
						.dtype = TSTRACE_F64,
						.shape = { &three, 1 } };
		uint64_t repeat, elements;
		struct ts_view view;

		assert_int_equal(ts_view_of(&t, &view, &repeat, &elements), 0);
		ts_stats_host(&view, &s);
		assert_true(s.mean == third);
	}
	/* Large values that are nearly equal: the standard deviation. */
	FLAT(TSTRACE_F64, ((double[]){ 1e16, 1e16 + 2, 1e16 + 4 }));
	FLAT(TSTRACE_F64, ((double[]){ 1e300, 1e300 * (1 + DBL_EPSILON) }));
	FLAT(TSTRACE_F64, ((double[]){ 1, 1 + DBL_EPSILON, 1 - DBL_EPSILON / 2 }));
	for (size_t i = 0; i < 30000; i++) {
		many[i] = i % 3 == 0   ? 1e15 + (double)i
			  : i % 3 == 1 ? 0.125
				       : -1e15 - (double)i + 3;
		singles[i] = 16777216 - (float)(i == 17);
	}
	FLAT(TSTRACE_F64, many);
	FLAT(TSTRACE_F32, singles);
	for (size_t i = 0; i < 30000; i++)
		many[i] = i == 17 ? 0 : 1e9 / 3;
	FLAT(TSTRACE_F64, many);
}

static void test_wide_integers(void **state)
{
	(void)state;
	FLAT(TSTRACE_I64, ((int64_t[]){ INT64_MAX, 3, -INT64_MAX }));
	FLAT(TSTRACE_I64, ((int64_t[]){ INT64_MIN, INT64_MIN, INT64_MIN + 1 }));
	FLAT(TSTRACE_I64, ((int64_t[]){ (1ll << 62) + 1, 1ll << 62, -1 }));
	FLAT(TSTRACE_I64, ((int64_t[]){ (1ll << 62) + 1, 1ll << 62 }));
	FLAT(TSTRACE_I64, ((int64_t[]){ (1ll << 62) + 1, -(1ll << 62) }));
	FLAT(TSTRACE_U64, ((uint64_t[]){ UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 3 }));
	FLAT(TSTRACE_U64, ((uint64_t[]){ UINT64_MAX, 0, 1 }));
	FLAT(TSTRACE_I32, ((int32_t[]){ INT32_MIN, INT32_MAX, 7 }));
	FLAT(TSTRACE_U32, ((uint32_t[]){ UINT32_MAX, UINT32_MAX - 1 }));
}

static void test_not_finite(void **state)
{
	struct ts_stats s;

	(void)state;
	s = FLAT(TSTRACE_F64, ((double[]){ NAN, -(double)NAN, NAN }));
	assert_true(s.nan == 3 && !s.finite);
	s = FLAT(TSTRACE_F32, ((float[]){ INFINITY, -INFINITY, INFINITY }));
	assert_true(s.inf == 3 && !s.finite);
	s = FLAT(TSTRACE_F64, ((double[]){ 3, NAN, -5, INFINITY, 1e308 }));
	assert_true(s.inf == 1 && s.nan == 1 && s.finite == 3);
}

static void test_few(void **state)
{
	static const double zeros[] = { -0.0, -0.0 };
	struct ts_stats s;

	(void)state;
	s = FLAT(TSTRACE_F64, zeros);
	assert_false(signbit(s.min) || signbit(s.max) || signbit(s.mean));
	FLAT(TSTRACE_F64, ((double[]){ -0.0, 0.0, 2 }));
	s = FLAT(TSTRACE_F64, ((double[]){ -2.5 }));
	assert_true(s.std == 0 && s.rms == 2.5 && s.mean == -2.5);
	s = check_flat(TSTRACE_F64, NULL, 0);
	assert_true(s.rms == 0 && s.abs_max == 0 && s.mean == 0 && s.std == 0);
	/* A scalar has no dimension. */
	s = check(&(struct tstrace_data){ .data = &(double){ 7 }, .dtype = TSTRACE_F64 });
	assert_true(s.mean == 7);
	s = FLAT(TSTRACE_BOOL, ((uint8_t[]){ 0, 1, 2, 255 }));
	assert_true(s.mean == 0.75 && s.max == 1);
}

/* --- every code --- */

/* Each alone, so that no code hides another, and all at once. */
static void check_codes(enum tstrace_dtype dtype, const void *codes, uint64_t count)
{
	unsigned bytes = ts_element_bytes(dtype);

	for (uint64_t i = 0; i < count; i++) {
		const char *at = (const char *)codes + i * bytes;
		quad want = reference_value(at, dtype);
		double got = ts_decode((const unsigned char *)at, dtype).value;

		if (want != want ? got == got : got != want)
			fail_msg("%s code %llu is %g", ts_dtype_name(dtype), (unsigned long long)i,
				 got);
	}
	check_flat(dtype, codes, count);
}

static void test_every_code(void **state)
{
	static uint8_t bytes[256];
	static uint16_t words[65536];

	(void)state;
	for (unsigned i = 0; i < 65536; i++) {
		bytes[i % 256] = (uint8_t)i;
		words[i] = (uint16_t)i;
	}
	check_codes(TSTRACE_U8, bytes, 256);
	check_codes(TSTRACE_I8, bytes, 256);
	check_codes(TSTRACE_BOOL, bytes, 256);
	check_codes(TSTRACE_F8E4M3, bytes, 256);
	check_codes(TSTRACE_F8E5M2, bytes, 256);
	check_codes(TSTRACE_U16, words, 65536);
	check_codes(TSTRACE_I16, words, 65536);
	check_codes(TSTRACE_F16, words, 65536);
	check_codes(TSTRACE_BF16, words, 65536);
	/* What is known of the formats beside the formula. */
	assert_true(ts_decode((const unsigned char[]){ 0x7e }, TSTRACE_F8E4M3).value == 448);
	assert_true(ts_decode((const unsigned char[]){ 0x01 }, TSTRACE_F8E4M3).value == 0x1p-9);
	assert_true(ts_decode((const unsigned char[]){ 0x7b }, TSTRACE_F8E5M2).value == 57344);
	assert_true(ts_decode((const void *)&(uint16_t){ 0x7bff }, TSTRACE_F16).value == 65504);
	assert_true(ts_decode((const void *)&(uint16_t){ 0xc2f7 }, TSTRACE_BF16).value == -123.5);
}

/* --- shapes and strides --- */

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % limit;
}

/* Random bits in every type, dimensions 1 to 5, strides of every kind.  Indices stay in `data`. */
static void test_strides(void **state)
{
	static uint64_t data[8192];

	(void)state;
	for (int round = 0; round < 3000; round++) {
		enum tstrace_dtype dtype = (enum tstrace_dtype)random_below(TSTRACE_F64 + 1);
		uint64_t sizes[5], dims = 1 + random_below(5);
		int64_t strides[5], dense = 1;
		struct tstrace_data t = { .dtype = dtype, .shape = { sizes, dims } };

		for (size_t i = 0; i < 8192 && round % 100 == 0; i++)
			data[i] = random_below(1ull << 31) << 33 ^ random_below(1ull << 31);
		for (size_t d = dims; d-- > 0;) {
			sizes[d] = 1 + random_below(5);
			strides[d] = random_below(3) ? dense : (int64_t)random_below(300);
			if (random_below(4) == 0)
				strides[d] = random_below(2) ? 0 : -strides[d];
			dense *= (int64_t)sizes[d];
		}
		/* The same memory in another order of dimensions. */
		if (dims > 1 && random_below(2)) {
			uint64_t size = sizes[0];
			int64_t stride = strides[0];

			sizes[0] = sizes[1];
			strides[0] = strides[1];
			sizes[1] = size;
			strides[1] = stride;
		}
		t.data = &data[4096];
		t.strides = random_below(5) ? strides : NULL;
		check(&t);
	}
}

static struct ts_view view_of(struct tstrace_data t, uint64_t *repeat)
{
	uint64_t elements;
	struct ts_view view;

	assert_int_equal(ts_view_of(&t, &view, repeat, &elements), 0);
	return view;
}

/* A transposed, turned or repeated tensor is still one run of memory. */
static void test_views_are_simple(void **state)
{
	static float data[24];
	const uint64_t sizes[] = { 3, 1, 4, 2, 100 };
	const int64_t strides[] = { 1, 77, -6, 3, 0 };
	struct tstrace_data t = { data + 18, TSTRACE_F32, { sizes, 5 }, strides, false, NULL };
	uint64_t repeat;
	struct ts_view view = view_of(t, &repeat);

	(void)state;
	assert_int_equal(repeat, 100);
	assert_int_equal(view.dims, 1);
	assert_int_equal(view.count, 24);
	assert_int_equal(view.strides[0], 4);
	assert_ptr_equal(view.data, data);
	assert_int_equal(ts_view_bytes(&view), sizeof(data));
	/* 2^63 elements, in no time. */
	t = (struct tstrace_data){ data, TSTRACE_F32, { (const uint64_t[]){ 1ull << 63 }, 1 },
				   (const int64_t[]){ 0 }, false, NULL };
	check_flat(TSTRACE_F32, data, 1);
	view = view_of(t, &repeat);
	assert_int_equal(view.count, 1);
	assert_true(repeat == 1ull << 63);
}

static int view_error(enum tstrace_dtype dtype, size_t dims, const uint64_t *sizes,
		      const int64_t *strides)
{
	const struct tstrace_data t = { (const void *)4096, dtype, { sizes, dims }, strides, false,
					NULL };
	uint64_t repeat, elements;
	struct ts_view view;

	return ts_view_of(&t, &view, &repeat, &elements);
}

static void test_views_that_no_memory_has(void **state)
{
	static const uint64_t wide[] = { 1ull << 32, 1ull << 32 }, two[] = { 2 }, none[] = { 0 };
	static const uint64_t wide_and_none[] = { 1ull << 32, 1ull << 32, 0 };

	(void)state;
	assert_int_equal(view_error(TSTRACE_U8, 2, wide, (const int64_t[]){ 0, 0 }), -EOVERFLOW);
	assert_int_equal(view_error(TSTRACE_U8, 3, wide_and_none, NULL), 0);
	assert_int_equal(view_error(TSTRACE_F64, 1, wide, NULL), 0);
	assert_int_equal(view_error(TSTRACE_F64, 1, (const uint64_t[]){ 1ull << 61 }, NULL),
			 -EOVERFLOW);
	assert_int_equal(view_error(TSTRACE_F64, 1, two, (const int64_t[]){ INT64_MAX }),
			 -EOVERFLOW);
	assert_int_equal(view_error(TSTRACE_U8, 1, two, (const int64_t[]){ -4097 }), -EOVERFLOW);
	assert_int_equal(view_error(TSTRACE_U8, 1, two, (const int64_t[]){ -4096 }), 0);
	assert_int_equal(view_error((enum tstrace_dtype)99, 1, none, NULL), -EINVAL);
	assert_int_equal(view_error((enum tstrace_dtype)-1, 1, none, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_tiny),
		cmocka_unit_test(test_cancelling),
		cmocka_unit_test(test_wide_integers),
		cmocka_unit_test(test_not_finite),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_every_code),
		cmocka_unit_test(test_strides),
		cmocka_unit_test(test_views_are_simple),
		cmocka_unit_test(test_views_that_no_memory_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
