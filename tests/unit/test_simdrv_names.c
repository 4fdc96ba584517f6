/* The simulated driver: every function of the installed cuda.h exists, and stands a call with
 * nothing but zeros; what is not simulated is refused with 801 and, on request, named on stderr. */
#include "simdrv.h"
#include <ctype.h>
#include <stdbool.h>

#ifndef CUDA_H
#error "CUDA_H: the path of cuda.h"
#endif

typedef CUresult any_fn(long, long, long, long, long, long, long, long, long, long, long, long,
			long, long, long, long, long, long);

static char *text; /* of cuda.h */
static int log_fd;
static char log_path[] = "/tmp/tstrace-names.XXXXXX";

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "r");
	if (!file)
		fail_msg("%s cannot be read", path);
	fseek(file, 0, SEEK_END);
	long n = ftell(file);
	char *all = calloc(1, (size_t)n + 1);
	rewind(file);
	assert_int_equal(fread(all, 1, (size_t)n, file), n);
	fclose(file);
	return all;
}

static size_t word(const char *p)
{
	size_t n = 0;
	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return n;
}

/* A function of the header's own is none of the driver. */
static int is_inline(const char *name)
{
	char definition[160];
	snprintf(definition, sizeof definition, "static inline CUresult %s(", name);
	return strstr(text, definition) != NULL;
}

/* The name at `p`, with a suffix.  1: it was a function of the driver. */
static unsigned one_name(const char *p, const char *suffix, void (*visit)(const char *name))
{
	char name[128];
	if (strncmp(p, "cu", 2) || !isupper((unsigned char)p[2]) || word(p) > 100)
		return 0;
	snprintf(name, sizeof name, "%.*s%s", (int)word(p), p, suffix);
	if (is_inline(name))
		return 0;
	visit(name);
	return 1;
}

/* Calls visit() for each name of a prototype, and for what the header's macros make of a name:
 * another version, or the per-thread form. */
static unsigned each_name(void (*visit)(const char *name))
{
	static const char prototype[] = "CUDAAPI ", macro[] = "#define cu",
			  ptds[] = "__CUDA_API_PTDS(", ptsz[] = "__CUDA_API_PTSZ(";
	unsigned n = 0;
	for (const char *p = text; (p = strstr(p, prototype));) {
		p += strlen(prototype);
		n += one_name(p, "", visit);
	}
	for (const char *p = text; (p = strstr(p, macro));) {
		p += strlen(macro);
		p += word(p);
		p += strspn(p, " \t");
		bool threads = !strncmp(p, ptds, strlen(ptds)) || !strncmp(p, ptsz, strlen(ptsz));
		if (threads)
			n += one_name(p + strlen(ptds), p[13] == 'D' ? "_ptds" : "_ptsz", visit);
		else
			n += one_name(p, "", visit);
	}
	return n;
}

static void exists(const char *name)
{
	if (!dlsym(drv_lib, name))
		fail_msg("%s does not exist", name);
}

static void names_exist(void **state)
{
	(void)state;
	assert_true(each_name(exists) > 500);
}

static unsigned refused;

static CUresult call(const char *name)
{
	any_fn *fn;
	*(void **)&fn = dlsym(drv_lib, name);
	/* The driver's words go to a file, the test's own where they always go. */
	int own = dup(2);
	dup2(log_fd, 2);
	CUresult result = fn(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	dup2(own, 2);
	close(own);
	return result;
}

static void call_with_context(const char *name)
{
	const char *known;
	if (strcmp(name, "cuGetErrorString"))
		drv_context();
	CUresult result = call(name);
	refused += result == CUDA_ERROR_NOT_SUPPORTED;
	if (D(cuGetErrorName)(result, &known))
		fail_msg("%s: %d is no result", name, (int)result);
}

static void call_without_context(const char *name)
{
	const char *known;
	OK(D(cuInit)(0));
	OK(D(cuCtxSetCurrent)(NULL));
	CUresult result = call(name);
	if (D(cuGetErrorName)(result, &known))
		fail_msg("%s: %d is no result", name, (int)result);
}

static void zeros_are_no_harm(void **state)
{
	(void)state;
	each_name(call_without_context);
	each_name(call_with_context);
	assert_true(refused > 50); /* else the next test tests nothing */
}

static void refusals_are_logged(void **state)
{
	(void)state;
	static const char *const names[] = {"cuTexRefCreate", "cuMulticastCreate",
					    "cuCheckpointProcessLock",
					    "cuGraphicsMapResources_ptsz"};
	char *log = read_all(log_path);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char line[128];
		assert_int_equal(call(names[i]), CUDA_ERROR_NOT_SUPPORTED);
		snprintf(line, sizeof line, "UNSUPPORTED %s\n", names[i]);
		if (!strstr(log, line))
			fail_msg("%s is not in the log", names[i]);
	}
	assert_null(strstr(log, "UNSUPPORTED cuMemAlloc_v2\n"));
	free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_exist),
	    cmocka_unit_test(zeros_are_no_harm),
	    cmocka_unit_test(refusals_are_logged),
	};
	setenv("TSTRACE_SIM_LOG_UNSUPPORTED", "1", 1);
	drv_open();
	text = read_all(CUDA_H);
	log_fd = mkstemp(log_path);
	if (log_fd < 0)
		return 1;
	int status = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(log_path);
	return status;
}
