/* What the health rules remember of a trace while it is read.  Private to evidence.c and health*.c.
 */
#ifndef TS_TRACE_EVIDENCE_H
#define TS_TRACE_EVIDENCE_H

#include "core/trace/health.h"
#include "core/trace/map.h"

/* Ends of events may lie beyond 2^64-1; they are compared exactly. */
__extension__ typedef unsigned __int128 ts_time;

struct ts_span {
	uint64_t line; /* of its start; 0 = named but never started */
	uint64_t start, duration;
	uint32_t parent; /* TS_MAP_NONE: a root */
	uint32_t walk;	 /* which walk of the cycle check was here first, from 1 */
	bool is_closed, has_ops;
	bool has_stray_ops; /* an op is not inside it: found in a second look at the file */
	uint64_t first_op;  /* earliest start and latest end of its ops */
	ts_time last_op;
};

struct ts_memory_record {
	uint64_t timestamp, line, bytes;
	uint32_t storage, tensor;
	bool is_alloc;
};

struct ts_call_record {
	uint64_t line, duration;
	uint32_t caller, callee;
};

struct ts_gradient_record {
	uint64_t line;
	uint32_t key; /* in gradient_keys */
	uint8_t state;
};

struct ts_evidence {
	struct ts_health *health;
	struct ts_pool pool;		       /* what lives as long as this */
	const struct ts_json *meta, *contract; /* copies; the capture_contract */
	bool is_trace9, is_train, has_terminal, is_failed, all_lines_read;
	struct ts_str reason; /* of the failure */
	uint64_t accepted;    /* events in all */
	ts_time latest;
	uint64_t roots, measured, steps[TS_STEPS];

	struct ts_map span_ids;
	struct ts_span *spans;
	size_t span_capacity;
	struct ts_map used_ids; /* spans that events name */
	uint64_t *used_lines;
	size_t used_capacity;
	struct ts_map labels;  /* required semantic labels */
	uint64_t *label_spans; /* how many spans have that name */

	struct ts_map tensors, edge_tensors;
	uint64_t *edge_lines;
	size_t edge_capacity;
	struct ts_call_record *calls;
	size_t call_count, call_capacity;

	struct ts_map storages, memory_tensors;
	struct ts_memory_record *memory;
	size_t memory_count, memory_capacity;

	struct ts_map gradient_keys, gradient_ids;
	struct ts_gradient_record *gradients;
	size_t gradient_count, gradient_capacity;
};

/* Adds an issue. */
void ts_issue_add(struct ts_evidence *evidence, uint64_t line, bool is_error, const char *code,
		  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Takes in one readable event. */
void ts_evidence_add(struct ts_evidence *evidence, const struct ts_event *event);

void ts_evidence_free(struct ts_evidence *evidence);

/* The rules that need the whole file, by part. */
void ts_health_memory(struct ts_evidence *evidence);
void ts_health_gradients(struct ts_evidence *evidence);

#endif
