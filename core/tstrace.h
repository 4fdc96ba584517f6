/* tstrace: spans, training steps, scalars, tensors, gradients and memory of a program's own, in the
 * same trace as the CUDA events that tstrace records by itself.
 *
 * Three ways to use this header:
 *   #define TSTRACE_DYNAMIC before it     nothing is linked: calls go to the library that
 *                                         LD_PRELOAD brought, and cost a load and a branch
 *                                         where it is not
 *   link with -ltstrace                   the program has a trace with or without LD_PRELOAD
 *   both                                  one session all the same
 *
 * A process has one session.  It opens at its first event, as the TSTRACE_ variables say, or by
 * tstrace_open.  A NULL session means that one; so does what tstrace_open gives.
 *
 * Unless it says otherwise, a call may be made from any thread, copies what it is given, never ends
 * the program, and is not for signal handlers.  Calls returning int give 0 or a negative errno, and
 * tstrace_error() says what was wrong; a call that is refused writes nothing.  While nothing is
 * recorded (no library, outside the window, after the end) calls do nothing and give 0.
 *
 * Times are nanoseconds since the session opened; sizes are bytes.  What a call writes is an event
 * of the schema candle-graph/trace/10; the rules of tstrace(3) come from it. */
#ifndef TSTRACE_H
#define TSTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef TSTRACE_DYNAMIC
#include <dlfcn.h>
#include <errno.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tstrace_session tstrace_session;

/* A span: its number, 0 when none was begun (nothing is recorded, or the event was lost).  Every
 * call that takes a span takes 0 for the innermost open span of the calling thread. */
typedef uint64_t tstrace_span;

/* The span that all others are in. */
#define TSTRACE_ROOT ((tstrace_span)1)

enum tstrace_span_kind { TSTRACE_FUNCTION, TSTRACE_OP, TSTRACE_MODULE };
enum tstrace_step { TSTRACE_STEP_NONE, TSTRACE_FORWARD, TSTRACE_BACKWARD, TSTRACE_OPTIMIZER };
enum tstrace_phase { TSTRACE_TRAIN, TSTRACE_INFER };
enum tstrace_coverage { TSTRACE_NONE, TSTRACE_PARTIAL, TSTRACE_COMPLETE };
enum tstrace_scope { TSTRACE_UNKNOWN, TSTRACE_PROFILED_WORK, TSTRACE_PRODUCTION_EQUIVALENT };
enum tstrace_expectation { TSTRACE_ACTIVE, TSTRACE_INACTIVE, TSTRACE_DATA_CONDITIONAL };
enum tstrace_gradient { TSTRACE_PRESENT, TSTRACE_MISSING, TSTRACE_ZERO, TSTRACE_NON_FINITE };
enum tstrace_category {
	TSTRACE_OTHER, TSTRACE_PARAMETER, TSTRACE_ACTIVATION, TSTRACE_GRADIENT,
	TSTRACE_OPTIMIZER_STATE
};

/* Element types.  Their names in the trace are lower case: "f8e4m3". */
enum tstrace_dtype {
	TSTRACE_U8, TSTRACE_I8, TSTRACE_U16, TSTRACE_I16, TSTRACE_U32, TSTRACE_I32, TSTRACE_U64,
	TSTRACE_I64, TSTRACE_BOOL, TSTRACE_F8E4M3, TSTRACE_F8E5M2, TSTRACE_F16, TSTRACE_BF16,
	TSTRACE_F32, TSTRACE_F64
};

/* --- the run ---------------------------------------------------------------------- */

struct tstrace_tag {
	const char *key, *value;
};

/* What the trace promises to hold of the run, and how completely; see tstrace(3). */
struct tstrace_contract {
	enum tstrace_scope scope;
	enum tstrace_coverage operations, activations, tensors, gradients, logical_memory,
	    physical_memory, device_timing;
	/* names of spans that must each occur exactly once; GPU and CPU labels, when any are given,
	 * divide the required ones between them */
	const char *const *required_labels, *const *gpu_labels, *const *cpu_labels;
	size_t required_count, gpu_count, cpu_count;
	/* wanted when, and only when, gradients is complete */
	const struct tstrace_gradient_contract *gradient_contract;
};

