/* What NVTX calls: ranges, marks, names. */
#define NVTX_NO_IMPL
#include <errno.h>
#include <sys/mman.h>
#include <nvtx3/nvToolsExt.h>

#include "core/record/arena.h"
#include "core/session/rules.h"
#include "core/session/span.h"
#include "core/session/step.h"
#include "preload/nvtx.h"

/* What a call says, in whichever of its forms. */
struct said {
	const void *domain;             /* the handle */
	const char *text;
	const wchar_t *wide;
	const nvtxEventAttributes_t *attributes;
};

/* --- what is said, for the session --- */

/* Versions 1 and 2 of the structure have the same fields; what is shorter than that is none. */
static const nvtxEventAttributes_t *usable(const nvtxEventAttributes_t *attributes)
{
	return attributes && attributes->size >= sizeof(*attributes) ? attributes : NULL;
}

static struct said said_of(const void *domain, const nvtxEventAttributes_t *attributes)
{
	struct said said = { .domain = domain, .attributes = usable(attributes) };
	const struct ts_nvtx_text *registered;

	if (!said.attributes)
		return said;
	switch (said.attributes->messageType) {
	case NVTX_MESSAGE_TYPE_ASCII:
		said.text = said.attributes->message.ascii;
		break;
	case NVTX_MESSAGE_TYPE_UNICODE:
		said.wide = said.attributes->message.unicode;
		break;
	case NVTX_MESSAGE_TYPE_REGISTERED:
		registered =
		    ts_nvtx_text(TS_NVTX_STRING, said.attributes->message.registered);
		said.text = registered ? registered->text : NULL;
		break;
	default:
		break;
	}
	return said;
}

static uint32_t domain_text(struct ts_api_thread *thread, const void *domain)
{
	const struct ts_nvtx_text *text = ts_nvtx_text(TS_NVTX_DOMAIN, domain);

	return text ? ts_known_text(thread, text->text) : 0;
}

static void set_payload(struct ts_span_note *note, const nvtxEventAttributes_t *attributes)
{
	union ts_payload_value value = { .u64 = attributes->payload.ullValue };

	switch (attributes->payloadType) {
	case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
		value.u64 = attributes->payload.uiValue;
		/* fallthrough */
	case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
		note->payload_type = TS_PAYLOAD_U64;
		break;
	case NVTX_PAYLOAD_TYPE_INT32:
		value.i64 = attributes->payload.iValue;
		/* fallthrough */
	case NVTX_PAYLOAD_TYPE_INT64:
		note->payload_type = TS_PAYLOAD_I64;
		break;
	case NVTX_PAYLOAD_TYPE_FLOAT:
		value.f64 = (double)attributes->payload.fValue;
		note->payload_type = TS_PAYLOAD_F64;
		break;
	case NVTX_PAYLOAD_TYPE_DOUBLE:
		note->payload_type = TS_PAYLOAD_F64;
		break;
	default:
		return;
	}
	note->payload[0] = value.words[0];
	note->payload[1] = value.words[1];
}

static void set_note(struct ts_api_thread *thread, struct ts_span_note *note,
		     const struct said *said)
{
	const nvtxEventAttributes_t *attributes = said->attributes;
	const struct ts_nvtx_text *name;

	if (!attributes)
		return;
	note->category = attributes->category;
	name = note->category ? ts_nvtx_category(said->domain, note->category) : NULL;
	note->category_name = name ? ts_known_text(thread, name->text) : 0;
	if (attributes->colorType == NVTX_COLOR_ARGB) {
		note->has_color = 1;
		note->color = attributes->color;
	}
	set_payload(note, attributes);
}

/* A session is on, and this is no signal handler that interrupted us: the thread's part of it. */
static struct ts_api_thread *enter(struct ts_ring **ring)
{
	*ring = ts_enter_call(false);
	if (ts_self.depth != 1 ||
	    (!*ring && atomic_load_explicit(&ts_recording, memory_order_relaxed) != TS_REC_OFF))
		return NULL;
	return ts_api_thread();
}

/* Name, note, step. */
static void describe(struct ts_api_thread *thread, const struct said *said,
		     struct ts_span_spec *spec, struct ts_named *named)
{
	const char *text = said->wide ? ts_nvtx_utf8(&thread->body, said->wide) : said->text;

	spec->name = !text ? 0 : said->wide ? ts_arena_text(text) : ts_known_text(thread, text);
	set_note(thread, &spec->note, said);
	if (ts_unlikely(ts_rules_any)) {
		*named = ts_rules_match(text ? text : "", !thread->iterations);
		spec->step = named->step;
		spec->iteration = named->is_iteration;
	}
}

/* An iteration may open a window, or close one: what begins it is inside or not. */
static struct ts_ring *begin_iteration(struct ts_ring *ring, const struct ts_named *named)
{
	ts_step_boundary(ring, named->iteration, true);
	return ts_outside() ? NULL : ts_own_ring();
}

