/* Private to the simulated driver: objects, timelines and the rules every call follows.
 *
 * One lock guards all state.  Every exported function is a generated wrapper (see generate) that
 * calls sim_begin(), the implementation sim_cuX() and sim_end(); implementations run WITH the lock
 * held.  Whatever may block or calls foreign code (a user's callback, a kernel's host body, the
 * observer) does so between sim_unlock() and sim_lock().  Activities are queued per thread and
 * delivered by sim_end() after the lock was given back. */
#ifndef TSTRACE_SIM_DRIVER_H
#define TSTRACE_SIM_DRIVER_H

#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>
#include <cudaProfiler.h>

/* The order matters: the plain names first, then what is declared with them. */
#include "names.h"

#include "impl.h"

#include "../observer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

#define SIM_MAX_DEVICES 16

/* --- configuration (config.c): read once, when the library is loaded ------------------------- */

enum sim_reuse { REUSE_NEVER, REUSE_LIFO, REUSE_HANDSHAKE };

struct sim_config {
	bool log, log_unsupported;
	int devices, driver_version, cc_major, cc_minor;
	uint64_t memory; /* bytes of each device */
	uint64_t kernel_ns, copy_base_ns;
	double copy_bytes_per_ns;
	enum sim_reuse reuse;
	uint64_t handshake_ns; /* how long a free waits for the other thread */
	size_t global_size;    /* of a variable whose size is unknown */
};
extern struct sim_config sim_config;

/* --- exported functions (generated table, call.c) -------------------------------------------- */

struct sim_fault {
	unsigned long nth; /* 0: every call */
	CUresult code;
	struct sim_fault *next;
};
struct sim_entry {
	const char *name;
	void *fn;
	unsigned long calls;
	struct sim_fault *faults;
	bool early; /* works before cuInit */
};
struct sim_version {
	const char *base;
	int version, per_thread;
	unsigned entry;
};
extern struct sim_entry sim_entries[];
extern const unsigned sim_nentries, sim_nversions;
extern const struct sim_version sim_versions[];

struct sim_call {
	struct sim_entry *entry;
	int per_thread; /* _ptsz or _ptds form: NULL is the per-thread stream */
	const void *params;
	CUfunction function; /* launches: what is launched, for the observer */
	CUresult result;
	uint32_t correlation;
	int outer_per_thread;
	const char *symbol;
};
bool sim_begin(struct sim_call *call);
CUresult sim_end(struct sim_call *call);
CUresult sim_unsupported(struct sim_call *call);
void sim_lock(void);
void sim_unlock(void);
/* Wait with the lock given back; deadline of CLOCK_MONOTONIC, 0: none.  False: time is up. */
bool sim_cond_wait(pthread_cond_t *cond, uint64_t deadline);
uint64_t sim_now(void);
void sim_sleep_until(uint64_t ns);
void sim_report(const struct sim_activity *work); /* queue for delivery; lock held */
void sim_report_node(uint64_t original, uint64_t node, uint32_t graph);
void sim_deliver(void); /* deliver this thread's queue; no lock */
bool sim_observed(void);
extern bool sim_initialised;

/* --- objects (object.c) ----------------------------------------------------------------------- */

enum sim_type {
	OBJ_FREE,
	OBJ_CONTEXT,
	OBJ_STREAM,
	OBJ_EVENT,
	OBJ_MODULE,
	OBJ_LIBRARY,
	OBJ_FUNCTION,
	OBJ_KERNEL,
	OBJ_ALLOC,
	OBJ_ARRAY,
	OBJ_MIPMAP,
	OBJ_POOL,
	OBJ_PHYSICAL,
	OBJ_GRAPH,
	OBJ_NODE,
	OBJ_EXEC,
	OBJ_EXTMEM,
	OBJ_EXTSEM,
	OBJ_USER,
	OBJ_LINK,
	OBJ_TEXTURE,
	OBJ_SURFACE,
	OBJ_CONDITION,
	OBJ_GREEN,
	OBJ_GREEN_DESC,
	OBJ_LOG_CALLBACK,
	OBJ_NTYPES
};
struct object {
	enum sim_type type;
	struct context *ctx;	     /* owner, or NULL */
	struct object *next, **link; /* in the owner's list */
};
/* A zeroed object that handles may name; NULL when memory is short.  With an owner it dies with it.
 */
