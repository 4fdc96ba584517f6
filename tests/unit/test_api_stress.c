/* Every call of tstrace.h with arguments at random, good and bad, from eight threads that signals
 * interrupt: whatever they do, the trace is valid at the end.
 *   test_api_stress [SECONDS [SEED]]  */
#include "tests/unit/record_test.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "core/tstrace.h"

#define THREADS 8
#define BURST 64
#define DEPTH 20

#if defined(__SANITIZE_THREAD__)
#define SECONDS 60
#else
#define SECONDS 3
#endif

static unsigned seconds = SECONDS;
static uint64_t seed;
static _Atomic bool stop;
static _Atomic uint64_t calls, refused, in_handlers;
/* Spans of any thread, to be named by others. */
static _Atomic uint64_t spans[64];

static _Thread_local uint64_t state;
static _Thread_local tstrace_span stack[DEPTH];
static _Thread_local unsigned depth;

/* --- arguments --- */

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1du >> 16;
}

static unsigned below(unsigned n)
{
	return (unsigned)(next() % n);
}

#define PICK(array) ((array)[below(sizeof(array) / sizeof((array)[0]))])

static const char *text(void)
{
	static const char *const texts[] = {"forward",	"loss",	      "t1", "t2",
					    "",		" ",	      NULL, "quoted \"\\\n",
					    "\xff\xc3", "caf\xc3\xa9"};
	static _Thread_local char made[32];

	if (below(3))
		return PICK(texts);
	snprintf(made, sizeof(made), "t%u", below(40));
	return made;
}

static tstrace_span some_span(void)
{
	switch (below(8)) {
	case 0:
		return next();
	case 1:
		return below(2000);
	case 2:
		return TSTRACE_ROOT;
	case 3:
	case 4:
		return atomic_load(&PICK(spans));
	case 5:
		return depth ? stack[below(depth)] : 0;
	default:
		return 0;
	}
}

static double number(void)
{
	static const double numbers[] = {0, -0.0, 1, -2.5, 1e308, 5e-324, NAN, INFINITY, -INFINITY};

	return PICK(numbers);
}

/* Past, present and future. */
static uint64_t some_time(void)
{
	uint64_t now = tstrace_elapsed_ns(NULL), back = next() % 2000000;

	switch (below(8)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX - below(3);
	case 2:
		return now + back * 1000;
	default:
		return now > back ? now - back : now;
	}
}

static struct tstrace_shape some_shape(void)
{
	static const uint64_t sizes[] = {2, 3, 0, 1ull << 40, 1ull << 60};

	return (struct tstrace_shape){below(20) ? sizes : NULL, below(4)};
}

/* Elements that are there: the shape is small. */
static const float elements[64] = {1, -2, NAN, 4};

/* --- calls --- */

static void remember(tstrace_span span)
{
	if (span)
		atomic_store(&PICK(spans), span);
}

static int begin(void)
{
	tstrace_span span;

	if (depth == DEPTH)
		return 0;
	switch (below(12)) {
	case 0:
		span = tstrace_begin_measurement(NULL, text());
		break;
	case 1:
	case 2:
		span = tstrace_begin_step_span(NULL, text(), (enum tstrace_step)below(5),
					       (enum tstrace_span_kind)below(4));
		break;
	default:
		span = tstrace_begin_span(NULL, text(), (enum tstrace_span_kind)below(3));
	}
	if (span)
		stack[depth++] = span;
	remember(span);
	return 0;
}

static int end(void)
{
	if (!below(10))
		return tstrace_end_span(NULL, depth > 1 ? stack[below(depth - 1)] : next() | 1);
	return depth ? tstrace_end_span(NULL, stack[--depth]) : 0;
}

static int completed(void)
{
	tstrace_span span;
	int error = tstrace_record_completed_host_span(
	    NULL, text(), (enum tstrace_span_kind)below(4), some_time(), below(2000), &span);

	remember(span);
	return error;
}

