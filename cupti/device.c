/* Which backend runs: CUPTI, else CUDA events, else none, as TSTRACE_DEVICE allows. */
#include "cupti/device.h"

#include <stdio.h>

#include "core/env.h"
#include "core/log.h"
#include "core/record/device.h"

/* Longest wait for the devices' names when somebody waits for a flush. */
#define DESCRIBE_MS 500

enum mode { AUTO, CUPTI, EVENT, OFF };

static char reason[640];
static _Atomic enum ts_backend running;
static bool inherited;          /* a fork's child: the parent's CUDA and CUPTI are unusable here */

/* What runs in CUPTI's place, and why.  Where the driver opened this library and no hook is met,
 * only CUPTI's callbacks could have told of the program's calls. */
static void without_cupti(enum ts_backend kind, const char *why)
{
	static char text[sizeof(reason) + 128];
	bool blind = ts_teller && !ts_teller->hooked();

	snprintf(text, sizeof(text), "%s%s", why,
		 blind ? "; without LD_PRELOAD only CUPTI tells of calls: none is recorded" : "");
	if (blind)
		ts_say("%s", text);
	ts_device_set_state(kind, kind == TS_BACKEND_EVENT ? "event" : "off", text);
}

static void choose(void)
{
	char cupti_why[320] = "", event_why[256] = "";
	enum mode mode = ts_env.device;

	running = TS_BACKEND_OFF;
	if (mode == OFF) {
		without_cupti(TS_BACKEND_OFF, "TSTRACE_DEVICE=off");
		device_describe_versions();
		if (device_driver_load())
			device_describe_start();
		return;
	}
	if (inherited) {
		without_cupti(
		    TS_BACKEND_OFF,
		    "the parent had begun to use the device before this process was forked");
		return;
	}
	if (!device_driver_load()) {
		without_cupti(TS_BACKEND_OFF, "no CUDA driver (libcuda.so.1) can be loaded");
		return;
	}
	device_describe_versions();
	device_describe_start();
	if (mode != EVENT && !cupti_start(cupti_why, sizeof(cupti_why))) {
		running = TS_BACKEND_CUPTI;
		ts_device_set_state(running, "cupti", "");
		return;
	}
	if (mode == CUPTI) {
		ts_say("TSTRACE_DEVICE=cupti: %s; there are no device intervals", cupti_why);
		without_cupti(TS_BACKEND_OFF, cupti_why);
		return;
	}
	if (!event_start(event_why, sizeof(event_why))) {
		running = TS_BACKEND_EVENT;
		without_cupti(running, mode == EVENT ? "TSTRACE_DEVICE=event" : cupti_why);
		return;
	}
	snprintf(reason, sizeof(reason), "%s%s%s", cupti_why, *cupti_why ? "; " : "", event_why);
	ts_say("no device intervals: %s", reason);
	without_cupti(TS_BACKEND_OFF, reason);
}

static _Atomic bool starting;

static void start(void)
{
	starting = true;
	choose();
	starting = false;
}

static void flush(unsigned timeout_ms, bool forced)
{
	device_describe_devices(timeout_ms < DESCRIBE_MS ? timeout_ms : DESCRIBE_MS);
	if (running == TS_BACKEND_CUPTI)
		cupti_flush(timeout_ms, forced);
	else if (running == TS_BACKEND_EVENT)
		event_flush(timeout_ms, forced);
}

static void stop(void)
{
	if (running == TS_BACKEND_CUPTI)
		cupti_stop();
	else if (running == TS_BACKEND_EVENT)
		event_stop();
	running = TS_BACKEND_OFF;
}

static void set_gate(enum ts_gate gate)
{
	if (running == TS_BACKEND_CUPTI)
		cupti_gate(gate);
	else if (running == TS_BACKEND_EVENT)
		event_gate(gate);
}

static void child(void)
{
	device_describe_child();
	device_stats_child();
	if (running == TS_BACKEND_CUPTI) {
		cupti_child();
		inherited = true;
	} else if (running == TS_BACKEND_EVENT) {
		inherited |= !event_child();
	}
	inherited |= starting;
	starting = false;
	running = TS_BACKEND_OFF;
}

static const struct ts_device_backend backend = {
	.start = start,
	.flush = flush,
	.stop = stop,
	.gate = set_gate,
	.child = child,
};

const struct ts_device_backend *const ts_device = &backend;
