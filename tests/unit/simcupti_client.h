/* What the tests of the stand-in CUPTI share: a client of it that keeps every record, and the
 * driver's side of the observer interface. */
#ifndef TSTRACE_TEST_SIMCUPTI_H
#define TSTRACE_TEST_SIMCUPTI_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/sim/observer.h"

/* Every function under test, by the type of the public header. */
#define FUNCTIONS(X) \
	X(cuptiSubscribe) X(cuptiSubscribe_v2) X(cuptiUnsubscribe) X(cuptiEnableCallback) \
	X(cuptiEnableDomain) X(cuptiGetCallbackName) X(cuptiGetCallbackState) \
	X(cuptiActivityRegisterCallbacks) X(cuptiActivityEnable) X(cuptiActivityDisable) \
	X(cuptiActivityEnableContext) X(cuptiActivityEnableRuntimeApi) \
	X(cuptiActivityEnableAndDump) X(cuptiActivityFlushAll) X(cuptiActivityFlushPeriod) \
	X(cuptiActivityGetNextRecord) X(cuptiActivityGetNumDroppedRecords) \
	X(cuptiActivityRegisterTimestampCallback) X(cuptiGetTimestamp) \
	X(cuptiActivityPushExternalCorrelationId) X(cuptiActivityPopExternalCorrelationId) \
	X(cuptiActivitySetAttribute) X(cuptiActivityGetAttribute) X(cuptiGetResultString) \
	X(cuptiGetVersion) X(cuptiFinalize) X(cuptiGetContextId) X(cuptiGetGraphNodeId) \
	X(cuptiActivityConfigureUnifiedMemoryCounter) X(cuptiActivityEnableHWTrace)
#define X(name) extern __typeof__(&name) p_##name;
FUNCTIONS(X)
#undef X

#define OK(call) assert_int_equal((call), CUPTI_SUCCESS)
#define MS 1000000
#define CLOCK_SHIFT UINT64_C(1000000000000)     /* client_clock() is that much ahead */

/* The folder of this program, and what the fake driver exports. */
extern char folder[4096];
extern const struct sim_observer **observer;
void find_folder(void);
void load_driver(void);
void load_cupti(const char *soname);

/* The client. */
extern size_t buffer_size;
extern bool refuse_buffers;
extern atomic_int requested, completed, empty;
extern pthread_t completer;             /* thread of the last completion */
extern uint8_t records[512][256];      /* the first of them */
extern unsigned record_count;           /* all of them */
extern uint8_t correlations[65536];     /* how often a kernel of this id came */
void request(uint8_t **buffer, size_t *size, size_t *max_records);
void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
void *record_of(CUpti_ActivityKind kind, unsigned nth);         /* NULL: there are not so many */
unsigned count_of(CUpti_ActivityKind kind);
uint64_t now_ns(void);
uint64_t client_clock(void);
/* Register all callbacks and enable one kind. */
void start(CUpti_ActivityKind kind);

/* The driver. */
void kernel(uint32_t correlation, uint64_t begin, uint64_t end);
void past_kernel(uint32_t correlation);
void api(enum sim_domain domain, const char *name, uint32_t correlation, bool enter);
void report(const struct sim_activity *work);

/* Set-up and tear-down of each case. */
int begin(void **state);
int end(void **state);
#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

#endif
