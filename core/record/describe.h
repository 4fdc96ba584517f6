/* What device.c knows of the device, for the first and last lines; writer thread. */
#ifndef TSTRACE_CORE_RECORD_DESCRIBE_H
#define TSTRACE_CORE_RECORD_DESCRIBE_H

#include "core/record/device.h"
#include "core/record/line.h"

void ts_describe_print(struct ts_lines *lines);         /* backend, backend_reason, cuda */
bool ts_describe_simulated(void);
void ts_describe_child(void);

#endif