static int op(void)
{
	const char *inputs[] = {text(), text()};
	const struct tstrace_op op = {.name = text(),
				      .inputs = inputs,
				      .input_count = below(3),
				      .output = text(),
				      .shape = some_shape(),
				      .dtype = text(),
				      .device = text(),
				      .timestamp_ns = below(2) ? some_time() : 0,
				      .duration_ns = below(2) ? 0 : next() % 100000};

	return tstrace_record_op(NULL, some_span(), below(50) ? &op : NULL);
}

static int tensor(void)
{
	const struct tstrace_tensor tensor = {.tensor_id = text(),
					      .label = text(),
					      .shape = some_shape(),
					      .dtype = below(2) ? "bf16" : text(),
					      .category = (enum tstrace_category)below(6)};

	return tstrace_record_tensor(NULL, some_span(), below(50) ? &tensor : NULL);
}

static int scalar(void)
{
	return tstrace_record_scalar(NULL, some_span(), text(), number());
}

static int stats(void)
{
	static const uint64_t sizes[] = {2, 3, 0};
	static const int64_t strides[] = {3, -1, 0};
	const struct tstrace_data data = {.data = elements + 32,
					  .dtype = (enum tstrace_dtype)below(16),
					  .shape = {sizes, below(4)},
					  .strides = below(2) ? strides : NULL};

	return tstrace_record_tensor_stats(NULL, some_span(), text(), below(50) ? &data : NULL);
}

/* The same few storages from all threads. */
static int memory(void)
{
	static const char *const ids[] = {"a", "b", "c", "d", "e", "f", "", NULL};
	static const char *const devices[] = {"cuda:0", "cuda:1", NULL};
	uint64_t at = some_time();
	const struct tstrace_memory memory = {.storage_id = PICK(ids),
					      .tensor_id = text(),
					      .device = PICK(devices),
					      .bytes = below(8) ? 64 : below(3),
					      .timestamp_ns = below(3) ? NULL : &at,
					      .shape = some_shape(),
					      .category = (enum tstrace_category)below(6)};
	tstrace_span span = some_span();

	return below(2) ? tstrace_record_memory_alloc(NULL, span, &memory)
			: tstrace_record_memory_free(NULL, span, &memory);
}

static int device_memory(void)
{
	uint64_t at = some_time();
	const struct tstrace_device_memory memory = {
	    .timestamp_ns = below(2) ? NULL : &at,
	    .used_bytes = below(2) ? TSTRACE_NOT_KNOWN : next(),
	    .free_bytes = TSTRACE_NOT_KNOWN,
	    .reserved_bytes = TSTRACE_NOT_KNOWN,
	    .capacity_bytes = below(2) ? TSTRACE_NOT_KNOWN : 0};

	return tstrace_record_device_memory(NULL, below(50) ? &memory : NULL);
}

static int interval(void)
{
	const struct tstrace_device_interval interval = {text(), "7",	 "clock",
							 "own",	 next(), below(3)};

	return tstrace_record_device_interval(NULL, some_span(), below(50) ? &interval : NULL);
}

static int edge(void)
{
	if (below(2))
		return tstrace_record_data_edge(NULL, text(), text());
	return tstrace_record_call_edge(NULL, some_span(), some_span(), below(3) ? 0 : below(2000));
}

static int gradient(void)
{
	return tstrace_record_gradient(NULL, text(), text(), (enum tstrace_gradient)below(5),
				       number());
}

static int manifest(void)
{
	const struct tstrace_gradient_entry entry = {text(), text(), text()};
	char digest[72];

	return tstrace_gradient_manifest(below(4) ? &entry : NULL, below(2), digest);
}

static int iteration(void)
{
	if (below(16))
		return 0;
	return below(3) ? tstrace_step(NULL, next()) : tstrace_step_end(NULL);
}

static int times(void)
{
	const struct timespec at = {below(2) ? 0 : (time_t)(next() % 1000000), (long)next()};
	uint64_t ns;

	return tstrace_host_timestamp_ns(NULL, below(4) ? &at : NULL, &ns);
}

static int window(void)
{
	int error = tstrace_pause(NULL);

	tstrace_record_scalar(NULL, 0, "in a pause", 1);
	tstrace_resume(NULL);
	return error;
}

