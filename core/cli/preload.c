/* LD_PRELOAD has no escaping: spaces and colons separate.  A library that lies under such a path is
 * reached through a link, and never silently left out. */
#include "core/cli/preload.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* LD_PRELOAD splits at spaces and colons, LD_LIBRARY_PATH at colons and semicolons; "$" starts
 * $ORIGIN and the like. */
#define UNSAFE " :;$"

static bool join(char *path, const char *folder, const char *name)
{
	return (size_t)snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/* The folder of this executable; false when the kernel does not tell. */
static bool own_folder(char *folder)
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (length <= 0)
		return false;
	folder[length] = '\0';
	slash = strrchr(folder, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

static bool find_library(char *library)
{
	static const char *const places[] = {"libtstrace.so", "../lib/tstrace/libtstrace.so"};
	char folder[PATH_MAX], candidate[PATH_MAX];

	if (!own_folder(folder))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (join(candidate, folder, places[i]) && realpath(candidate, library))
			return true;
	fprintf(stderr, "tstrace run: libtstrace.so is neither in %s nor in %s/../lib/tstrace\n",
		folder, folder);
	return false;
}

/* FNV-1a: one name per target, so that two installations do not share a link. */
static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash;
}

/* A folder of our own in `base` that nobody else can put things into. */
static int private_folder(char *folder, const char *base, const char *target)
{
	struct stat st;

	if ((size_t)snprintf(folder, PATH_MAX, "%s/tstrace-%u-%016llx", base, (unsigned)geteuid(),
			     (unsigned long long)hash_text(target)) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (strpbrk(folder, UNSAFE))
		return -EINVAL;
	if (mkdir(folder, 0700) && errno != EEXIST)
		return -errno;
	if (lstat(folder, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077))
		return -EPERM;
	return 0;
}

static int link_into(char *path, const char *folder, const char *name, const char *target)
{
	char present[PATH_MAX];
	ssize_t length;

	if (!join(path, folder, name))
		return -ENAMETOOLONG;
	if (!symlink(target, path))
		return 0;
	if (errno != EEXIST)
		return -errno;
	length = readlink(path, present, sizeof(present) - 1);
	if (length < 0)
		return -errno;
	present[length] = '\0';
	return strcmp(present, target) ? -EEXIST : 0;
}

/* Replaces `path` by a link to it whose own path is safe. */
static int make_safe(char *path, const char *name)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *const bases[] = {runtime ? runtime : "", "/tmp", "/var/tmp", "/dev/shm"};
	char target[PATH_MAX], folder[PATH_MAX];
	int result = -ENOENT;

	if (!strpbrk(path, UNSAFE))
		return 0;
	memcpy(target, path, sizeof(target));
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		if (bases[i][0] != '/')
			continue;
		result = private_folder(folder, bases[i], target);
		if (!result)
			result = link_into(path, folder, name, target);
		if (!result)
			return 0;
	}
	fprintf(stderr,
		"tstrace run: the loader splits the path %s, and no link to it could be made (%s); "
		"install it under a path without spaces and colons\n",
		target, strerror(-result));
	return result;
}

int ts_preload_find(struct ts_preload *preload, bool sim)
{
	char *slash;
	int result;

	preload->sim[0] = '\0';
	if (!find_library(preload->library))
		return -ENOENT;
	if (sim) {
		memcpy(preload->sim, preload->library, sizeof(preload->sim));
		slash = strrchr(preload->sim, '/');
		if ((size_t)(slash - preload->sim) + sizeof("/sim") > sizeof(preload->sim))
			return -ENAMETOOLONG;
		memcpy(slash, "/sim", sizeof("/sim"));
		if (access(preload->sim, R_OK | X_OK)) {
			fprintf(stderr, "tstrace run: no simulated device in %s: %s\n",
				preload->sim, strerror(errno));
			return -ENOENT;
		}
		result = make_safe(preload->sim, "sim");
		if (result)
			return result;
	}
	return make_safe(preload->library, "libtstrace.so");
}

/* Sets NAME to FIRST:SECOND, or to the one that is there. */
static int set_list(const char *name, const char *first, const char *second)
{
	char *value;
	int result;

	if (!first || !*first || !second || !*second)
		return setenv(name, first && *first ? first : second, 1) ? -ENOMEM : 0;
	if (asprintf(&value, "%s:%s", first, second) < 0)
		return -ENOMEM;
	result = setenv(name, value, 1) ? -ENOMEM : 0;
	free(value);
	return result;
}

static bool is_listed(const char *list, const char *item)
{
	size_t length = strlen(item);

	while (list && *list) {
		size_t span = strcspn(list, " :");

		if (span == length && !strncmp(list, item, length))
			return true;
		list += span + (list[span] != '\0');
	}
	return false;
}

int ts_preload_set_environment(const struct ts_preload *preload)
{
	const char *present = getenv("LD_PRELOAD");
	int result = 0;

	if (!is_listed(present, preload->library))
		result = set_list("LD_PRELOAD", present, preload->library);
	if (!result && preload->sim[0])
		result = set_list("LD_LIBRARY_PATH", preload->sim, getenv("LD_LIBRARY_PATH"));
	return result;
}
