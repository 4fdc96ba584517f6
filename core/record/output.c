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

static int fd = -1;
static struct stat made;        /* which file it is */
static const char *path_made;
static _Atomic int error;
static off_t good;      /* length of the file that ends with a whole line */

static char rank[32];
static bool rank_read;

const char *ts_output_rank(void)
{
	static const char *const names[] = {
		"RANK",		 "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
		"PMI_RANK",	 "MV2_COMM_WORLD_RANK",	 "SLURM_PROCID",
		"JAX_PROCESS_ID"
	};

	/* Read once, when the session opens: later the program may be changing its environment. */
	for (size_t i = 0; i < TS_ARRAY_SIZE(names) && !rank_read; i++) {
		const char *value = getenv(names[i]);

		if (value && *value && !rank[0])
			snprintf(rank, sizeof(rank), "%s", value);
	}
	rank_read = true;
	return rank[0] ? rank : NULL;
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
	const char *number;

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
		number = ts_output_rank();
		return number ? number : "0";
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
				ts_say("TSTRACE_OUTPUT: %%%c is not known (known: %%p %%h %%e %%r "
				       "%%t %%%%); kept as it is",
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

/* A device or a pipe that is there already holds nothing that could be overwritten.  A pipe that
 * nobody reads is an error, not a reason to wait. */
static int open_existing(const char *path, const struct stat *status)
{
	int file;

	if (S_ISDIR(status->st_mode)) {
		errno = EISDIR;
		return -1;
	}
	file = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (file >= 0)
		fcntl(file, F_SETFL, O_WRONLY);
	return file;
}

static int create(char path[TS_PATH_MAX])
{
	char other[TS_PATH_MAX + 16];
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY;
	struct stat status;
	int file = open(path, flags, 0666);

	if (file < 0 && errno == ENOENT) {
		make_parents(path);
		file = open(path, flags, 0666);
	}
	if (file >= 0 || errno != EEXIST)
		return file;
	if (!stat(path, &status) && !S_ISREG(status.st_mode))
		return open_existing(path, &status);
	errno = EEXIST;
	for (unsigned i = 1; file < 0 && errno == EEXIST && i < 10000; i++) {
		add_suffix(path, i, other);
		file = open(other, flags, 0666);
		if (file >= 0 && strlen(other) < TS_PATH_MAX)
			strcpy(path, other);
	}
	return file;
}

int ts_output_open(char path[TS_PATH_MAX], bool zstd)
{
	int file, high;

	error = 0;
	good = 0;
	if (zstd && ts_compress_start() && strlen(path) + 5 < TS_PATH_MAX) {
		size_t length = strlen(path);

		if (length < 4 || strcmp(path + length - 4, ".zst"))
			strcat(path, ".zst");
	}
	file = create(path);
	if (file < 0) {
		error = -errno;
		ts_say("cannot write the trace %s: %s; nothing is recorded (set TSTRACE_OUTPUT)",
		       path, ts_errno_text(errno));
		return error;
	}
	high = fcntl(file, F_DUPFD_CLOEXEC, ts_fd_lowest());
	if (high >= 0) {
		close(file);
		file = high;
	}
	fd = file;
	path_made = path;
	ts_output_rank();
	return fstat(fd, &made) ? -errno : 0;
}

void ts_output_discard(const char *path)
{
	if (S_ISREG(made.st_mode))
		unlink(path);
	ts_output_close();
}

static bool is_ours(int file)
{
	struct stat now;

	return file >= 0 && !fstat(file, &now) && now.st_dev == made.st_dev &&
	       now.st_ino == made.st_ino;
}

/* Programs that turn into daemons close every descriptor, ours too, and may then have a file of
 * their own under its number.  Then the trace is opened again by its name. */
static bool hold_on(void)
{
	int file;

	if (is_ours(fd))
		return true;
	fd = -1;        /* not ours to close */
	file = open(path_made, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
	if (!is_ours(file)) {
		if (file >= 0)
			close(file);
		errno = EBADF;
		return false;
	}
	fd = fcntl(file, F_DUPFD_CLOEXEC, ts_fd_lowest());
	if (fd < 0)
		fd = file;
	else
		close(file);
	return lseek(fd, good, SEEK_SET) == good;
}

/* No torn line stays behind: what follows the last whole line is cut off. */
static void fail(int code, uint64_t count)
{
	error = -code;
	if (is_ours(fd) && ftruncate(fd, good) == 0)
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

	if (error) {
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
	if (!hold_on() || !write_all(data, size)) {
		fail(errno ? errno : ENOSPC, count);
		return error;
	}
	good += (off_t)size;
	return 0;
}

void ts_output_last(const void *lines, size_t bytes)
{
	bool is_regular = S_ISREG(made.st_mode);

	if (!is_regular || (ts_compress_on() && ts_compress(lines, bytes, &lines, &bytes)) ||
	    !hold_on())
		return;
	if (!write_all(lines, bytes) && ftruncate(fd, good))
		ts_say("the trace ends with a torn line");
}

bool ts_output_hold(const void *lines, size_t bytes)
{
	if (!S_ISREG(made.st_mode) ||
	    (ts_compress_on() && ts_compress(lines, bytes, &lines, &bytes)) || !hold_on())
		return false;
	if (write_all(lines, bytes))
		return true;
	ts_output_take_back();
	return false;
}

void ts_output_take_back(void)
{
	if (!hold_on() || ftruncate(fd, good) || lseek(fd, good, SEEK_SET) != good)
		fail(errno, 0);
}

int ts_output_flush(bool to_disk)
{
	if (!error && to_disk && fd >= 0 && fsync(fd) && errno != EINVAL && errno != EROFS)
		fail(errno, 0);
	return error;
}

void ts_output_close(void)
{
	if (is_ours(fd))
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
	if (is_ours(fd))
		close(fd);
	fd = -1;
	error = 0;
	rank_read = false;
	rank[0] = '\0';
	ts_compress_child();
}
