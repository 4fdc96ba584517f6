/* Calls that no hook saw, told by the device backend with their parameters: the rows of the hook
 * tables read them, and the classes of wrap.h make the same records of them as of a call that came
 * through a wrapper.
 *
 * A row becomes the structure of its parameters and a function that runs its class after the call.
 * Rows of the _WORDS kinds have no such structure: the driver's calls inside them are read, and
 * have their name.
 *
 * Outside the window there is no ring but for what keeps track of memory, as in a wrapper. */
#include "preload/told.h"
#include "core/record/arena.h"
#include "preload/wrap.h"

/* --- lists: m(x) for each x, up to twelve ------------------------------------------------ */

#define TS_MAP1(m, x) m(x)
#define TS_MAP2(m, x, ...) m(x) TS_MAP1(m, __VA_ARGS__)
#define TS_MAP3(m, x, ...) m(x) TS_MAP2(m, __VA_ARGS__)
#define TS_MAP4(m, x, ...) m(x) TS_MAP3(m, __VA_ARGS__)
#define TS_MAP5(m, x, ...) m(x) TS_MAP4(m, __VA_ARGS__)
#define TS_MAP6(m, x, ...) m(x) TS_MAP5(m, __VA_ARGS__)
#define TS_MAP7(m, x, ...) m(x) TS_MAP6(m, __VA_ARGS__)
#define TS_MAP8(m, x, ...) m(x) TS_MAP7(m, __VA_ARGS__)
#define TS_MAP9(m, x, ...) m(x) TS_MAP8(m, __VA_ARGS__)
#define TS_MAP10(m, x, ...) m(x) TS_MAP9(m, __VA_ARGS__)
#define TS_MAP11(m, x, ...) m(x) TS_MAP10(m, __VA_ARGS__)
#define TS_MAP12(m, x, ...) m(x) TS_MAP11(m, __VA_ARGS__)
#define TS_PICK(a, b, c, d, e, f, g, h, i, j, k, l, name, ...) name
#define TS_MAP(m, ...)                                                                             \
	TS_PICK(__VA_ARGS__, TS_MAP12, TS_MAP11, TS_MAP10, TS_MAP9, TS_MAP8, TS_MAP7, TS_MAP6,     \
		TS_MAP5, TS_MAP4, TS_MAP3, TS_MAP2, TS_MAP1, )                                     \
	(m, __VA_ARGS__)
#define TS_UNPAREN(...) __VA_ARGS__

/* --- classes, where they are not those of a wrapper --------------------------------------- */

/* The call was made: its result is known. */
#define real_(...) ((__typeof__(r_))told_->result)

#undef TS_FREED
#define TS_FREED(args, kind_, address_, ordered_, stream_)                                         \
	r_ = real_ args;                                                                           \
	if (ring_)                                                                                 \
		ts_hook_free_told(ring_, &hook_, told_->begin, TS_MEM_##kind_, TS_U64(address_),   \
				  ordered_, TS_U64(stream_), (int)r_);
#undef TS_OPERATED
#define TS_OPERATED(args, ...)                                                                     \
	struct ts_rec_op inside_, *op_ = &inside_;                                                 \
	if (!told_->is_inside)                                                                     \
		op_ = ring_ ? ts_reserve(ring_, 2) : NULL;                                         \
	r_ = real_ args;                                                                           \
	if (op_) {                                                                                 \
		ts_hook_op_clear(op_);                                                             \
		__VA_ARGS__;                                                                       \
		ts_hook_op_told(ring_, &hook_, op_, told_);                                        \
	}
#undef TS_DO_CALL
#define TS_DO_CALL(args, stream_, object_)                                                         \
	r_ = real_ args;                                                                           \
	if (ring_)                                                                                 \
		ts_hook_call_end(ring_, &hook_, told_->begin, TS_U64(stream_), TS_U64(object_),    \
				 (int)r_);
#undef TS_RESET
#define TS_RESET(args, device_, context_, all_)                                                    \
	const int where_ = (device_);                                                              \
	const unsigned which_ = (context_);                                                        \
	r_ = real_ args;                                                                           \
	if (ring_ && (all_))                                                                       \
		ts_hook_reset(ring_, &hook_, told_->begin, where_, which_, (int)r_);               \
	else if (ring_ && !ts_outside())                                                           \
		ts_hook_call_end(ring_, &hook_, told_->begin, 0, 0, (int)r_);
#undef TS_DO_PROC
#define TS_DO_PROC(args, symbol_, pfn_, version_, flags_) r_ = real_ args;

