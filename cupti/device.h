/* What the backends of cupti/ share: the driver, threads, the way of an interval into a ring. */
#ifndef TSTRACE_CUPTI_DEVICE_H
#define TSTRACE_CUPTI_DEVICE_H

#include <cuda.h>
#include <pthread.h>
#include <time.h>

#include "core/base.h"
#include "core/record/device.h"
#include "core/record/record.h"

/* --- the driver (driver.c) --------------------------------------------------- */

/* The real driver's functions that tstrace calls itself; NULL where the driver has none.  Never
 * hooks. */
struct device_driver {
#define TS_DRIVER(type, name, symbol) __typeof__(&type) name;
#include "cupti/driver.def"
#undef TS_DRIVER
};
extern struct device_driver device_driver;

/* Look the functions up; idempotent.  False when no driver can be loaded. */
bool device_driver_load(void);

int device_driver_version(void);        /* 13000; 0 unknown */
bool device_simulated(void);            /* the loaded driver is tstrace's simulated one */

/* Driver, runtime and simulation for meta; from start(). */
void device_describe_versions(void);

/* Name and compute capability of each device, asked by a thread of ours: only once the program has
 * initialised the driver (it is never initialised for this).  start: from start(), the driver is
 * loaded.  devices: ask if that is still to be done, and wait for at most that long; any thread. */
void device_describe_start(void);
void device_describe_devices(unsigned timeout_ms);
void device_describe_child(void);

void *device_driver_symbol(const char *symbol);         /* any other; NULL: it has none */

/* --- statistics of tensors (reduce.c) ----------------------------------------- */

void device_stats_child(void);

/* --- waiting (thread.c) ------------------------------------------------------ */

/* A condition variable that waits on CLOCK_MONOTONIC. */
void device_cond_init(pthread_cond_t *cond);

struct timespec device_deadline(unsigned ms);

/* --- intervals (thread.c) ---------------------------------------------------- */

/* Put an interval into the ring of the calling thread, one of ours at depth 0; also while the
 * capture window is closed, since work of the window may end after it.  Counts what finds no room.
 */
void device_emit(const struct ts_rec_interval *interval);

/* --- the backends ------------------------------------------------------------ */

/* Start; 0, or -errno and one line of text (at least 256 bytes) that says why not. */
int cupti_start(char *why, size_t bytes);
void cupti_flush(unsigned timeout_ms, bool forced);
void cupti_stop(void);
void cupti_gate(enum ts_gate gate);
void cupti_child(void);

int event_start(char *why, size_t bytes);
void event_flush(unsigned timeout_ms, bool forced);
void event_stop(void);
void event_gate(enum ts_gate gate);
/* True when the child may start afresh: the parent had used no context. */
bool event_child(void);

#endif
