/* Statistics of a tensor's elements, one source for the host's compiler and for nvcc.
 *
 * Two passes.  The first counts, and finds the extremes and the sum; the second, which knows the
 * mean and how large the elements are, sums squares: scaled by a power of two, so that none
 * overflows or vanishes, and about the mean, so that a deviation is not what two large sums leave.
 * Each pass has an accumulator to which elements are added and which can be merged with others.
 * Sums carry what their roundings lost. */
#ifndef TSTRACE_CORE_SESSION_REDUCE_H
#define TSTRACE_CORE_SESSION_REDUCE_H

#include <float.h>
#include <string.h>

#include "core/tstrace.h"

#ifdef __FAST_MATH__
#error "-ffast-math takes away what the sums carry"
#endif

#ifdef __CUDACC__
#define TS_BOTH __host__ __device__ static inline
#else
#define TS_BOTH static inline __attribute__((always_inline))
#endif

/* On the device a load must be aligned, and is slow unless the compiler knows that it is. */
#ifdef __CUDA_ARCH__
#define TS_LOAD(value, address) ((value) = *(const __typeof__(value) *)(address))
#else
#define TS_LOAD(value, address) memcpy(&(value), address, sizeof(value))
#endif

/* 2^64 elements have no more dimensions of two and more. */
#define TS_VIEW_DIMS 63

/* The elements that lie in memory, each once: dimensions from the longest stride to the shortest.
 */
struct ts_view {
	const unsigned char *data; /* the lowest address */
	uint64_t count;		   /* of elements in memory */
	uint32_t dtype, dims;
	uint64_t sizes[TS_VIEW_DIMS], strides[TS_VIEW_DIMS]; /* strides in bytes */
};

struct ts_sum {
	double high, low;
};

struct ts_range {
	uint64_t finite, nan, inf;
	double min, max;	    /* of the finite ones; DBL_MAX, -DBL_MAX when there is none */
	struct ts_sum small, large; /* large: of those from TS_LARGE on, times TS_LARGE_SCALE */
};

/* What the second pass must know. */
struct ts_center {
	double scale; /* a power of two: the elements times it are about 1 at most */
	double mean;  /* of the scaled ones, about */
};

struct ts_spread {
	uint64_t count;
	struct ts_sum squares;	  /* of scaled elements */
	struct ts_sum deviations; /* of their squared distances from the mean */
	struct ts_sum offset;	  /* of their distances */
};

/* 2^64 elements below it have a finite sum; those above, scaled, too. */
#define TS_LARGE 0x1p900
#define TS_LARGE_SCALE 0x1p-200

TS_BOTH double ts_abs(double x)
{
	return x < 0 ? -x : x;
}

TS_BOTH double ts_from_bits(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* 2^e, of normal numbers. */
TS_BOTH double ts_power(int e)
{
	return ts_from_bits((uint64_t)(e + 1023) << 52);
}

/* --- elements --- */

/* A small format of IEEE 754's kind.  no_inf: its highest exponent is one as any other, save for
 * the mantissa of ones, which is NaN. */
TS_BOTH double ts_small_float(uint32_t bits, int exponent_bits, int mantissa_bits, bool no_inf)
{
	uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
	uint32_t ones = (1u << exponent_bits) - 1;
	uint32_t exponent = bits >> mantissa_bits & ones;
	uint64_t sign = (uint64_t)(bits >> (mantissa_bits + exponent_bits) & 1) << 63;
	int bias = (1 << (exponent_bits - 1)) - 1;
	double subnormal;

	if (exponent == ones && (!no_inf || mantissa == (1u << mantissa_bits) - 1))
		return ts_from_bits(sign | 0x7ffull << 52 |
				    (uint64_t)mantissa << (52 - mantissa_bits));
	if (exponent)
		return ts_from_bits(sign | (uint64_t)((int)exponent - bias + 1023) << 52 |
				    (uint64_t)mantissa << (52 - mantissa_bits));
	subnormal = mantissa * ts_power(1 - bias - mantissa_bits);
	return sign ? -subnormal : subnormal;
}

TS_BOTH unsigned ts_element_bytes(uint32_t dtype)
{
	switch (dtype) {
	case TSTRACE_U16:
	case TSTRACE_I16:
	case TSTRACE_F16:
	case TSTRACE_BF16:
		return 2;
	case TSTRACE_U32:
	case TSTRACE_I32:
	case TSTRACE_F32:
		return 4;
	case TSTRACE_U64:
	case TSTRACE_I64:
	case TSTRACE_F64:
		return 8;
	default:
		return 1;
	}
}

/* The bits of an element, in the low end. */
TS_BOTH uint64_t ts_element_bits(const unsigned char *at, uint32_t dtype)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	switch (ts_element_bytes(dtype)) {
	case 1:
		return *at;
	case 2:
		TS_LOAD(two, at);
		return two;
	case 4:
		TS_LOAD(four, at);
		return four;
	default:
		TS_LOAD(eight, at);
		return eight;
	}
}

