/* The parts of the CUPTI backend. */
#ifndef TSTRACE_CUPTI_CUPTI_H
#define TSTRACE_CUPTI_CUPTI_H

#include <cuda.h>
#include <cupti.h>

#include "core/base.h"
#include "core/record/events.h"

/* records.c: one record; `forced`: a forced flush is under way, work without an end is unfinished.
 */
void cupti_decode(const CUpti_Activity *record);
extern _Atomic int cupti_forced;

/* How CUPTI's times become ours: added to each of them (0 when CUPTI took our clock), and the error
 * that is then possible.  Written by start() and the flushing thread, read by the reading thread.
 */
extern _Atomic int64_t cupti_clock_offset_ns;
extern _Atomic uint32_t cupti_clock_error_ns;

/* The device of a context, for records that name only the context; any thread. */
void cupti_context_device(uint32_t context, uint32_t device);

/* A call of ours to the driver: what the device does for it is not recorded.  Any thread. */
void cupti_own_call(uint32_t correlation);

/* While a window warms up, what its calls launch is forgotten.  Any thread. */
void cupti_warm_up(bool on);
void cupti_call_begins(uint32_t correlation);

struct cupti_kind {
	CUpti_ActivityKind kind;
	const char *name;
	uint8_t activity;       /* enum ts_activity */
	uint8_t when;           /* enum cupti_when */
	void (*decode)(const void *record, struct ts_rec_interval *interval);
};
enum cupti_when { CUPTI_NEEDED, CUPTI_WANTED, CUPTI_GRAPH_MODE, CUPTI_MANAGED };
extern const struct cupti_kind cupti_kinds[];
extern const unsigned cupti_kind_count;

/* callbacks.c */
void CUPTIAPI cupti_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			     const void *data);
/* Which callbacks of callbacks.def are on.  Those that tell of contexts, which are few, are wanted
 * outside the window too. */
enum cupti_callbacks { CUPTI_CALLBACKS_NONE, CUPTI_CALLBACKS_OUTSIDE, CUPTI_CALLBACKS_ALL };
void cupti_callbacks_enable(CUpti_SubscriberHandle subscriber, enum cupti_callbacks which);

/* cupti.c */
extern _Atomic bool cupti_off;          /* stopped, or the child of a fork: callbacks do nothing */
void cupti_context_ends(void);          /* a context is about to go: bring its records in */
/* managed memory is in use, the driver initialised: count its copies */
void cupti_managed_used(void);

#endif
