/* Device code: fat binaries, kernels and variables that the compiler's constructors register.
 * Nothing is loaded before it is used: the first kernel or variable of a fat binary loads it. */
#include "tests/sim/runtime/runtime.h"

#include <pthread.h>
#include <stdlib.h>

enum kind { KERNEL, VARIABLE, HANDLE };

/* One registered thing, found by the address the program knows it by: a host stub, a host shadow
 * variable, or (HANDLE) a kernel or function handle that the API gave out. */
struct entry {
	struct entry *next, *sibling;
	const void *key;
	enum kind kind;
	struct module *module;
	char *name;
	void **managed;         /* where the program keeps the address of a managed variable */
	size_t size;
	struct rt_code code;
};

struct module {
	const void *fatbin;
	CUlibrary library;
	struct entry *entries;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct entry *table[1024];

static struct entry **bucket(const void *key)
{
	uintptr_t k = (uintptr_t)key;

	return &table[(k >> 4 ^ k >> 14) % (sizeof(table) / sizeof(table[0]))];
}

/* The lock is held. */
static struct entry *find(const void *key)
{
	struct entry *e = *bucket(key);

	while (e && e->key != key)
		e = e->next;
	return e;
}

/* The lock is held for writing.  Without memory the thing stays unknown, as if never registered. */
static struct entry *add(const void *key, enum kind kind, struct module *module, const char *name)
{
	struct entry *e = calloc(1, sizeof(*e));
	struct entry **b = bucket(key);

	if (!e)
		return NULL;
	e->key = key;
	e->kind = kind;
	e->module = module;
	e->name = strdup(name ? name : "");
	e->code.name = e->name;
	e->next = *b;
	*b = e;
	if (module) {
		e->sibling = module->entries;
		module->entries = e;
	}
	return e;
}

static void drop(struct entry *e)
{
	struct entry **p = bucket(e->key);

	while (*p && *p != e)
		p = &(*p)->next;
	if (*p)
		*p = e->next;
	free(e->name);
	free(e);
}

/* Load the fat binary and tell the program where its managed variables are.  Lock held for writing.
 */
static int load(const struct rt_driver *d, struct module *m)
{
	CUdeviceptr address;
	size_t size;
	int r;

	if (m->library)
		return 0;
	r = d->cuLibraryLoadData(&m->library, m->fatbin, NULL, NULL, 0, NULL, NULL, 0);
	if (r)
		return r;
	for (struct entry *e = m->entries; e; e = e->sibling) {
		struct entry *alias;

		if (!e->managed || d->cuLibraryGetManaged(&address, &size, m->library, e->name))
			continue;
		*e->managed = (void *)(uintptr_t)address;
		/* To host code the name of a managed variable is the memory itself, not the shadow.
		 */
		alias = add(*e->managed, VARIABLE, m, e->name);
		if (alias) {
			alias->managed = e->managed;
			alias->size = e->size;
		}
	}
	return 0;
}

/* Lock held for writing. */
static int resolve(const struct rt_driver *d, struct entry *e)
{
	CUkernel kernel;
	int r = load(d, e->module);

	if (!r)
		r = d->cuLibraryGetKernel(&kernel, e->module->library, e->name);
	if (r)
		return r == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidDeviceFunction : r;
	e->code.kernel = kernel;
	e->code.function = (CUfunction)kernel;
	e->code.host = e->key;
	if (!find(kernel)) {
		struct entry *handle = add(kernel, HANDLE, e->module, e->name);

		if (handle)
			handle->code = (struct rt_code){ .name = handle->name, .kernel = kernel,
				.function = (CUfunction)kernel, .host = e->key };
	}
	return 0;
}

int rt_code(const struct rt_driver *d, const void *func, struct rt_code *code)
{
	struct entry *e;
	int r = 0;

	pthread_rwlock_rdlock(&lock);
	e = find(func);
	if (e && e->code.function) {
		*code = e->code;
		pthread_rwlock_unlock(&lock);
		return 0;
	}
	pthread_rwlock_unlock(&lock);
	pthread_rwlock_wrlock(&lock);
	e = find(func);
	if (!e || e->kind == VARIABLE)
		r = cudaErrorInvalidDeviceFunction;
	else if (!e->code.function)
		r = resolve(d, e);
	if (!r)
		*code = e->code;
	pthread_rwlock_unlock(&lock);
	return r;
}

void rt_code_add(CUkernel kernel, CUfunction function, const char *name)
{
	const void *key = kernel ? (const void *)kernel : (const void *)function;
	struct entry *e;

	pthread_rwlock_wrlock(&lock);
	e = find(key);
	if (e && !e->module) {          /* an unloaded library's handle may come again */
		drop(e);
		e = NULL;
	}
	if (!e) {
		e = add(key, HANDLE, NULL, name);
		if (e) {
			e->code.kernel = kernel;
			e->code.function = kernel ? (CUfunction)kernel : function;
		}
	}
	pthread_rwlock_unlock(&lock);
}

const char *rt_code_name(const void *func)
{
	struct entry *e;

	pthread_rwlock_rdlock(&lock);
	e = find(func);
	pthread_rwlock_unlock(&lock);
	return e && e->kind != VARIABLE ? e->name : NULL;
}

int rt_function(const struct rt_driver *d, const void *func, CUfunction *function)
{
	struct rt_code code;
	int r = rt_code(d, func, &code);

	if (r)
		return r;
	*function = code.function;
	return code.kernel ? (int)d->cuKernelGetFunction(function, code.kernel) : 0;
}

int rt_symbol(const struct rt_driver *d, const void *symbol, CUdeviceptr *address, size_t *size)
{
	struct entry *e;
	int r;

	pthread_rwlock_wrlock(&lock);
	e = find(symbol);
	r = e && e->kind == VARIABLE ? load(d, e->module) : cudaErrorInvalidSymbol;
	if (!r && e->managed)
		r = d->cuLibraryGetManaged(address, size, e->module->library, e->name);
	else if (!r)
		r = d->cuLibraryGetGlobal(address, size, e->module->library, e->name);
	if (r == CUDA_ERROR_NOT_FOUND)
		r = cudaErrorInvalidSymbol;
	/* The program's own idea of the size is the better one. */
	if (!r && e->size)
		*size = e->size;
	pthread_rwlock_unlock(&lock);
	return r;
}

/* --- what the compiler's constructors call -----------------------------------------------------
 */

RT_EXPORT void **__cudaRegisterFatBinary(void *fatbin);
RT_EXPORT void **__cudaRegisterFatBinary(void *fatbin)
{
	struct module *m = calloc(1, sizeof(*m));

	if (m)
		m->fatbin = fatbin;
	return (void **)m;
}

RT_EXPORT void __cudaRegisterFatBinaryEnd(void **handle);
RT_EXPORT void __cudaRegisterFatBinaryEnd(void **handle RT_UNUSED)
{
}

/* At exit, and when a plug-in is closed: its kernels must not be found any more. */
RT_EXPORT void __cudaUnregisterFatBinary(void **handle);
RT_EXPORT void __cudaUnregisterFatBinary(void **handle)
{
	struct module *m = (struct module *)handle;
	struct entry *next;

	if (!m)
		return;
	pthread_rwlock_wrlock(&lock);
	for (struct entry *e = m->entries; e; e = next) {
		next = e->sibling;
		drop(e);
	}
	if (m->library)
		rt_driver(false)->cuLibraryUnload(m->library);
	pthread_rwlock_unlock(&lock);
	free(m);
}

RT_EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device,
		const char *name, int limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
		int *warp);
