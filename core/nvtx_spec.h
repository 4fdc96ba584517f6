/* What TSTRACE_NVTX_STEP says: which range names are steps of training, which are iterations. */
#ifndef TSTRACE_CORE_NVTX_SPEC_H
#define TSTRACE_CORE_NVTX_SPEC_H

#include "core/base.h"

#define TS_NVTX_RULES 32u
#define TS_NVTX_TEXT 1024u /* bytes, with the end */
#define TS_NVTX_ITERATION 4u

struct ts_nvtx_rule {
	const char *pattern; /* in the text that was read */
	uint8_t what;	     /* enum tstrace_step, or TS_NVTX_ITERATION */
};

struct ts_nvtx_flaws {
	unsigned count;		/* items that are left out */
	const char *item, *why; /* the first of them, in the text; what is wrong with it */
};

/* Cuts `text` into its items and gives the number of rules.  Not allocating, not locking. */
unsigned ts_nvtx_parse(char *text, struct ts_nvtx_rule rules[TS_NVTX_RULES],
		       struct ts_nvtx_flaws *flaws);

/* The character behind the [set] at `p`; NULL: it has no end. */
const char *ts_nvtx_set_end(const char *p);

#endif
