/* The names of errors against the toolkit's headers. */
#include "core/out/errors.h"

#include <cuda.h>
#include <driver_types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/* After the headers that it relies on. */
#include <cmocka.h>

static struct ts_str text(const char *value)
{
	return (struct ts_str){value, strlen(value)};
}

#if CUDA_VERSION >= 13000
static void test_numbers(void **state)
{
	(void)state;
#define TS_RUNTIME_ERROR(number, name)                                                             \
	assert_int_equal(number, name);                                                            \
	assert_string_equal(ts_error_name(text("cudaMalloc"), name), #name);
#define TS_DRIVER_ERROR(number, name)                                                              \
	assert_int_equal(number, name);                                                            \
	assert_string_equal(ts_error_name(text("cuMemAlloc_v2"), name), #name);
#include "core/out/errors.def"
}
#endif

static void test_texts(void **state)
{
	(void)state;
	assert_string_equal(ts_format_error(text("cudaMalloc"), 2).text,
			    "2 (out of memory, cudaErrorMemoryAllocation)");
	assert_string_equal(ts_format_error(text("cuMemAlloc_v2"), 2).text,
			    "2 (out of memory, CUDA_ERROR_OUT_OF_MEMORY)");
	assert_string_equal(ts_format_error(text("cudaMalloc"), 35).text,
			    "35 (no driver, cudaErrorInsufficientDriver)");
	assert_string_equal(ts_format_error(text("cuMemAlloc_v2"), 35).text, "35");
	assert_string_equal(ts_format_error(text("cudaMalloc"), 804).text,
			    "804 (cudaErrorCompatNotSupportedOnDevice)");
	assert_string_equal(ts_format_error(text(""), UINT64_MAX).text, "18446744073709551615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if CUDA_VERSION >= 13000
		cmocka_unit_test(test_numbers),
#endif
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
