/* What gives the session its device intervals: a table of functions that cupti/ registers.
 *
 * core knows neither CUPTI nor CUDA; preload calls the hooks below, cupti/ fills them. */
#ifndef TSTRACE_CORE_RECORD_DEVICE_H
#define TSTRACE_CORE_RECORD_DEVICE_H

#include "core/base.h"
#include "core/record/events.h"

/* What the window wants of the backend; see core/session/window.h. */
enum ts_gate {
	TS_GATE_CLOSED,         /* really off */
	TS_GATE_WARM,           /* on, and what is launched is forgotten */
	TS_GATE_OPEN,
};

struct ts_device_backend {
	/* When the session opens, at depth 1, before the real call of the first event.  Chooses
	 * CUPTI, else CUDA events, else nothing, as `mode` (TSTRACE_DEVICE) allows.  Never fails
	 * the program. */
	void (*start)(void);
	/* Deliver all finished device work into rings within `timeout_ms`; forced: unfinished work
	 * too. */
	void (*flush)(unsigned timeout_ms, bool forced);
	/* No record any more; called once, after the last flush.  Must not block. */
	void (*stop)(void);
	/* The window changes; it is open after start().  Not twice at a time. */
	void (*gate)(enum ts_gate gate);
	/* In the child of a fork: forget all, touch nothing of CUDA or CUPTI. */
	void (*child)(void);
};

/* cupti/ defines it, above.c where that is not linked in. */
extern const struct ts_device_backend *const ts_device;      /* NULL: none linked in */

/* What runs and why: "cupti", "event" or "off"; reason: one line of text, "" when nothing to say.
 * Set by the backend in start() (both strings live for ever); printed in meta, terminal and every
 * report. */
void ts_device_set_state(enum ts_backend kind, const char *name, const char *reason);
extern _Atomic enum ts_backend ts_device_kind;

/* Event backend only: around a launch, copy or set on `stream` of the current context.  `before`
 * returns a token or NULL; NULL pointers when the backend does not need them.  Real driver
 * functions only, nothing is synchronised, off during stream capture. */
extern void *(*ts_device_before)(uint64_t stream, bool per_thread);
/* gives op its correlation */
extern void (*ts_device_after)(void *token, struct ts_rec_op *op);

/* Event backend only, else NULL: before the real call that ends the contexts of `device`, or with
 * -1 some context: its events are read while it lives. */
extern void (*ts_device_context_ends)(int device);

/* The CUPTI callback ran on this thread, inside the real call of the outermost hook: its id. */
static inline void ts_device_correlate(uint32_t *slots, uint32_t id)
{
	if (!slots[0])
		slots[0] = id;
	else if (slots[0] != id)
		slots[1] = id;
}

/* A call that no hook saw and of which the backend was told, with its parameters as CUPTI lays them
 * out: a structure of them in their order.  Registered by preload, whose tables say what it
 * means. */
struct ts_told {
	uint64_t begin;         /* what enter gave */
	int result;
	uint32_t correlation, correlation2;
	unsigned name;          /* the row of the runtime's call around it, which is told; or 0 */
	const char *kernel;     /* a launch's raw kernel name, NULL when not told */
	bool is_inside;         /* preload: see inside */
};
struct ts_teller {
	/* The row of a function by its exported name, 0 when it has none. */
	unsigned (*name)(const char *name);
	/* Whether that row's parameters can be read; if not, only exit_unread takes it. */
	bool (*reads)(unsigned row);
	/* Whether its calls are followed outside the window too. */
	bool (*keeps)(unsigned row);
	/* Whether calls can meet a hook at all. */
	bool (*hooked)(void);
	/* Before the call: the time, of the kind that `exit` wants.  Never 0. */
	uint64_t (*enter)(unsigned row);
	/* A driver's call inside it begins: of a copy the driver knows better how much it is. */
	void (*inside)(unsigned row, const void *params);
	/* After it, on the same thread: written as a hook would have.  False: it was not, since it
	 * has parameters and `params` is NULL. */
	bool (*exit)(unsigned row, const void *params, const struct ts_told *told);
	/* The same without parameters: what is known is that it was called.  False: outside the
	 * window. */
	bool (*exit_unread)(unsigned row, const struct ts_told *told);
	/* Instead of exit: hooks were met inside, the call is recorded. */
	void (*drop)(unsigned row);
};
extern const struct ts_teller *const ts_teller;

/* Versions and names for meta: key -> text, e.g. "driver" "13000", "cupti" "130000", "device_0"
 * "NVIDIA ...". Copied.  At most 32; before the writer starts, that is from start().  simulated:
 * the tag. */
void ts_device_describe(const char *key, const char *value);
void ts_device_is_simulated(void);

/* The real driver's function by its exported name, never a hook; NULL when there is none.
 * Registered by preload; not signal-safe. */
extern void *(*ts_driver_function)(const char *symbol);

#endif
