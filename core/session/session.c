#include "core/session/session.h"

#include <stdatomic.h>

#include "core/env.h"
#include "core/record/clock.h"
#include "core/session/gradient.h"
#include "core/session/past.h"
#include "core/session/rules.h"
#include "core/session/run.h"
#include "core/session/span.h"
#include "core/session/step.h"
#include "core/session/window.h"
#include "core/session/tensors.h"

static uint64_t start_ns;
static _Atomic uint32_t last_span = 1;
static _Atomic int measured;

void ts_session_begin(uint64_t ns)
{
	start_ns = ns;
	ts_clock_session_begin(ns);
	ts_rules_read(ts_env.nvtx_step);
}

uint64_t ts_session_start_ns(void)
{
	return start_ns;
}

uint32_t ts_session_take_spans(uint32_t count)
{
	return 1 + atomic_fetch_add_explicit(&last_span, count, memory_order_relaxed);
}

uint64_t ts_session_last_span(void)
{
	return atomic_load_explicit(&last_span, memory_order_relaxed);
}

bool ts_session_claim_measured(void)
{
	return !atomic_exchange(&measured, 1);
}

void ts_session_disclaim_measured(void)
{
	atomic_store(&measured, 0);
}

void ts_session_child(void)
{
	atomic_store(&last_span, 1);
	atomic_store(&measured, 0);
	ts_past_child();
	ts_tensors_child();
	ts_run_child();
	ts_gradient_child();
	ts_range_child();
	ts_step_child();
	ts_window_child();
}
