/* The gradient contract of a run: checked before the trace is made, printed with its first line. */
#ifndef TSTRACE_CORE_SESSION_GRADIENT_H
#define TSTRACE_CORE_SESSION_GRADIENT_H

#include "core/manifest.h"
#include "core/record/line.h"
#include "core/tstrace.h"

/* What is wrong with it, or NULL. */
const char *ts_gradient_contract_flaw(const struct tstrace_gradient_contract *contract);

/* ,"gradient_contract":{...} of one without a flaw. */
void ts_gradient_contract_print(struct ts_lines *line,
				const struct tstrace_gradient_contract *contract);

void ts_gradient_manifest(const struct tstrace_gradient_entry *entries, size_t count,
			  char digest[TS_MANIFEST_DIGEST]);

void ts_gradient_child(void);

#endif