void *sim_object_new(enum sim_type type, size_t size, struct context *owner);
void *sim_object_get(const void *handle, enum sim_type type); /* NULL: not a live one */
void sim_object_drop(void *object);			      /* forget and free */
void sim_object_forget(void *object);			      /* its handle dies, not the memory */
void sim_object_own(struct object *object, struct context *owner);
void sim_object_disown(struct object *object);
void sim_objects_destroy(struct context *owner); /* all that a context owns */
const char *sim_intern(const char *name);	 /* lives as long as the process */

/* --- devices, contexts, threads --------------------------------------------------------------- */

struct device {
	struct context *primary;
	unsigned primary_refs, primary_flags;
	uint64_t used; /* bytes handed out */
	struct pool *default_pool, *pool;
	uint64_t graph_used, graph_high;
};
extern struct device sim_devices[SIM_MAX_DEVICES];
CUresult sim_device_check(CUdevice dev);

struct context {
	struct object obj;
	struct object *objects;
	uint32_t id;
	int device;
	unsigned flags, refs, api_version, attached;
	bool primary, dead;
	struct stream *legacy;
	uint64_t blocking_tail; /* latest tail of the streams that wait for the legacy one */
	uint64_t latest;	/* latest tail of all */
	unsigned ncaptures;	/* streams of this context in a capture that is not relaxed */
	CUfunc_cache cache;
	CUsharedconfig shared;
	size_t limits[CU_LIMIT_MAX];
	uint32_t peers; /* bit a device */
	struct green *green; /* NULL: an ordinary context */
};
struct sim_thread {
	struct context **stack;
	unsigned depth, capacity;
	int per_thread;
	uint32_t outer; /* correlation of the outermost API call, 0 outside */
	CUstreamCaptureMode capture_mode;
	struct thread_stream {
		struct context *ctx;
		struct stream *stream;
	} * streams;
	unsigned nstreams;
	struct pending *pending;
	unsigned npending, pending_capacity;
	bool delivers; /* a worker, inside its observer */
	uint32_t tid;
};
struct sim_thread *sim_thread(void);
struct context *sim_current(void);		  /* NULL: none */
CUresult sim_current_check(struct context **ctx); /* INVALID_CONTEXT, IS_DESTROYED */
struct context *sim_context_get(CUcontext handle);
void sim_thread_stack_free(struct sim_thread *self);
struct context *sim_context_new(int device, unsigned flags); /* not current anywhere */
void sim_context_destroy(struct context *ctx);		     /* gives the lock back meanwhile */

/* --- timelines (timeline.c) --------------------------------------------------------------------
 */

