/* A runtime of the look-up tests, with the version node that the real one has.
 *   FAKE_VIA_PLT   it is linked with the driver and calls it through the PLT
 *   FAKE_VIA_PROC  it opens the driver and asks cuGetProcAddress, as the real one does
 *   neither        it has no driver
 *   FAKE_TAG       a text that its calls print
 * A call says on stdout that it ran.  It keeps a last error for each thread, as the real one does.
 */
#include <pthread.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#define API __attribute__((visibility("default")))
#ifndef FAKE_TAG
#define FAKE_TAG "runtime"
#endif
#define SAY(name) (printf(FAKE_TAG ": %s\n", name), fflush(stdout))
#define TOO_MUCH 0xbad
struct dim3 { unsigned x, y, z; };

static __thread int last_error;

static int end(int e)
{
	if (e)
		last_error = e;
	return e;
}

API int cudaPeekAtLastError(void) { return last_error; }
API int cudaGetLastError(void) { int e = last_error; last_error = 0; return e; }
/* A tool that asks through the runtime shows in the program's last error. */
API int cudaGetDevice(int *device) { *device = -1; return end(100); }

#if defined(FAKE_VIA_PLT)
int cuMemAlloc_v2(uint64_t *p, size_t bytes), cuMemFree_v2(uint64_t p);
static int allocate(void **p, size_t bytes) { return cuMemAlloc_v2((uint64_t *)p, bytes); }
static int give_back(void *p) { return cuMemFree_v2((uint64_t)(uintptr_t)p); }
#elif defined(FAKE_VIA_PROC)
static int (*alloc)(uint64_t *p, size_t bytes), (*gives)(uint64_t p);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int started;

static void start(void)
{
	int (*get)(const char *name, void **pfn, int version, uint64_t flags, int *status);
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int status;

	if (!driver) {
		started = 35;
		return;
	}
	*(void **)&get = dlsym(driver, "cuGetProcAddress_v2");
	started |= get("cuMemAlloc", (void **)&alloc, 3020, 0, &status);
	started |= get("cuMemFree", (void **)&gives, 3020, 0, &status);
}
static int allocate(void **p, size_t bytes)
{
	pthread_once(&once, start);
	return started ? started : alloc((uint64_t *)p, bytes);
}
static int give_back(void *p) { return gives ? gives((uint64_t)(uintptr_t)p) : 35; }
#else
static __thread uintptr_t next_address = 0x5000000;

static int allocate(void **p, size_t bytes)
{
	if (!p)
		return 1;
	*p = (void *)(bytes == TOO_MUCH ? 0xdeadbeef : next_address);
	next_address += 0x100000;
	return bytes == TOO_MUCH ? 2 : 0;
}
static int give_back(void *p) { (void)p; return 0; }
#endif

API int cudaMalloc(void **p, size_t bytes) { SAY("cudaMalloc"); return end(allocate(p, bytes)); }
API int cudaMallocAsync(void **p, size_t bytes, void *stream)
{
	(void)stream;
	SAY("cudaMallocAsync");
	return end(allocate(p, bytes));
}
API int cudaFree(void *p) { SAY("cudaFree"); return end(p ? give_back(p) : 0); }
API int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
	(void)bytes, (void)kind, (void)stream;
	SAY("cudaMemcpyAsync");
	return end(to && from ? 0 : 1);
}

#define LAUNCH(name)                                                                               \
	API int name(const void *f, struct dim3 g, struct dim3 b, void **args, size_t shared,      \
			void *stream)                                                              \
	{                                                                                          \
		(void)f, (void)args, (void)stream;                                                 \
		printf(FAKE_TAG ": %s %u %u %u %u %u %u %zu\n", #name, g.x, g.y, g.z, b.x, b.y,    \
				b.z,                                                               \
		       shared);                                                                    \
		return 0;                                                                          \
	}
LAUNCH(cudaLaunchKernel)
LAUNCH(cudaLaunchKernel_ptsz) LAUNCH(cudaLaunchCooperativeKernel)
    LAUNCH(cudaLaunchCooperativeKernel_ptsz) LAUNCH(__cudaLaunchKernel)
	LAUNCH(__cudaLaunchKernel_ptsz)
#define THREE(name)                                                                                \
	API int name(const void *a, void *b, void *c)                                              \
	{                                                                                          \
		(void)b, (void)c;                                                                  \
		SAY(#name);                                                                        \
		return end(a ? 0 : 1);                                                             \
	}
	    THREE(cudaLaunchKernelExC) THREE(cudaLaunchKernelExC_ptsz) THREE(cudaGraphLaunch)
		THREE(cudaGraphLaunch_ptsz) THREE(cudaLaunchHostFunc) THREE(cudaLaunchHostFunc_ptsz)
