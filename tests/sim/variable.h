/* The simulated device's own variables, TSTRACE_SIM_<name>: the one place that reads them.  The
 * driver, the runtime and CUPTI are libraries of their own, each of which needs its own. */
#ifndef TSTRACE_TESTS_SIM_VARIABLE_H
#define TSTRACE_TESTS_SIM_VARIABLE_H

#include <stdio.h>
#include <stdlib.h>

/* NULL when it is not set, or empty. */
static inline const char *sim_variable(const char *name)
{
	char full[64];
	const char *value;

	snprintf(full, sizeof(full), "TSTRACE_SIM_%s", name);
	value = getenv(full);
	return value && *value ? value : NULL;
}

#endif