/* --- ranges and marks --- */

/* Nothing that the program sees depends on our being there: without a tool the answer is the same.
 */
static int push(struct said said)
{
	struct ts_span_spec spec = { .source = TS_SPAN_NVTX };
	struct ts_named named = { 0 };
	struct ts_api_thread *thread;
	struct ts_ring *ring;
	int error = errno;

	thread = enter(&ring);
	if (thread) {
		spec.note.domain = domain_text(thread, said.domain);
		if (ring || ts_rules_any)
			describe(thread, &said, &spec, &named);
		if (named.is_iteration)
			ring = begin_iteration(ring, &named);
		ts_span_push(ring, &spec);
	}
	ts_leave();
	errno = error;
	return NVTX_NO_PUSH_POP_TRACKING;
}

static int pop(const void *domain)
{
	struct ts_thread *self = &ts_self;
	bool iteration = false;
	int error = errno;

	if (self->depth++ == 0 && self->spans) {
		ts_span_pop(domain_text(self->spans, domain), &iteration);
		if (iteration)
			ts_step_boundary(ts_outside() ? NULL : ts_span_ring(), 0, false);
	}
	ts_leave();
	errno = error;
	return NVTX_NO_PUSH_POP_TRACKING;
}

static nvtxRangeId_t start(struct said said)
{
	struct ts_span_spec spec = { .source = TS_SPAN_NVTX };
	struct ts_named named = { 0 };
	struct ts_api_thread *thread;
	struct ts_ring *ring;
	int error = errno;
	uint64_t range = 0;

	thread = enter(&ring);
	if (thread && (ring || ts_rules_any)) {
		spec.note.domain = domain_text(thread, said.domain);
		describe(thread, &said, &spec, &named);
		if (named.is_iteration)
			ring = begin_iteration(ring, &named);
		range = ring ? ts_range_start(&spec) : 0;
	}
	ts_leave();
	errno = error;
	return range;
}

static void end(nvtxRangeId_t range)
{
	bool iteration = false;
	struct ts_ring *ring;
	int error = errno;

	if (!range)
		return;
	ring = ts_enter_call(false);
	if (ts_self.depth == 1) {
		ts_range_end(range, &iteration);
		if (iteration)
			ts_step_boundary(ring, 0, false);
	}
	ts_leave();
	errno = error;
}

static void mark(struct said said)
{
	struct ts_span_spec spec = { .source = TS_SPAN_NVTX };
	struct ts_named named = { 0 };
	struct ts_api_thread *thread;
	struct ts_ring *ring;
	int error = errno;

	thread = enter(&ring);
	if (thread && (ring || ts_rules_any)) {
		spec.note.domain = domain_text(thread, said.domain);
		describe(thread, &said, &spec, &named);
		if (named.is_iteration)
			ring = begin_iteration(ring, &named);
		if (ring)
			ts_mark(ring, &spec);
	}
	ts_leave();
	errno = error;
}

/* --- names --- */

static const void *keep(enum ts_nvtx_kind kind, const void *domain, uint32_t number,
			const char *text)
{
	return ts_nvtx_keep(kind, domain, number, text);
}

static const void *keep_wide(enum ts_nvtx_kind kind, const void *domain, uint32_t number,
			     const wchar_t *text)
{
	struct ts_lines line = { 0 };
	const void *kept = NULL;
	int error = errno;

	if (text)
		kept = ts_nvtx_keep(kind, domain, number, ts_nvtx_utf8(&line, text));
	if (line.text)
		munmap(line.text, line.room);
	errno = error;
	return kept;
}

/* --- the functions that NVTX calls, each of the type that its header says --- */

#define SAID_A(message) ((struct said){ .text = (message) })
#define SAID_W(message) ((struct said){ .wide = (message) })
#define DEFAULT NULL