/* A runtime's call of the class is told by the driver's call inside it, and has its own name. */
static unsigned driver_class(unsigned class)
{
	if (class == TS_CLASS_COPY_WORDS)
		return TS_CLASS_COPY_BATCH;
	return class == TS_CLASS_RESET_DEVICE ? TS_CLASS_RESET_PRIMARY : class;
}

static uint16_t named(const struct ts_told *told, unsigned fn)
{
	bool same = driver_class(ts_fn_facts[told->name].class) == ts_fn_facts[fn].class;

	return (uint16_t)(told->name && same ? told->name : fn);
}

/* --- rows ---------------------------------------------------------------------------------- */

#define TS_MEMBER(parameter) parameter;
#define TS_LOCAL(name) __typeof__(params_->name) name = params_->name;
#define TS_UNUSED(name) (void)name;

/* The variadic part of the first is the arguments: none means that the parameters are (void). */
#define TS_MEMBERS(params, ...) __VA_OPT__(TS_MAP(TS_MEMBER, TS_UNPAREN params))
#define TS_LOCALS(...) __VA_OPT__(TS_MAP(TS_LOCAL, __VA_ARGS__) TS_MAP(TS_UNUSED, __VA_ARGS__))
#define TS_EXPAND(macro, ...) macro(__VA_ARGS__)

