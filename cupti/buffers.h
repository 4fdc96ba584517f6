/* The buffers that CUPTI fills with activity records.
 *
 * Memory of our own mapping, never the program's malloc, never given back.  CUPTI owns a buffer
 * from the request until its completion; then it waits in a queue for our thread that reads it.  So
 * that a completion costs a few instructions on whatever thread it comes, also one that is inside a
 * hook.
 *
 * One lock, a leaf: it is held for a few pointer moves and never while CUPTI or anything else is
 * called. */
#ifndef TSTRACE_CUPTI_BUFFERS_H
#define TSTRACE_CUPTI_BUFFERS_H

#include <stdint.h>
#include <time.h>

#include "core/base.h"

/* Small, so that a partly filled one is delivered early: what a killed process loses. */
#define CUPTI_BUFFER_BYTES (512u << 10)
#define CUPTI_BUFFERS_MAX                                                                          \
	512 /* 256 MiB of records not yet read: beyond it, CUPTI must wait or drop */

struct cupti_buffer {
	struct cupti_buffer *next;
	size_t valid;                   /* bytes that CUPTI filled */
	enum { BUFFER_FREE, BUFFER_LENT, BUFFER_QUEUED, BUFFER_READING } state;
	uint8_t *data;
};

/* `refuse`: this CUPTI takes NULL for an answer (12.9 and later; older ones crash).  Makes the
 * first buffer, so that there is one.  0 or -ENOMEM. */
int cupti_buffers_init(bool refuse);

/* A buffer for CUPTI; NULL only when `refuse` or when there is no memory at all (counted as lost
 * "device_buffers").  Any thread, concurrently. */
uint8_t *cupti_buffers_lend(void);

/* CUPTI gives one back.  False when it is not one that it owns (delivered twice): ignored. */
bool cupti_buffers_return(uint8_t *data, size_t valid);

/* The oldest returned buffer, waiting until there is one; NULL after cupti_buffers_close. */
struct cupti_buffer *cupti_buffers_take(void);

/* It was read. */
void cupti_buffers_done(struct cupti_buffer *buffer);

/* Wait until all returned buffers were read; false when the time is over. */
bool cupti_buffers_wait_read(const struct timespec *deadline);

/* Returned, not yet read. */
unsigned cupti_buffers_waiting(void);

/* No more reading: take gives NULL; returned buffers are only kept. */
void cupti_buffers_close(void);

#endif