/* A point on a timeline that others wait for: an event's record, the end of a stream's queue. */
struct mark {
	unsigned refs;
	bool done;
	uint64_t time;
};
struct op;
typedef void op_fn(struct op *op);
#define SIM_POLL_WIDE 0x80000000u
struct op {
	struct op *next;
	uint64_t duration;
	uint64_t start, end;	  /* known once the operation was placed */
	struct sim_activity work; /* reported if .kind_set */
	bool report;
	struct mark **waits; /* placed only after these are done */
	unsigned nwaits;
	op_fn *run, *drop; /* run in stream order, with the lock held */
	void *data;
	CUhostFn host; /* run by the stream's worker thread */
	CUstreamCallback callback;
	void *host_data;
	struct mark *mark;    /* done when this operation is */
	const uint32_t *poll; /* stream wait value: placed when it holds */
	uint64_t poll_value;
	unsigned poll_flags; /* CUstreamWaitValue_flags, SIM_POLL_WIDE for 64 bits */
};
#define SIM_STREAM_ATTRS (CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN + 1)
struct stream {
	struct object obj;
	uint64_t id;
	unsigned flags;
	int priority;
	bool blocking; /* takes part in the legacy stream's rule */
	bool legacy, per_thread, gone, worker;
	uint64_t tail;
	struct op *head, **last; /* operations whose time is not known yet */
	unsigned refs;
	pthread_cond_t wake;
	struct stream *blocked_next;
	bool blocked;
	struct capture *capture;
	struct stream *capture_next;
	struct node **deps; /* of the next captured node */
	size_t ndeps;
	CUstreamAttrValue attrs[SIM_STREAM_ATTRS];
};
void sim_stream_destroy(struct stream *stream);
struct stream *sim_stream_get(CUstream handle, CUresult *error);
struct stream *sim_stream_new(struct context *ctx, unsigned flags, int priority);
CUresult sim_stream_create(CUstream *out, struct context *ctx, unsigned flags, int priority);
struct op *sim_op_new(uint64_t duration);
void sim_op_wait(struct op *op, struct mark *mark);
struct mark *sim_op_mark(struct op *op); /* a reference for the caller */
void sim_op_drop(struct op *op);
void sim_submit(struct stream *stream, struct op *op); /* takes the operation */
CUresult sim_stream_wait(struct stream *stream);       /* blocks, lock given back meanwhile */
void sim_context_wait(struct context *ctx);	       /* for all of its work */
void sim_stream_unref(struct stream *stream);
struct mark *sim_mark_ref(struct mark *mark);
void sim_mark_drop(struct mark *mark);
void sim_mark_wait(struct mark *mark); /* blocks until then, in real time too */
bool sim_mark_passed(const struct mark *mark);
struct mark *sim_stream_mark(struct stream *stream); /* everything submitted so far */
void sim_pump(void);
void sim_fill_activity(struct sim_activity *work, enum sim_activity_kind kind,
		       struct stream *stream);
void sim_report_sync(int type, struct stream *stream, uint64_t start, uint32_t event);

struct event {
	struct object obj;
	unsigned flags;
	uint32_t id;
	struct mark *mark; /* NULL: never recorded */
	uint64_t stream_id;
	struct capture *capture; /* recorded in a capture */
	uint64_t capture_id;
	struct node **deps;
	size_t ndeps;
};
struct event *sim_event_get(CUevent handle);

/* --- memory ------------------------------------------------------------------------------------
 */

enum sim_memory {
	MEM_DEVICE,
	MEM_HOST,
	MEM_REGISTERED,
	MEM_MANAGED,
	MEM_POOL,
	MEM_RESERVED,
	MEM_GLOBAL,
	MEM_EXTERNAL,
	MEM_GRAPH
};
struct alloc {
	struct object obj;
	uintptr_t address;
	size_t size, charged;
	enum sim_memory kind;
	int device;
	unsigned flags;
	unsigned long long id;
	struct pool *pool;
	void *extra;
	struct advice { /* of managed memory; places are devices, CPU or invalid (none) */
		bool read_mostly;
		CUdevice preferred, prefetched;
		uint32_t accessed_by; /* bit a device, the last one is the CPU */
	} advice;
	bool arena; /* the bytes are the arena's */
	bool sync_memops;
	bool freeing; /* a free is on its stream */
};
/* New bytes that the driver backs; error as the API returns it. */
CUresult sim_memory_new(size_t size, enum sim_memory kind, int device, struct context *owner,
			struct alloc **out);
/* Name bytes that somebody else backs. */
struct alloc *sim_memory_name(uintptr_t address, size_t size, enum sim_memory kind, int device,
			      struct context *owner);