RT_EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device RT_UNUSED,
		const char *name, int limit RT_UNUSED, uint3 *tid RT_UNUSED, uint3 *bid RT_UNUSED,
		dim3 *block RT_UNUSED, dim3 *grid RT_UNUSED, int *warp RT_UNUSED)
{
	if (!handle)
		return;
	pthread_rwlock_wrlock(&lock);
	add(host, KERNEL, (struct module *)handle, name);
	pthread_rwlock_unlock(&lock);
}

static void register_variable(void **handle, const void *key, void **managed, const char *name,
			      size_t size)
{
	struct entry *e;

	if (!handle)
		return;
	pthread_rwlock_wrlock(&lock);
	e = add(key, VARIABLE, (struct module *)handle, name);
	if (e) {
		e->managed = managed;
		e->size = size;
	}
	pthread_rwlock_unlock(&lock);
}

RT_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
		size_t size, int constant, int global);
RT_EXPORT void __cudaRegisterVar(void **handle, char *host, char *device RT_UNUSED,
				 const char *name, int ext RT_UNUSED, size_t size,
				 int constant RT_UNUSED, int global RT_UNUSED)
{
	register_variable(handle, host, NULL, name, size);
}

RT_EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size);
RT_EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size)
{
	register_variable(handle, host, NULL, name, size);
}

RT_EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
		int ext, size_t size, int constant, int global);
RT_EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device RT_UNUSED,
		const char *name, int ext RT_UNUSED, size_t size, int constant RT_UNUSED,
		int global RT_UNUSED)
{
	register_variable(handle, host, host, name, size);
}

/* Runs before the program first touches a managed variable from the host. */
RT_EXPORT char __cudaInitModule(void **handle);
RT_EXPORT char __cudaInitModule(void **handle)
{
	int r = rt_load();

	if (!r)
		r = rt_context();
	if (!r && handle) {
		pthread_rwlock_wrlock(&lock);
		r = load(rt_driver(false), (struct module *)handle);
		pthread_rwlock_unlock(&lock);
	}
	if (r)
		rt_fail(r);
	return 1;
}
