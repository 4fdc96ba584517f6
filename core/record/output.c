#include "core/record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "core/record/compress.h"
#include "core/record/record.h"

/* The program's own descriptors keep the numbers they would have without us. */
#define LOWEST_FD 512

static int fd = -1;
static int error;
static off_t good;      /* length of the file that ends with a whole line */

const char *ts_output_rank(void)
{
	static const char *const names[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
					     "MV2_COMM_WORLD_RANK", "SLURM_PROCID", "JAX_PROCESS_ID" };

	for (size_t i = 0; i < TS_ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return value;
	}
	return NULL;
}

const char *ts_output_program(void)
{
	static char program[256];
	char exe[TS_PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	const char *slash;

	exe[length > 0 ? length : 0] = '\0';
	slash = strrchr(exe, '/');
	snprintf(program, sizeof(program), "%.250s", slash ? slash + 1 : "program");
	return program;
}

static const char *expand_token(char token, char *text, size_t size)
{
	const char *rank;

	switch (token) {
	case 'p':
		snprintf(text, size, "%d", (int)getpid());
		return text;
	case 'h':
		if (gethostname(text, size))
			return "host";
		text[size - 1] = '\0';
		return text;
	case 'e':
		return ts_output_program();
	case 'r':
		rank = ts_output_rank();
		return rank ? rank : "0";
	case 't':
		snprintf(text, size, "%ld", (long)time(NULL));
		return text;
	case '%':
		return "%";
	default:
		return NULL;
	}
}

int ts_output_expand(const char *template, const char *cwd, char path[TS_PATH_MAX])
{
	size_t used = 0;
	char text[256];

	if (!*template)
		return -EINVAL;
	if (*template != '/') {
		int length = snprintf(path, TS_PATH_MAX, "%s/", cwd);

		if (length < 0 || length >= TS_PATH_MAX)
			return -ENAMETOOLONG;
		used = (size_t)length;
	}
	for (; *template; template++) {
		const char *value = NULL;
		size_t length = 1;

		if (*template == '%') {
			value = expand_token(template[1], text, sizeof(text));
			if (!value)
				ts_say("TSTRACE_OUTPUT: %%%c is not known (known: %%p %%h %%e %%r %%t %%%%); kept as it is",
				       template[1] ? template[1] : ' ');
			template += value ? 1 : 0;
		}
		if (value)
			length = strlen(value);
		else
			value = template;
		if (used + length >= TS_PATH_MAX)
			return -ENAMETOOLONG;
		memcpy(path + used, value, length);
		used += length;
	}
	path[used] = '\0';
	return 0;
}

static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);      /* what is missing in the end is told by open */
		*slash = '/';
	}
}

/* name.jsonl -> name.3.jsonl */
static void add_suffix(const char *path, unsigned number, char out[TS_PATH_MAX + 16])
{
	const char *slash = strrchr(path, '/'), *dot = strstr(slash ? slash : path, ".jsonl");
	int stem = dot ? (int)(dot - path) : (int)strlen(path);

	snprintf(out, TS_PATH_MAX + 16, "%.*s.%u%s", stem, path, number, dot ? dot : "");
}

static int create(char path[TS_PATH_MAX])
{
	char other[TS_PATH_MAX + 16];
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY;
	struct stat status;
	int made = open(path, flags, 0666);

	if (made < 0 && errno == ENOENT) {
		make_parents(path);
		made = open(path, flags, 0666);
	}
	if (made < 0 && errno == EEXIST && !stat(path, &status) && S_ISDIR(status.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	/* A device or a pipe that is there already holds nothing that could be overwritten. */
	if (made < 0 && errno == EEXIST && !stat(path, &status) && !S_ISREG(status.st_mode))
		return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	for (unsigned i = 1; made < 0 && errno == EEXIST && i < 10000; i++) {
		add_suffix(path, i, other);
		made = open(other, flags, 0666);
		if (made >= 0 && strlen(other) < TS_PATH_MAX)
			strcpy(path, other);
	}
	return made;
}

int ts_output_open(char path[TS_PATH_MAX], bool zstd)
{
	int made, high;

	error = 0;
	good = 0;
	if (zstd && ts_compress_start() && strlen(path) + 5 < TS_PATH_MAX) {
		size_t length = strlen(path);

		if (length < 4 || strcmp(path + length - 4, ".zst"))
			strcat(path, ".zst");
	}
	made = create(path);
	if (made < 0) {
		error = -errno;
		ts_say("cannot write the trace %s: %s; nothing is recorded (set TSTRACE_OUTPUT)", path,
		       ts_errno_text(errno));
		return error;
	}
	high = fcntl(made, F_DUPFD_CLOEXEC, LOWEST_FD);
	if (high >= 0) {
		close(made);
		made = high;
	}
	fd = made;
	return 0;
}

/* No torn line stays behind: what follows the last whole line is cut off. */
static void fail(int code, uint64_t count)
{
	error = -code;
	if (ftruncate(fd, good) == 0)
		lseek(fd, good, SEEK_SET);
	ts_lost(TS_LOST_write_error, count);
	ts_say("the trace could not be written: %s; recording stops here", ts_errno_text(code));
}

static bool write_all(const unsigned char *data, size_t bytes)
{
	while (bytes) {
		ssize_t done = write(fd, data, bytes);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		data += done;
		bytes -= (size_t)done;
	}
	return true;
}

int ts_output_write(const void *lines, size_t bytes, uint64_t count)
{
	const void *data = lines;
	size_t size = bytes;

	if (error || fd < 0) {
		ts_lost(TS_LOST_write_error, count);
		return error;
	}
	if (!bytes)
		return 0;
	if (ts_compress_on() && ts_compress(lines, bytes, &data, &size)) {
		fail(ENOMEM, count);
		return error;
	}
	errno = 0;
	if (!write_all(data, size)) {
		fail(errno ? errno : ENOSPC, count);
		return error;
	}
	good += (off_t)size;
	return 0;
}

int ts_output_flush(bool to_disk)
{
	if (!error && to_disk && fd >= 0 && fsync(fd) && errno != EINVAL && errno != EROFS)
		fail(errno, 0);
	return error;
}

void ts_output_close(void)
{
	if (fd >= 0)
		close(fd);
	fd = -1;
	ts_compress_stop();
}

int ts_output_error(void)
{
	return error;
}

void ts_output_child(void)
{
	if (fd >= 0)
		close(fd);
	fd = -1;
	error = 0;
	ts_compress_child();
}
