/* For the tests of call stacks: a hook to take them, and glibc's backtrace() to compare with. */
#ifndef TSTRACE_TESTS_UNIT_STACK_TEST_H
#define TSTRACE_TESTS_UNIT_STACK_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/record/arena.h"
#include "core/record/file.h"
#include "core/record/record.h"
#include "core/record/stack.h"

#define FRAMES 300
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
/* Keeps a call from becoming a jump, which would take its frame away. */
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")

/* What the last hook() saw. */
struct taken {
	uint32_t id;
	int backtrace_count;
	void *backtrace[FRAMES + 2]; /* of glibc, from hook()'s caller on: return addresses */
};
extern _Thread_local struct taken taken;

/* Like a hook of the library, called by the code under test. */
void hook(void);

/* The id's frames as addresses; returns how many.  `end`: enum ts_stack_end. */
unsigned frames_of(uint32_t id, uint64_t *addresses, unsigned *end);

/* The last stack equals glibc's, frame by frame, and is whole. */
void assert_like_backtrace(void);

/* Make an arena without a session. */
int stack_setup(void **state);
int stack_teardown(void **state);

#endif
