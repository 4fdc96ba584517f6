#include "core/trace/windows.h"

/* It is printed as it is: a word, whatever the trace says. */
static void set_cause(struct ts_windows *windows, struct ts_str cause)
{
	size_t size = 0;

	while (size < cause.size && size + 1 < sizeof(windows->cause) && cause.at[size] >= 'a' &&
	       cause.at[size] <= 'z') {
		windows->cause[size] = cause.at[size];
		size++;
	}
	windows->cause[size] = '\0';
}

void ts_windows_take(struct ts_windows *windows, const struct ts_ev_op *op)
{
	bool opens = ts_str_is(op->action, "open");

	if (!ts_str_is(op->op_name, "tstrace.window"))
		return;
	if (!windows->borders++) {
		set_cause(windows, op->cause);
		/* What closes first was open from the beginning. */
		windows->is_open = !opens;
		windows->opened += !opens;
	}
	if (opens && !windows->is_open) {
		windows->opened++;
		windows->open_since_ns = op->timestamp_ns;
		if (!windows->has_live) {
			windows->has_live = true;
			windows->live_bytes = op->live_bytes;
			windows->live_blocks = op->live_blocks;
		}
	} else if (!opens && windows->is_open && op->timestamp_ns > windows->open_since_ns) {
		windows->recorded_ns += op->timestamp_ns - windows->open_since_ns;
	}
	windows->is_open = opens;
}

static uint64_t number(const struct ts_json *object, const char *key)
{
	const struct ts_json *value = ts_json_get(object, key);

	return value && value->type == TS_JSON_NUMBER ? value->number.whole : 0;
}

void ts_windows_finish(struct ts_windows *windows, const struct ts_json *terminal, uint64_t end_ns)
{
	windows->is_cut = windows->is_open && !terminal;
	if (windows->is_open && end_ns > windows->open_since_ns)
		windows->recorded_ns += end_ns - windows->open_since_ns;
	/* A window that never opened, or was open from the beginning, left no border. */
	if (!windows->borders && terminal && ts_json_get(terminal, "windows")) {
		windows->borders = 1;
		windows->opened = number(terminal, "windows");
		windows->recorded_ns = windows->opened ? end_ns : 0;
	}
	windows->earlier_frees = number(terminal, "earlier_frees");
	windows->earlier_bytes = number(terminal, "earlier_free_bytes");
}

bool ts_windows_any(const struct ts_windows *windows)
{
	return windows->borders != 0;
}
