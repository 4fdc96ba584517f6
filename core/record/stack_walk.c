/* The walk: from one frame to the next by rules, never outside memory that can be read. */
#include "core/record/stack_walk.h"

#define PAGE 4096u

static inline struct ts_rule *rule_slot(struct ts_stack_cache *c, uint64_t pc)
{
	return &c->rules[(pc * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TS_RULES_BITS)];
}

/* Learn the rule of `pc` or take it from the process's; NULL: not now. */
TS_COLD static const struct ts_rule *rule_miss(struct ts_stack_cache *c, struct ts_walk *w,
					       uint64_t pc)
{
	struct ts_rule *to = rule_slot(c, pc);
	bool in_module;

	if (!ts_stack_lock())
		return NULL;
	c->passing = ts_rule_get(pc, &in_module);
	ts_stack_unlock();
	if (!in_module) {
		w->lasting = false;
		return &c->passing;
	}
	*to = c->passing;
	return to;
}

/* The region whose word at `sp` can be read. */
void ts_walk_enter(struct ts_walk *w, struct ts_stack_cache *c, uint64_t sp)
{
	w->own = ts_bounds_contain(&c->bounds, sp);
	w->lo = sp;
	w->hi = w->own ? c->bounds.hi : sp;
}

/* Whether the word at `address` can be read; on an unknown stack (a coroutine, a signal's) pages
 * are probed from the last good one on, a system call each. */
TS_COLD static bool walk_probe(struct ts_walk *w, uint64_t address)
{
	if (w->own || address < w->lo || address - w->lo > (UINT64_C(64) << 20) || address % 8)
		return false;
	while (w->hi < address + 8) {
		if (!ts_page_readable(w->hi))
			return false;
		w->hi = (w->hi & ~(uint64_t)(PAGE - 1)) + PAGE;
	}
	return true;
}

static inline bool walk_reads(struct ts_walk *w, uint64_t address)
{
	/* hi is at least lo, and both are multiples of 8 */
	if (ts_likely(address - w->lo < w->hi - w->lo && !(address & 7)))
		return true;
	return walk_probe(w, address);
}

/* Distances are noted behind the room for all values and moved when the number is known. */
static void record_word(struct ts_recorder *r, uint64_t address)
{
	struct ts_memo *m = r->memo;
	uint32_t *distances = (uint32_t *)(m->data + r->capacity);
	uint64_t distance = address - m->sp;

	if (r->capacity == 0)
		return;
	if (m->words == r->capacity || distance > UINT32_MAX) {
		r->capacity = 0; /* does not fit: no memo */
		return;
	}
	distances[m->words] = (uint32_t)distance;
	m->data[m->words++] = ts_load(address);
}

static inline void record_bp_use(struct ts_recorder *r)
{
	if (!r->bp_loaded)
		r->memo->bp_used = true;
	if (r->bp_from)
		record_word(r, r->bp_from);
	r->bp_from = 0;
}

/* One step by a rule that is not usual; false: the stack ends here. */
TS_RAW_MEMORY static bool step_unusual(struct ts_stack_cache *c, struct ts_walk *w,
				       const struct ts_rule *rule, struct ts_recorder *rec)
{
	uint64_t base = rule->flags & TS_RULE_CFA_BP ? w->bp : w->sp,
		 cfa = base + (int64_t)rule->cfa, ip, at;

	if (rec)
		record_bp_use(rec);
	if (rule->flags & TS_RULE_CFA_LOAD) {
		if (!walk_reads(w, cfa))
			return false;
		if (rec)
			record_word(rec, cfa);
		cfa = ts_load(cfa);
	}
	ip = rule->flags & TS_RULE_CONTEXT ? w->sp + rule->ip * UINT64_C(8) : cfa - 8;
	if (!walk_reads(w, ip))
		return false;
	if (rule->flags & TS_RULE_BP_SAVED) {
		at = (rule->flags & TS_RULE_BP_AT_SP   ? w->sp
		      : rule->flags & TS_RULE_BP_AT_BP ? w->bp
						       : cfa) +
		     rule->bp * INT64_C(8);
		if (!walk_reads(w, at))
			return false;
		w->bp = ts_load(at);
		if (rec) {
			record_word(rec, at);
			rec->bp_loaded = true;
		}
	}
	if (rec)
		record_word(rec, ip);
	w->pc = ts_load(ip);
	if (!(rule->flags & TS_RULE_CONTEXT)) {
		bool grows = cfa > w->sp;

		w->sp = cfa;
		w->pc -= w->pc != 0;
		return grows;
	}
	if (rec)
		rec->capacity = 0;
	w->sp = cfa;
	ts_walk_enter(w, c, cfa); /* the interrupted code may have been on another stack */
	return !(cfa & 7);
}

/* Walk from w's registers; fills c->pcs.  With `rec`, notes every word the result depends on. */
TS_RAW_MEMORY static inline __attribute__((always_inline)) enum ts_walk_end
walk(struct ts_stack_cache *c, struct ts_walk *w, struct ts_recorder *rec)
{
	uint64_t hash = 1;
	unsigned n = 0;

	for (;;) {
		const struct ts_rule *rule = rule_slot(c, w->pc);
		uint64_t cfa;

		c->pcs[n++] = w->pc;
		w->frames = n;
		w->hash = hash = ts_mix(hash, w->pc);
		if (ts_unlikely(rule->pc != w->pc) && !(rule = rule_miss(c, w, w->pc)))
			return TS_WALK_UNSAFE;
		if (ts_unlikely(!TS_RULE_USUAL(rule->flags))) {
			if (rule->flags & TS_RULE_END)
				return TS_WALK_WHOLE;
			if (rule->flags & TS_RULE_NO_INFO || !step_unusual(c, w, rule, rec))
				return TS_WALK_NO_INFO;
		} else {
			if (rule->flags & TS_RULE_CFA_BP) {
				cfa = w->bp + (int64_t)rule->cfa;
				if (rec)
					record_bp_use(rec);
			} else {
				cfa = w->sp + (int64_t)rule->cfa;
			}
			if (ts_unlikely(cfa <= w->sp || !walk_reads(w, cfa - 8)))
				return TS_WALK_NO_INFO;
			if (rule->flags & TS_RULE_BP_SAVED) {
				uint64_t at = cfa + rule->bp * INT64_C(8);

				if (ts_unlikely(!walk_reads(w, at)))
					return TS_WALK_NO_INFO;
				w->bp = ts_load(at);
				if (rec) {
					rec->bp_from = at;
					rec->bp_loaded = true;
				}
			}
			if (rec)
				record_word(rec, cfa - 8);
			w->pc = ts_load(cfa - 8);
			w->sp = cfa;
			w->pc -= w->pc != 0;
		}
		if (ts_unlikely(!w->pc))
			return TS_WALK_WHOLE;
		if (n == c->depth)
			return TS_WALK_TRUNCATED;
	}
}

enum ts_walk_end ts_walk(struct ts_stack_cache *c, struct ts_walk *w)
{
	return walk(c, w, NULL);
}

enum ts_walk_end ts_walk_recording(struct ts_stack_cache *c, struct ts_walk *w,
				   struct ts_recorder *rec)
{
	return walk(c, w, rec);
}
