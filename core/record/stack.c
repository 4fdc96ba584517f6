/* Taking a stack: first the thread's memo of the last stacks, else a walk by rules. */
#include "core/record/stack.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "core/log.h"
#include "core/record/arena.h"
#include "core/record/module.h"
#include "core/record/record.h"
#include "core/record/stack_walk.h"

#define MEMOS_MAX 64
#define POOL 16 /* caches of ended threads kept for new ones */

static _Atomic uint32_t max_depth;
static _Atomic uint32_t changes = 1; /* counts ts_stack_code_changed and ts_stack_set_depth */
static uint32_t checked_changes;	 /* with the stack lock, as the next */
static bool opened;
static _Atomic(struct ts_stack_cache *) pool[POOL];
static _Atomic(const char *) problem;

/* ---- a thread's cache ---- */

static void cache_clear(struct ts_stack_cache *c, uint32_t depth)
{
	uint32_t memos = MEMOS_MAX;

	memset(c->rules, 0, sizeof(c->rules));
	memset(c->stacks, 0, sizeof(c->stacks));
	memset(c->memos, 0, sizeof(c->memos));
	c->depth = depth;
	c->memo_capacity = 2 * depth;
	c->memo_bytes = (uint32_t)sizeof(struct ts_memo) + c->memo_capacity * 12;
	while (memos > 1 && memos * c->memo_bytes > TS_MEMO_BYTES)
		memos /= 2;
	c->memo_mask = memos - 1;
}

static struct ts_stack_cache *cache_make(void)
{
	struct ts_stack_cache *c = NULL;
	void *map;

	for (unsigned i = 0; i < POOL && !c; i++)
		c = atomic_exchange_explicit(&pool[i], NULL, memory_order_acquire);
	if (c) { /* rules are good for any thread, memos read its stack */
		memset(c->memos, 0, sizeof(c->memos));
	} else {
		map = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (map == MAP_FAILED)
			return NULL;
		c = map;
	}
	return c;
}

void ts_stack_thread_end(void)
{
	struct ts_stack_cache *c = ts_self.stacks;

	ts_self.stacks = NULL;
	for (unsigned i = 0; i < POOL && c; i++) {
		struct ts_stack_cache *empty = NULL;

		if (atomic_compare_exchange_strong_explicit(
			&pool[i], &empty, c, memory_order_release, memory_order_relaxed))
			return;
	}
	if (c)
		munmap(c, sizeof(*c));
}

static void open_aside(void *arg)
{
	*(const char **)arg = ts_unwind_open();
}

/* With the lock. */
static void open_unwinder(void)
{
	const char *why = "no memory";

	if (!ts_stack_run_aside(open_aside, &why) && !why) {
		opened = true;
		return;
	}
	atomic_store_explicit(&problem, why, memory_order_release);
	ts_say_once("no call stacks: %s", why);
}

/* The thread's first stack, or something changed since its last one.  NULL: no stack. */
static struct ts_stack_cache *cache_refresh(uint64_t sp)
{
	struct ts_stack_cache *c = ts_self.stacks;
	uint32_t now, depth;

	if (ts_self.ended || !atomic_load_explicit(&max_depth, memory_order_relaxed) ||
	    ts_stack_problem())
		return NULL;
	if (!ts_stack_lock())
		goto unsafe;
	if (!opened && !ts_stack_problem())
		open_unwinder();
	now = atomic_load_explicit(&changes, memory_order_acquire);
	depth = atomic_load_explicit(&max_depth, memory_order_relaxed);
	if (now != checked_changes) {
		ts_rule_forget_all();
		ts_modules_doubt();
	}
	checked_changes = now;
	if (!c && opened && (c = cache_make()))
		ts_bounds_init(&c->bounds, sp);
	ts_stack_unlock();
	if (c) {
		if (c->version != now)
			cache_clear(c, depth);
		c->version = now;
		ts_self.stacks = c;
		return c;
	}
	if (ts_stack_problem())
		return NULL;
unsafe:
	ts_lost(TS_LOST_stack_unsafe, 1);
	return NULL;
}

