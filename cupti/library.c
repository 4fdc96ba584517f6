/* Finding libcupti.
 *
 * The program must get the CUPTI it would have got without us, and CUPTI must fit the runtime and
 * the driver: a copy that is already loaded wins, then what the user named, then the major number
 * of the loaded runtime or driver, through the loader's own search and in the places where toolkits
 * and Python wheels put it. */
#include "cupti/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/loader.h"
#include "core/env.h"
#include "core/record/device.h"
#include "cupti/device.h"

struct cupti_api cupti_api;
static char opened_path[4096];

enum need { REQUIRED, OPTIONAL };

static const struct {
	enum need need;
	const char *name;
	size_t offset;
} functions[] = {
#define TS_CUPTI(need, name) { need, #name, offsetof(struct cupti_api, name) },
#include "cupti/functions.def"
#undef TS_CUPTI
};

/* Places of a libcupti.so.N: relative to the folder of the loaded libcudart, or to a toolkit. */
static const char *const beside_runtime[] = {
	"%s/libcupti.so.%d",                            /* one folder for all, nvidia/cu13/lib */
	"%s/../../cuda_cupti/lib/libcupti.so.%d",       /* nvidia/cuda_runtime/lib */
	"%s/../extras/CUPTI/lib64/libcupti.so.%d",
};
static const char *const in_toolkit[] = {
	"%s/extras/CUPTI/lib64/libcupti.so.%d",
	"%s/lib64/libcupti.so.%d",
};

void *device_symbol(void *handle, const char *name)
{
	return ts_libc_dlsym ? ts_libc_dlsym(handle, name) : dlsym(handle, name);
}

struct search {
	const char *stem;
	char *path;
	size_t bytes;
	int major;
};

static int match_library(struct dl_phdr_info *info, size_t size, void *user)
{
	struct search *search = user;
	const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	size_t length = strlen(search->stem);

	(void)size;
	name = name ? name + 1 : info->dlpi_name;
	if (!name || strncmp(name, search->stem, length))
		return 0;
	search->major = atoi(name + length);
	if (!search->major)
		search->major = 1;
	snprintf(search->path, search->bytes, "%s", info->dlpi_name);
	return 1;
}

int device_loaded_major(const char *stem, char *path, size_t bytes)
{
	struct search search = { .stem = stem, .path = path, .bytes = bytes };

	*path = '\0';
	ts_loader_walk(match_library, &search);
	return search.major;
}

const char *cupti_library_path(void)
{
	return opened_path;
}

const char *cupti_result_text(CUptiResult result, char *text, size_t bytes)
{
	const char *name = NULL;

	if (!cupti_api.cuptiGetResultString ||
	    cupti_api.cuptiGetResultString(result, &name) != CUPTI_SUCCESS || !name)
		name = "CUPTI error";
	snprintf(text, bytes, "%s (%d)", name, (int)result);
	return text;
}

static void *try_open(const char *path, int flags)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL | flags);

	if (!handle)
		(void)dlerror();        /* the program must not find our failure there */
	return handle;
}

static void *try_format(const char *format, const char *folder, int major)
{
	char path[4096];

	if ((size_t)snprintf(path, sizeof(path), format, folder, major) >= sizeof(path))
		return NULL;
	return try_open(path, 0);
}

static void cut_file_name(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
	else
		*path = '\0';
}

static void *search_major(int major, const char *runtime_folder)
{
	const char *const toolkits[] = { getenv("CUDA_HOME"), getenv("CUDA_PATH"),
					 "/usr/local/cuda" };
	char name[32];
	void *handle;

	snprintf(name, sizeof(name), "libcupti.so.%d", major);
	handle = try_open(name, 0);
	for (size_t i = 0; !handle && *runtime_folder && i < TS_ARRAY_SIZE(beside_runtime); i++)
		handle = try_format(beside_runtime[i], runtime_folder, major);
	for (size_t t = 0; !handle && t < TS_ARRAY_SIZE(toolkits); t++) {
		if (!toolkits[t] || !*toolkits[t])
			continue;
		for (size_t i = 0; !handle && i < TS_ARRAY_SIZE(in_toolkit); i++)
			handle = try_format(in_toolkit[i], toolkits[t], major);
	}
	return handle;
}

/* Majors to try, best first: the loaded runtime's, the driver's, then those we know. */
static void *search_all(void)
{
	char runtime[4096], driver[4096];
	int majors[4] = { device_loaded_major("libcudart.so.", runtime, sizeof(runtime)), 0, 13,
			  12 };
	void *handle = NULL;

	majors[1] = device_driver_version() / 1000;
	cut_file_name(runtime);
	/* On the simulated device only its own stand-in can run; it lies beside the driver. */
	if (device_simulated() && device_loaded_major("libcuda.so.", driver, sizeof(driver))) {
		cut_file_name(driver);
		if (!(handle = try_format(beside_runtime[0], driver, 13)))
			handle = try_format(beside_runtime[0], driver, 12);
		return handle;
	}
	for (size_t i = 0; !handle && i < TS_ARRAY_SIZE(majors); i++) {
		bool tried = false;

		for (size_t j = 0; j < i; j++)
			tried |= majors[j] == majors[i];
		if (!tried && (majors[i] == 12 || majors[i] == 13))
			handle = search_major(majors[i], runtime);
	}
	return handle;
}

static int fill(void *handle, char *why, size_t bytes)
{
	for (size_t i = 0; i < TS_ARRAY_SIZE(functions); i++) {
		void *address = device_symbol(handle, functions[i].name);

		if (!address) {
			(void)dlerror();
			if (functions[i].need == REQUIRED) {
				snprintf(why, bytes, "libcupti lacks %s", functions[i].name);
				memset(&cupti_api, 0, sizeof(cupti_api));
				return -ENOSYS;
			}
		}
		memcpy((char *)&cupti_api + functions[i].offset, &address, sizeof(address));
	}
	return 0;
}

static void remember_path(void *handle)
{
	struct link_map *map = NULL;

	if (!dlinfo(handle, RTLD_DI_LINKMAP, &map) && map && map->l_name)
		snprintf(opened_path, sizeof(opened_path), "%s", map->l_name);
}

static int open_library(char *why, size_t bytes)
{
	void *handle = try_open("libcupti.so.13", RTLD_NOLOAD);

	if (!handle)
		handle = try_open("libcupti.so.12", RTLD_NOLOAD);
	if (!handle && *ts_env.cupti) {
		/* The user chose: another copy in its place would be a surprise. */
		handle = try_open(ts_env.cupti, 0);
		if (!handle) {
			snprintf(why, bytes, "TSTRACE_CUPTI=%.160s cannot be opened", ts_env.cupti);
			return -ENOENT;
		}
	}
	if (!handle)
		handle = search_all();
	if (!handle) {
		snprintf(why, bytes, "libcupti was not found (set TSTRACE_CUPTI or CUDA_HOME)");
		return -ENOENT;
	}
	remember_path(handle);
	return fill(handle, why, bytes);
}

int (*cupti_library_open)(char *why, size_t bytes) = open_library;
