/* The recovery file of this process: made when the session opens, unlinked on a clean finish, never
 * unmapped (a late call may still hold a ring).  See layout.h for what lies in it. */
#ifndef TSTRACE_CORE_RECORD_FILE_H
#define TSTRACE_CORE_RECORD_FILE_H

#include "core/base.h"
#include "core/record/layout.h"

extern struct ts_file *ts_file;         /* NULL before the session opened */

/* Make it for the trace at `trace_path` with rings of `ring_bytes` (a power of two).  `dir`: where,
 * or NULL for /dev/shm and then the trace's folder.  When no folder has room, private memory is
 * used and *recoverable is false.  0 or -errno. */
int ts_file_make(const char *dir, const char *trace_path, uint64_t ring_bytes, bool *recoverable);

/* A ring for the calling thread: one of an ended thread with room in it, else a new one.
 * NULL: no room.  Any thread. */
struct ts_ring *ts_file_ring(int tid);

/* Mark the ring of a thread that no longer exists.  Any thread. */
void ts_file_ring_reap(struct ts_ring *ring);

/* Ring number `i` of ts_file->rings, or NULL. */
struct ts_ring *ts_file_ring_at(uint32_t i);

/* Base of the arena's address space, and make bytes [0, end) of it usable.  0 or -errno.  Under the
 * arena's lock. */
unsigned char *ts_file_arena(void);
int ts_file_arena_grow(uint64_t end);

/* Remove the file's name; the memory stays. */
void ts_file_unlink(void);
const char *ts_file_path(void);         /* "" when there is none */

/* In the child of a fork: forget the parent's file, touch nothing in it. */
void ts_file_child(void);

#endif