TS_BOTH double ts_float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* An element: value + rest, exactly.  A 64-bit integer has a rest when no double is equal to it. */
struct ts_number {
	double value, rest;
};

TS_BOTH struct ts_number ts_number_of(double upper, uint64_t lower)
{
	struct ts_number number;

	upper *= 0x1p32;
	number.value = upper + (double)lower;
	number.rest = (double)lower - (number.value - upper);
	return number;
}

TS_BOTH double ts_decode_exact(uint64_t bits, uint32_t dtype)
{
	switch (dtype) {
	case TSTRACE_I8:
		return (int8_t)bits;
	case TSTRACE_I16:
		return (int16_t)bits;
	case TSTRACE_I32:
		return (int32_t)bits;
	case TSTRACE_BOOL:
		return bits != 0;
	case TSTRACE_F8E4M3:
		return ts_small_float((uint32_t)bits, 4, 3, true);
	case TSTRACE_F8E5M2:
		return ts_small_float((uint32_t)bits, 5, 2, false);
	case TSTRACE_F16:
		return ts_small_float((uint32_t)bits, 5, 10, false);
	case TSTRACE_BF16:
		return ts_float_of((uint32_t)bits << 16);
	case TSTRACE_F32:
		return ts_float_of((uint32_t)bits);
	case TSTRACE_F64:
		return ts_from_bits(bits);
	default: /* unsigned */
		return (double)bits;
	}
}

TS_BOTH struct ts_number ts_decode(const unsigned char *at, uint32_t dtype)
{
	uint64_t bits = ts_element_bits(at, dtype);
	struct ts_number number;

	if (dtype == TSTRACE_U64)
		return ts_number_of((double)(bits >> 32), bits & UINT32_MAX);
	if (dtype == TSTRACE_I64)
		return ts_number_of((double)(int32_t)(bits >> 32), bits & UINT32_MAX);
	number.value = ts_decode_exact(bits, dtype);
	number.rest = 0;
	return number;
}

/* --- sums --- */

/* What high + x loses by rounding is exact, and goes to low. */
TS_BOTH void ts_sum_add(struct ts_sum *sum, double x)
{
	double total = sum->high + x, added = total - sum->high;

	sum->low += (sum->high - (total - added)) + (x - added);
	sum->high = total;
}

TS_BOTH void ts_sum_merge(struct ts_sum *sum, const struct ts_sum *other)
{
	ts_sum_add(sum, other->high);
	sum->low += other->low;
}

/* --- first pass --- */

TS_BOTH struct ts_range ts_range_none(void)
{
	struct ts_range range;

	memset(&range, 0, sizeof(range));
	range.min = DBL_MAX;
	range.max = -DBL_MAX;
	return range;
}

TS_BOTH void ts_range_add(struct ts_range *range, struct ts_number number)
{
	double x = number.value + 0.0; /* no negative zero */

	if (!(ts_abs(x) <= DBL_MAX)) {
		range->nan += x != x;
		range->inf += x == x;
		return;
	}
	range->finite++;
	range->min = x < range->min ? x : range->min;
	range->max = x > range->max ? x : range->max;
	range->small.low += number.rest;
	if (ts_abs(x) < TS_LARGE)
		ts_sum_add(&range->small, x);
	else
		ts_sum_add(&range->large, x * TS_LARGE_SCALE);
}

