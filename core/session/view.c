/* The elements of a strided tensor, and the passes over them in host memory; see stats.h. */
#include <errno.h>

#include "core/base.h"
#include "core/session/stats.h"

/* --- what lies where --- */

const char *ts_dtype_name(enum tstrace_dtype dtype)
{
	static const char *const names[] = {
	    [TSTRACE_U8] = "u8",	 [TSTRACE_I8] = "i8",	      [TSTRACE_U16] = "u16",
	    [TSTRACE_I16] = "i16",	 [TSTRACE_U32] = "u32",	      [TSTRACE_I32] = "i32",
	    [TSTRACE_U64] = "u64",	 [TSTRACE_I64] = "i64",	      [TSTRACE_BOOL] = "bool",
	    [TSTRACE_F8E4M3] = "f8e4m3", [TSTRACE_F8E5M2] = "f8e5m2", [TSTRACE_F16] = "f16",
	    [TSTRACE_BF16] = "bf16",	 [TSTRACE_F32] = "f32",	      [TSTRACE_F64] = "f64",
	};

	return (size_t)dtype < TS_ARRAY_SIZE(names) ? names[dtype] : NULL;
}

static int count_elements(struct tstrace_shape shape, uint64_t *elements)
{
	bool empty = false;

	*elements = 1;
	for (size_t i = 0; i < shape.count; i++)
		empty |= !shape.sizes[i];
	for (size_t i = 0; i < shape.count && !empty; i++)
		if (__builtin_mul_overflow(*elements, shape.sizes[i], elements))
			return -EOVERFLOW;
	if (empty)
		*elements = 0;
	return 0;
}

/* A dimension of a step in bytes, which may be negative.  The lowest address moves. */
static int add_dimension(struct ts_view *view, uintptr_t *lowest, uint64_t size, int64_t step,
			 uint64_t *repeat)
{
	uint64_t stride = step < 0 ? -(uint64_t)step : (uint64_t)step, length;
	uint32_t at = view->dims;

	if (size == 1)
		return 0;
	if (!step) {
		*repeat *= size;
		return 0;
	}
	if (__builtin_mul_overflow(size - 1, stride, &length))
		return -EOVERFLOW;
	if (step < 0 && __builtin_sub_overflow(*lowest, length, lowest))
		return -EOVERFLOW;
	for (; at && view->strides[at - 1] < stride; at--) {
		view->sizes[at] = view->sizes[at - 1];
		view->strides[at] = view->strides[at - 1];
	}
	view->sizes[at] = size;
	view->strides[at] = stride;
	view->count *= size;
	view->dims++;
	return 0;
}

static void join_dimensions(struct ts_view *view)
{
	uint32_t kept = 0;

	for (uint32_t i = 1; i < view->dims; i++) {
		uint64_t length;

		if (!__builtin_mul_overflow(view->sizes[i], view->strides[i], &length) &&
		    length == view->strides[kept]) {
			view->sizes[kept] *= view->sizes[i];
			view->strides[kept] = view->strides[i];
			continue;
		}
		kept++;
		view->sizes[kept] = view->sizes[i];
		view->strides[kept] = view->strides[i];
	}
	if (view->dims)
		view->dims = kept + 1;
}

static bool add_length(uint64_t *bytes, uint64_t size, uint64_t stride)
{
	uint64_t length;

	return !__builtin_mul_overflow(size - 1, stride, &length) &&
	       !__builtin_add_overflow(*bytes, length, bytes);
}

uint64_t ts_view_bytes(const struct ts_view *view)
{
	uint64_t bytes = ts_element_bytes(view->dtype);

	if (!view->count)
		return 0;
	for (uint32_t i = 0; i < view->dims; i++)
		if (!add_length(&bytes, view->sizes[i], view->strides[i]))
			return UINT64_MAX;
	return bytes;
}

int ts_view_of(const struct tstrace_data *tensor, struct ts_view *view, uint64_t *repeat,
	       uint64_t *elements)
{
	uintptr_t lowest = (uintptr_t)tensor->data, end;
	int64_t dense, step;
	uint64_t bytes;

	*repeat = 1;
	view->data = NULL;
	view->count = view->dims = 0;
	view->dtype = (uint32_t)tensor->dtype;
	if (!ts_dtype_name(tensor->dtype))
		return -EINVAL;
	if (count_elements(tensor->shape, elements))
		return -EOVERFLOW;
	if (!*elements)
		return 0;
	view->count = 1;
	dense = (int64_t)ts_element_bytes(view->dtype);
	for (size_t i = tensor->shape.count; i-- > 0;) {
		uint64_t size = tensor->shape.sizes[i];

		step = dense;
		if (tensor->strides &&
		    __builtin_mul_overflow(tensor->strides[i],
					   (int64_t)ts_element_bytes(view->dtype), &step) &&
		    size > 1)
			return -EOVERFLOW;
		if (add_dimension(view, &lowest, size, step, repeat) ||
		    (!tensor->strides && __builtin_mul_overflow(dense, size, &dense)))
			return -EOVERFLOW;
	}
	join_dimensions(view);
	bytes = ts_view_bytes(view);
	if (bytes == UINT64_MAX || __builtin_add_overflow(lowest, bytes, &end))
		return -EOVERFLOW;
	view->data = (const unsigned char *)lowest;
	return 0;
}

