/* The parts of the CUPTI backend. */
#ifndef TSTRACE_CUPTI_CUPTI_H
#define TSTRACE_CUPTI_CUPTI_H

#include <cuda.h>
#include <cupti.h>

#include "core/base.h"
#include "core/record/events.h"

/* buffers.c: called by CUPTI from any thread */
void CUPTIAPI cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records);
void CUPTIAPI cupti_buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
				     size_t valid);
/* Buffers may be refused (NULL) without CUPTI crashing: from 12.9 on. */
void cupti_buffers_may_refuse(bool may);
void cupti_buffers_child(void);

/* records.c: one record; `forced`: a forced flush is under way, work without an end is unfinished. */
void cupti_decode(const CUpti_Activity *record);
extern _Atomic int cupti_forced;
extern uint32_t cupti_clock_error_ns;

struct cupti_kind {
	CUpti_ActivityKind kind;
	const char *name;
	uint8_t activity;       /* enum ts_activity */
	uint8_t when;           /* enum cupti_when */
	void (*decode)(const void *record, struct ts_rec_interval *interval);
};
enum cupti_when { CUPTI_NEEDED, CUPTI_WANTED, CUPTI_GRAPH_MODE };
extern const struct cupti_kind cupti_kinds[];
extern const unsigned cupti_kind_count;

/* callbacks.c */
void CUPTIAPI cupti_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data);
/* Switch all callbacks of callbacks.def on or off. */
void cupti_callbacks_enable(CUpti_SubscriberHandle subscriber, bool on);

/* cupti.c: a context is about to go: bring its records in. */
void cupti_context_ends(void);

#endif
