#include "tests/unit/record_test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "core/trace/health.h"

char said[8192];
static char folder[64];

/* Leaks cannot be looked for in the child of a process that had threads, and threads are begun
 * there.  The sanitizers look these up: they must be seen. */
TS_EXPORT const char *__asan_default_options(void);
TS_EXPORT const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

const char *__tsan_default_options(void)
{
	return "report_thread_leaks=0:die_after_fork=0";
}

const char *test_path(const char *name)
{
	static char path[16][256];
	static unsigned turn;
	char *result = path[turn++ % 16];

	if (!folder[0]) {
		strcpy(folder, "/tmp/tstrace-unit.XXXXXX");
		assert_non_null(mkdtemp(folder));
	}
	snprintf(result, sizeof(path[0]), "%s/%s", folder, name);
	return result;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

int record_test_clean(void **state)
{
	(void)state;
	if (folder[0])
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	folder[0] = '\0';
	return 0;
}

/* Rounds of 5 ms: a minute, as every core may be busy. */
#define PATIENCE 12000

static int wait_for_end(pid_t child)
{
	int status;

	for (int i = 0; i < PATIENCE; i++) {
		if (waitpid(child, &status, WNOHANG) == child)
			return status;
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	fail_msg("the child did not end");
	return -1;
}

int run_session(void (*scenario)(void), const char *trace, ...)
{
	const char *log = test_path("stderr"), *setting;
	va_list settings;
	pid_t child;
	int fd, status;
	ssize_t got;

	fflush(NULL);
	child = fork();
	if (!child) {
		fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		dup2(fd, STDERR_FILENO);
		close(fd);
		setenv("TSTRACE_OUTPUT", trace, 1);
		va_start(settings, trace);
		while ((setting = va_arg(settings, const char *)))
			putenv((char *)(uintptr_t)setting);
		va_end(settings);
		scenario();
		exit(0);
	}
	assert_true(child > 0);
	status = wait_for_end(child);
	fd = open(log, O_RDONLY);
	got = fd >= 0 ? read(fd, said, sizeof(said) - 1) : 0;
	said[got > 0 ? got : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return status;
}

json_t *trace_lines(const char *path)
{
	FILE *file = fopen(path, "r");
	json_t *lines = json_array();
	size_t size = 0, number = 0;
	char *line = NULL;
	json_error_t error;
	ssize_t length;

	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	while ((length = getline(&line, &size, file)) > 0) {
		json_t *event = json_loadb(line, (size_t)length, JSON_REJECT_DUPLICATES, &error);

		number++;
		if (line[length - 1] != '\n' || !json_is_object(event))
			fail_msg("%s:%zu: %s: %.200s", path, number, error.text, line);
		json_array_append_new(lines, event);
	}
	free(line);
	fclose(file);
	return lines;
}

void expect_valid(const char *path)
{
	struct ts_health health;

	assert_int_equal(ts_health_check(path, false, &health), 0);
	for (size_t i = 0; i < health.kept; i++)
		if (health.issues[i].is_error)
			fail_msg("%s:%lu: %s: %s", path, (unsigned long)health.issues[i].line,
				 health.issues[i].code, health.issues[i].text);
	assert_true(health.valid);
	ts_health_free(&health);
}

json_t *valid_trace(const char *path)
{
	expect_valid(path);
	return trace_lines(path);
}

json_t *trace_of(void (*scenario)(void), const char *name)
{
	const char *path = test_path(name);

	if (run_session(scenario, path, PATIENT, NULL))
		fail_msg("%s", said);
	return valid_trace(path);
}

json_t *event_at(json_t *lines, const char *kind, size_t n)
{
	json_t *event;
	size_t i;

	json_array_foreach(lines, i,
			   event) if (!strcmp(text_of(event, "kind"), kind) && !n--) return event;
	return NULL;
}

size_t event_count(json_t *lines, const char *kind)
{
	size_t count = 0, i;
	json_t *event;

	json_array_foreach(lines, i, event) count += !strcmp(text_of(event, "kind"), kind);
	return count;
}

const char *text_of(json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text ? text : "";
}

json_int_t number_of(json_t *event, const char *key)
{
	json_t *value = json_object_get(event, key);

	return json_is_integer(value) ? json_integer_value(value) : -1;
}

void put_alloc(uint64_t address, uint64_t bytes, int error, uint32_t stack)
{
	struct ts_ring *ring = ts_enter();
	struct ts_rec_alloc *rec = ring ? ts_reserve(ring, 1) : NULL;

	if (rec) {
		*rec = (struct ts_rec_alloc){
		    .h = {.kind = TS_REC_ALLOC, .slots = 1, .span = ts_self.span, .stack = stack},
		    .address = address,
		    .bytes = bytes,
		    .error = error};
		rec->h.t = ts_stamp(ring);
		ts_commit(ring, 1);
	}
	ts_leave();
}

static void put_some_free(enum ts_rec_kind kind, uint64_t address, int error, uint32_t stack)
{
	struct ts_ring *ring = ts_enter();
	struct ts_rec_free *rec = ring ? ts_reserve(ring, 1) : NULL;

	if (rec) {
		*rec = (struct ts_rec_free){
		    .h = {.kind = (uint8_t)kind, .slots = 1, .span = ts_self.span, .stack = stack},
		    .address = address,
		    .error = error};
		rec->h.t = ts_stamp(ring);
		ts_commit(ring, 1);
	}
	ts_leave();
}

void put_free(uint64_t address, uint32_t stack)
{
	put_some_free(TS_REC_FREE, address, 0, stack);
}

void put_free_failed(uint64_t address, int error, uint32_t stack)
{
	put_some_free(TS_REC_FREE_FAILED, address, error, stack);
}

void put_launch(const char *name, uint32_t correlation)
{
	struct ts_ring *ring = ts_enter();
	uint64_t begin = ts_clock_now();
	struct ts_rec_op *rec = ring ? ts_reserve(ring, 2) : NULL;

	if (rec) {
		*rec = (struct ts_rec_op){
		    .h = {.kind = TS_REC_OP, .slots = 2, .span = ts_self.span, .t = begin},
		    .t_end = ts_clock_now(),
		    .name = ts_arena_text(name),
		    .correlation = correlation,
		    .grid = {1, 2, 3},
		    .block = {32, 1, 1}};
		ts_commit(ring, 2);
	}
	ts_leave();
}
