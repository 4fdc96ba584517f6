/* The program's own storages that are live: what its allocations and frees are checked against.
 * Any thread, under a lock; malloc is used (the calls are the program's, outside our hooks). */
#ifndef TSTRACE_CORE_SESSION_STORAGE_H
#define TSTRACE_CORE_SESSION_STORAGE_H

#include "core/base.h"

enum ts_storage_result {
	TS_STORAGE_OK,
	TS_STORAGE_EXISTS,      /* the tensor is on that live storage already */
	TS_STORAGE_SIZE,        /* a live storage has other bytes: *bytes */
	TS_STORAGE_ABSENT,      /* not live */
	TS_STORAGE_TIME,        /* before the allocation */
	TS_STORAGE_MEMORY,      /* out of memory */
};

/* A key is a device and a storage id.  *bytes is the size, and becomes that of the live storage. */
enum ts_storage_result ts_storage_alloc(const char *device, const char *storage,
					const char *tensor, uint64_t *bytes, uint64_t t_ns);
enum ts_storage_result ts_storage_free(const char *device, const char *storage, uint64_t *bytes,
				       uint64_t t_ns);

/* Frees of what was not live. */
uint64_t ts_storage_unmatched(void);

/* Around a fork: the child begins with none. */
void ts_storage_prefork(void);
void ts_storage_postfork(bool child);

#endif
