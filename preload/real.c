/* Finding real functions; see real.h. */
#include "preload/real.h"

#include <string.h>
#include <sys/mman.h>

#include "preload/elf.h"

_Atomic(struct ts_binding *) ts_bindings[TS_FN_COUNT];
_Atomic(void *) ts_real_dlsym[TS_FN_COUNT];
_Atomic(void *) ts_real_proc[TS_FN_COUNT];

static const char *const library_prefix[TS_LIBS] = { "libcudart", "libcuda." };
static const char own_name[] = "libtstrace.so";

/* Objects that the program started with: they and nothing else are surely in the global scope. */
static _Atomic unsigned startup_objects;

static int count_one(const struct ts_object *object, void *data)
{
	*(unsigned *)data = object->index + 1;
	return 0;
}

static unsigned startup_count(void)
{
	unsigned n = atomic_load(&startup_objects), none = 0;

	if (n)
		return n;
	ts_objects_walk(count_one, &n);
	atomic_compare_exchange_strong(&startup_objects, &none, n);
	return n;
}

void ts_real_start(void)
{
	startup_count();
}

/* --- symbol route -------------------------------------------------------------- */

struct search {
	const char *symbol;
	unsigned lib, startup;
	uintptr_t caller;
	uintptr_t low, size;            /* of the caller's object; size 0: no object */
	char needs[96];                 /* the library that the caller was linked with, or "" */
	bool after_us;                  /* past ourselves in load order */
	void *found, *fallback;
};

static int see_caller(const struct ts_object *object, void *data)
{
	struct search *s = data;
	const char *needs;

	if (s->caller < object->low || s->caller >= object->high)
		return 0;
	s->low = object->low;
	s->size = object->high - object->low;
	needs = ts_object_needs(object, library_prefix[s->lib]);
	if (needs)
		for (size_t i = 0; needs[i] && i + 1 < sizeof(s->needs); i++)
			s->needs[i] = needs[i];
	return 1;
}

/* What the linker would have bound: in the global scope the first definition after us, but not one
 * of another version of the library than the caller asks for; else the library the caller was
 * linked with, wherever it is (opened RTLD_LOCAL together with a plugin); else any library of that
 * kind. */
static int see_definition(const struct ts_object *object, void *data)
{
	struct search *s = data;
	bool is_library = ts_object_is(object, s->lib), is_wanted;
	void *found;

	if (ts_same(object->name, own_name)) {
		s->after_us = true;
		return 0;
	}
	is_wanted = is_library && s->needs[0] && ts_same(object->name, s->needs);
	if (!is_library && (!s->after_us || object->index >= s->startup))
		return 0;
	found = ts_object_symbol(object, s->symbol);
	if (!found)
		return 0;
	if (is_wanted || (object->index < s->startup && (!is_library || !s->needs[0]))) {
		s->found = found;
		return 1;
	}
	if (!s->fallback)
		s->fallback = found;
	return 0;
}

/* Bindings are few (functions in use times objects that call them) and live for ever: a reader may
 * be looking at one that is no longer in the list. */
static struct ts_binding *new_binding(void)
{
	static struct ts_binding first[512];
	static _Atomic unsigned used;
	static _Atomic(struct ts_binding *) more;
	enum { MORE = 4096 };
	unsigned n = atomic_fetch_add(&used, 1);
	struct ts_binding *pool, *none = NULL;

	if (n < TS_ARRAY_SIZE(first))
		return &first[n];
	n -= TS_ARRAY_SIZE(first);
	if (n >= MORE)
		return NULL;
	pool = atomic_load(&more);
	if (!pool) {
		pool = mmap(NULL, MORE * sizeof(*pool), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pool == MAP_FAILED)
			return NULL;
		if (!atomic_compare_exchange_strong(&more, &none, pool)) {
			munmap(pool, MORE * sizeof(*pool));
			pool = none;
		}
	}
	return &pool[n];
}

