/* How the three libraries of the simulated device talk to each other.
 *
 * The simulated driver (libcuda.so.1) owns the timelines.  The stand-in CUPTI observes it, the
 * stand-in runtime reports its own API calls to it.  The functions below are exported by the
 * simulated driver only; the others find them by dlsym() and go on without them when the loaded
 * driver is not ours.  They are private to the simulated device: no traced program and no part of
 * tstrace itself may call them. */
#ifndef TSTRACE_SIM_OBSERVER_H
#define TSTRACE_SIM_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_OBSERVER_VERSION 1

enum sim_domain { SIM_DRIVER = 1, SIM_RUNTIME = 2 };

/* One edge of an API call.  `name` is the exported symbol (cuMemAlloc_v2, cudaMalloc_ptsz); the
 * observer maps it to a callback id.  `params` points to the argument struct of the public header
 * generated_cuda_meta.h / generated_cuda_runtime_api_meta.h where the caller filled one, else NULL.
 * `correlation` is the same value at both edges; a driver call made by the runtime has its own. */
struct sim_api {
	enum sim_domain domain;
	bool enter;
	const char *name;
	uint32_t correlation;
	const void *params;
	int result;             /* at exit: CUresult or cudaError_t */
	void *context;          /* CUcontext current on this thread, or NULL */
	uint32_t context_id;
	const char *symbol;     /* kernel name for launches, else NULL */
};

enum sim_activity_kind {
	SIM_KERNEL, SIM_MEMCPY, SIM_MEMSET, SIM_MEMCPY_P2P, SIM_SYNC, SIM_GRAPH,
	SIM_MEMORY, SIM_POOL, SIM_CONTEXT, SIM_STREAM, SIM_EVENT, SIM_UVM, SIM_HOST_NODE
};

/* One piece of work on a timeline, reported when it is submitted: start_ns and end_ns are
 * CLOCK_MONOTONIC and may lie in the future.  `correlation` is that of the outermost API call of
 * the submitting thread (runtime before driver), as with the real CUPTI.  For SIM_SYNC, SIM_MEMORY
 * and SIM_POOL start_ns is when it happened.  SIM_CONTEXT, SIM_STREAM: `address` is the handle,
 * memory_op 1: just made (what ends is seen by the call that ends it).  SIM_EVENT: an event was
 * recorded in a stream, `sync_event_id` is its id.  SIM_SYNC: `address` is the stream's handle
 * where there is one. */
struct sim_activity {
	enum sim_activity_kind kind;
	uint32_t correlation;
	uint32_t device_id, context_id, stream_id;
	uint64_t start_ns, end_ns;
	const char *name;               /* kernels: mangled name; valid for the process's life */
	uint32_t grid[3], block[3], shared_static, shared_dynamic, registers;
	uint64_t bytes;
	uint8_t copy_kind;              /* CUpti_ActivityMemcpyKind */
	uint8_t src_kind, dst_kind;     /* CUpti_ActivityMemoryKind */
	uint32_t src_device, dst_device, src_context, dst_context;
	uint32_t value;                 /* memset */
	uint32_t graph_id;
	uint64_t graph_node_id;
	uint8_t sync_type;              /* CUpti_ActivitySynchronizationType */
	uint32_t sync_event_id;
	/* 1 allocation, 2 release; pools: 1 created, 2 destroyed, 3 trimmed */
	uint8_t memory_op;
	uint8_t memory_kind;            /* CUpti_ActivityMemoryKind */
	bool is_async;
	uint64_t address, pool, pool_size, pool_used, pool_threshold;
	uint32_t process_id, thread_id;
};

/* Called on the thread that makes the call or submits the work, with no lock of the driver held. */
struct sim_observer {
	uint32_t version;       /* SIM_OBSERVER_VERSION */
	void *user;
	void (*api)(void *user, const struct sim_api *call);
	void (*activity)(void *user, const struct sim_activity *work);
	/* May be NULL.  graph node made or cloned: CUgraphNode handles of the original node (0 when
	 * new) and of the new one; id of the graph. */
	void (*graph_node)(void *user, uint64_t original, uint64_t node, uint32_t graph_id);
};

/* Replace the observer; NULL ends observation.  Returns 0, or -1 on a version mismatch. */
int tstrace_sim_observe(const struct sim_observer *observer);

/* The id under which activities name a live handle.  Returns 0, or -1 when the handle is not known.
 * A driver without this function is asked cuCtxGetId() and cuStreamGetId(), and knows no graphs. */
enum sim_handle {
	SIM_ID_CONTEXT,
	SIM_ID_STREAM,
	SIM_ID_GRAPH,
	SIM_ID_GRAPH_EXEC,
	SIM_ID_GRAPH_NODE
};
int tstrace_sim_id(enum sim_handle what, const void *handle, uint64_t *id);

/* Wait until all work that is done has been told to the observer: host functions, and what lay
 * behind them, are told by threads of the driver, a moment after a synchronising call has returned.
 * Inside the observer, on such a thread, it returns at once. */
void tstrace_sim_settle(void);

/* An API call of the runtime begins: returns its correlation id and makes it this thread's
 * outermost one, until tstrace_sim_leave with the same id.  Calls nest. */
uint32_t tstrace_sim_enter(enum sim_domain domain, const char *name, const void *params,
			   const char *symbol);
void tstrace_sim_leave(enum sim_domain domain, const char *name, uint32_t correlation,
		       const void *params, const char *symbol, int result);

#endif
