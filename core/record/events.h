/* The records that travel from a thread to the writer.
 *
 * A record is one or more 64-byte slots of the thread's ring and begins with struct ts_rec.  The
 * numbers are in recovery files: never reuse one. */
#ifndef TSTRACE_CORE_RECORD_EVENTS_H
#define TSTRACE_CORE_RECORD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record/layout.h"

enum ts_rec_kind {
	TS_REC_PAD = 0,         /* skip `slots` slots */
	TS_REC_SPAN_START = 1,
	TS_REC_SPAN_END = 2,
	TS_REC_ALLOC = 3,       /* stamped after the real call; error != 0: the request failed */
	TS_REC_FREE = 4,        /* stamped and published before the real call */
	TS_REC_FREE_FAILED = 5, /* the last free of this thread failed: take it back */
	TS_REC_RESET = 6,       /* a device or context ended, with all its storage */
	TS_REC_CALL = 7,        /* synchronisation, stream and event life, other API calls */
	TS_REC_OP = 8,          /* launch, copy, set, graph launch, VMM map */
	TS_REC_INTERVAL = 9,    /* device work */
	TS_REC_DEVICE_MEMORY = 10,
	/* 11 was used */
	TS_REC_SPAN_DONE = 12,  /* a completed span, attached to the root */
	/* what follows in this ring is of this thread; first in each ring */
	TS_REC_THREAD = 13,
	/* 16 to 31 are the session's */
	TS_REC_SCALAR = 16,
	TS_REC_LINE = 17,       /* a line that the caller formatted: op, tensor, gradient, edge */
	TS_REC_WINDOW = 18,     /* a window opens or closes; sorted among the memory events */
	TS_REC_MARK = 19,       /* a moment in a span */
	TS_REC_MAP = 20,        /* physical memory was mapped or unmapped; sorted in as well */
};

/* How a call came to us. */
enum ts_route {
	TS_ROUTE_SYMBOL,        /* the dynamic linker bound the program to our symbol */
	TS_ROUTE_DLSYM,
	TS_ROUTE_PROC,          /* cuGetProcAddress, cudaGetDriverEntryPoint */
	TS_ROUTE_CUPTI,         /* seen by CUPTI only */
	TS_ROUTE_API,           /* tstrace.h */
};

enum ts_memory_kind {
	TS_MEM_DEVICE,
	TS_MEM_PINNED,
	TS_MEM_REGISTERED,
	TS_MEM_MANAGED,
	TS_MEM_PITCHED,
	TS_MEM_ARRAY,
	TS_MEM_MIPMAP,
	TS_MEM_POOL,
	TS_MEM_VMM,
	TS_MEM_GRAPH,
	TS_MEM_IPC,
	TS_MEM_EXTERNAL,
	TS_MEM_KINDS
};

/* Memory of the host: on no device. */
static inline bool ts_memory_is_host(uint8_t kind)
{
	return kind == TS_MEM_PINNED || kind == TS_MEM_REGISTERED;
}

#define TS_DEVICE_NONE (-1)     /* host memory, or the device is not known */

/* flags */
#define TS_F_CAPTURED 1         /* the call was recorded into a graph, it did not run */
#define TS_F_PER_THREAD 2       /* per-thread default stream form */
#define TS_F_TRUNCATED 4
#define TS_F_NO_STACK 8         /* a stack could not be taken safely */
#define TS_F_OUTSIDE 16         /* a memory event outside the window: to be known, not written */
#define TS_F_OWN_CONTEXT 32     /* in a context that the program made, not the primary one */

struct ts_rec {
	uint8_t kind;           /* enum ts_rec_kind */
	uint8_t slots;
	uint8_t route;          /* enum ts_route */
	uint8_t flags;
	uint16_t fn;            /* enum ts_fn (preload/fn.h), 0 none; its name by ts_fn_name() */
	int16_t device;         /* ordinal, or TS_DEVICE_NONE */
	uint64_t t;             /* raw clock: the event, or the start of the call */
	uint32_t span;          /* innermost open span of the thread; 1 is the root */
	uint32_t stack;         /* arena id, 0 none */
};
_Static_assert(sizeof(struct ts_rec) == 24, "records share 24 bytes");