#define TS_TELL(lib, symbol, pt, params, args, class, ...)                                         \
	struct params_##symbol {                                                                   \
		TS_EXPAND(TS_MEMBERS, params, TS_UNPAREN args)                                     \
	};                                                                                         \
	static void tell_##symbol(struct ts_ring *ring_, const void *at_,                          \
				  const struct ts_told *told_, void *frame_)                       \
	{                                                                                          \
		const struct ts_hook hook_ = {named(told_, TS_FN_##symbol), TS_ROUTE_CUPTI, pt,    \
					      frame_};                                             \
		const struct params_##symbol *params_ = at_;                                       \
		TS_RET_##lib r_;                                                                   \
                                                                                                   \
		(void)params_;                                                                     \
		TS_EXPAND(TS_LOCALS, TS_UNPAREN args)                                              \
		TS_DO_##class(args, ##__VA_ARGS__)                                                 \
		(void)hook_, (void)ring_, (void)r_;                                                \
	}

#undef TS_RT
#undef TS_RT_S
#undef TS_RT_OLD
#undef TS_RT_OLD_S
#undef TS_RT_WORDS
#undef TS_RT_WORDS_S
#undef TS_RT_WORDS9_S
#undef TS_SPECIAL
#undef TS_DRV
#undef TS_DRV_S
#define TS_RT(name, params, args, class, ...)                                                      \
	TS_TELL(RT, name, 0, params, args, class, ##__VA_ARGS__)
#define TS_RT_S(name, suffix, params, args, class, ...)                                            \
	TS_TELL(RT, name, 0, params, args, class, ##__VA_ARGS__)                                   \
	TS_TELL(RT, name##suffix, 1, params, args, class, ##__VA_ARGS__)
#define TS_RT_OLD TS_RT
#define TS_RT_OLD_S TS_RT_S
#define TS_RT_WORDS(name, class, ...)
#define TS_RT_WORDS_S(name, suffix, class, ...)
#define TS_RT_WORDS9_S(name, suffix, class, ...)
#define TS_SPECIAL(name)
#define TS_DRV(symbol, base, version, params, args, class, ...)                                    \
	TS_TELL(DRV, symbol, 0, params, args, class, ##__VA_ARGS__)
#define TS_DRV_S(symbol, base, version, suffix, version_s, params, args, class, ...)               \
	TS_TELL(DRV, symbol, 0, params, args, class, ##__VA_ARGS__)                                \
	TS_TELL(DRV, symbol##suffix, 1, params, args, class, ##__VA_ARGS__)
#include "preload/hooks_drv.def"
#include "preload/hooks_drv_ops.def"
#include "preload/hooks_rt.def"
#undef TS_RT
#undef TS_RT_S
#undef TS_DRV
#undef TS_DRV_S

static const bool has_parameters[TS_FN_COUNT] = {
#define TS_RT(name, ...) [TS_FN_##name] = sizeof(struct params_##name) > 0,
#define TS_RT_S(name, suffix, ...)                                                                 \
	[TS_FN_##name] = sizeof(struct params_##name) > 0,                                         \
	[TS_FN_##name##suffix] = sizeof(struct params_##name##suffix) > 0,
#define TS_DRV TS_RT
#define TS_DRV_S(symbol, base, version, suffix, ...) TS_RT_S(symbol, suffix)
#include "preload/hooks_drv.def"
#include "preload/hooks_drv_ops.def"
#include "preload/hooks_rt.def"
#undef TS_RT
#undef TS_RT_S
#undef TS_DRV
#undef TS_DRV_S
};

typedef void tell_function(struct ts_ring *ring, const void *params, const struct ts_told *told,
			   void *frame);
static tell_function *const tell[TS_FN_COUNT] = {
#define TS_RT(name, params, args, class, ...) [TS_FN_##name] = tell_##name,
#define TS_RT_S(name, suffix, params, args, class, ...)                                            \
	[TS_FN_##name] = tell_##name, [TS_FN_##name##suffix] = tell_##name##suffix,
#define TS_DRV(symbol, base, version, params, args, class, ...) [TS_FN_##symbol] = tell_##symbol,
#define TS_DRV_S(symbol, base, version, suffix, version_s, params, args, class, ...)               \
	[TS_FN_##symbol] = tell_##symbol, [TS_FN_##symbol##suffix] = tell_##symbol##suffix,
#include "preload/hooks_drv.def"
#include "preload/hooks_drv_ops.def"
#include "preload/hooks_rt.def"
};

/* --- what the backend calls ------------------------------------------------------------------ */

static unsigned find(const char *name)
{
	return ts_fn_find(name);
}

/* A reset of the device that is current leaves none behind to be asked for: the driver's call
 * inside names it. */
static bool reads(unsigned fn)
{
	return tell[fn] && ts_fn_facts[fn].class != TS_CLASS_RESET_DEVICE;
}

static bool keeps(unsigned fn)
{
	return ts_tracks(ts_fn_facts[fn].class) || ts_keeps(ts_fn_facts[fn].class);
}

/* What a free gives back can be another thread's before the call returns: it has the time of its
 * begin, and the writer waits for it. */
static bool is_free(unsigned fn)
{
	unsigned class = ts_fn_facts[fn].class;

	return class == TS_CLASS_FREE || class == TS_CLASS_FREE_STREAM ||
	       class == TS_CLASS_VMM_RELEASE;
}

static uint64_t enter(unsigned fn)
{
	struct ts_ring *ring = ts_enter_as(ts_tracks(ts_fn_facts[fn].class));
	uint64_t now = ring && is_free(fn) ? ts_stamp(ring) : ts_clock_now();

	ts_leave();
	return now;
}

static void inside(unsigned fn, const void *params)
{
	const struct ts_told told = {.is_inside = true};

	if (params && ts_fn_facts[fn].class == TS_CLASS_COPY)
		tell[fn](NULL, params, &told, NULL);
}

static void drop(unsigned fn)
{
	if (is_free(fn) && !ts_self.depth && ts_self.ring)
		atomic_store_explicit(&ts_self.ring->busy, 0, memory_order_relaxed);
}

static struct ts_ring *begin_record(unsigned fn, const struct ts_told *told)
{
	struct ts_ring *ring = ts_enter_as(ts_tracks(ts_fn_facts[fn].class));

	/* No hook follows what changes the thread's context. */
	ts_where_changed();
	ts_self.correlation[0] = told->correlation;
	ts_self.correlation[1] = told->correlation2;
	return ring;
}

static bool leave(unsigned fn, const void *params, const struct ts_told *told)
{
	struct ts_ring *ring;

	if (!params && has_parameters[fn]) {
		drop(fn);
		return false;
	}
	ring = begin_record(fn, told);
	if (ring || keeps(fn))
		tell[fn](ring, params, told, __builtin_frame_address(0));
	if (ring)
		atomic_store_explicit(&ring->busy, 0, memory_order_relaxed);
	ts_leave();
	return true;
}

static bool leave_unread(unsigned fn, const struct ts_told *told)
{
	unsigned class = ts_fn_facts[fn].class;
	const struct ts_hook hook = {(uint16_t)fn, TS_ROUTE_CUPTI, ts_fn_facts[fn].per_thread,
				     __builtin_frame_address(0)};
	struct ts_rec_op *op;
	struct ts_ring *ring;

	if (ts_outside())
		return false;
	ring = begin_record(fn, told);
	if (!ring) {
		/* not recorded */
	} else if (class < TS_CLASS_LAUNCH || class > TS_CLASS_OP) {
		ts_hook_call_end(ring, &hook, told->begin, 0, 0, told->result);
	} else if ((op = ts_reserve(ring, 2))) {
		ts_hook_op_clear(op);
		ts_hook_op_told(ring, &hook, op, told);
	}
	ts_leave();
	return true;
}

static const struct ts_teller teller = {
	.name = find,
	.reads = reads,
	.keeps = keeps,
	.hooked = ts_hooks_reachable,
	.enter = enter,
	.inside = inside,
	.exit = leave,
	.exit_unread = leave_unread,
	.drop = drop,
};
const struct ts_teller *const ts_teller = &teller;
