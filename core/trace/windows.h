/* The windows of a trace: which part of its run was recorded. */
#ifndef TS_TRACE_WINDOWS_H
#define TS_TRACE_WINDOWS_H

#include "core/trace/reader.h"

struct ts_windows {
	uint64_t borders; /* 0: the run was recorded whole, if the terminal says no other */
	uint64_t opened, recorded_ns, open_since_ns;
	bool is_open; /* after the last event: at the end, or where the trace is cut */
	bool is_cut;  /* the last one has no end: counted in opened, not in recorded_ns */
	char cause[16]; /* of the first border */
	/* alive when the first of the windows after the run's begin opened */
	bool has_live;
	uint64_t live_bytes, live_blocks;
	/* frees inside of what was allocated before; from the terminal */
	uint64_t earlier_frees, earlier_bytes;
};

/* An op that is a border; others are left alone. */
void ts_windows_take(struct ts_windows *windows, const struct ts_ev_op *op);

/* After the last event; `terminal` NULL: there is none. */
void ts_windows_finish(struct ts_windows *windows, const struct ts_json *terminal, uint64_t end_ns);

/* False: the run was recorded whole. */
bool ts_windows_any(const struct ts_windows *windows);

#endif
