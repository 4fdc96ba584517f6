/* The buffers that CUPTI fills: whatever order, thread and number of times it gives them back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/record/record.h"
#include "cupti/buffers.h"
#include "tests/unit/child.h"

/* The pool belongs to a process: each case has one of its own.  A child ends with a number made
 * of the line that failed. */
static void in_child(void (*scenario)(void))
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		alarm(20);
		scenario();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define CASE(name)                                                                                 \
	static void name(void);                                                                    \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		in_child(name);                                                                    \
	}                                                                                          \
	static void name(void)

CASE(given_back_twice)
{
	struct cupti_buffer *buffer;
	uint8_t *data;

	CHECK(!cupti_buffers_init(true));
	data = cupti_buffers_lend();
	CHECK(data && (uintptr_t)data % 8 == 0);
	CHECK(cupti_buffers_return(data, 100));
	CHECK(!cupti_buffers_return(data, 100));        /* waits to be read */
	buffer = cupti_buffers_take();
	CHECK(buffer->data == data && buffer->valid == 100);
	CHECK(!cupti_buffers_return(data, 100));        /* is being read */
	cupti_buffers_done(buffer);
	CHECK(!cupti_buffers_return(data, 100));        /* is free */
	CHECK(cupti_buffers_waiting() == 0);
}

CASE(strangers_and_odd_sizes)
{
	static uint8_t stranger[64];
	struct cupti_buffer *buffer;
	uint8_t *data;

	CHECK(!cupti_buffers_init(true));
	CHECK(!cupti_buffers_return(stranger, 64));
	CHECK(!cupti_buffers_return(NULL, 64));
	data = cupti_buffers_lend();
	CHECK(cupti_buffers_return(data, 0));           /* nothing to read */
	CHECK(cupti_buffers_waiting() == 0);
	data = cupti_buffers_lend();
	CHECK(cupti_buffers_return(data, SIZE_MAX));    /* never beyond the end */
	buffer = cupti_buffers_take();
	CHECK(buffer->valid == CUPTI_BUFFER_BYTES);
	cupti_buffers_done(buffer);
}

CASE(out_of_order)
{
	uint8_t *first, *second;
	struct cupti_buffer *buffer;

	CHECK(!cupti_buffers_init(true));
	first = cupti_buffers_lend();
	second = cupti_buffers_lend();
	CHECK(first != second);
	CHECK(cupti_buffers_return(second, 2));
	CHECK(cupti_buffers_return(first, 1));
	buffer = cupti_buffers_take();
	CHECK(buffer->data == second && buffer->valid == 2);
	cupti_buffers_done(buffer);
	buffer = cupti_buffers_take();
	CHECK(buffer->data == first && buffer->valid == 1);
	cupti_buffers_done(buffer);
}

CASE(full_and_may_refuse)
{
	CHECK(!cupti_buffers_init(true));
	for (unsigned i = 0; i < CUPTI_BUFFERS_MAX; i++)
		CHECK(cupti_buffers_lend());
	CHECK(!cupti_buffers_lend());
	CHECK(ts_lost_count(TS_LOST_device_buffers) == 1);
}

CASE(full_and_must_not_refuse)
{
	uint8_t *oldest, *again;

	CHECK(!cupti_buffers_init(false));
	oldest = cupti_buffers_lend();
	for (unsigned i = 1; i < CUPTI_BUFFERS_MAX; i++)
		CHECK(cupti_buffers_lend());
	CHECK(cupti_buffers_return(oldest, 8));
	again = cupti_buffers_lend();
	CHECK(again == oldest);
	CHECK(ts_lost_count(TS_LOST_device_buffers) == 1);
	CHECK(cupti_buffers_waiting() == 0);
}

CASE(after_the_end)
{
	uint8_t *data;

	CHECK(!cupti_buffers_init(true));
	data = cupti_buffers_lend();
	cupti_buffers_close();
	CHECK(!cupti_buffers_take());
	CHECK(cupti_buffers_return(data, 100));
	CHECK(cupti_buffers_waiting() == 0);
	CHECK(cupti_buffers_lend());            /* CUPTI may still ask */
}

#define THREADS 4
#define ROUNDS 2000

/* As CUPTI with a buffer for each thread: asks and completes on all of them at once. */
static void *producer(void *arg)
{
	uint64_t id = (uint64_t)(uintptr_t)arg;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		uint64_t *data = (uint64_t *)(void *)cupti_buffers_lend();

		CHECK(data);
		data[0] = id;
		data[1] = i;
		CHECK(cupti_buffers_return((uint8_t *)data, i % 7 ? 16 : 0));
	}
	return NULL;
}

static uint64_t next_round[THREADS];
static unsigned seen;

static void *consumer(void *arg)
{
	struct cupti_buffer *buffer;

	while ((buffer = cupti_buffers_take())) {
		const uint64_t *data = (const uint64_t *)(const void *)buffer->data;

		CHECK(buffer->valid == 16 && data[0] < THREADS);
		CHECK(data[1] >= next_round[data[0]]);  /* none twice, none from before */
		next_round[data[0]] = data[1] + 1;
		seen++;
		cupti_buffers_done(buffer);
	}
	return arg;
}

CASE(many_threads)
{
	pthread_t threads[THREADS], reader;
	struct timespec deadline;

	CHECK(!cupti_buffers_init(false));
	CHECK(!pthread_create(&reader, NULL, consumer, NULL));
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, producer, (void *)i));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += 10;
	CHECK(cupti_buffers_wait_read(&deadline));
	cupti_buffers_close();
	pthread_join(reader, NULL);
	CHECK(seen + ts_lost_count(TS_LOST_device_buffers) ==
	      THREADS * (ROUNDS - (ROUNDS + 6) / 7));
}

CASE(waiting_has_an_end)
{
	struct timespec deadline;
	uint8_t *data;

	CHECK(!cupti_buffers_init(true));
	data = cupti_buffers_lend();
	CHECK(cupti_buffers_return(data, 8));
	clock_gettime(CLOCK_MONOTONIC, &deadline);
	CHECK(!cupti_buffers_wait_read(&deadline));
}

static void *wait_long(void *arg)
{
	struct timespec deadline;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += 3600;
	CHECK(cupti_buffers_wait_read(&deadline));
	return NULL;
}

/* There is always another that waits: of a program that goes on there is no end. */
CASE(waiting_for_what_was_there)
{
	pthread_t waiter;

	CHECK(!cupti_buffers_init(true));
	CHECK(cupti_buffers_return(cupti_buffers_lend(), 8));
	CHECK(!pthread_create(&waiter, NULL, wait_long, NULL));
	while (pthread_tryjoin_np(waiter, NULL)) {
		CHECK(cupti_buffers_return(cupti_buffers_lend(), 8));
		cupti_buffers_done(cupti_buffers_take());
	}
	CHECK(cupti_buffers_waiting() == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_given_back_twice),
		cmocka_unit_test(test_strangers_and_odd_sizes),
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_full_and_may_refuse),
		cmocka_unit_test(test_full_and_must_not_refuse),
		cmocka_unit_test(test_after_the_end),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_waiting_has_an_end),
		cmocka_unit_test(test_waiting_for_what_was_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