/* ---- from addresses to an id ---- */

/* Frames of the walk in the arena's form; returns words, 0 when the lock cannot be had. */
static size_t to_frames(struct ts_stack_cache *c, unsigned n)
{
	struct ts_dso object = {.start = 1, .end = 0};
	uint32_t module = 0;
	size_t words = 0;

	if (!ts_stack_lock())
		return 0;
	for (unsigned i = 0; i < n; i++) {
		uint64_t pc = c->pcs[i];

		if (pc < object.start || pc >= object.end) {
			if (ts_dso_find(pc, &object))
				module = ts_module_id(&object);
			else
				object.end = module = 0;
		}
		/* an id too large for its field: only beyond 128 MiB of names and stacks */
		if (module && module < UINT32_C(1) << (64 - TS_FRAME_OFFSET_BITS)) {
			c->frames[words++] =
			    (uint64_t)module << TS_FRAME_OFFSET_BITS | (pc - object.base);
		} else {
			c->frames[words++] = TS_FRAME_RAW;
			c->frames[words++] = pc;
		}
	}
	ts_stack_unlock();
	return words;
}

TS_COLD static uint32_t intern(struct ts_stack_cache *c, struct ts_walk *w, enum ts_walk_end end)
{
	size_t words = to_frames(c, w->frames);

	if (!words) {
		ts_lost(TS_LOST_stack_unsafe, 1);
		return 0;
	}
	return ts_arena_put(TS_ENTRY_STACK, end, c->frames, words * sizeof(uint64_t));
}

static uint32_t stack_id(struct ts_stack_cache *c, struct ts_walk *w, enum ts_walk_end end)
{
	struct ts_known *k = &c->stacks[w->hash >> (64 - TS_STACKS_BITS) & ~UINT64_C(1)];
	uint32_t id;

	if (k[0].hash == w->hash && w->lasting)
		return k[0].id;
	if (k[1].hash == w->hash && w->lasting)
		return k[1].id;
	id = intern(c, w, end);
	if (id && w->lasting) {
		k[1] = k[0];
		k[0] = (struct ts_known){.hash = w->hash, .id = id};
	}
	return id;
}

/* ---- memos ---- */

static inline struct ts_memo *memo_at(struct ts_stack_cache *c, uint64_t pc, uint64_t sp)
{
	uint64_t hash = (pc ^ sp << 20) * UINT64_C(0x9e3779b97f4a7c15);

	return (struct ts_memo *)(c->memos + ((hash >> 40) & c->memo_mask) * c->memo_bytes);
}

static inline uint32_t *memo_distances(struct ts_memo *m)
{
	return (uint32_t *)(m->data + m->words);
}

TS_RAW_MEMORY static inline bool memo_holds(struct ts_memo *m, uint64_t pc, uint64_t sp,
					    uint64_t bp)
{
	const uint32_t *distance = memo_distances(m);
	uint32_t i = 0, n = m->words;

	/* Most code keeps anything in the register of the frame pointer, a loop's counter say. */
	if (!n || m->pc != pc || m->sp != sp || (m->bp != bp && m->bp_used))
		return false;
	for (; i + 4 <= n; i += 4)
		if ((ts_load(sp + distance[i]) ^ m->data[i]) |
		    (ts_load(sp + distance[i + 1]) ^ m->data[i + 1]) |
		    (ts_load(sp + distance[i + 2]) ^ m->data[i + 2]) |
		    (ts_load(sp + distance[i + 3]) ^ m->data[i + 3]))
			return false;
	for (; i < n; i++)
		if (ts_load(sp + distance[i]) != m->data[i])
			return false;
	return true;
}

