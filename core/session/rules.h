/* TSTRACE_NVTX_STEP: which range names are steps of training, and which are iterations. */
#ifndef TSTRACE_CORE_SESSION_RULES_H
#define TSTRACE_CORE_SESSION_RULES_H

#include "core/base.h"

struct ts_named {
	uint8_t step; /* enum tstrace_step */
	bool is_iteration;
	uint64_t iteration; /* the last number in the name, or counted from 1 */
};

/* When the session opens: "forward=fwd*;iteration=iter *".  What is wrong is left out; ts_env_read
 * told of it. */
void ts_rules_read(const char *text);

/* Any thread.  Inside an iteration of the thread another one is not looked for. */
extern bool ts_rules_any;
struct ts_named ts_rules_match(const char *name, bool may_iterate);

#endif
