/* A program without CUDA that loads a plug-in with it, RTLD_LOCAL, twice. */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int run(const char *path, int value)
{
	int (*function)(int);
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int result;

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	function = (int (*)(int))dlsym(handle, "plugin_run");
	result = function ? function(value) : -1;
	dlclose(handle);
	return result;
}

int main(void)
{
	char self[PATH_MAX] = "", path[PATH_MAX + 16];

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	snprintf(path, sizeof(path), "%s/plugin.so", dirname(self));
	printf("plugin: %d", run(path, 7));
	printf(" %d\n", run(path, 8));
	return 0;
}
