#ifndef TSTRACE_CORE_SESSION_RUN_CHECK_H
#define TSTRACE_CORE_SESSION_RUN_CHECK_H

#include "core/tstrace.h"

/* What is wrong with a run, naming the field; NULL: nothing. */
const char *ts_run_flaw(const struct tstrace_run *run);

#endif
