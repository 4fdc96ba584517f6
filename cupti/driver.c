/* The driver's functions that tstrace calls itself. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/record/alone.h"
#include "core/record/device.h"
#include "cupti/device.h"
#include "cupti/library.h"

struct device_driver device_driver;

static void *handle;

static void *find(const char *symbol)
{
	void *address = ts_driver_function ? ts_driver_function(symbol) : NULL;

	return address ? address : handle ? device_symbol(handle, symbol) : NULL;
}

bool device_driver_load(void)
{
	static const struct {
		const char *symbol;
		size_t offset;
	} rows[] = {
#define TS_DRIVER(type, name, symbol) { symbol, offsetof(struct device_driver, name) },
#include "cupti/driver.def"
#undef TS_DRIVER
	};

	if (device_driver.version)
		return true;
	/* The program is about to load it, if it has not: this changes only when. */
	handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!handle) {
		(void)dlerror();
		return false;
	}
	for (size_t i = 0; i < TS_ARRAY_SIZE(rows); i++) {
		void *address = find(rows[i].symbol);

		memcpy((char *)&device_driver + rows[i].offset, &address, sizeof(address));
	}
	(void)dlerror();
	return device_driver.version != NULL;
}

void *device_driver_symbol(const char *symbol)
{
	return device_driver_load() ? find(symbol) : NULL;
}

int device_driver_version(void)
{
	int version = 0;

	if (!device_driver_load() || device_driver.version(&version) != CUDA_SUCCESS)
		return 0;
	return version;
}

bool device_simulated(void)
{
	return device_driver_load() && find("tstrace_sim_observe") != NULL;
}

void device_describe_versions(void)
{
	char text[64], path[4096];
	int version = device_driver_version(), runtime;

	if (version) {
		snprintf(text, sizeof(text), "%d", version);
		ts_device_describe("driver", text);
	}
	runtime = device_loaded_major("libcudart.so.", path, sizeof(path));
	if (runtime) {
		snprintf(text, sizeof(text), "%d", runtime);
		ts_device_describe("runtime", text);
	}
	if (device_simulated())
		ts_device_is_simulated();
}

static void describe_device(int device)
{
	char key[32], name[128] = "", text[200];
	int major = 0, minor = 0;

	device_driver.device_name(name, sizeof(name), device);
	device_driver.device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
				       device);
	device_driver.device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
				       device);
	snprintf(key, sizeof(key), "device_%d", device);
	snprintf(text, sizeof(text), "%s, compute capability %d.%d", name, major, minor);
	ts_device_describe(key, text);
}

/* Before the program's cuInit this fails, and is asked again later. */
static bool describe_devices(void)
{
	int count = 0;

	if (!device_driver.device_count || device_driver.device_count(&count) != CUDA_SUCCESS)
		return false;
	for (int i = 0; i < count && i < 16; i++)
		describe_device(i);
	return true;
}

/* A thread for it: the driver may hang, if the program has left a call of its own by longjmp, and
 * neither the writer nor the program's end may wait for that. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t asked_cond, answered_cond;
	uint64_t asked, answered;
	bool runs, done;
} describer = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void *describe(void *arg)
{
	(void)arg;
	ts_self.depth = 1;
	pthread_mutex_lock(&describer.lock);
	while (!describer.done) {
		uint64_t ticket = describer.asked;
		bool done;

		if (ticket == describer.answered) {
			pthread_cond_wait(&describer.asked_cond, &describer.lock);
			continue;
		}
		pthread_mutex_unlock(&describer.lock);
		done = describe_devices();
		pthread_mutex_lock(&describer.lock);
		describer.done = done;
		describer.answered = ticket;
		pthread_cond_broadcast(&describer.answered_cond);
	}
	describer.runs = false;
	pthread_mutex_unlock(&describer.lock);
	return NULL;
}

void device_describe_start(void)
{
	device_cond_init(&describer.asked_cond);
	device_cond_init(&describer.answered_cond);
	describer.runs = !ts_helper_start(TS_THREAD_DESCRIBE, describe);
}

void device_describe_devices(unsigned timeout_ms)
{
	struct timespec deadline = device_deadline(timeout_ms);
	uint64_t ticket;

	pthread_mutex_lock(&describer.lock);
	if (describer.runs) {
		ticket = ++describer.asked;
		pthread_cond_signal(&describer.asked_cond);
		while (timeout_ms && describer.answered < ticket)
			if (pthread_cond_timedwait(&describer.answered_cond, &describer.lock,
						   &deadline) == ETIMEDOUT)
				break;
	}
	pthread_mutex_unlock(&describer.lock);
}

void device_describe_child(void)
{
	pthread_mutex_init(&describer.lock, NULL);
	describer.asked = describer.answered = 0;
	describer.runs = describer.done = false;
}