/* Walk once more and note the words. */
TS_COLD static void memo_record(struct ts_stack_cache *c, struct ts_memo *m, struct ts_walk *w,
				uint32_t id)
{
	struct ts_recorder rec = {.memo = m, .capacity = c->memo_capacity};
	uint64_t hash = m->hash;
	enum ts_walk_end end;

	m->words = 0;
	m->bp = w->bp;
	m->bp_used = false;
	end = ts_walk_recording(c, w, &rec);
	if (end == TS_WALK_UNSAFE || !w->lasting || !rec.capacity ||
	    ts_mix(w->hash, end + 1) != hash) {
		m->words = 0;
		return;
	}
	m->id = id;
	memmove(m->data + m->words, m->data + rec.capacity, m->words * sizeof(uint32_t));
}

static __attribute__((noinline)) uint32_t take_by_walk(struct ts_stack_cache *c, struct ts_memo *m,
						       uint64_t pc, uint64_t sp, uint64_t bp)
{
	struct ts_walk start = {.pc = pc, .sp = sp, .bp = bp, .lasting = true}, w;
	int saved = errno;
	enum ts_walk_end end;
	uint32_t id = 0;

	ts_walk_enter(&start, c, sp);
	w = start;
	end = ts_walk(c, &w);
	if (end == TS_WALK_UNSAFE) {
		ts_lost(TS_LOST_stack_unsafe, 1);
		goto out;
	}
	w.hash = ts_mix(w.hash, end + 1);
	id = stack_id(c, &w, end);
	if (!id || !w.lasting || !w.own)
		goto out;
	/* Only a stack met twice in a row is worth a memo. */
	if (m->pc != pc || m->sp != sp) {
		*m = (struct ts_memo){.pc = pc, .sp = sp, .bp = bp, .hash = w.hash};
	} else if (m->bp_used && m->bp != bp) {
		m->bp = bp;
		m->hash = w.hash;
		m->words = 0;
	} else if (m->hash != w.hash) {
		m->hash = w.hash;
	} else {
		memo_record(c, m, &start, id);
	}
out:
	errno = saved;
	return id;
}

TS_COLD static struct ts_stack_cache *refresh(uint64_t sp)
{
	int saved = errno;
	struct ts_stack_cache *c = cache_refresh(sp);

	errno = saved;
	return c;
}

TS_RAW_MEMORY uint32_t ts_stack_take(void *frame)
{
	struct ts_stack_cache *c = ts_self.stacks;
	uint64_t sp = (uintptr_t)frame + 16, bp = ts_load((uintptr_t)frame);
	uint64_t pc = ts_load((uintptr_t)frame + 8) - 1;
	struct ts_memo *m;

	if (ts_unlikely(!c || c->version != atomic_load_explicit(&changes, memory_order_relaxed))) {
		if (!atomic_load_explicit(&max_depth, memory_order_relaxed))
			return 0;
		c = refresh(sp);
		if (!c)
			return 0;
	}
	m = memo_at(c, pc, sp);
	if (ts_likely(memo_holds(m, pc, sp, bp)))
		return m->id;
	return take_by_walk(c, m, pc, sp, bp);
}

/* ---- set-up ---- */

const char *ts_stack_problem(void)
{
	return atomic_load_explicit(&problem, memory_order_acquire);
}

/* Every thread drops what it knows before its next stack. */
static void forget(void)
{
	atomic_fetch_add_explicit(&changes, 1, memory_order_release);
}

void ts_stack_code_changed(void)
{
	/* Most calls of dlclose only count down. */
	if (ts_modules_went())
		forget();
}

void ts_stack_set_depth(unsigned frames)
{
	atomic_store_explicit(&max_depth, frames > TS_STACK_MAX ? TS_STACK_MAX : frames,
			      memory_order_relaxed);
	forget();
}

void ts_stack_before_fork(void)
{
	ts_stack_lock_before_fork();
}

void ts_stack_after_fork(bool in_child)
{
	if (in_child) { /* alone, before its first stack: every kept id is of the old arena */
		ts_modules_forget();
		forget();
	}
	ts_stack_lock_after_fork(in_child);
}
