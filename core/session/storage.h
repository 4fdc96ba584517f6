/* The program's own storages that are live: what its allocations and frees are checked against.
 * Any thread, under a lock; malloc is used (the calls are the program's, outside our hooks). */
#ifndef TSTRACE_CORE_SESSION_STORAGE_H
#define TSTRACE_CORE_SESSION_STORAGE_H

#include "core/base.h"

enum ts_storage_result {
	TS_STORAGE_OK,
	TS_STORAGE_EXISTS,      /* the tensor is on that live storage already */
	TS_STORAGE_SIZE,        /* a live storage has other bytes: those given back */
	TS_STORAGE_ABSENT,      /* not live */
	TS_STORAGE_TIME,        /* before that storage's last event */
};

struct ts_storage_event {
	const char *device, *storage;   /* together the key */
	const char *tensor;             /* of an allocation */
	uint64_t bytes, t_ns;
	bool is_free;
	bool outside;                   /* the window: known, but not written */
	/* Given back: no line speaks of the storage, since it was allocated outside. */
	bool unwritten;
};

/* Around all of an event, so that the order of its times is that of the changes: first it is
 * checked, then its line is written, and if it was, what is live changes. */
void ts_storage_lock(void);
void ts_storage_unlock(void);
enum ts_storage_result ts_storage_check(struct ts_storage_event *event);
void ts_storage_change(const struct ts_storage_event *event);

struct ts_storage_totals {
	uint64_t unmatched;             /* frees of what was not live */
	/* frees inside a window of what was allocated before it */
	uint64_t earlier_frees, earlier_bytes;
};
struct ts_storage_totals ts_storage_totals(void);

/* Around a fork: the child begins with none. */
void ts_storage_prefork(void);
void ts_storage_postfork(bool child);

#endif