/* What would end the session only where it is refused; the last one waits for the disk. */
static int session(void)
{
	static const struct tstrace_run bad = {.size = 1};

	switch (below(5)) {
	case 0:
		return tstrace_open(NULL, "other.jsonl", below(2) ? &bad : NULL);
	case 1:
		return depth ? tstrace_finish(NULL, NULL) : 0;
	case 2:
		return tstrace_finish_failed(NULL, below(2) ? " " : NULL, NULL);
	case 3:
		return !tstrace_path(NULL) || !tstrace_error();
	default:
		return below(100) ? 0 : tstrace_flush(NULL);
	}
}

/* Spans most often. */
static int (*const all[])(void) = {
    begin,    end,    begin,	end,	  begin,  end,	     completed, op,    op,
    tensor,   scalar, stats,	edge,	  memory, memory,    edge,	times, device_memory,
    interval, edge,   gradient, manifest, scalar, iteration, session};

/* --- threads and signals --- */

static void handler(int signal)
{
	uint64_t kept = state;
	tstrace_span span;
	int error = errno;

	(void)signal;
	span = tstrace_begin_step_span(NULL, "handler", TSTRACE_BACKWARD, TSTRACE_OP);
	tstrace_record_scalar(NULL, span, "in a handler", 2);
	/* Not thousands in what the writer has still to print: it looks for an event's iteration.
	 */
	if (atomic_fetch_add(&in_handlers, 1) % 64 == 0) {
		tstrace_step(NULL, 5);
		tstrace_step_end(NULL);
	}
	tstrace_end_span(NULL, span);
	state = kept;
	errno = error;
}

static void rest(void)
{
	/* A run of any length writes some hundred thousand events. */
	uint64_t us = 20000 * (seconds > 10 ? seconds / 10 : 1);

	struct timespec left = {.tv_nsec = (long)(next() % (us * 1000))};

	while (nanosleep(&left, &left))
		; /* a signal came */
}

static void *work(void *arg)
{
	state = (seed + 1) * 0x9e3779b97f4a7c15u + (uintptr_t)arg;
	while (!atomic_load(&stop)) {
		for (int i = 0; i < BURST; i++)
			if (PICK(all)() < 0)
				atomic_fetch_add(&refused, 1);
		atomic_fetch_add(&calls, BURST);
		if (!below(20))
			window();
		rest();
	}
	/* Some of them leave spans open. */
	while (depth && (uintptr_t)arg % 2)
		tstrace_end_span(NULL, stack[--depth]);
	return NULL;
}

static void run_threads(void)
{
	const struct timespec step = {.tv_nsec = 1000000};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	pthread_t threads[THREADS];
	struct timespec begun, now;
	unsigned turn = 0;

	sigaction(SIGUSR1, &action, NULL);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
	do {
		pthread_kill(threads[turn++ % THREADS], SIGUSR1);
		nanosleep(&step, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - begun.tv_sec < (time_t)seconds);
	atomic_store(&stop, true);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void test_stress(void **unused)
{
	const char *path = test_path("stress.jsonl");

	(void)unused;
	printf("%u seconds, seed %llu\n", seconds, (unsigned long long)seed);
	fflush(stdout);
	setenv("TSTRACE_OUTPUT", path, 1);
	setenv("TSTRACE_EXIT_MS", "20000", 1);
	setenv("TSTRACE_WAIT_MS", "20000", 1);
	run_threads();
	assert_int_equal(tstrace_finish(NULL, NULL), 0);
	printf("%llu calls, %llu refused, %llu signals\n", (unsigned long long)calls,
	       (unsigned long long)refused, (unsigned long long)in_handlers);
	assert_true(refused && refused < calls && in_handlers);
	expect_valid(path);
	if (getenv("KEEP_TRACE"))
		rename(path, getenv("KEEP_TRACE"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_stress)};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	seed = (uint64_t)now.tv_nsec;
	if (argc > 1)
		seconds = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, record_test_clean);
}