TS_BOTH void ts_range_merge(struct ts_range *range, const struct ts_range *other)
{
	range->finite += other->finite;
	range->nan += other->nan;
	range->inf += other->inf;
	range->min = other->min < range->min ? other->min : range->min;
	range->max = other->max > range->max ? other->max : range->max;
	ts_sum_merge(&range->small, &other->small);
	ts_sum_merge(&range->large, &other->large);
}

TS_BOTH double ts_range_abs_max(const struct ts_range *range)
{
	double low = ts_abs(range->min), high = ts_abs(range->max);

	return !range->finite ? 0 : low > high ? low : high;
}

/* Of the finite elements. */
TS_BOTH double ts_range_mean(const struct ts_range *range)
{
	double n = (double)range->finite, large = range->large.high + range->large.low, mean;
	struct ts_sum sum = range->small;

	if (!range->finite)
		return 0;
	if (ts_abs(large) < TS_LARGE * TS_LARGE_SCALE) {
		/* It may be what is left of elements that cancel each other: as exact as the
		 * rest. */
		ts_sum_add(&sum, range->large.high / TS_LARGE_SCALE);
		ts_sum_add(&sum, range->large.low / TS_LARGE_SCALE);
		mean = (sum.high + sum.low) / n;
	} else {
		mean = large / n / TS_LARGE_SCALE + (sum.high + sum.low) / n;
	}
	/* Rounding may have led past them, even to infinity. */
	mean = mean < range->min ? range->min : mean;
	return mean > range->max ? range->max : mean;
}

/* --- second pass --- */

TS_BOTH struct ts_center ts_center_of(const struct ts_range *range)
{
	double largest = ts_range_abs_max(range);
	struct ts_center center;
	uint64_t bits;
	int e;

	memcpy(&bits, &largest, sizeof(bits));
	e = 1023 - (int)(bits >> 52 & 0x7ff);
	/* The scale and its inverse are normal numbers, and the squares too. */
	center.scale = ts_power(e > 1000 ? 1000 : e < -1000 ? -1000 : e);
	center.mean = ts_range_mean(range) * center.scale;
	return center;
}

TS_BOTH struct ts_spread ts_spread_none(void)
{
	struct ts_spread spread;

	memset(&spread, 0, sizeof(spread));
	return spread;
}

TS_BOTH void ts_spread_add(struct ts_spread *spread, struct ts_number number,
			   const struct ts_center *center)
{
	double scaled = number.value * center->scale, distance = scaled - center->mean;

	if (!(ts_abs(number.value) <= DBL_MAX))
		return;
	distance += number.rest * center->scale;
	spread->count++;
	ts_sum_add(&spread->squares, scaled * scaled);
	ts_sum_add(&spread->offset, distance);
	ts_sum_add(&spread->deviations, distance * distance);
}

TS_BOTH void ts_spread_merge(struct ts_spread *spread, const struct ts_spread *other)
{
	spread->count += other->count;
	ts_sum_merge(&spread->squares, &other->squares);
	ts_sum_merge(&spread->offset, &other->offset);
	ts_sum_merge(&spread->deviations, &other->deviations);
}

/* Mean of the squares, and variance: scaled. */
TS_BOTH double ts_spread_square(const struct ts_spread *spread)
{
	return !spread->count
		   ? 0
		   : (spread->squares.high + spread->squares.low) / (double)spread->count;
}

TS_BOTH double ts_spread_variance(const struct ts_spread *spread)
{
	double n = (double)spread->count, offset, variance;

	if (!spread->count)
		return 0;
	/* The mean was rounded: what it is off by. */
	offset = (spread->offset.high + spread->offset.low) / n;
	variance = (spread->deviations.high + spread->deviations.low) / n - offset * offset;
	return variance > 0 ? variance : 0;
}

#endif