struct tstrace_gradient_entry {
	const char *root, *key, *family;
};

struct tstrace_gradient_family {
	const char *family;
	enum tstrace_expectation expectation;
	uint64_t min_present;   /* inactive: 0; else 1 to the number of its members */
};

struct tstrace_gradient_contract {
	const char *manifest_sha256;    /* NULL: computed; else it must be the right one */
	const struct tstrace_gradient_entry *expected;
	size_t expected_count;
	const struct tstrace_gradient_family *families;
	size_t family_count;
};

/* What makes runs comparable.  Texts are wanted where it does not say "or NULL". */
struct tstrace_identity {
	const char *implementation_id;  /* or NULL */
	const char *workload_id, *model_id, *config_id, *data_id, *seed_policy;
	uint64_t physical_batch, accumulation_steps;    /* from 1 */
	const char *precision, *device_state;
	const char *pair_id;            /* or NULL */
};

/* A run's provenance.  Zero what is not set; `size` is sizeof(struct tstrace_run). */
struct tstrace_run {
	size_t size;
	const char *entrypoint;         /* NULL: TSTRACE_ENTRYPOINT, else the program's name */
	const char *correlation_id;     /* NULL: "<entrypoint>/update-<step>", or "inference-" */
	const char *device;             /* NULL: "cuda:0" */
	enum tstrace_phase phase;
	uint64_t capture_step;          /* from 1; 0 means 1 */
	uint64_t warmup_steps;          /* less than capture_step; TSTRACE_STEP_BEFORE: one less */
	bool device_synchronized;       /* times are those of a synchronised device */
	bool measured_region_device_synchronized;
	const struct tstrace_tag *tags; /* keys are unique */
	size_t tag_count;
	const struct tstrace_contract *contract;        /* NULL: what tstrace records by itself */
	const struct tstrace_identity *identity;        /* or NULL */
};

#define TSTRACE_STEP_BEFORE UINT64_MAX

/* The run of one training update or one inference: all else at its default. */
static inline struct tstrace_run tstrace_run_of(enum tstrace_phase phase, const char *entrypoint,
						uint64_t step, const char *device)
{
	struct tstrace_run run;

	__builtin_memset(&run, 0, sizeof(run));
	run.size = sizeof(run);
	run.entrypoint = entrypoint;
	run.device = device;
	run.phase = phase;
	run.capture_step = step;
	run.warmup_steps = TSTRACE_STEP_BEFORE;
	return run;
}

#ifdef TSTRACE_DYNAMIC
#define TSTRACE_API static inline __attribute__((unused))
#else
#define TSTRACE_API extern
#endif

/* Open the session: `path` NULL is TSTRACE_OUTPUT, `run` NULL is what the TSTRACE_ variables say; a
 * run's own fields go before the variables.  All is checked before a file is touched; folders are
 * made; a file that is there is never overwritten: a number is put behind the name (see
 * tstrace_path).  *session, when not NULL, is the session also when it was open already: that is
 * -EALREADY, and neither `path`, a template as TSTRACE_OUTPUT is, nor `run` is used.  -EINVAL: a
 * field is wrong; else the file's error. */
TSTRACE_API int tstrace_open(tstrace_session **session, const char *path,
			     const struct tstrace_run *run);

/* --- spans ------------------------------------------------------------------------ */

/* Begin a span on this thread, inside its innermost open one.  `name` is copied; NULL is
 * "(unnamed)".  Spans of a thread nest up to 4096 deep; deeper ones are refused (0).  This call and
 * tstrace_end_span may be made in a signal handler: one that interrupted tstrace itself is counted
 * as lost. */
TSTRACE_API tstrace_span tstrace_begin_span(tstrace_session *session, const char *name,
					    enum tstrace_span_kind kind);

/* The same, as a step of training: memory allocated inside is categorised by it. */
TSTRACE_API tstrace_span tstrace_begin_step_span(tstrace_session *session, const char *name,
						 enum tstrace_step step,
						 enum tstrace_span_kind kind);

