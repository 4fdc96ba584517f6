/* The own keys of what came by NVTX: source, domain, category, colour, payload. */
#include <math.h>

#include "core/record/arena.h"
#include "core/session/event.h"
#include "core/session/span.h"

static void put_text(struct ts_lines *line, const char *key, uint32_t text)
{
	const struct ts_entry *entry = ts_arena_get(text);

	if (entry)
		ts_line_text(line, key, (const char *)entry->data, entry->bytes);
}

/* As a number; what no JSON number is, as a word. */
static void put_payload(struct ts_lines *line, const struct ts_span_note *note)
{
	union ts_payload_value is = ts_payload_of(note);

	if (note->payload_type == TS_PAYLOAD_U64) {
		ts_line_u64(line, "payload", is.u64);
	} else if (note->payload_type == TS_PAYLOAD_I64) {
		ts_line_i64(line, "payload", is.i64);
	} else if (note->payload_type == TS_PAYLOAD_F64 && isfinite(is.f64)) {
		ts_line_f64(line, "payload", is.f64);
	} else if (note->payload_type == TS_PAYLOAD_F64) {
		ts_line_word(line, "payload", ts_not_finite(is.f64));
	} else if (note->payload_type == TS_PAYLOAD_CONTINUES) {
		ts_line_raw(line, ",\"continues\":\"s");
		ts_line_number(line, is.u64);
		ts_line_raw(line, "\"");
	}
}

void ts_line_note(struct ts_lines *line, uint8_t source, const struct ts_span_note *note)
{
	static const char *const sources[] = {"api", "nvtx", "auto"};

	ts_line_word(line, "source", sources[source % TS_ARRAY_SIZE(sources)]);
	put_text(line, "domain", note->domain);
	if (note->category)
		ts_line_u64(line, "category", note->category);
	put_text(line, "category_name", note->category_name);
	if (note->has_color)
		ts_line_hex(line, "color", note->color);
	put_payload(line, note);
}