/* A ring goes to a new thread when its thread has ended, also before it is drained. */
struct ts_rec_thread {
	struct ts_rec h;
	uint32_t number;        /* of the thread in the trace, from 1 */
	int32_t tid;            /* the kernel's */
	char name[16];          /* when it began to record; NUL terminated */
	uint64_t pad[2];
};

/* What a span of NVTX has beyond a name. */
enum ts_payload { TS_PAYLOAD_NONE, TS_PAYLOAD_U64, TS_PAYLOAD_I64, TS_PAYLOAD_F64,
	/* not NVTX's: the span goes on after the one of this number, see core/session/span.h */
	TS_PAYLOAD_CONTINUES };

struct ts_span_note {
	uint32_t domain;        /* arena text, 0 the default domain */
	uint32_t category;      /* 0 none */
	uint32_t category_name; /* arena text */
	uint32_t color;         /* ARGB */
	uint32_t payload[2];    /* 8 bytes of the type below */
	uint8_t payload_type;   /* enum ts_payload */
	uint8_t has_color;
	uint8_t pad[2];
};

/* Of span records. */
enum ts_span_source { TS_SPAN_API, TS_SPAN_NVTX, TS_SPAN_AUTO };

struct ts_rec_span_start {
	struct ts_rec h;        /* h.span is the new span */
	uint32_t parent;
	uint32_t name;          /* arena text */
	uint8_t span_kind;      /* 0 function, 1 op, 2 module */
	uint8_t step;           /* 0 none, 1 forward, 2 backward, 3 optimizer */
	uint8_t measured;
	uint8_t source;         /* enum ts_span_source */
	struct ts_span_note note;
};

struct ts_rec_span_end {
	struct ts_rec h;        /* h.span is the span that ends */
	uint8_t late;           /* the program ended it before: others were open in it */
	uint8_t pad[39];
};

struct ts_rec_alloc {
	struct ts_rec h;
	/* 0 when error != 0; array and VMM handles are their handle's value */
	uint64_t address;
	uint64_t bytes;         /* what the call asked for; pitched: with the returned pitch */
	uint64_t stream;
	uint64_t pool;
	int32_t error;          /* CUresult or cudaError_t; 0 success */
	uint8_t memory_kind;    /* enum ts_memory_kind */
	uint8_t step;           /* ts_self.step */
	uint16_t context;       /* dense number of the current context, 0 unknown */
};

struct ts_rec_free {
	struct ts_rec h;
	uint64_t address;
	uint64_t stream;
	uint64_t pad[2];
	int32_t error;          /* TS_REC_FREE_FAILED only */
	uint8_t memory_kind;
	uint8_t pad1[3];
};

struct ts_rec_map {
	struct ts_rec h;        /* stamped after the real call */
	uint64_t address, bytes;
	uint64_t handle;        /* 0: unmapped */
	uint64_t pad[2];
};

struct ts_rec_reset {
	struct ts_rec h;        /* device: the storage of its primary context ends */
	uint64_t context;       /* or only the storage of this context (dense number), if not 0 */
	uint64_t pad[4];
};

struct ts_rec_call {
	struct ts_rec h;
	uint64_t t_end;
	uint64_t stream;
	uint64_t object;        /* event, stream, context ... the call is about */
	int32_t error;
	uint32_t correlation;   /* the device backend's, 0 none */
	uint32_t correlation2;
	uint32_t context;
};

struct ts_rec_op {
	struct ts_rec h;
	uint64_t t_end;
	uint64_t stream;
	int32_t error;
	uint32_t correlation, correlation2;
	uint32_t context;       /* dense id of the backend, 0 unknown */
	uint32_t name;          /* arena text: a kernel's raw name; 0: the api's name */
	uint32_t grid[3], block[3];
	uint32_t shared_bytes;
	uint64_t bytes;
	/* copies, sets and maps: addresses; graph launch: dst is the graph */
	uint64_t dst, src;
	uint8_t copy_kind;      /* cudaMemcpyKind + 1, 0 unknown */
	uint8_t pad[3];
	uint32_t count;         /* operations of a batch call, nodes of a graph; 0 when one */
	uint64_t handle;        /* kernel, graph: the handle given by the caller */
};

