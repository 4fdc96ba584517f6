// A program with the runtime linked in that loads a plug-in with a shared one: two runtimes, one driver.
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <unistd.h>

#include "check.h"

__global__ void main_kernel(int *p) { p[threadIdx.x] = 1; }

int main()
{
	char self[PATH_MAX] = "", path[PATH_MAX + 16];
	int (*function)(int);
	void *handle;
	int *p;

	CHECK(cudaMalloc(&p, 512));
	main_kernel<<<1, 32>>>(p);
	CHECK(cudaGetLastError());
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	std::snprintf(path, sizeof(path), "%s/plugin.so", dirname(self));
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		std::fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	function = (int (*)(int))dlsym(handle, "plugin_run");
	std::printf("plugin: %d\n", function(5));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(p));
	std::printf("main: freed\n");
	return 0;
}
