/* The functions of the fake runtime and driver, for the programs of the tests. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dim3 { unsigned x, y, z; };
int cudaMalloc(void **p, size_t bytes), cudaFree(void *p),
    cudaMallocAsync(void **p, size_t bytes, void *stream);
int cudaPeekAtLastError(void), cudaGetLastError(void);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
int cuInit(unsigned flags), cuMemAlloc_v2(uint64_t *p, size_t bytes), cuMemFree_v2(uint64_t p);
int cuMemGetInfo_v2(size_t *free, size_t *total);
int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuMemCreate(uint64_t *handle, size_t bytes, const void *properties, unsigned long long flags);
int cuLaunchKernelEx(const void *config, void *f, void **params, void **extra);
typedef int proc_v1(const char *name, void **pfn, int version, uint64_t flags);
typedef int proc_v2(const char *name, void **pfn, int version, uint64_t flags, int *status);
