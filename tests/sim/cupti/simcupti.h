/* The stand-in CUPTI of the simulated device: what its files share.
 *
 * One way through it: the simulated driver reports API edges and work (tests/sim/observer.h)
 * -> dispatch.c calls the subscriber back and makes API records -> records.c turns work into
 * activity records -> buffers.c keeps them in the client's buffers -> deliver.c hands those back.
 *
 * Lock order: state.c, buffers.c, deliver.c; none is held while client code runs. */
#ifndef TSTRACE_SIM_CUPTI_H
#define TSTRACE_SIM_CUPTI_H

#define CUPTI_LIB       /* the public headers then declare their functions as exported */
#include <cuda.h>
#include <cupti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/observer.h"

#define SIM_NO_OFFSET SIZE_MAX

/* --- faults.c: what the environment asks to go wrong (README.md lists the variables) --- */
struct sim_faults {
#define SIM_FAULT(name, field, help) _Atomic long field;
#define SIM_FAULT_TEXT(name, field, help) const char *_Atomic field;
#include "tests/sim/cupti/faults.def"
};
extern struct sim_faults sim_faults;
void sim_faults_read(void);
/* The code that enabling `kind` is to fail with, or CUPTI_SUCCESS. */
CUptiResult sim_faults_enable(CUpti_ActivityKind kind);
/* True for every n-th call with this counter; never when n <= 0. */
bool sim_faults_every(long n, atomic_ulong *counter);

/* --- state.c: the connection to the driver, what is enabled --- */
struct sim_driver {
	int (*observe)(const struct sim_observer *observer);
	int (*id)(enum sim_handle what, const void *handle, uint64_t *id);      /* may be NULL */
	void (*settle)(void);                                                   /* may be NULL */
	void *handle;                                                           /* for dlsym() */
};
extern struct sim_driver sim_driver;
/* Find the driver and begin to observe it, once.  CUPTI_SUCCESS, or what the caller must return. */
CUptiResult sim_connect(void);
bool sim_connected(void);
void sim_disconnect(void);
/* True in a child of fork(), where CUPTI must not be used: everything then fails. */
bool sim_forked(void);
int sim_abi(void);                      /* 12 or 13: which record layouts */
/* Remember the result for cuptiGetLastError() of this thread and return it. */
CUptiResult sim_result(CUptiResult result);

bool sim_kind_on(CUpti_ActivityKind kind, uint32_t context_id);
bool sim_api_kind_on(enum sim_domain domain, uint32_t cbid);
bool sim_uvm_counter_on(int counter);
void sim_kinds_reset(void);

/* --- thread.c: what CUPTI keeps for each thread of the program --- */
struct sim_frame {
	uint32_t correlation;
	enum sim_domain domain;
	uint32_t cbid;
	uint64_t data;                  /* CUpti_CallbackData.correlationData */
	uint64_t begin;                 /* client's clock */
	uint64_t begin_ns;              /* CLOCK_MONOTONIC */
	void *context;
};

#define SIM_FRAMES 16
#define SIM_EXTERNAL_DEPTH 64

struct sim_thread {
	struct sim_thread *next;        /* all threads ever seen; entries are reused, never freed */
	atomic_bool used;
	struct sim_buffer *buffer;      /* under the lock of buffers.c */
	struct sim_frame frames[SIM_FRAMES];
	unsigned depth;
	uint64_t external[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE][SIM_EXTERNAL_DEPTH];
	unsigned external_count[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];
	bool quiet;                     /* CUPTI's own driver calls are not observed */
	CUptiResult last_error;
};
struct sim_thread *sim_thread(void);
struct sim_thread *sim_threads(void);   /* head of the list of all */
uint32_t sim_thread_id(void);           /* by cuptiSetThreadIdType() */

/* --- clock.c: from the driver's CLOCK_MONOTONIC to the client's clock --- */
void sim_clock_set(CUpti_TimestampCallbackFunc callback);      /* NULL: CLOCK_REALTIME */
uint64_t sim_clock_now(void);           /* client's clock */
uint64_t sim_monotonic_ns(void);
void sim_clock_sample(void);            /* measure both clocks together */
uint64_t sim_clock_convert(uint64_t monotonic_ns);

