/* Names, stacks and modules, each kept once for the whole process in the shared mapping.
 *
 * Append only, lock-free, found again by hash, so that an event carries a 32-bit id and two threads
 * that meet the same stack get the same id.  Reading is a plain load: nothing shared is written
 * once an entry exists.  id 0 means "none". */
#ifndef TSTRACE_CORE_RECORD_ARENA_H
#define TSTRACE_CORE_RECORD_ARENA_H

#include <stdint.h>

#include "core/base.h"

enum ts_entry_kind { TS_ENTRY_TEXT = 1, TS_ENTRY_STACK = 2, TS_ENTRY_MODULE = 3 };

/* An entry as it lies in the arena, 8-byte aligned.  id = offset in the arena / 8. */
struct ts_entry {
	uint32_t hash;
	uint32_t bytes;         /* of data */
	uint32_t kind;          /* enum ts_entry_kind */
	uint32_t extra;         /* stacks: enum ts_stack_end */
	unsigned char data[];
};

enum ts_stack_end { TS_STACK_WHOLE = 0, TS_STACK_TRUNCATED = 1, TS_STACK_NO_UNWIND_INFO = 2 };

/* A frame in a stack entry: id of the module's entry << 40 | offset from the load base.  The offset
 * is that of the code itself: the last byte of the call instruction, or the interrupted instruction
 * below a signal's frame.  Look it up as it is, subtract nothing.  A frame whose code lies in no
 * module (JIT, hand-made pages) is two words: TS_FRAME_RAW, then the address. */
#define TS_FRAME_OFFSET_BITS 40
#define TS_FRAME_RAW UINT64_MAX

/* A module entry's data: build-id (length byte + 20 bytes), load base, load number, then the path.
 */
struct ts_module {
	uint64_t base;          /* load bias: address - offset in the file's own addresses */
	uint64_t load_ns;       /* session time when first seen at this base */
	uint8_t build_id_bytes;
	uint8_t build_id[23];
	char path[];            /* NUL terminated */
};

/* Find or add; returns its id, or 0 when the arena is full (counted as lost "names").
 * Any thread; not signal-safe against itself (callers hold their thread's depth); no malloc; a
 * system call only when a new chunk is needed. */
uint32_t ts_arena_put(enum ts_entry_kind kind, uint32_t extra, const void *data, size_t bytes);

/* A text: a kernel's name, a label.  NULL gives 0.  Bytes are kept as they are, not checked. */
uint32_t ts_arena_text(const char *text);

/* The entry of an id that ts_arena_put gave out; valid for the process's life.  NULL for 0. */
const struct ts_entry *ts_arena_get(uint32_t id);

#endif
