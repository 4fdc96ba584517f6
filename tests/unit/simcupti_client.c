/* See simcupti_client.h. */
#include "tests/unit/simcupti_client.h"

#define X(name) __typeof__(&name) p_##name;
FUNCTIONS(X)
#undef X

char folder[4096];
const struct sim_observer **observer;

void find_folder(void)
{
	ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

	folder[length < 0 ? 0 : length] = 0;
	*strrchr(folder, '/') = 0;
}

void load_driver(void)
{
	char path[sizeof(folder) + 64];
	void *driver;

	snprintf(path, sizeof(path), "%s/fake/libcuda.so.1", folder);
	driver = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	observer = driver ? dlsym(driver, "fake_observer") : NULL;
	if (!observer)
		abort();
}

void load_cupti(const char *soname)
{
	char path[sizeof(folder) + 64];
	void *library;

	snprintf(path, sizeof(path), "%s/../sim/%s", folder, soname);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		abort();
	}
#define X(name) *(void **)&p_##name = dlsym(library, #name); if (!p_##name) abort();
	FUNCTIONS(X)
#undef X
}

/* --- the client: buffers, and a copy of every record --- */
size_t buffer_size = 16384;
bool refuse_buffers;
atomic_int requested, completed, empty;
pthread_t completer;
static pthread_mutex_t records_lock = PTHREAD_MUTEX_INITIALIZER;
uint8_t records[512][256];
unsigned record_count;
uint8_t correlations[65536];

void request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = refuse_buffers ? NULL : aligned_alloc(8, buffer_size);
	*size = buffer_size;
	*max_records = 0;
	atomic_fetch_add(&requested, !refuse_buffers);
}

void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	pthread_mutex_lock(&records_lock);
	completer = pthread_self();
	atomic_fetch_add(&completed, 1);
	atomic_fetch_add(&empty, !valid);
	while (p_cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		size_t left = valid - (size_t)((uint8_t *)record - buffer);

		if (record_count < 512)
			memcpy(records[record_count], record, left < 256 ? left : 256);
		record_count++;
		if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			correlations[((CUpti_ActivityKernel9 *)record)->correlationId % 65536]++;
	}
	pthread_mutex_unlock(&records_lock);
	free(buffer);
}

void *record_of(CUpti_ActivityKind kind, unsigned nth)
{
	for (unsigned i = 0; i < record_count && i < 512; i++)
		if (((CUpti_Activity *)records[i])->kind == kind && !nth--)
			return records[i];
	return NULL;
}

unsigned count_of(CUpti_ActivityKind kind)
{
	unsigned count = 0;

	while (record_of(kind, count))
		count++;
	return count;
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t client_clock(void)
{
	return now_ns() + CLOCK_SHIFT;
}

/* --- the driver --- */
void report(const struct sim_activity *work)
{
	(*observer)->activity((*observer)->user, work);
}

void kernel(uint32_t correlation, uint64_t begin, uint64_t end)
{
	struct sim_activity work = {
		.kind = SIM_KERNEL, .correlation = correlation, .device_id = 1, .context_id = 20,
		.stream_id = 7, .start_ns = begin, .end_ns = end, .name = "_Z5saxpyPf",
		.grid = { 2, 3, 4 }, .block = { 32, 1, 1 }, .shared_dynamic = 64,
	};

	report(&work);
}

void past_kernel(uint32_t correlation)
{
	uint64_t now = now_ns();

	kernel(correlation, now - 3000, now - 1000);
}

void api(enum sim_domain domain, const char *name, uint32_t correlation, bool enter)
{
	struct sim_api call = { .domain = domain, .enter = enter, .name = name,
				.correlation = correlation, .context = (void *)20,
				.context_id = 20, .symbol = "_Z5saxpyPf" };

	(*observer)->api((*observer)->user, &call);
}

/* --- fixtures --- */
int begin(void **state)
{
	(void)state;
	record_count = 0;
	requested = completed = empty = 0;
	refuse_buffers = false;
	buffer_size = 16384;
	return 0;
}

int end(void **state)
{
	(void)state;
	for (char **variable = environ; *variable;) {
		char name[128];

		if (!strncmp(*variable, "TSTRACE_SIM_CUPTI_", 18)) {
			snprintf(name, sizeof(name), "%.*s", (int)strcspn(*variable, "="),
				 *variable);
			unsetenv(name);
			variable = environ;
		} else {
			variable++;
		}
	}
	/* Finalising gives no buffer back; a client that wants its memory flushes first. */
	p_cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	return p_cuptiFinalize() == CUPTI_SUCCESS ? 0 : -1;
}

void start(CUpti_ActivityKind kind)
{
	OK(p_cuptiActivityRegisterTimestampCallback(client_clock));
	OK(p_cuptiActivityRegisterCallbacks(request, complete));
	OK(p_cuptiActivityEnable(kind));
}
