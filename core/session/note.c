/* The own keys of what came by NVTX: source, domain, category, colour, payload. */
#include <math.h>

#include "core/record/writer.h"
#include "core/session/event.h"
#include "core/session/span.h"

/* As a number; what no JSON number is, as a word. */
static void print_payload(const struct ts_span_note *note)
{
	struct ts_lines *line = &ts_lines;
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

void ts_print_note(uint8_t source, const struct ts_span_note *note)
{
	static const char *const sources[] = {"api", "nvtx", "auto"};

	ts_line_word(&ts_lines, "source", sources[source % TS_ARRAY_SIZE(sources)]);
	ts_print_text_if_any("domain", "full_domain", note->domain);
	if (note->category)
		ts_line_u64(&ts_lines, "category", note->category);
	ts_print_text_if_any("category_name", "full_category_name", note->category_name);
	if (note->has_color)
		ts_line_hex(&ts_lines, "color", note->color);
	print_payload(note);
}
