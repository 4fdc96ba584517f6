/* The file: its name, what is there already, a full disk, a closed descriptor, compression, the
 * locale. */
#include "tests/unit/record_test.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "core/record/output.h"
#include "core/trace/health.h"
#include "core/tstrace.h"

static void one_launch(void)
{
	put_launch("kernel", 0);
}

static bool exists(const char *path)
{
	struct stat status;

	return !stat(path, &status);
}

/* --- the template --- */

static void test_template(void **state)
{
	char path[TS_PATH_MAX], expected[512], host[128] = "", long_one[5000];

	(void)state;
	gethostname(host, sizeof(host) - 1);
	assert_int_equal(ts_output_expand("/a/%e.%p.%h.%%", "/cwd", path), 0);
	snprintf(expected, sizeof(expected), "/a/%s.%d.%s.%%", ts_output_program(), (int)getpid(),
		 host);
	assert_string_equal(path, expected);
	assert_int_equal(ts_output_expand("x.jsonl", "/cwd", path), 0);
	assert_string_equal(path, "/cwd/x.jsonl");
	assert_int_equal(ts_output_expand("", "/cwd", path), -EINVAL);
	memset(long_one, 'x', sizeof(long_one) - 1);
	long_one[sizeof(long_one) - 1] = '\0';
	assert_int_equal(ts_output_expand(long_one, "/cwd", path), -ENAMETOOLONG);
}

static void test_unknown_token_is_kept(void **state)
{
	const char *path = test_path("what%q.jsonl");

	(void)state;
	assert_int_equal(run_session(one_launch, path, NULL), 0);
	assert_non_null(strstr(said, "%q is not known"));
	json_decref(valid_trace(path));
}

static void test_rank_and_missing_folders(void **state)
{
	const char *template = test_path("new/folder/%r.jsonl"),
		   *path = test_path("new/folder/17.jsonl");
	json_t *lines;

	(void)state;
	assert_int_equal(run_session(one_launch, template, "OMPI_COMM_WORLD_RANK=17", NULL), 0);
	lines = valid_trace(path);
	assert_string_equal(text_of(event_at(lines, "meta", 0), "rank"), "17");
	json_decref(lines);
}

static void test_an_existing_file_is_never_overwritten(void **state)
{
	const char *path = test_path("same.jsonl"), *second = test_path("same.1.jsonl"),
		   *third = test_path("same.2.jsonl");
	FILE *file = fopen(path, "w");
	char text[16] = "";

	(void)state;
	fputs("precious", file);
	fclose(file);
	assert_int_equal(run_session(one_launch, path, NULL), 0);
	assert_int_equal(run_session(one_launch, path, NULL), 0);
	file = fopen(path, "r");
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, "precious");
	json_decref(valid_trace(second));
	json_decref(valid_trace(third));
}

/* --- places where nothing can be written (field case 5.08) --- */

static void test_unwritable_places(void **state)
{
	static const char *const places[] = { "/proc/nowhere/x.jsonl", "/", "", "/dev/null/x" };

	(void)state;
	for (size_t i = 0; i < TS_ARRAY_SIZE(places); i++) {
		assert_int_equal(run_session(one_launch, places[i], NULL), 0);
		assert_non_null(strstr(said, "nothing is recorded"));
		assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);  /* one line */
	}
}

static void test_bad_variables(void **state)
{
	const char *path = test_path("variables.jsonl");

	(void)state;
	assert_int_equal(run_session(one_launch, path, "TSTRACE_STACKS=many", "TSTRACE_OUTPT=x",
				     "TSTRACE_TAGS=a=1,b", "TSTRACE_CAPTURE_STEP=3",
				     "TSTRACE_WARMUP_STEPS=3", NULL),
			 0);
	assert_non_null(strstr(said, "TSTRACE_STACKS=many"));
	assert_non_null(strstr(said, "did you mean TSTRACE_OUTPUT?"));
	assert_non_null(strstr(said, "TSTRACE_TAGS"));
	assert_non_null(strstr(said, "TSTRACE_WARMUP_STEPS"));
	json_decref(valid_trace(path));
}

/* --- a full disk --- */

static void many_launches(void)
{
	for (int i = 0; i < 20000; i++)
		put_launch("kernel", 0);
	put_alloc(4096, 1, 0, 0);
}