#define NVTX_FUNCTIONS(X)                                                                          \
	X(CORE, MarkEx, void, (const nvtxEventAttributes_t *a), mark(said_of(DEFAULT, a)))         \
	X(CORE, MarkA, void, (const char *m), mark(SAID_A(m)))                                     \
	X(CORE, MarkW, void, (const wchar_t *m), mark(SAID_W(m)))                                  \
	X(CORE, RangeStartEx, nvtxRangeId_t, (const nvtxEventAttributes_t *a),                     \
	  return start(said_of(DEFAULT, a)))                                                       \
	X(CORE, RangeStartA, nvtxRangeId_t, (const char *m), return start(SAID_A(m)))              \
	X(CORE, RangeStartW, nvtxRangeId_t, (const wchar_t *m), return start(SAID_W(m)))           \
	X(CORE, RangeEnd, void, (nvtxRangeId_t id), end(id))                                       \
	X(CORE, RangePushEx, int, (const nvtxEventAttributes_t *a),                                \
	  return push(said_of(DEFAULT, a)))                                                        \
	X(CORE, RangePushA, int, (const char *m), return push(SAID_A(m)))                          \
	X(CORE, RangePushW, int, (const wchar_t *m), return push(SAID_W(m)))                       \
	X(CORE, RangePop, int, (void), return pop(DEFAULT))                                        \
	X(CORE, NameCategoryA, void, (uint32_t n, const char *m),                                  \
	  keep(TS_NVTX_CATEGORY, DEFAULT, n, m))                                                   \
	X(CORE, NameCategoryW, void, (uint32_t n, const wchar_t *m),                               \
	  keep_wide(TS_NVTX_CATEGORY, DEFAULT, n, m))                                              \
	X(CORE2, DomainMarkEx, void, (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a),       \
	  mark(said_of(d, a)))                                                                     \
	X(CORE2, DomainRangeStartEx, nvtxRangeId_t,                                                \
	  (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), return start(said_of(d, a)))     \
	X(CORE2, DomainRangeEnd, void, (nvtxDomainHandle_t d, nvtxRangeId_t id),                   \
	  (void)d; end(id))                                                                        \
	X(CORE2, DomainRangePushEx, int, (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a),   \
	  return push(said_of(d, a)))                                                              \
	X(CORE2, DomainRangePop, int, (nvtxDomainHandle_t d), return pop(d))                       \
	X(CORE2, DomainNameCategoryA, void, (nvtxDomainHandle_t d, uint32_t n, const char *m),     \
	  keep(TS_NVTX_CATEGORY, d, n, m))                                                         \
	X(CORE2, DomainNameCategoryW, void, (nvtxDomainHandle_t d, uint32_t n, const wchar_t *m),  \
	  keep_wide(TS_NVTX_CATEGORY, d, n, m))                                                    \
	X(CORE2, DomainRegisterStringA, nvtxStringHandle_t,                                        \
	  (nvtxDomainHandle_t d, const char *m),                                                   \
	  return (nvtxStringHandle_t)(uintptr_t)keep(TS_NVTX_STRING, d, 0, m))                     \
	X(CORE2, DomainRegisterStringW, nvtxStringHandle_t,                                        \
	  (nvtxDomainHandle_t d, const wchar_t *m),                                                \
	  return (nvtxStringHandle_t)(uintptr_t)keep_wide(TS_NVTX_STRING, d, 0, m))                \
	X(CORE2, DomainCreateA, nvtxDomainHandle_t, (const char *m),                               \
	  return (nvtxDomainHandle_t)(uintptr_t)keep(TS_NVTX_DOMAIN, DEFAULT, 0, m))               \
	X(CORE2, DomainCreateW, nvtxDomainHandle_t, (const wchar_t *m),                            \
	  return (nvtxDomainHandle_t)(uintptr_t)keep_wide(TS_NVTX_DOMAIN, DEFAULT, 0, m))

#define DEFINE(module, name, type, params, ...)                                                    \
	static type nvtx_##name params                                                             \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
	}                                                                                          \
	_Static_assert(__builtin_types_compatible_p(nvtx##name##_impl_fntype,                      \
						    __typeof__(&nvtx_##name)),                     \
		       "nvtx" #name " as the header has it");
NVTX_FUNCTIONS(DEFINE)

/* --- the injection --- */

static const struct {
	NvtxCallbackModule module;
	unsigned id;
	NvtxFunctionPointer function;
} functions[] = {
#define ROW(in, name, ...)                                                                         \
	{ NVTX_CB_MODULE_##in, NVTX_CBID_##in##_##name, (NvtxFunctionPointer)nvtx_##name },
	NVTX_FUNCTIONS(ROW)
};

static bool fill(const NvtxExportTableCallbacks *callbacks, NvtxCallbackModule module)
{
	NvtxFunctionTable table = NULL;
	unsigned size = 0;

	if (!callbacks->GetModuleFunctionTable(module, &table, &size) || !table)
		return false;
	/* What an older copy of NVTX does not have is beyond its table. */
	for (size_t i = 0; i < TS_ARRAY_SIZE(functions); i++)
		if (functions[i].module == module && functions[i].id < size &&
		    table[functions[i].id])
			*table[functions[i].id] = functions[i].function;
	return true;
}

TS_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);
TS_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
	const NvtxExportTableCallbacks *callbacks = NULL;
	const NvtxExportTableVersionInfo *version;

	if (get_table && !ts_nvtx_is_off())
		callbacks = get_table(NVTX_ETID_CALLBACKS);
	if (!callbacks || callbacks->struct_size < sizeof(*callbacks) ||
	    !fill(callbacks, NVTX_CB_MODULE_CORE))
		return 0;
	fill(callbacks, NVTX_CB_MODULE_CORE2);
	version = get_table(NVTX_ETID_VERSIONINFO);
	if (version && version->struct_size >= sizeof(*version))
		version->SetInjectionNvtxVersion(NVTX_VERSION);
	return 1;
}
