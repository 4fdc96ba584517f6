/* P6: what a C++ throw and catch costs while the preload has taken stacks in the process.
 *   probe_throw FOLDER KEY */
#include "tests/bench/bench.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#define THROWS 2000

int main(int argc, char **argv)
{
	int (*throw_and_catch)(int depth) = NULL;
	double costs[BURSTS];
	char path[4096];
	void *handle, *pointer;

	if (argc < 3)
		return 2;
	/* With the preload, the first allocation opens libunwind. */
	if (cudaMalloc(&pointer, 64) || cudaFree(pointer))
		return 1;
	snprintf(path, sizeof(path), "%s/libthrow.so", argv[1]);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		*(void **)&throw_and_catch = dlsym(handle, "throw_and_catch");
	if (!throw_and_catch || !throw_and_catch(10))
		return 1;
	for (int i = 0; i < BURSTS; i++) {
		double t0 = now_ns();

		for (int k = 0; k < THROWS; k++)
			throw_and_catch(10);
		costs[i] = (now_ns() - t0) / THROWS;
	}
	printf("%s %.3f\n", argv[2], median(costs, BURSTS));
	return 0;
}