static void remember(enum ts_fn fn, const struct search *s)
{
	struct ts_binding *b = s->size ? new_binding() : NULL, *head;

	if (!b)
		return;
	b->low = s->low;
	b->size = s->size;
	b->real = s->found;
	head = atomic_load(&ts_bindings[fn]);
	do {
		atomic_store(&b->next, head);
	} while (!atomic_compare_exchange_weak(&ts_bindings[fn], &head, b));
}

void *ts_bind(enum ts_fn fn, void *caller)
{
	struct search s = {
		.symbol = ts_fn_facts[fn].name,
		.lib = ts_fn_facts[fn].lib,
		.caller = (uintptr_t)caller,
	};

	for (struct ts_binding *b = atomic_load(&ts_bindings[fn]); b; b = atomic_load(&b->next))
		if (s.caller - b->low < b->size)
			return b->real;
	s.startup = startup_count();
	ts_objects_walk(see_caller, &s);
	ts_objects_walk(see_definition, &s);
	if (!s.found)
		s.found = s.fallback;
	if (s.found)
		remember(fn, &s);
	return s.found;
}

/* --- pointers that were handed out --------------------------------------------- */

bool ts_real_hold(_Atomic(void *) *slot, void *real)
{
	void *there = NULL;

	return atomic_compare_exchange_strong(slot, &there, real) || there == real;
}

void ts_real_unloaded(void)
{
	for (unsigned fn = 1; fn < TS_FN_COUNT; fn++) {
		_Atomic(struct ts_binding *) *link = &ts_bindings[fn];
		struct ts_binding *b;
		void *p;

		while ((b = atomic_load(link))) {
			if (ts_address_loaded((void *)b->low) && ts_address_loaded(b->real))
				link = &b->next;
			else if (!atomic_compare_exchange_strong(link, &b, atomic_load(&b->next)))
				link = &ts_bindings[fn];
		}
		if ((p = atomic_load(&ts_real_dlsym[fn])) && !ts_address_loaded(p))
			atomic_compare_exchange_strong(&ts_real_dlsym[fn], &p, NULL);
		if ((p = atomic_load(&ts_real_proc[fn])) && !ts_address_loaded(p))
			atomic_compare_exchange_strong(&ts_real_proc[fn], &p, NULL);
	}
}

/* --- single look-ups ------------------------------------------------------------ */

static int see_driver(const struct ts_object *object, void *data)
{
	struct search *s = data;

	if (!ts_object_is(object, TS_LIB_DRV))
		return 0;
	s->found = ts_object_symbol(object, s->symbol);
	return s->found != NULL;
}

void *ts_real_driver(const char *symbol)
{
	struct search s = { .symbol = symbol };

	ts_objects_walk(see_driver, &s);
	return s.found;
}

static int see_next(const struct ts_object *object, void *data)
{
	struct search *s = data;

	if (ts_same(object->name, own_name)) {
		s->after_us = true;
		return 0;
	}
	if (!s->after_us || object->index >= s->startup)
		return 0;
	s->found = ts_object_symbol(object, s->symbol);
	return s->found != NULL;
}

void *ts_real_next(const char *symbol)
{
	struct search s = { .symbol = symbol, .startup = startup_count() };

	ts_objects_walk(see_next, &s);
	/* Not preloaded but opened later: the program's libc stands before us. */
	return s.found ? s.found : ts_real_libc(symbol);
}

static int see_libc(const struct ts_object *object, void *data)
{
	struct search *s = data;

	if (!ts_begins(object->name, "libc.so") && !ts_begins(object->name, "libdl.so"))
		return 0;
	s->found = ts_object_symbol(object, s->symbol);
	return s->found != NULL;
}

void *ts_real_libc(const char *symbol)
{
	struct search s = { .symbol = symbol };

	ts_objects_walk(see_libc, &s);
	return s.found;
}
