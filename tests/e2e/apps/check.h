/* What every program here does with an error: say which call failed and leave with status 1. */
#ifndef APPS_CHECK_H
#define APPS_CHECK_H

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                            \
	do {                                                                                   \
		cudaError_t check_ = (call);                                                   \
		if (check_ != cudaSuccess) {                                                   \
			std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,     \
				     cudaGetErrorName(check_));                                \
			std::exit(1);                                                          \
		}                                                                              \
	} while (0)

#endif
