/* A driver of the look-up tests: several ABIs under one name, and functions that say on stdout that
 * they ran. It has what those tests call and nothing else; what the library asks for itself (the
 * current context, the free memory) is silent, and fails where FAKE_HELPERS_FAIL is defined.
 *   FAKE_ONE_SPACE   no two threads are given one address (else each has its own, the same ones)
 *   FAKE_OWN_LOOKUP  cuInit looks itself up in the driver's own handle, as one real driver does */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define SAY(name) (printf("driver: %s\n", name), fflush(stdout))
enum { INVALID = 1, OUT_OF_MEMORY = 2, NO_CONTEXT = 201, NOT_FOUND = 500 };
enum { PER_THREAD = 2 };
#define TOO_MUCH 0xbad

#ifdef FAKE_ONE_SPACE
static uint64_t next_address = 0x7000000;
#else
static __thread uint64_t next_address = 0x7000000;
#endif

static int allocate(const char *who, uint64_t *p, size_t bytes)
{
	SAY(who);
	if (!p)
		return INVALID;
	if (bytes == TOO_MUCH) {
		*p = 0xdeadbeef;        /* a failed call may leave anything */
		return OUT_OF_MEMORY;
	}
	*p = __atomic_fetch_add(&next_address, 0x100000, __ATOMIC_RELAXED);
	return 0;
}

API int cuInit(unsigned flags);
static int (*inner)(unsigned flags);

API int internal_start(unsigned flags) { SAY("internal_start"); return (int)flags; }

API int cuInit(unsigned flags)
{
#ifdef FAKE_OWN_LOOKUP
	void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	printf("driver: cuInit is %s\n",
	       dlsym(self, "cuInit") == (void *)cuInit ? "its own" : "another");
	*(void **)&inner = dlsym(self, "internal_start");
	return inner(flags);
#endif
	(void)inner;
	SAY("cuInit");
	return (int)flags;
}

API int cuDriverGetVersion(int *version) { *version = 12080; return 0; }

#ifdef FAKE_HELPERS_FAIL
#define HELPER(...) return NO_CONTEXT
#else
#define HELPER(...) do { __VA_ARGS__; return 0; } while (0)
#endif
API int cuCtxGetDevice(int *device) { HELPER(*device = 0); }
API int cuCtxGetCurrent(void **context) { HELPER(*context = (void *)0x1000); }
API int cuMemGetInfo_v2(size_t *f, size_t *t)
{
	HELPER(if (f) *f = 1 << 30; if (t) *t = (size_t)1 << 31);
}

API int cuMemAlloc(unsigned *p, unsigned bytes)
{
	uint64_t wide = 0;
	int e = allocate("cuMemAlloc", &wide, bytes);

	*p = (unsigned)wide;
	return e;
}
API int cuMemAlloc_v2(uint64_t *p, size_t bytes) { return allocate("cuMemAlloc_v2", p, bytes); }
API int cuMemAllocAsync(uint64_t *p, size_t n, void *s)
{
	(void)s;
	return allocate("cuMemAllocAsync", p, n);
}
/* ABIs that no header has: more parameters, and a per-thread form that never was. */
static int alloc_future(uint64_t *p, size_t bytes, int a, int b, int c)
{
	printf("driver: cuMemAlloc of the future %d %d %d\n", a, b, c);
	return allocate("future", p, bytes);
}
static int alloc_ptsz(uint64_t *p, size_t bytes)
{
	return allocate("cuMemAlloc_v2_ptsz", p, bytes);
}
API int cuMemCreate(uint64_t *handle, size_t bytes, const void *properties,
		    unsigned long long flags)
{
	(void)properties, (void)flags;
	return allocate("cuMemCreate", handle, bytes);
}
API int cuMemFree(unsigned p) { (void)p; SAY("cuMemFree"); return 0; }
API int cuMemFree_v2(uint64_t p) { (void)p; SAY("cuMemFree_v2"); return 0; }
API int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
	(void)bytes, (void)stream;
	SAY("cuMemcpyAsync");
	return to && from ? 0 : INVALID;
}