struct alloc *sim_memory_find(uintptr_t address); /* also from inside */
struct alloc *sim_memory_find_range(uintptr_t address, size_t size);
void sim_memory_drop(struct alloc *alloc, bool handshake);
uint8_t sim_memory_kind(const struct alloc *alloc); /* CUpti_ActivityMemoryKind */
void sim_report_memory(const struct alloc *alloc, int op, struct stream *stream);
bool sim_charge(int device, size_t size);
CUresult sim_capture_unsafe(void); /* 900 while a capture forbids it */
uintptr_t sim_arena_take(size_t size, size_t *capacity);
void sim_arena_give(uintptr_t address, size_t capacity, bool handshake);

struct pool {
	struct object obj;
	int device;
	bool is_default, closing, managed;
	uint64_t used, used_high, reserved, reserved_high, threshold, max_size;
	int reuse[3];
	unsigned access[SIM_MAX_DEVICES];
	CUmemPoolProps props;
	unsigned live;
};
struct pool *sim_pool_default(int device);
struct pool *sim_pool_new(int device, const CUmemPoolProps *props);
CUresult sim_pool_take(struct pool *pool, size_t size, struct context *ctx, struct alloc **out);
CUresult sim_pool_give(struct alloc *alloc);

struct array {
	struct object obj;
	CUDA_ARRAY3D_DESCRIPTOR desc;
	size_t element, pitch, slice, size;
	unsigned char *data;
	struct alloc *alloc; /* NULL: a view of another array */
	struct mipmap *mipmap;
	int device;
};
size_t sim_format_size(CUarray_format format, unsigned channels);
void sim_array_destroy(struct array *array);

/* --- copies, sets, launches as operations, also used by graphs ---------------------------------
 */

struct sim_box { /* one side of a copy */
	unsigned char *base;
	size_t pitch, slice;
	CUmemorytype type;
	struct alloc *alloc;
	struct array *array;
};
struct sim_copy {
	struct sim_box dst, src;
	size_t width, height, depth; /* bytes, rows, slices */
	struct context *dst_ctx, *src_ctx;
	void *staged;
};
struct sim_set {
	unsigned char *base;
	size_t pitch, width, height; /* width in elements */
	unsigned element, value;
};
struct sim_launch {
	CUfunction function;
	unsigned grid[3], block[3], shared;
	void **params;
	bool cooperative;
	CUlaunchAttribute *attrs;
	unsigned nattrs;
};
CUresult sim_copy_linear(struct sim_copy *copy, void *dst, const void *src, size_t size, int kind);
CUresult sim_copy_3d(struct sim_copy *copy, const CUDA_MEMCPY3D *from);
CUresult sim_copy_submit(struct stream *stream, const struct sim_copy *copy, bool async,
			 const struct node *node);
CUresult sim_copy_check_set(struct sim_set *set, CUdeviceptr dst, size_t pitch, unsigned value,
			    unsigned element, size_t width, size_t height);
CUresult sim_set_submit(struct stream *stream, const struct sim_set *set, bool async,
			const struct node *node);
CUresult sim_launch_check(const struct sim_launch *launch);
CUresult sim_launch_submit(struct stream *stream, const struct sim_launch *launch,
			   const struct node *node);

/* --- code ---------------------------------------------------------------------------------------
 */

struct function {
	struct object obj;
	const char *name;
	struct module *module;
	int attrs[CU_FUNC_ATTRIBUTE_MAX];
	unsigned block[3], shared; /* legacy launches */
	struct function *twin;	   /* a CUkernel and its CUfunction */
	struct function *previous; /* of the same module */
};
struct function *sim_function_get(const void *handle);
typedef void sim_kernel_fn(const unsigned grid[3], const unsigned block[3], void **params);
sim_kernel_fn *sim_kernel_body(const char *name);

#define SIM_ALLOC_CHECK(p)                                                                         \
	do {                                                                                       \
		if (!(p))                                                                          \
			return CUDA_ERROR_OUT_OF_MEMORY;                                           \
	} while (0)

#endif