/* --- passes --- */

/* The innermost dimension is walked by its stride, the others counted like digits. */
static inline __attribute__((always_inline)) void walk(const struct ts_view *view, uint32_t dtype,
						       struct ts_range *range,
						       const struct ts_center *center,
						       struct ts_spread *spread)
{
	uint32_t outer = view->dims ? view->dims - 1 : 0, d;
	uint64_t size = view->dims ? view->sizes[outer] : 1, at[TS_VIEW_DIMS] = {0};
	uint64_t stride = view->dims ? view->strides[outer] : 0;
	const unsigned char *row = view->data;
	struct ts_range in_range = ts_range_none();
	struct ts_spread in_spread = {0};

	do {
		for (uint64_t i = 0; i < size; i++) {
			struct ts_number number = ts_decode(row + i * stride, dtype);

			if (range)
				ts_range_add(&in_range, number);
			else
				ts_spread_add(&in_spread, number, center);
		}
		for (d = outer; d > 0; d--) {
			row += view->strides[d - 1];
			if (++at[d - 1] < view->sizes[d - 1])
				break;
			row -= view->sizes[d - 1] * view->strides[d - 1];
			at[d - 1] = 0;
		}
	} while (d > 0);
	if (range)
		ts_range_merge(range, &in_range);
	else
		ts_spread_merge(spread, &in_spread);
}

/* The loop once for each type. */
#define EACH_DTYPE(WALK)                                                                           \
	WALK(TSTRACE_U8)                                                                           \
	WALK(TSTRACE_I8) WALK(TSTRACE_U16) WALK(TSTRACE_I16) WALK(TSTRACE_U32) WALK(TSTRACE_I32)   \
	    WALK(TSTRACE_U64) WALK(TSTRACE_I64) WALK(TSTRACE_BOOL) WALK(TSTRACE_F8E4M3)            \
		WALK(TSTRACE_F8E5M2) WALK(TSTRACE_F16) WALK(TSTRACE_BF16) WALK(TSTRACE_F32)        \
		    WALK(TSTRACE_F64)

void ts_view_range(const struct ts_view *view, struct ts_range *range)
{
	if (!view->count)
		return;
	switch (view->dtype) {
#define WALK(type)                                                                                 \
	case type:                                                                                 \
		walk(view, type, range, NULL, NULL);                                               \
		break;
		EACH_DTYPE(WALK)
#undef WALK
	}
}

void ts_view_spread(const struct ts_view *view, const struct ts_center *center,
		    struct ts_spread *spread)
{
	if (!view->count)
		return;
	switch (view->dtype) {
#define WALK(type)                                                                                 \
	case type:                                                                                 \
		walk(view, type, NULL, center, spread);                                            \
		break;
		EACH_DTYPE(WALK)
#undef WALK
	}
}

/* --- the end --- */

void ts_stats_finish(struct ts_stats *stats, const struct ts_range *range,
		     const struct ts_spread *spread)
{
	double unscale = 1 / ts_center_of(range).scale, largest = ts_range_abs_max(range);
	double rms = __builtin_sqrt(ts_spread_square(spread)) * unscale;
	double std = __builtin_sqrt(ts_spread_variance(spread)) * unscale;

	*stats = (struct ts_stats){
	    .finite = range->finite,
	    .nan = range->nan,
	    .inf = range->inf,
	    /* Rounding may have led past the largest, even to infinity. */
	    .rms = rms < largest ? rms : largest,
	    .abs_max = largest,
	    .mean = ts_range_mean(range),
	    .min = range->finite ? range->min : 0,
	    .max = range->finite ? range->max : 0,
	    .std = std < largest ? std : largest,
	};
}

void ts_stats_host(const struct ts_view *view, struct ts_stats *stats)
{
	struct ts_range range = ts_range_none();
	struct ts_spread spread = {0};
	struct ts_center center;

	ts_view_range(view, &range);
	center = ts_center_of(&range);
	ts_view_spread(view, &center, &spread);
	ts_stats_finish(stats, &range, &spread);
}
