/* For the tests of the recorder: sessions in child processes, and their traces as JSON.
 *
 * A session belongs to a process and is opened from its environment, so each scenario runs in a
 * child of its own; the parent never records. */
#ifndef TSTRACE_TESTS_UNIT_RECORD_TEST_H
#define TSTRACE_TESTS_UNIT_RECORD_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/record/arena.h"
#include "core/record/record.h"

/* A file name in a folder of this test, made at the first call and removed by record_test_clean. */
const char *test_path(const char *name);
int record_test_clean(void **state);

/* Run `scenario` in a child with TSTRACE_OUTPUT=trace and the given NAME=value settings (NULL ends
 * them).  The child ends by exit(0) unless the scenario ends it otherwise.  Returns the wait
 * status; fails the test when the child takes longer than a minute.  What it said on stderr is in
 * `said`. */
int run_session(void (*scenario)(void), const char *trace, ...);
extern char said[8192];

/* Settings for sessions that must not lose an event, even when every core is busy and the writer
 * gets a tenth of one: rings wait for it, and at the exit it has its time. */
#define PATIENT "TSTRACE_WAIT_MS=20000", "TSTRACE_EXIT_MS=20000"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* All lines of a trace; each must be strict JSON: valid UTF-8, no duplicate key, one object. */
json_t *trace_lines(const char *path);

/* The trace passes every check of the format (it may have warnings). */
void expect_valid(const char *path);

/* Both. */
json_t *valid_trace(const char *path);

/* The same of a session that must end well, with PATIENT settings, in a file of this name. */
json_t *trace_of(void (*scenario)(void), const char *name);

/* The n-th event of a kind (from 0), NULL when there are fewer; their number. */
json_t *event_at(json_t *lines, const char *kind, size_t n);
size_t event_count(json_t *lines, const char *kind);

/* A key's value: "" and -1 when it is not there. */
const char *text_of(json_t *event, const char *key);
json_int_t number_of(json_t *event, const char *key);

/* Producers: what hooks do. */
void put_alloc(uint64_t address, uint64_t bytes, int error, uint32_t stack);
void put_free(uint64_t address, uint32_t stack);
void put_free_failed(uint64_t address, int error, uint32_t stack);
void put_launch(const char *name, uint32_t correlation);

#endif
