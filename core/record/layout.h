/* What lies in the shared mapping of a traced process: the recovery file.
 *
 * One file a process, in /dev/shm or, when that is too small, beside the trace; removed on a clean
 * finish.  It outlives a process that is killed, and with it what the writer had not yet printed.
 * Its memory is reserved (posix_fallocate) before it is
 * mapped: a full disk is an error then and never a SIGBUS later.
 *
 *   header | segment | segment | ...        segments: rings and pieces of the arena, page aligned
 *
 * Everything here is plain data with fixed widths; offsets are from the start of the file. */
#ifndef TSTRACE_CORE_RECORD_LAYOUT_H
#define TSTRACE_CORE_RECORD_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#define TS_FILE_MAGIC UINT64_C(0x3130656361727473)      /* "strace01" */
#define TS_FILE_VERSION 1
#define TS_MAX_RINGS 4096               /* threads that record at the same time */
#define TS_ARENA_CHUNK (256u << 10)
#define TS_ARENA_CHUNKS 1024            /* 256 MiB of distinct names and stacks at most */
#define TS_INDEX_SLOTS (1u << 15)       /* hash index of the arena; open addressing */
#define TS_CLOCK_SEGMENTS 512
#define TS_SLOT 64                      /* bytes of a ring slot */

/* One piece of the map from the raw counter to nanoseconds; see clock.h. */
struct ts_clock_segment {
	uint64_t start;                 /* first raw value of the piece */
	uint64_t base_ns;               /* CLOCK_MONOTONIC at `start` */
	uint64_t mult;                  /* ns per tick, fixed point with 32 fraction bits */
};

enum ts_ring_state { TS_RING_LIVE = 1, TS_RING_EXITED };

/* Producer: one thread.  Consumer: the writer.  Positions count slots since the ring was made and
 * only grow.  Producer and consumer have a cache line each. */
struct ts_ring {
	/* producer's line */
	_Atomic uint64_t head;          /* first slot not yet published */
	uint64_t tail_seen;             /* the consumer's tail when last read */
	_Atomic uint32_t busy;          /* between taking a stamp and publishing it */
	uint32_t mask;                  /* slots - 1 */
	/* the writer did not make room in time: do not wait again */
	uint64_t stalled;
	uint64_t pad0[4];
	/* consumer's line */
	_Atomic uint64_t tail;          /* first slot whose line is not in the trace's file */
	_Atomic uint32_t state;         /* enum ts_ring_state */
	_Atomic int32_t tid;            /* kernel's id of the thread that has it */
	_Atomic uint64_t lost;          /* events that found no room */
	_Atomic uint64_t waits;         /* times the producer waited for room */
	uint64_t pad2[4];
	uint64_t pad3[8];
	unsigned char slots[] __attribute__((aligned(TS_SLOT)));
};
_Static_assert(sizeof(struct ts_ring) == 192, "the ring's header is three cache lines");

struct ts_file {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes;
	uint64_t slots_per_ring;
	int32_t pid;
	uint32_t finished;              /* 1 when the terminal was written */
	uint64_t start_raw;             /* raw clock of the session's time 0 */
	uint64_t start_ns;              /* CLOCK_MONOTONIC of the session's time 0 */
	uint64_t start_realtime_ns;
	_Atomic uint32_t rings;         /* used entries of ring_offset */
	_Atomic uint32_t chunks;        /* used entries of chunk_offset */
	_Atomic uint64_t arena_used;    /* bytes handed out, across the chunks */
	_Atomic uint32_t clock_segments;
	/* 1: raw values are a counter; 0: already CLOCK_MONOTONIC ns */
	uint32_t clock_is_raw;
	struct ts_clock_segment clock[TS_CLOCK_SEGMENTS];
	/* 0: in private memory, lost with the process */
	_Atomic uint64_t ring_offset[TS_MAX_RINGS];
	_Atomic uint64_t chunk_offset[TS_ARENA_CHUNKS];
	_Atomic uint32_t index[TS_INDEX_SLOTS];
	char trace_path[4096];
	char meta_line[16384];          /* the meta record, for a trace whose file is lost */
};

#endif
