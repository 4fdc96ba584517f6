/* The tables as data: names, facts, look-up by name. */
#include "preload/fn.h"

#include <stdatomic.h>

#include "core/record/record.h"

const struct ts_fn_facts ts_fn_facts[TS_FN_COUNT] = {
	[TS_FN_none] = { "", "", 0, 0, TS_CLASS_NONE, 0 },
#define TS_EACH(lib, symbol, class, per_thread, base, version)                                     \
	[TS_FN_##symbol] = { #symbol, #base, version, TS_LIB_##lib, TS_CLASS_##class, per_thread },
#include "preload/each.inc"
#undef TS_EACH
};

#define SLOTS 2048      /* a power of two, at least three times the names */
_Static_assert(TS_FN_COUNT * 3 < SLOTS, "the hash stays sparse");

/* Open addressing.  Filled at the first look-up by whoever comes first; two threads may fill at the
 * same time, with the same names in the same order, and so write the same values. */
static _Atomic uint16_t slots[SLOTS];
static _Atomic int filled;

static uint32_t hash(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h ^ h >> 15;
}

static void fill(void)
{
	for (unsigned fn = 1; fn < TS_FN_COUNT; fn++) {
		uint32_t at = hash(ts_fn_facts[fn].name) % SLOTS;
		uint16_t there;

		while ((there = atomic_load(&slots[at])) != 0 && there != fn)
			at = (at + 1) % SLOTS;
		atomic_store(&slots[at], (uint16_t)fn);
	}
	atomic_store(&filled, 1);
}

enum ts_fn ts_fn_find(const char *name)
{
	uint16_t fn;

	if (!atomic_load(&filled))
		fill();
	for (uint32_t at = hash(name) % SLOTS; (fn = atomic_load(&slots[at])) != 0;
	     at = (at + 1) % SLOTS)
		if (ts_same(ts_fn_facts[fn].name, name))
			return (enum ts_fn)fn;
	return TS_FN_none;
}

/* Rows of one base stand together in the tables, oldest first. */
enum ts_fn ts_fn_next_of_base(const char *base, enum ts_fn from)
{
	unsigned fn = from + 1;

	if (from == TS_FN_none) {
		/* The oldest row of a base has the base's own name. */
		fn = ts_fn_find(base);
		if (fn == TS_FN_none || ts_fn_facts[fn].lib != TS_LIB_DRV)
			return TS_FN_none;
	}
	if (fn < TS_FN_COUNT && ts_same(ts_fn_facts[fn].base, base))
		return (enum ts_fn)fn;
	return TS_FN_none;
}

static const char *name_of(unsigned fn)
{
	return fn < TS_FN_COUNT ? ts_fn_facts[fn].name : "";
}

const char *(*const ts_fn_name)(unsigned fn) = name_of;
