/* Provenance of the run: what tstrace_open gives, else what the TSTRACE_ variables say; checked
 * before the trace is made, printed with its first line. */
#ifndef TSTRACE_CORE_SESSION_RUN_H
#define TSTRACE_CORE_SESSION_RUN_H

#include "core/record/line.h"
#include "core/tstrace.h"

/* Keep a copy of `run`, which may be NULL.  0, or -EINVAL and `flaw` says which field is wrong, or
 * -ENOMEM.  Once, before the session opens; under its lock. */
int ts_run_set(const struct tstrace_run *run, char *flaw, size_t flaw_bytes);

/* Of the run, or by default.  Valid for the process's life. */
const char *ts_run_entrypoint(void);
const char *ts_run_device(void);

/* The fields of meta from run_id to the end of tags.  Writer thread. */
void ts_run_print(struct ts_lines *line);

/* In the child of a fork: the run was the parent's. */
void ts_run_child(void);

#endif