static void test_dev_full(void **state)
{
	(void)state;
	assert_int_equal(run_session(many_launches, "/dev/full", NULL), 0);
	assert_non_null(strstr(said, "No space left on device"));
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

/* A limit on the size of files fails like a full disk: a short write, then an error. */
static void with_a_limit(void)
{
	const struct rlimit limit = { 300000, RLIM_INFINITY };

	setrlimit(RLIMIT_FSIZE, &limit);
	many_launches();
	assert_int_equal(tstrace_flush(NULL), -EFBIG);
}

static void test_full_disk(void **state)
{
	const char *path = test_path("limit.jsonl");
	json_t *lines, *terminal;

	(void)state;
	/* Written by size, not by time: the first write fits, the second does not. */
	assert_int_equal(run_session(with_a_limit, path, PATIENT, "TSTRACE_FLUSH_MS=60000", NULL),
			 0);
	assert_non_null(strstr(said, "could not be written: File too large"));
	/* The torn line was cut off, which left room for the end. */
	lines = valid_trace(path);
	assert_true(event_count(lines, "op") > 500);
	terminal = event_at(lines, "terminal", 0);
	assert_string_equal(text_of(terminal, "outcome"), "failed");
	assert_non_null(strstr(text_of(terminal, "reason"), "File too large"));
	assert_true(number_of(json_object_get(terminal, "lost"), "write_error") > 10000);
	json_decref(lines);
}

/* --- the program's descriptors --- */

static void like_a_daemon(void)
{
	int fd;

	put_launch("before", 0);
	tstrace_flush(NULL);
	fd = dup(0);
	assert_true(fd >= 0 && fd < 64);        /* ours does not take a low number */
	close(fd);
	for (fd = 3; fd < 2000; fd++)
		close(fd);
	/* A file of the program's own under the number that was the trace's. */
	assert_int_equal(dup2(open(test_path("own"), O_WRONLY | O_CREAT, 0600), 512), 512);
	put_launch("after", 0);
}

static void test_closed_descriptor(void **state)
{
	const char *path = test_path("daemon.jsonl");
	json_t *lines;
	struct stat status;

	(void)state;
	test_path("own");
	assert_int_equal(run_session(like_a_daemon, path, NULL), 0);
	lines = valid_trace(path);
	assert_int_equal(event_count(lines, "op"), 2);
	assert_int_equal(stat(test_path("own"), &status), 0);
	assert_int_equal(status.st_size, 0);
	json_decref(lines);
}

/* --- names (field cases 5.01, 5.02, 5.10) --- */

static const char *const names[] = {
	"k<'\"'>",
	"operator\"\" _kg",
	"a\\b",
	"{\"d\":1}",
	"trailing\\",
	"\x01\x02\x1f\x7f",
	"caf\xc3\xa9 \xe2\x80\xa8",
	"\xff",
	"cut \xe2\x82",
	"\xed\xa0\x80",
	"\xf4\x90\x80\x80",
	"",
};

static void odd_names(void)
{
	setlocale(LC_ALL, "");
	for (size_t i = 0; i < TS_ARRAY_SIZE(names); i++)
		tstrace_end_span(NULL, tstrace_begin_span(NULL, names[i], TSTRACE_OP));
}

static void test_names(void **state)
{
	const char *path = test_path("names.jsonl");
	json_t *lines;

	(void)state;
	assert_int_equal(run_session(odd_names, path, NULL), 0);
	lines = valid_trace(path);
	for (size_t i = 0; i < TS_ARRAY_SIZE(names); i++) {
		json_t *span = event_at(lines, "span_start", i + 1);
		const char *hex = text_of(span, "name_hex");

		if (*hex) {
			char expected[64] = "";

			for (const char *p = names[i]; *p; p++)
				sprintf(expected + strlen(expected), "%02x", (unsigned char)*p);
			assert_string_equal(hex, expected);
		} else {
			assert_string_equal(text_of(span, "name"), names[i]);
		}
	}
	assert_string_equal(text_of(event_at(lines, "span_start", 8), "name"), "\xef\xbf\xbd");
	json_decref(lines);
}

#define HUGE_NAME (64u << 10)

static void huge_names(void)
{
	static char name[HUGE_NAME + 2];

	memset(name, 'x', HUGE_NAME);
	for (int i = 0; i < 1000; i++) {
		name[HUGE_NAME] = (char)('a' + i % 2);
		put_launch(name, 0);
	}
}

static void test_huge_names_are_written_once(void **state)
{
	const char *path = test_path("huge.jsonl");
	json_t *lines, *first, *second;
	struct stat status;

	(void)state;
	assert_int_equal(run_session(huge_names, path, NULL), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_true(status.st_size < 2 * HUGE_NAME + 1000 * 700);
	lines = valid_trace(path);
	first = event_at(lines, "op", 0);
	second = event_at(lines, "op", 1);
	assert_int_equal(strlen(text_of(first, "full_name")), HUGE_NAME + 1);
	assert_string_not_equal(text_of(first, "op_name"), text_of(second, "op_name"));
	assert_string_equal(text_of(first, "op_name"),
			    text_of(event_at(lines, "op", 998), "op_name"));
	json_decref(lines);
}

/* --- compression --- */

static void test_compressed(void **state)
{
	const char *path = test_path("zstd.jsonl"), *made = test_path("zstd.jsonl.zst");
	struct ts_health health;
	struct stat status;

	(void)state;
	assert_int_equal(run_session(many_launches, path, "TSTRACE_COMPRESS=zstd", NULL), 0);
	if (*said) {
		assert_non_null(strstr(said, "written plain"));
		json_decref(valid_trace(path));
		skip();
	}
	assert_false(exists(path));
	assert_int_equal(stat(made, &status), 0);
	assert_true(status.st_size < 20000 * 25);
	assert_int_equal(ts_health_check(made, false, &health), 0);
	assert_true(health.valid && health.complete);
	assert_int_equal(health.events[TS_TABLE_op], 20000);
	ts_health_free(&health);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_template),
		cmocka_unit_test(test_unknown_token_is_kept),
		cmocka_unit_test(test_rank_and_missing_folders),
		cmocka_unit_test(test_an_existing_file_is_never_overwritten),
		cmocka_unit_test(test_unwritable_places),
		cmocka_unit_test(test_bad_variables),
		cmocka_unit_test(test_dev_full),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_closed_descriptor),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_huge_names_are_written_once),
		cmocka_unit_test(test_compressed),
	};

	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
