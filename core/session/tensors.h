/* The tensor ids that the trace has: what data edges are checked against.  Any thread. */
#ifndef TSTRACE_CORE_SESSION_TENSORS_H
#define TSTRACE_CORE_SESSION_TENSORS_H

#include "core/base.h"

/* Of a tensor's event, or an op's input or output, when it was recorded. */
void ts_tensor_add(const char *id);
bool ts_tensor_is_known(const char *id);

/* In the child of a fork: its trace has none. */
void ts_tensors_child(void);

#endif
