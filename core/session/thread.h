/* What the session keeps for a thread that calls tstrace.h: mapped at its first call, unmapped at
 * its end. */
#ifndef TSTRACE_CORE_SESSION_THREAD_H
#define TSTRACE_CORE_SESSION_THREAD_H

#include "core/base.h"
#include "core/record/line.h"

#define TS_MAX_DEPTH 4096u      /* nested spans of a thread; deeper ones are refused */
#define TS_KNOWN_NAMES 64u      /* a power of two */

/* What the thread goes back to when a span ends. */
struct ts_frame {
	uint64_t t;             /* raw time of the span's start */
	uint32_t span, name, parent, parent_step;       /* span 0: not recorded */
	uint32_t domain;        /* NVTX: arena text */
	uint8_t step, kind, source;     /* enum ts_span_source */
	bool iteration;         /* ended with the span */
	bool popped;            /* to be ended together with the one inside it */
};

/* A span that is over.  Few, so that a span's end stays in the first-level cache. */
#define TS_ENDED 256u   /* a power of two */
struct ts_ended {
	uint64_t ids;           /* the span, its parent; 0 none */
	uint64_t start, end;    /* see past.h */
};

/* A name that the thread used before, by its address: usually a literal. */
struct ts_known_name {
	const char *name;
	const char *kept;       /* the arena's copy */
	uint32_t text;
};

struct ts_api_thread {
	uint32_t depth;         /* open spans */
	uint32_t beyond;        /* pushed by NVTX when there was no more room */
	uint32_t iterations;    /* frames that are iterations */
	uint32_t next_id, ids;  /* ids of this thread that are still to be given out */
	_Atomic uint8_t *begun; /* see past.h */
	uint32_t ended_count;
	char error[256];        /* why the last refused call was refused */
	struct ts_lines body;   /* the event that a call is about to publish */
	struct ts_known_name names[TS_KNOWN_NAMES];
	struct ts_ended ended[TS_ENDED];
	struct ts_frame frames[TS_MAX_DEPTH];
};

/* The calling thread's; NULL when there is no memory.  Only at depth 1 (after ts_enter). */
struct ts_api_thread *ts_api_thread(void);

/* Arena text of a name; 0 when the arena is full. */
uint32_t ts_known_text(struct ts_api_thread *thread, const char *name);

/* The frame of an open span of this thread, or NULL. */
struct ts_frame *ts_open_frame(struct ts_api_thread *thread, uint64_t span);

#endif