/* The measured region; exactly one a session, a second one is refused (0). */
TSTRACE_API tstrace_span tstrace_begin_measurement(tstrace_session *session, const char *name);

/* End the innermost open span of this thread; -EINVAL when `span` is another one (nothing changes
 * then), -ENOBUFS when its record was lost.  0 is accepted and does nothing. */
TSTRACE_API int tstrace_end_span(tstrace_session *session, tstrace_span span);

/* A span that is over, attached to the root: it may overlap others.  duration_ns > 0; it must not
 * end in the future (-ERANGE).  *span, when not NULL, is its number. */
TSTRACE_API int tstrace_record_completed_host_span(tstrace_session *session, const char *name,
						   enum tstrace_span_kind kind, uint64_t start_ns,
						   uint64_t duration_ns, tstrace_span *span);

/* Nanoseconds since the session opened: now; and at a CLOCK_MONOTONIC time (-ERANGE: before). */
TSTRACE_API uint64_t tstrace_elapsed_ns(tstrace_session *session);
TSTRACE_API int tstrace_host_timestamp_ns(tstrace_session *session, const struct timespec *time,
					  uint64_t *ns);

/* --- training loops --------------------------------------------------------------- */

/* Iteration `n` begins: what follows, on every thread, carries it (own key "iteration").  The one
 * before ends, with a checkpoint of the device's memory.  Signal-safe as spans are, but with
 * TSTRACE_WINDOW=iterations: it may open the window. */
TSTRACE_API int tstrace_step(tstrace_session *session, uint64_t n);

/* The iteration ends, and none begins. */
TSTRACE_API int tstrace_step_end(tstrace_session *session);

/* --- what happens in a span ------------------------------------------------------- */

/* Dimensions; 0 of them is a scalar. */
struct tstrace_shape {
	const uint64_t *sizes;
	size_t count;
};

/* dense_bytes, here and below: 0 is the product of the shape and the element's size, left out where
 * that is not known. */
struct tstrace_op {
	const char *name;
	const char *const *inputs;      /* tensor ids */
	size_t input_count;
	const char *output;             /* tensor id, or NULL */
	struct tstrace_shape shape;     /* of the output */
	const char *dtype, *device;     /* NULL: "unknown", the run's device */
	uint64_t timestamp_ns;          /* 0: now, less the duration */
	uint64_t duration_ns;
	uint64_t output_dense_bytes, input_dense_bytes;
};

/* -ERANGE: in the future, or not inside its span, which may be over.  -ENOENT: the span is neither
 * open on this thread nor among the last 256 that ended on it. */
TSTRACE_API int tstrace_record_op(tstrace_session *session, tstrace_span span,
				  const struct tstrace_op *op);

struct tstrace_tensor {
	const char *tensor_id;          /* what ops and edges name */
	const char *label;              /* or NULL */
	struct tstrace_shape shape;
	const char *dtype, *device;     /* NULL: "unknown", the run's device */
	bool requires_grad;
	enum tstrace_category category;
	uint64_t dense_bytes;
};

TSTRACE_API int tstrace_record_tensor(tstrace_session *session, tstrace_span span,
				      const struct tstrace_tensor *tensor);

/* A number, such as the loss.  A value that is not finite is counted as such, and kept in the own
 * key "value".  The label must not be blank.  Signal-safe as spans are. */
TSTRACE_API int tstrace_record_scalar(tstrace_session *session, tstrace_span span,
				      const char *label, double value);

/* Elements in memory.  strides: in elements, NULL for the last dimension running fastest without
 * gaps; 0 and negative ones are allowed. */
struct tstrace_data {
	const void *data;
	enum tstrace_dtype dtype;
	struct tstrace_shape shape;
	const int64_t *strides;
	bool on_device;                 /* memory of the current context; else the host's */
	void *stream;                   /* on_device: the reduction runs on this CUstream and waits
					 * for it */
};

/* Statistics of a tensor: elements, non-finite ones, and root mean square, largest magnitude, mean,
 * which are 0 when one is not finite; own keys nan_count, inf_count, and of the finite ones min,
 * max, std.  The label must not be blank.  On a device: -EBUSY: the stream is being captured;
 * -EFAULT: the driver knows no memory there; -ENODEV: no current context; -EIO: its error. */
