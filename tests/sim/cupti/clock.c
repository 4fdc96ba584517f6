/* From the driver's clock to the client's.
 *
 * The real CUPTI samples its clock and the device's now and then and interpolates between the
 * samples.  Here the "device" counts CLOCK_MONOTONIC; the first sample is kept for the whole
 * session and the slope is the one to the newest sample. */
#include "tests/sim/cupti/simcupti.h"

#include <pthread.h>
#include <time.h>

#define SAMPLE_TRIES 5
#define SHORTEST_BASE_NS 1000000        /* below it jitter would spoil the slope */

struct sample {
	uint64_t device, client;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUpti_TimestampCallbackFunc _Atomic client_clock;
static struct sample first, newest;
static bool sampled;

static uint64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t sim_monotonic_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t sim_clock_now(void)
{
	CUpti_TimestampCallbackFunc callback = atomic_load(&client_clock);

	return callback ? callback() : read_clock(CLOCK_REALTIME);
}

void sim_clock_set(CUpti_TimestampCallbackFunc callback)
{
	atomic_store(&client_clock, callback);
	pthread_mutex_lock(&lock);
	sampled = false;
	pthread_mutex_unlock(&lock);
	sim_clock_sample();
}

void sim_clock_sample(void)
{
	struct sample best = { 0 };
	uint64_t shortest = UINT64_MAX;

	/* The tightest of a few tries: a preemption between the reads would count as skew. */
	for (int i = 0; i < SAMPLE_TRIES; i++) {
		uint64_t before = sim_monotonic_ns();
		uint64_t client = sim_clock_now();
		uint64_t after = sim_monotonic_ns();

		if (after - before >= shortest)
			continue;
		shortest = after - before;
		best = (struct sample){ .device = before + shortest / 2, .client = client };
	}
	pthread_mutex_lock(&lock);
	if (!sampled)
		first = best;
	newest = best;
	sampled = true;
	pthread_mutex_unlock(&lock);
}

uint64_t sim_clock_convert(uint64_t monotonic_ns)
{
	struct sample a, b;

	pthread_mutex_lock(&lock);
	a = first;
	b = newest;
	pthread_mutex_unlock(&lock);

	int64_t since = (int64_t)(monotonic_ns - a.device);
	int64_t base = (int64_t)(b.device - a.device);
	int64_t gain = (int64_t)(b.client - a.client) - base;
	double drift = base >= SHORTEST_BASE_NS ? (double)gain / (double)base : 0;

	return a.client + (uint64_t)(since + (int64_t)((double)since * drift));
}
