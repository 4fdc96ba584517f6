/* Switches of the simulated driver.  All begin with TSTRACE_SIM_; see ../README.md.
 *
 *   LOG=1                write each call, its result and its thread's name to stderr
 *   LOG_UNSUPPORTED=1    write a line for each call of a function that is not simulated
 *   DEVICES=n            number of devices, 0..16 (1)
 *   DRIVER_VERSION=n     what cuDriverGetVersion says (13000)
 *   CC=major.minor       compute capability (9.0)
 *   MEMORY=bytes         memory of each device; suffixes K, M, G (16G)
 *   KERNEL_NS=n          duration of a kernel (20000)
 *   COPY_GBPS=x          copy rate in 10^9 bytes a second (12), after COPY_NS=n (1500)
 *   FAIL=name:n=code,... the n-th call (from 1; *: each call) of the exported symbol `name` returns
 *                        `code` and does nothing
 *   REUSE=mode           never (default): a freed address does not come back; lifo: it is handed
 * out next; handshake: cuMemFree returns only when another thread was given the address, or after
 * HANDSHAKE_MS (1000) GLOBAL_SIZE=bytes    size of a __device__ variable whose symbol table cannot
 * be read (65536) */
#include "sim.h"
#include "tests/sim/variable.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_config sim_config = {
    .devices = 1,
    .driver_version = 13000,
    .cc_major = 9,
    .memory = 16ull << 30,
    .kernel_ns = 20000,
    .copy_base_ns = 1500,
    .copy_bytes_per_ns = 12,
    .handshake_ns = 1000000000,
    .global_size = 65536,
};

static void complain(const char *name, const char *value)
{
	fprintf(stderr, "simulated CUDA driver: TSTRACE_SIM_%s=%s is not understood, ignored\n",
		name, value);
}

static uint64_t number(const char *name, uint64_t otherwise, uint64_t max)
{
	const char *value = sim_variable(name);
	if (!value)
		return otherwise;
	char *end;
	uint64_t n = strtoull(value, &end, 0);
	switch (*end) {
	case 'K':
	case 'k':
		n <<= 10;
		end++;
		break;
	case 'M':
	case 'm':
		n <<= 20;
		end++;
		break;
	case 'G':
	case 'g':
		n <<= 30;
		end++;
		break;
	}
	if (end == value || *end || *value == '-' || n > max) {
		complain(name, value);
		return otherwise;
	}
	return n;
}

static struct sim_entry *find_entry(const char *name, size_t length)
{
	for (unsigned i = 0; i < sim_nentries; i++)
		if (strlen(sim_entries[i].name) == length &&
		    !memcmp(sim_entries[i].name, name, length))
			return &sim_entries[i];
	return NULL;
}

static bool add_fault(const char *text, size_t length)
{
	char item[128], tail;
	if (length >= sizeof item)
		return false;
	memcpy(item, text, length);
	item[length] = 0;
	char *colon = strchr(item, ':'), *equal = strchr(item, '=');
	if (!colon || !equal || equal < colon)
		return false;
	struct sim_entry *entry = find_entry(item, (size_t)(colon - item));
	unsigned long nth = 0;
	int code;
	bool each = colon[1] == '*' && colon + 2 == equal;
	*equal = 0;
	if (!entry || (!each && (sscanf(colon + 1, "%lu%c", &nth, &tail) != 1 || !nth)) ||
	    sscanf(equal + 1, "%d%c", &code, &tail) != 1)
		return false;
	struct sim_fault *fault = malloc(sizeof *fault);
	if (!fault)
		return false;
	*fault = (struct sim_fault){.nth = nth, .code = (CUresult)code, .next = entry->faults};
	entry->faults = fault;
	return true;
}

static void read_faults(void)
{
	const char *text = sim_variable("FAIL");
	while (text && *text) {
		size_t length = strcspn(text, ",");
		if (length && !add_fault(text, length))
			complain("FAIL", text);
		text += length + (text[length] == ',');
	}
}

static void read_numbers(void)
{
	sim_config.log = number("LOG", 0, 1);
	sim_config.log_unsupported = number("LOG_UNSUPPORTED", 0, 1);
	sim_config.devices = (int)number("DEVICES", 1, SIM_MAX_DEVICES);
	sim_config.driver_version = (int)number("DRIVER_VERSION", 13000, 1000000);
	sim_config.memory = number("MEMORY", sim_config.memory, 1ull << 44);
	sim_config.kernel_ns = number("KERNEL_NS", sim_config.kernel_ns, 1ull << 40);
	sim_config.copy_base_ns = number("COPY_NS", sim_config.copy_base_ns, 1ull << 40);
	sim_config.handshake_ns = number("HANDSHAKE_MS", 1000, 60000) * 1000000;
	sim_config.global_size = number("GLOBAL_SIZE", 65536, 1u << 30);
}

__attribute__((constructor)) static void configure(void)
{
	static const char *const early[] = {
	    "cuInit",
	    "cuDriverGetVersion",
	    "cuGetProcAddress",
	    "cuGetProcAddress_v2",
	    "cuGetErrorName",
	    "cuGetErrorString",
	    "cuGetExportTable",
	    "cuThreadExchangeStreamCaptureMode",
	    "cuProfilerInitialize",
	    "cuLogsRegisterCallback",
	    "cuLogsUnregisterCallback",
	};
	for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
		struct sim_entry *entry = find_entry(early[i], strlen(early[i]));
		if (entry)
			entry->early = true;
	}
	read_numbers();
	const char *value = sim_variable("CC");
	char tail;
	if (value &&
	    sscanf(value, "%d.%d%c", &sim_config.cc_major, &sim_config.cc_minor, &tail) != 2)
		complain("CC", value);
	value = sim_variable("COPY_GBPS");
	if (value && (sscanf(value, "%lf%c", &sim_config.copy_bytes_per_ns, &tail) != 1 ||
		      !(sim_config.copy_bytes_per_ns > 0))) {
		complain("COPY_GBPS", value);
		sim_config.copy_bytes_per_ns = 12;
	}
	value = sim_variable("REUSE");
	if (value && !strcmp(value, "lifo"))
		sim_config.reuse = REUSE_LIFO;
	else if (value && !strcmp(value, "handshake"))
		sim_config.reuse = REUSE_HANDSHAKE;
	else if (value && strcmp(value, "never"))
		complain("REUSE", value);
	read_faults();
}
