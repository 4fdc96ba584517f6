/* What a walk, its callers and its memos share; see stack_impl.h. */
#ifndef TSTRACE_CORE_RECORD_STACK_WALK_H
#define TSTRACE_CORE_RECORD_STACK_WALK_H

#include "core/record/arena.h"
#include "core/record/stack.h"
#include "core/record/stack_impl.h"

#define TS_RULES_BITS 12  /* 64 KiB */
#define TS_STACKS_BITS 11 /* 32 KiB */
#define TS_MEMO_BYTES (56u << 10)

/* A whole stack and every word of memory that the walk's result depended on: while they hold the
 * same values, a walk from the same registers gives the same stack. */
struct ts_memo {
	uint64_t pc, sp, bp; /* where the walk began */
	uint64_t hash;	     /* of the last stack seen from there */
	uint32_t id;
	uint16_t words;	 /* 0: not recorded */
	bool bp_used;	 /* the walk used the frame pointer that it began with */
	uint64_t data[]; /* words values, then words 32-bit distances from sp */
};

struct ts_known {
	uint64_t hash;
	uint32_t id;
};

/* What a thread keeps; about 160 KiB. */
struct ts_stack_cache {
	uint32_t version; /* the value of `changes` that all of this belongs to */
	uint32_t depth;
	uint32_t memo_mask, memo_capacity;
	uint32_t memo_bytes;
	struct ts_bounds bounds;
	struct ts_rule passing; /* a rule that may not be kept */
	struct ts_rule rules[1 << TS_RULES_BITS];
	struct ts_known stacks[1 << TS_STACKS_BITS];
	char memos[TS_MEMO_BYTES] __attribute__((aligned(64)));
	uint64_t pcs[TS_STACK_MAX];
	uint64_t frames[2 * TS_STACK_MAX];
};

enum ts_walk_end {
	TS_WALK_WHOLE = TS_STACK_WHOLE,
	TS_WALK_TRUNCATED = TS_STACK_TRUNCATED,
	TS_WALK_NO_INFO = TS_STACK_NO_UNWIND_INFO,
	TS_WALK_UNSAFE
};

struct ts_walk {
	uint64_t pc, sp, bp;
	uint64_t lo, hi; /* memory that can be read */
	bool own;	 /* it is the thread's stack; else pages are probed as met */
	bool lasting;	 /* the result can be kept by hash */
	unsigned frames;
	uint64_t hash;
};

/* A memo under way: where the words are noted. */
struct ts_recorder {
	struct ts_memo *memo;
	uint32_t capacity;
	uint64_t bp_from; /* address of the frame pointer's last load, 0: none unnoted */
	bool bp_loaded;	  /* the frame pointer is no longer the one that the walk began with */
};

TS_RAW_MEMORY static inline uint64_t ts_load(uint64_t address)
{
	return *(const volatile uint64_t *)(uintptr_t)address;
}

static inline uint64_t ts_mix(uint64_t hash, uint64_t value)
{
	__uint128_t product = (__uint128_t)(hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Walk from w's registers; fills c->pcs.  The second notes every word that the result depends on.
 */
enum ts_walk_end ts_walk(struct ts_stack_cache *c, struct ts_walk *w);
enum ts_walk_end ts_walk_recording(struct ts_stack_cache *c, struct ts_walk *w,
				   struct ts_recorder *rec);

/* Begin at w->sp: which memory can be read there. */
void ts_walk_enter(struct ts_walk *w, struct ts_stack_cache *c, uint64_t sp);

#endif
