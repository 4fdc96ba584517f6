/* Spans below tstrace.h: as preload begins and ends those of NVTX, and as the writer prints them.
 */
#ifndef TSTRACE_CORE_SESSION_SPAN_H
#define TSTRACE_CORE_SESSION_SPAN_H

#include "core/record/record.h"
#include "core/session/thread.h"

/* The eight bytes of a note's payload, which has them as words: it lies at four in its record. */
union ts_payload_value {
	uint64_t u64;
	int64_t i64;
	double f64;
	uint32_t words[2];
};

static inline union ts_payload_value ts_payload_of(const struct ts_span_note *note)
{
	return (union ts_payload_value){ .words = { note->payload[0], note->payload[1] } };
}

struct ts_span_spec {
	uint32_t name;		    /* arena text, 0 unnamed */
	uint8_t kind, step, source; /* enum ts_span_source */
	bool measured, iteration;
	struct ts_span_note note;
};

/* --- on the thread's stack --- */

/* Begin a span on the calling thread.  `ring` NULL: nothing is recorded now, but what ends it will
 * come.  Returns its number; 0 when nothing of it was recorded. */
uint32_t ts_span_push(struct ts_ring *ring, const struct ts_span_spec *spec);

/* End the innermost NVTX span of `domain` (arena text, 0 the default one).  Each domain has a stack
 * of its own, so it need not be the innermost of all.  Spans of other domains inside it are cut in
 * two: they end here and go on, as spans that tell which they continue.  With a span of tstrace.h
 * inside, whose number the program holds, it ends as soon as that one does.  False: there was none.
 */
bool ts_span_pop(uint32_t domain, bool *iteration);

/* --- ranges: begun and ended anywhere, attached to the root --- */

/* A number for ts_range_end; 0 when there is no room (counted). */
uint64_t ts_range_start(const struct ts_span_spec *spec);

/* False: no range has this number, or it was ended. */
bool ts_range_end(uint64_t range, bool *iteration);

void ts_range_child(void);

/* --- marks --- */

/* A moment: a scalar when it has a name and a payload, else an op that takes no time. */
void ts_mark(struct ts_ring *ring, const struct ts_span_spec *spec);

/* --- writer --- */

void ts_print_done(const struct ts_rec_span_done *rec, uint32_t thread);
void ts_print_mark(const struct ts_rec_mark *rec, uint32_t thread);
void ts_range_print_open(uint64_t end_ns); /* those not ended; they stay as they are */
void ts_print_step(uint8_t step);	   /* ,"step":"forward" */
/* Source, and the keys that came with the span. */
void ts_print_note(uint8_t source, const struct ts_span_note *note);

/* --- for span.c and range.c --- */
uint32_t ts_span_next_id(struct ts_api_thread *thread);
struct ts_ring *ts_span_ring(void); /* the thread's, also outside the window; or NULL */

#endif