/* --- names.c --- */
/* Callback id of an exported function; 0 when the headers know no such one. */
uint32_t sim_cbid(enum sim_domain domain, const char *function);
const char *sim_cbid_name(CUpti_CallbackDomain domain, uint32_t cbid);
uint32_t sim_cbid_limit(CUpti_CallbackDomain domain);

/* --- dispatch.c: callbacks --- */
void sim_observe_api(void *user, const struct sim_api *call);
void sim_observe_graph_node(void *user, uint64_t original, uint64_t node, uint32_t graph_id);
void sim_call_resource(CUpti_CallbackIdResource cbid, const CUpti_ResourceData *data);
void sim_call_sync(CUpti_CallbackIdSync cbid, void *context, uint64_t stream);
void sim_subscriber_reset(void);

/* --- records.c, objects.c --- */
void sim_observe_activity(void *user, const struct sim_activity *work);
void sim_record_api(const struct sim_frame *frame, uint32_t result);
void sim_record_overhead(CUpti_ActivityOverheadKind what, uint64_t begin, uint64_t end);
size_t sim_record_size(uint32_t kind);  /* by the layouts of sim_abi(); 0: not a kind we make */
enum sim_support { SIM_REFUSED, SIM_SILENT, SIM_MADE };
/* Whether enabling a kind is refused, accepted without effect, or yields records. */
enum sim_support sim_record_support(uint32_t kind);
void sim_record_context(const struct sim_activity *work);
void sim_record_stream(const struct sim_activity *work);
void sim_record_devices(void);
void sim_objects_end(const struct sim_api *edge);       /* an API call that ends one begins */
void sim_record_live(CUpti_ActivityKind kind);  /* contexts or streams that exist already */
void sim_records_reset(void);
extern atomic_bool sim_latency_on, sim_source_on, sim_event_time_on;

/* --- buffers.c --- */
/* What of a record must be converted when it is delivered: offsets of its two times in the record
 * (SIM_NO_OFFSET: has none) and their values by the driver's clock. */
struct sim_stamp {
	size_t start_at, end_at;
	uint64_t start, end;
	bool device;                    /* time taken on the device: subject to scripted faults */
};

struct sim_buffer {
	struct sim_buffer *next;
	uint8_t *data;
	size_t size, used, max_records, records;
	uint64_t last_end;              /* when its last record is complete, CLOCK_MONOTONIC */
	struct sim_stamp *stamps;       /* offsets count from the start of the buffer */
	size_t stamp_count, stamp_room;
	bool forced, wanted;            /* deliver also when incomplete; a flush waits for it */
};

extern CUpti_BuffersCallbackRequestFunc sim_request;
extern CUpti_BuffersCallbackCompleteFunc sim_complete;
extern atomic_bool sim_per_thread_buffers;

/* Store a record on behalf of the calling thread; counts a drop when there is no room for it. */
void sim_buffer_append(const void *record, size_t size, const struct sim_stamp *stamp);
struct sim_buffer *sim_buffer_request(void);    /* ask the client for one; NULL: it has none */
void sim_buffer_free(struct sim_buffer *buffer);        /* our part; the data is the client's */
size_t sim_buffers_dropped(void);       /* and start again at 0 */
/* Hand every current buffer over to delivery: all (forced), or those that are complete. */
void sim_buffers_retire(bool forced);
void sim_buffers_go_stale(void);        /* fault STALE_ENDS: work that is over ends now */
void sim_buffers_reset(void);

/* --- deliver.c --- */
int sim_deliver_start(void);            /* start the worker thread, once; 0 or -errno */
/* A buffer is full, or wanted by a flush.  Runs no client code. */
void sim_deliver_queue(struct sim_buffer *buffer);
void sim_deliver_kick(void);            /* no lock held: deliver here, where a fault asks for it */
void sim_deliver_flush(bool forced);
void sim_deliver_period(uint32_t milliseconds);
void sim_deliver_reset(void);           /* forget what is queued; the data stays the client's */

#endif
