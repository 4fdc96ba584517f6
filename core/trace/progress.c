#include "core/trace/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Short runs show nothing. */
#define EVERY_MS 1000

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void ts_progress_begin(struct ts_progress *progress, int fd)
{
	struct stat file;

	*progress = (struct ts_progress){.is_on = isatty(STDERR_FILENO)};
	if (!progress->is_on)
		return;
	if (!fstat(fd, &file) && S_ISREG(file.st_mode))
		progress->size = (uint64_t)file.st_size;
	progress->next_ms = now_ms() + EVERY_MS;
}

void ts_progress_add(struct ts_progress *progress, uint64_t bytes)
{
	int64_t now;

	progress->done += bytes;
	if (!progress->is_on)
		return;
	now = now_ms();
	if (now < progress->next_ms)
		return;
	progress->next_ms = now + EVERY_MS;
	progress->is_shown = true;
	fprintf(stderr, "\r%" PRIu64 " MiB read", progress->done >> 20);
	if (progress->size >= progress->done)
		fprintf(stderr, " (%.0f %% of the file)",
			100.0 * (double)progress->done / (double)progress->size);
}

void ts_progress_end(struct ts_progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr); /* back to the begin of the line, and wipe it */
	progress->is_shown = false;
}
