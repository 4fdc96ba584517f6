/* The writer thread, and what it is made of.  Everything below runs on the writer thread alone
 * unless said otherwise; nothing here calls malloc, since a preloaded malloc may call us. */
#ifndef TSTRACE_CORE_RECORD_WRITER_H
#define TSTRACE_CORE_RECORD_WRITER_H

#include "core/base.h"
#include "core/record/line.h"
#include "core/record/record.h"

/* --- writer.c: any thread --- */
/* 0 or -errno; the session is open and the file made */
int ts_writer_start(void);
void ts_writer_wake(void);                      /* signal-safe */
int ts_writer_flush(unsigned timeout_ms, bool to_disk);
/* Flush, and end the trace as if the process ended now, since it may (exec).  Until resume, which
 * takes that back, nothing is written; a full ring loses events. */
int ts_writer_hold(unsigned timeout_ms);
void ts_writer_resume(void);
int ts_writer_finish(const char *reason, unsigned timeout_ms);
void ts_writer_child(void);

extern struct ts_lines ts_lines;                /* the lines under way */

/* --- print.c: records as lines --- */
struct ts_source {
	uint32_t ring;          /* index of the ring */
	uint32_t thread;        /* number of the thread in the trace */
	uint64_t at;            /* position of the record in the ring */
};

void ts_print_record(const struct ts_rec *rec, const struct ts_source *from);
void ts_print_common(const struct ts_rec *rec, uint32_t thread);   /* api, thread, route, stack */
void ts_print_span_id(uint32_t span);           /* ,"span_id":"s7" */
void ts_print_stack(const char *key, uint32_t stack);
void ts_print_device(const char *key, int device, bool is_host);
void ts_print_arena_text(const char *key, uint32_t text, const char *otherwise);
/* The same, nothing when there is none; `full_key`: of the whole of a long one. */
bool ts_print_text_if_any(const char *key, const char *full_key, uint32_t text);
void ts_print_open_spans(uint64_t end_ns);      /* spans still open, as closed; stays as it is */
void ts_saw_time(uint64_t session_ns);          /* evidence: the terminal is not before it */
uint64_t ts_latest_time(void);
void ts_print_child(void);

/* --- memory.c: memory records in time order --- */
void ts_memory_queue(const struct ts_rec *rec, const struct ts_source *from);
void ts_memory_settle(uint64_t until_raw);      /* print what lies before this time */
/* Lower oldest[ring] to the position of the oldest record of that ring that is not printed yet. */
void ts_memory_oldest(uint64_t *oldest);
struct ts_memory_totals {
	uint64_t live_bytes, live_count, peak_bytes, unmatched_frees, captured, failed_frees;
	/* frees inside a window of blocks from before it: counted, not written */
	uint64_t earlier_frees, earlier_bytes;
};
struct ts_memory_totals ts_memory_totals(void);
const char *ts_memory_kind_name(uint8_t kind);
void ts_memory_child(void);

/* --- blocks.c: what is live at which address --- */
struct ts_block {
	uint64_t address;       /* 0: empty entry */
	uint64_t bytes, t, pool;
	uint32_t generation, stack, free_stack;
	int16_t device;         /* of host memory that of its context */
	uint16_t context;
	uint8_t kind;           /* enum ts_memory_kind */
	uint8_t step;
	uint8_t state;          /* enum ts_block_state */
	uint8_t space;          /* which of the handle spaces the address belongs to */
	uint32_t holds;         /* beside the allocation itself, see memory.c */
	bool released;          /* it ends with the last of them */
	bool own_context;       /* that of TS_F_OWN_CONTEXT */
	bool unwritten;         /* allocated outside the window: no line speaks of it */
};
enum ts_block_state { TS_BLOCK_FREED, TS_BLOCK_LIVE, TS_BLOCK_CAPTURED };

struct ts_block *ts_block_find(uint64_t address, uint8_t kind);        /* or NULL */
/* found or new; NULL: no memory */
struct ts_block *ts_block_add(uint64_t address, uint8_t kind);
void ts_block_each(void (*visit)(struct ts_block *block, void *user), void *user);
void ts_block_child(void);

/* --- mapping.c: physical memory by the address where it is mapped --- */
struct ts_mapping {
	uint64_t address, bytes;
	uint64_t handle;
	uint32_t generation;    /* of the handle's block */
};
bool ts_mapping_put(const struct ts_mapping *mapping);  /* false: no memory */
bool ts_mapping_take(uint64_t address, struct ts_mapping *mapping);     /* false: there is none */
void ts_mapping_child(void);

/* --- largest.c --- */
/* Where memory is: a device (its number and 2 more), one that is not known, or the host. */
#define TS_PLACES 258u
unsigned ts_memory_place(int device, uint8_t kind);
void ts_print_largest(unsigned place);

/* --- interval.c: device records and the launches they belong to --- */
void ts_interval_launch(uint32_t correlation, uint32_t span, uint64_t start_ns);
void ts_interval_queue(const struct ts_rec_interval *rec, const struct ts_source *from);
void ts_interval_settle(bool last);     /* print those whose launch is known, or all */
void ts_interval_oldest(uint64_t *oldest);
uint64_t ts_interval_overhead_ns(void);
void ts_interval_child(void);

/* Memory for a growing array: maps room for `count` items of `bytes`, keeps the old ones. */
void *ts_writer_grow(void *old, size_t *room, size_t count, size_t bytes);

/* --- session: records of tstrace.h, the first and the last lines --- */
void ts_print_api(const struct ts_rec *rec, const struct ts_source *from);
void ts_print_begin(void);
void ts_print_end(const char *reason);
/* the terminal alone, of a trace that could not be written on */
void ts_print_cut(const char *reason);

#endif