TSTRACE_API int tstrace_record_tensor_stats(tstrace_session *session, tstrace_span span,
					    const char *label, const struct tstrace_data *tensor);

/* --- memory ----------------------------------------------------------------------- */

/* A block of an allocator of the program's own. */
struct tstrace_memory {
	const char *storage_id;         /* unique among live blocks of a device; may come again */
	const char *tensor_id;          /* NULL: the storage's.  Another tensor on a live storage of
					 * equal size is an alias */
	const char *op_name;            /* or NULL */
	const char *device;             /* NULL: the run's */
	uint64_t bytes;
	const uint64_t *timestamp_ns;   /* NULL: now */
	struct tstrace_shape shape;
	const char *dtype;              /* NULL: "u8" */
	enum tstrace_category category;
};

/* -ERANGE: in the future, or before the storage's last event; -EEXIST: the tensor is on that live
 * storage already; -EINVAL: other bytes than the live storage has; -ENOENT: a free of what is not
 * live, counted in the terminal's unmatched_frees.  One free ends a storage and its aliases. */
TSTRACE_API int tstrace_record_memory_alloc(tstrace_session *session, tstrace_span span,
					    const struct tstrace_memory *memory);
TSTRACE_API int tstrace_record_memory_free(tstrace_session *session, tstrace_span span,
					   const struct tstrace_memory *memory);

/* Values that are not known are TSTRACE_NOT_KNOWN; at least one is wanted. */
#define TSTRACE_NOT_KNOWN UINT64_MAX
struct tstrace_device_memory {
	const char *device;             /* NULL: the run's */
	const uint64_t *timestamp_ns;   /* NULL: now */
	uint64_t used_bytes, free_bytes, reserved_bytes, capacity_bytes;
};

TSTRACE_API int tstrace_record_device_memory(tstrace_session *session,
					     const struct tstrace_device_memory *memory);

/* --- device work, edges, gradients ------------------------------------------------ */

/* Work of a device by a clock of its own; duration_ns > 0, all texts wanted. */
struct tstrace_device_interval {
	const char *device, *stream_id, *clock_id, *backend;
	uint64_t start_ns, duration_ns;
};

TSTRACE_API int tstrace_record_device_interval(tstrace_session *session, tstrace_span span,
					       const struct tstrace_device_interval *interval);

/* `to`, a child of `from`, took host_duration_ns; 0: filled in.  -ENOENT: it is not among the last
 * 256 spans that ended on this thread. */
TSTRACE_API int tstrace_record_call_edge(tstrace_session *session, tstrace_span from,
					 tstrace_span to, uint64_t host_duration_ns);

/* Ids of tensors, or of inputs and outputs of ops, that were recorded before; else -ENOENT. */
TSTRACE_API int tstrace_record_data_edge(tstrace_session *session, const char *from,
					 const char *to);

/* Whether a parameter got a gradient.  root and key must not be blank.  norm: finite and > 0 when
 * present, +0.0 when zero, NAN (none) when missing or not finite. */
TSTRACE_API int tstrace_record_gradient(tstrace_session *session, const char *root,
					const char *key, enum tstrace_gradient state, double norm);

/* "sha256:" and 64 digits of a manifest's entries, in their order; `digest` has room for 72. */
TSTRACE_API int tstrace_gradient_manifest(const struct tstrace_gradient_entry *entries,
					  size_t count, char *digest);

/* --- the session ------------------------------------------------------------------ */

/* Stop and go on recording, after as many resumes as pauses; with TSTRACE_WINDOW=api it begins so.
 * See tstrace-env(7), WINDOWS.  Not from a signal handler. */
TSTRACE_API int tstrace_pause(tstrace_session *session);
TSTRACE_API int tstrace_resume(tstrace_session *session);

/* Write all that is recorded to disk; waits at most 10 s (-ETIMEDOUT), or gives the sticky write
 * error. */
TSTRACE_API int tstrace_flush(tstrace_session *session);

/* End the session.  *path, when not NULL, is the trace's path (valid for the process's life).
 * finish refuses with -EBUSY while spans are open, and names them.  finish_failed wants a reason.
 * Later calls do nothing. */