#define LAUNCH(name)                                                                               \
	API int name(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,     \
		     unsigned bz, unsigned shared, void *stream, void **params, void **extra)      \
	{                                                                                          \
		(void)f, (void)stream, (void)params, (void)extra;                                  \
		printf("driver: %s %u %u %u %u %u %u %u\n", #name, gx, gy, gz, bx, by, bz,         \
				shared);                                                           \
		return 0;                                                                          \
	}
LAUNCH(cuLaunchKernel)
LAUNCH(cuLaunchKernel_ptsz)
#define COOPERATE(name)                                                                            \
	API int name(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,     \
		     unsigned bz, unsigned shared, void *stream, void **params)                    \
	{                                                                                          \
		(void)f, (void)stream, (void)params;                                               \
		printf("driver: %s %u %u %u %u %u %u %u\n", #name, gx, gy, gz, bx, by, bz,         \
				shared);                                                           \
		return 0;                                                                          \
	}
    COOPERATE(cuLaunchCooperativeKernel) COOPERATE(cuLaunchCooperativeKernel_ptsz)
#define THREE(name)                                                                                \
	API int name(void *a, void *b, void *c)                                                    \
	{                                                                                          \
		(void)b, (void)c;                                                                  \
		SAY(#name);                                                                        \
		return a ? 0 : INVALID;                                                            \
	}
	THREE(cuLaunchKernelEx) THREE(cuLaunchKernelEx_ptsz) THREE(cuLaunchHostFunc)
	    THREE(cuLaunchHostFunc_ptsz) THREE(cuGraphLaunch) THREE(cuGraphLaunch_ptsz)

		API
    int cuGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags);
API int cuGetProcAddress_v2(const char *symbol, void **pfn, int version, uint64_t flags,
			    int *status);

static const struct {
	const char *name;
	int version, per_thread;
	void *function;
} table[] = {
	{ "cuInit", 2000, 0, cuInit },
	{ "cuDriverGetVersion", 2020, 0, cuDriverGetVersion },
	{ "cuGetProcAddress", 11030, 0, cuGetProcAddress },
	{ "cuGetProcAddress", 12000, 0, cuGetProcAddress_v2 },
	{ "cuMemAlloc", 2000, 0, cuMemAlloc },
	{ "cuMemAlloc", 3020, 0, cuMemAlloc_v2 },
	{ "cuMemAlloc", 12000, 0, alloc_future },
	{ "cuMemAlloc", 7000, 1, alloc_ptsz },
	{ "cuMemFree", 2000, 0, cuMemFree },
	{ "cuMemFree", 3020, 0, cuMemFree_v2 },
	{ "cuLaunchKernel", 4000, 0, cuLaunchKernel },
	{ "cuLaunchKernel", 7000, 1, cuLaunchKernel_ptsz },
};

static int find(const char *symbol, void **pfn, int version, uint64_t flags)
{
	int best = -1;

	for (int i = 0; i < (int)(sizeof(table) / sizeof(table[0])); i++)
		if (!strcmp(table[i].name, symbol) && table[i].version <= version &&
		    (!table[i].per_thread || (flags & PER_THREAD)) &&
		    (best < 0 || table[i].per_thread >= table[best].per_thread))
			best = i;
	if (best < 0)
		return NOT_FOUND;       /* *pfn stays what it was */
	*pfn = table[best].function;
	return 0;
}

API int cuGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags)
{
	return find(symbol, pfn, version, flags);
}

API int cuGetProcAddress_v2(const char *symbol, void **pfn, int version, uint64_t flags,
			    int *status)
{
	int e = find(symbol, pfn, version, flags);

	if (status)
		*status = e ? 1 : 0;
	return e;
}