struct ts_rec_interval {
	struct ts_rec h;        /* h.t is not used; h.device as CUPTI names it */
	/* CLOCK_MONOTONIC as the registered clock gave it; see `untimed` */
	uint64_t start_ns, end_ns;
	uint64_t bytes;
	uint64_t graph_node;
	uint32_t correlation;
	uint32_t context;
	uint32_t stream;
	uint32_t name;          /* arena text */
	uint32_t graph;
	uint32_t clock_error_ns;
	uint8_t activity;       /* enum ts_activity */
	uint8_t backend;        /* enum ts_backend */
	/* 1: the record had no usable times (zero, reversed, sentinel, unfinished) */
	uint8_t untimed;
	uint8_t copy_kind;      /* CUpti_ActivityMemcpyKind, 0 none */
	uint8_t pad[36];
	uint64_t launch_span;   /* event backend: the span is already known; else 0 */
};

enum ts_activity {
	TS_ACT_KERNEL, TS_ACT_MEMCPY, TS_ACT_MEMSET, TS_ACT_SYNC, TS_ACT_GRAPH, TS_ACT_UVM,
	TS_ACT_OVERHEAD, TS_ACT_POOL, TS_ACT_MEMORY, TS_ACT_KINDS
};

enum ts_backend { TS_BACKEND_OFF, TS_BACKEND_CUPTI, TS_BACKEND_EVENT };

struct ts_rec_device_memory {
	struct ts_rec h;
	uint64_t free_bytes, total_bytes;
	uint8_t reason;         /* 0 interval, 1 failed allocation, 2 end, 3 step */
	uint8_t pad[23];
};

struct ts_rec_span_done {
	struct ts_rec h;        /* h.span is the new span */
	uint64_t start_ns, duration_ns; /* since the session opened */
	uint64_t t_start;       /* raw: tells the iteration */
	uint32_t name;          /* arena text */
	uint8_t span_kind, step, source;
	uint8_t open;           /* at the end of the session */
	uint32_t began;         /* number of the thread that began it, 0 the one that ended it */
	struct ts_span_note note;
	uint8_t pad[40];
};

struct ts_rec_scalar {
	struct ts_rec h;
	double value;
	uint32_t label;         /* arena text */
	uint32_t pad[7];
};

struct ts_rec_mark {
	struct ts_rec h;
	uint32_t name;          /* arena text */
	uint8_t source;         /* enum ts_span_source */
	uint8_t pad[3];
	struct ts_span_note note;
};

struct ts_rec_window {
	struct ts_rec h;
	uint64_t number;        /* of the window, from 1 */
	uint8_t open;           /* or it closes */
	uint8_t cause;          /* enum ts_window_cause */
	uint8_t pad[30];
};

/* The line without its end: {"kind":"op", ... */
struct ts_rec_line {
	struct ts_rec h;
	uint32_t bytes;
	char text[];
};
#define TS_LINE_MAX (UINT8_MAX * TS_SLOT - 28)  /* bytes of such a line */

#define TS_ONE_SLOT(s) _Static_assert(sizeof(struct s) == TS_SLOT, #s " is one slot")
TS_ONE_SLOT(ts_rec_thread);
TS_ONE_SLOT(ts_rec_span_start);
TS_ONE_SLOT(ts_rec_span_end);
TS_ONE_SLOT(ts_rec_alloc);
TS_ONE_SLOT(ts_rec_free);
TS_ONE_SLOT(ts_rec_mark);
TS_ONE_SLOT(ts_rec_map);
TS_ONE_SLOT(ts_rec_window);
TS_ONE_SLOT(ts_rec_reset);
TS_ONE_SLOT(ts_rec_call);
TS_ONE_SLOT(ts_rec_device_memory);
TS_ONE_SLOT(ts_rec_scalar);
_Static_assert(sizeof(struct ts_rec_span_done) == 2 * TS_SLOT, "a whole span is two slots");
_Static_assert(sizeof(struct ts_rec_op) == 2 * TS_SLOT, "an op is two slots");
_Static_assert(sizeof(struct ts_rec_interval) == 2 * TS_SLOT, "an interval is two slots");

#endif
