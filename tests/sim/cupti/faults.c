/* Scripted faults: one environment variable each, read when CUPTI is first used. */
#include "tests/sim/cupti/simcupti.h"
#include "tests/sim/variable.h"

#include <stdio.h>
#include <stdlib.h>

struct sim_faults sim_faults;

static long number(const char *name)
{
	const char *text = sim_variable(name);

	return text ? strtol(text, NULL, 0) : 0;
}

void sim_faults_read(void)
{
#define SIM_FAULT(name, field, help) sim_faults.field = number("CUPTI_" #name);
#define SIM_FAULT_TEXT(name, field, help) sim_faults.field = sim_variable("CUPTI_" #name);
#include "tests/sim/cupti/faults.def"
}

CUptiResult sim_faults_enable(CUpti_ActivityKind kind)
{
	const char *at = sim_faults.enable;
	int rule, code, length;

	for (; at && sscanf(at, "%d:%d%n", &rule, &code, &length) == 2; at += length + 1) {
		if (rule == (int)kind)
			return (CUptiResult)code;
		if (at[length] != ',')
			break;
	}
	return CUPTI_SUCCESS;
}

bool sim_faults_every(long n, atomic_ulong *counter)
{
	return n > 0 && (atomic_fetch_add(counter, 1) + 1) % (unsigned long)n == 0;
}