TSTRACE_API int tstrace_finish(tstrace_session *session, const char **path);
TSTRACE_API int tstrace_finish_failed(tstrace_session *session, const char *reason,
				      const char **path);

/* Path of the trace, or NULL before it is open. */
TSTRACE_API const char *tstrace_path(tstrace_session *session);

/* What was wrong with the last refused call of this thread; "" before one.  Valid until the next
 * refused call of the thread. */
TSTRACE_API const char *tstrace_error(void);

/* --- how calls find the library ---------------------------------------------------- */

/* Every call, once: result, name, parameters, arguments, result while there is no library. */
#define TSTRACE_CALLS(CALL)                                                                        \
	CALL(int, open, (tstrace_session **s, const char *path, const struct tstrace_run *run),    \
	     (s, path, run), 0)                                                                    \
	CALL(tstrace_span, begin_span,                                                             \
	     (tstrace_session *s, const char *name, enum tstrace_span_kind kind), (s, name, kind), \
	     0)                                                                                    \
	CALL(tstrace_span, begin_step_span,                                                        \
	     (tstrace_session *s, const char *name, enum tstrace_step step,                        \
	      enum tstrace_span_kind kind), (s, name, step, kind), 0)                              \
	CALL(tstrace_span, begin_measurement, (tstrace_session *s, const char *name), (s, name),   \
	     0)                                                                                    \
	CALL(int, end_span, (tstrace_session *s, tstrace_span span), (s, span), 0)                 \
	CALL(int, record_completed_host_span,                                                      \
	     (tstrace_session *s, const char *name, enum tstrace_span_kind kind,                   \
	      uint64_t start_ns, uint64_t duration_ns, tstrace_span *span),                        \
	     (s, name, kind, start_ns, duration_ns, span), 0)                                      \
	CALL(uint64_t, elapsed_ns, (tstrace_session *s), (s), 0)                                   \
	CALL(int, host_timestamp_ns,                                                               \
	     (tstrace_session *s, const struct timespec *time, uint64_t *ns), (s, time, ns), 0)    \
	CALL(int, step, (tstrace_session *s, uint64_t n), (s, n), 0)                               \
	CALL(int, step_end, (tstrace_session *s), (s), 0)                                          \
	CALL(int, record_op, (tstrace_session *s, tstrace_span span, const struct tstrace_op *op), \
	     (s, span, op), 0)                                                                     \
	CALL(int, record_tensor, (tstrace_session *s, tstrace_span span,                           \
	     const struct tstrace_tensor *tensor), (s, span, tensor), 0)                           \
	CALL(int, record_scalar,                                                                   \
	     (tstrace_session *s, tstrace_span span, const char *label, double value),             \
	     (s, span, label, value), 0)                                                           \
	CALL(int, record_tensor_stats,                                                             \
	     (tstrace_session *s, tstrace_span span, const char *label,                            \
	      const struct tstrace_data *tensor), (s, span, label, tensor), 0)                     \
	CALL(int, record_memory_alloc, (tstrace_session *s, tstrace_span span,                     \
	     const struct tstrace_memory *memory), (s, span, memory), 0)                           \
	CALL(int, record_memory_free, (tstrace_session *s, tstrace_span span,                      \
	     const struct tstrace_memory *memory), (s, span, memory), 0)                           \
	CALL(int, record_device_memory,                                                            \
	     (tstrace_session *s, const struct tstrace_device_memory *memory), (s, memory), 0)     \
	CALL(int, record_device_interval,                                                          \
	     (tstrace_session *s, tstrace_span span,                                               \
	      const struct tstrace_device_interval *interval), (s, span, interval), 0)             \
	CALL(int, record_call_edge,                                                                \
	     (tstrace_session *s, tstrace_span from, tstrace_span to, uint64_t host_duration_ns),  \
	     (s, from, to, host_duration_ns), 0)                                                   \
	CALL(int, record_data_edge, (tstrace_session *s, const char *from, const char *to),        \
	     (s, from, to), 0)                                                                     \
	CALL(int, record_gradient,                                                                 \
	     (tstrace_session *s, const char *root, const char *key, enum tstrace_gradient state,  \
	      double norm), (s, root, key, state, norm), 0)                                        \
	CALL(int, gradient_manifest,                                                               \
	     (const struct tstrace_gradient_entry *entries, size_t count, char *digest),           \
	     (entries, count, digest), -38)                                                    \
	CALL(int, pause, (tstrace_session *s), (s), 0)                                             \
	CALL(int, resume, (tstrace_session *s), (s), 0)                                            \
	CALL(int, flush, (tstrace_session *s), (s), 0)                                             \
	CALL(int, finish, (tstrace_session *s, const char **path), (s, path), 0)                   \
	CALL(int, finish_failed,                                                                   \
	     (tstrace_session *s, const char *reason, const char **path), (s, reason, path), 0)    \
	CALL(const char *, path, (tstrace_session *s), (s), NULL)                                  \
	CALL(const char *, error, (void), (), "")

struct tstrace_calls {
	size_t size;            /* of the library's table: what lies behind it is not there */
#define TSTRACE_CALL_MEMBER_(type, name, params, args, none) type(*name) params;
	TSTRACE_CALLS(TSTRACE_CALL_MEMBER_)
#undef TSTRACE_CALL_MEMBER_
};

#ifdef TSTRACE_DYNAMIC
__attribute__((weak, visibility("hidden"))) const struct tstrace_calls *tstrace_bound_;

__attribute__((weak, visibility("hidden"), constructor)) void tstrace_bind_(void)
{
	const struct tstrace_calls *(*find)(void);

	*(void **)&find = dlsym(NULL, "tstrace_find_calls");
	tstrace_bound_ = find ? find() : NULL;
}

#define TSTRACE_CALL_INLINE_(type, name, params, args, none)                                       \
	TSTRACE_API type tstrace_##name params                                                     \
	{                                                                                          \
		const struct tstrace_calls *c = tstrace_bound_;                                    \
		if (__builtin_expect(!c, 1) || c->size <= offsetof(struct tstrace_calls, name))    \
			return none;                                                               \
		return c->name args;                                                               \
	}
TSTRACE_CALLS(TSTRACE_CALL_INLINE_)
#else
const struct tstrace_calls *tstrace_find_calls(void);
#endif

/* --- scopes ------------------------------------------------------------------------ */

static inline __attribute__((unused)) void tstrace_end_span_at_(const tstrace_span *span)
{
	tstrace_end_span(NULL, *span);
}

#define TSTRACE_JOIN2_(a, b) a##b
#define TSTRACE_JOIN_(a, b) TSTRACE_JOIN2_(a, b)

/* A span, or a step, from here to the end of the block. */
#define TSTRACE_SCOPE(name)                                                                        \
	__attribute__((cleanup(tstrace_end_span_at_), unused)) const tstrace_span TSTRACE_JOIN_(   \
	    tstrace_scope_, __LINE__) = tstrace_begin_span(NULL, name, TSTRACE_FUNCTION)
#define TSTRACE_STEP_SCOPE(name, step)                                                             \
	__attribute__((cleanup(tstrace_end_span_at_), unused)) const tstrace_span TSTRACE_JOIN_(   \
	    tstrace_scope_, __LINE__) =                                                            \
	    tstrace_begin_step_span(NULL, name, step, TSTRACE_FUNCTION)

#ifdef __cplusplus
}

namespace tstrace {

/* A span that ends with its object; it stays on the thread that began it. */
class span {
public:
	explicit span(const char *name, tstrace_span_kind kind = TSTRACE_FUNCTION) noexcept
	    : id_(tstrace_begin_span(nullptr, name, kind))
	{
	}
	span(const char *name, enum tstrace_step step,
	     tstrace_span_kind kind = TSTRACE_FUNCTION) noexcept
	    : id_(tstrace_begin_step_span(nullptr, name, step, kind))
	{
	}
	span(const span &) = delete;
	span &operator=(const span &) = delete;
	~span() { tstrace_end_span(nullptr, id_); }
	tstrace_span id() const noexcept { return id_; }

private:
	tstrace_span id_;
};

} // namespace tstrace
#endif

#endif
