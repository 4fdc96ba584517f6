/* From a row of the tables to its wrappers.
 *
 * A row becomes three functions around one body: the exported symbol (the dynamic linker bound the
 * caller to it), the one that dlsym hands out and, for the driver, the one that cuGetProcAddress
 * hands out. They differ in where the real function is and in the route they note.  The C names
 * have a prefix and the exported one its real name by an asm label, so that the header's own
 * declaration checks the types: a row whose parameters are not those of the header does not
 * compile.
 *
 * In captures, r_ is the result of the real call.  What a class does is its TS_DO_ macro below. */
#ifndef TSTRACE_PRELOAD_WRAP_H
#define TSTRACE_PRELOAD_WRAP_H

#include "core/record/device.h"
#include "core/session/window.h"
#include "preload/context.h"
#include "preload/cuda_api.h"
#include "preload/hook.h"
#include "preload/names.h"
#include "preload/proc.h"
#include "preload/real.h"

#define TS_RET_RT cudaError_t
#define TS_RET_DRV CUresult

/* --- captures -------------------------------------------------------------------- */

#define TS_U64(x) ((uint64_t)(uintptr_t)(x))
/* What an out-parameter holds; only after success. */
#define TS_AT(p) (!r_ && (p) ? TS_U64(*(p)) : 0)
#define TS_OF(p, field) ((p) ? (p)->field : 0)
#define TS_FIRST(p, count, field) ((count) ? TS_OF(p, field) : 0)
#define TS_PITCHED(pitch, width, height)                                                           \
	((uint64_t)(!r_ && (pitch) ? *(pitch) : (width)) * (height))
#define TS_PITCHED3D(p, extent)                                                                    \
	((uint64_t)(!r_ && (p) ? (p)->pitch : (extent).width) * (extent).height * (extent).depth)
/* The device that physical memory is asked for on. */
#define TS_LOCATED(prop)                                                                           \
	(TS_WAS_READ(prop) && (prop)->location.type == CU_MEM_LOCATION_TYPE_DEVICE ?               \
		 (prop)->location.id :                                                             \
		 TS_DEVICE_NONE)
#define TS_EXTENT(p)                                                                               \
	((p) ? (uint64_t)(p)->extent.width * (p)->extent.height * (p)->extent.depth : 0)
#define TS_BYTES_2D(p) ((p) ? (uint64_t)(p)->WidthInBytes * (p)->Height : 0)
#define TS_BYTES_3D(p) ((p) ? (uint64_t)(p)->WidthInBytes * (p)->Height * (p)->Depth : 0)

/* The direction of a driver's copy, by the kinds of memory that its descriptor names. */
#define TS_COPY_KIND(p)                                                                            \
	((p) ? ts_copy_kind((p)->srcMemoryType, (p)->dstMemoryType) : TS_COPY_DEFAULT)

static inline unsigned ts_copy_kind(CUmemorytype from, CUmemorytype to)
{
	bool from_host = from == CU_MEMORYTYPE_HOST, to_host = to == CU_MEMORYTYPE_HOST;

	if ((!from_host && from != CU_MEMORYTYPE_DEVICE && from != CU_MEMORYTYPE_ARRAY) ||
	    (!to_host && to != CU_MEMORYTYPE_DEVICE && to != CU_MEMORYTYPE_ARRAY))
		return TS_COPY_DEFAULT;
	if (from_host)
		return to_host ? TS_COPY_HTOH : TS_COPY_HTOD;
	return to_host ? TS_COPY_DTOH : TS_COPY_DTOD;
}

/* A descriptor was surely read by the library only when the call succeeded or ran out of memory. */
#define TS_WAS_READ(p) ((p) && (!r_ || (int)r_ == 2))
#define TS_ARRAY_RT(desc, width, height, depth)                                                    \
	ts_array_bytes(TS_WAS_READ(desc) ? ((desc)->x + (desc)->y + (desc)->z + (desc)->w) / 8 :   \
			1,                                                                         \
		       width, height, depth)
#define TS_ARRAY2D(desc)                                                                           \
	(TS_WAS_READ(desc) ? ts_array_bytes(ts_format_bytes((desc)->Format) * (desc)->NumChannels, \
					    (desc)->Width, (desc)->Height, 1) : 0)
#define TS_ARRAY3D(desc)                                                                           \
	(TS_WAS_READ(desc) ? ts_array_bytes(ts_format_bytes((desc)->Format) * (desc)->NumChannels, \
					    (desc)->Width, (desc)->Height, (desc)->Depth) : 0)

static inline uint64_t ts_array_bytes(uint64_t element, uint64_t width, uint64_t height,
				      uint64_t depth)
{
	return element * width * (height ? height : 1) * (depth ? depth : 1);
}

static inline uint64_t ts_format_bytes(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	default:
		return 1;
	}
}

/* Memory: told outside the window too. */
static inline bool ts_tracks(enum ts_class class)
{
	return class >= TS_CLASS_ALLOC && class <= TS_CLASS_RESET_CONTEXT;
}

/* Outside the window too: these keep what events after it need (a pointer that cuGetProcAddress
 * gave out then is used ever after), and write no event there. */
static inline bool ts_keeps(enum ts_class class)
{
	return (class >= TS_CLASS_VMM_RETAIN && class <= TS_CLASS_RESET_CONTEXT) ||
	       (class >= TS_CLASS_CAPTURE_BEGIN && class <= TS_CLASS_PROFILER_STOP);
}

/* --- wrappers -------------------------------------------------------------------- */

/* Each is two functions: a thin one that only jumps, to the real function while recording is off,
 * else to the other, which does everything.  In one function the compiler would make room for the
 * second half before it knows that it will not run.  A jump keeps the caller's return address; a
 * build that makes calls of jumps has one function. */
#if defined(__OPTIMIZE__) && !defined(TS_SANITIZED)
#define TS_HALF static __attribute__((noinline))
#else
#define TS_HALF static inline __attribute__((always_inline))
#endif

#define TS_BODY(lib, symbol, type, pt, route_, find, args, class, ...)                             \
	const struct ts_hook hook_ = { TS_FN_##symbol, route_, pt, __builtin_frame_address(0) };   \
	type *real_ = (type *)(find);                                                              \
	struct ts_ring *ring_;                                                                     \
	TS_RET_##lib r_;                                                                           \
	if (ts_unlikely(!real_))                                                                   \
		return TS_MISSING_##lib;                                                           \
	ring_ = ts_enter_as(ts_tracks(TS_CLASS_##class));                                          \
	TS_DO_##class(args, ##__VA_ARGS__)                                                         \
	(void)hook_, (void)ring_;                                                                  \
	ts_leave();                                                                                \
	return r_;

/* `known`: the real function where that is known already, `find`: found where it is not. */
#define TS_WRAPPER(lib, symbol, name, label, type, pt, route, known, find, params, args, class,    \
		   ...)                                                                            \
	extern type name label;                                                                    \
	TS_HALF TS_RET_##lib name##_on params                                                      \
	{                                                                                          \
		TS_BODY(lib, symbol, type, pt, route, find, args, class, ##__VA_ARGS__)            \
	}                                                                                          \
	TS_RET_##lib name params                                                                   \
	{                                                                                          \
		if (ts_off(ts_tracks(TS_CLASS_##class)) && !ts_keeps(TS_CLASS_##class)) {          \
			type *known_ = (type *)(known);                                            \
			if (ts_likely(known_))                                                     \
				return known_ args;                                                \
		}                                                                                  \
		return name##_on args;                                                             \
	}

#define TS_WRAP_SYMBOL(lib, symbol, type, pt, params, args, class, ...)                            \
	TS_WRAPPER(lib, symbol, ts_sym_##symbol, __asm__(#symbol) TS_EXPORT, type, pt,             \
		   TS_ROUTE_SYMBOL, ts_real_known(TS_FN_##symbol, __builtin_return_address(0)),    \
		   ts_real_bound(TS_FN_##symbol, __builtin_return_address(0)), params, args,       \
		   class, ##__VA_ARGS__)
#define TS_WRAP_DLSYM(lib, symbol, type, pt, params, args, class, ...)                             \
	TS_WRAPPER(lib, symbol, ts_dlsym_##symbol, , type, pt, TS_ROUTE_DLSYM,                     \
		   ts_real_held(&ts_real_dlsym[TS_FN_##symbol]), \
		   ts_real_held(&ts_real_dlsym[TS_FN_##symbol]), params, args, class, ##__VA_ARGS__)
#define TS_WRAP_PROC(lib, symbol, type, pt, params, args, class, ...)                              \
	TS_WRAPPER(lib, symbol, ts_proc_##symbol, , type, pt, TS_ROUTE_PROC,                       \
		   ts_real_held(&ts_real_proc[TS_FN_##symbol]), \
		   ts_real_held(&ts_real_proc[TS_FN_##symbol]), params, args, class, ##__VA_ARGS__)

#define TS_WRAP_RT(symbol, type, pt, params, args, class, ...)                                     \
	TS_WRAP_SYMBOL(RT, symbol, type, pt, params, args, class, ##__VA_ARGS__)                   \
	TS_WRAP_DLSYM(RT, symbol, type, pt, params, args, class, ##__VA_ARGS__)
#define TS_WRAP_DRV(symbol, type, pt, params, args, class, ...)                                    \
	TS_WRAP_SYMBOL(DRV, symbol, type, pt, params, args, class, ##__VA_ARGS__)                  \
	TS_WRAP_DLSYM(DRV, symbol, type, pt, params, args, class, ##__VA_ARGS__)                   \
	TS_WRAP_PROC(DRV, symbol, type, pt, params, args, class, ##__VA_ARGS__)

#define TS_RT(name, params, args, class, ...)                                                      \
	TS_WRAP_RT(name, __typeof__(name), 0, params, args, class, ##__VA_ARGS__)
#define TS_RT_S(name, suffix, params, args, class, ...)                                            \
	TS_WRAP_RT(name, __typeof__(name), 0, params, args, class, ##__VA_ARGS__)                  \
	TS_WRAP_RT(name##suffix, __typeof__(name), 1, params, args, class, ##__VA_ARGS__)
#define TS_RT_OLD(name, params, args, class, ...)                                                  \
	typedef cudaError_t ts_old_##name params;                                                  \
	TS_WRAP_RT(name, ts_old_##name, 0, params, args, class, ##__VA_ARGS__)
#define TS_RT_OLD_S(name, suffix, params, args, class, ...)                                        \
	TS_RT_OLD(name, params, args, class, ##__VA_ARGS__)                                        \
	TS_WRAP_RT(name##suffix, ts_old_##name, 1, params, args, class, ##__VA_ARGS__)
#define TS_WORDS (uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e)
typedef cudaError_t ts_words(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
#define TS_RT_WORDS(name, class, ...)                                                              \
	TS_WRAP_RT(name, ts_words, 0, TS_WORDS, (a, b, c, d, e), class, ##__VA_ARGS__)
#define TS_RT_WORDS_S(name, suffix, class, ...)                                                    \
	TS_RT_WORDS(name, class, ##__VA_ARGS__)                                                    \
	TS_WRAP_RT(name##suffix, ts_words, 1, TS_WORDS, (a, b, c, d, e), class, ##__VA_ARGS__)
/* More than the six registers: a caller that passes less has something else in the last word, which
 * is handed on unread. */
#define TS_WORDS9                                                                                  \
	(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f,             \
			uintptr_t g,                                                               \
	 uintptr_t h, uintptr_t i)
typedef cudaError_t ts_words9 TS_WORDS9;
#define TS_RT_WORDS9_S(name, suffix, class, ...)                                                   \
	TS_WRAP_RT(name, ts_words9, 0, TS_WORDS9, (a, b, c, d, e, f, g, h, i), class,              \
			##__VA_ARGS__)                                                             \
	TS_WRAP_RT(name##suffix, ts_words9, 1, TS_WORDS9, (a, b, c, d, e, f, g, h, i), class,      \
		   ##__VA_ARGS__)
#define TS_SPECIAL(name)
#define TS_DRV(symbol, base, version, params, args, class, ...)                                    \
	TS_WRAP_DRV(symbol, __typeof__(symbol), 0, params, args, class, ##__VA_ARGS__)
#define TS_DRV_S(symbol, base, version, suffix, version_s, params, args, class, ...)               \
	TS_WRAP_DRV(symbol, __typeof__(symbol), 0, params, args, class, ##__VA_ARGS__)             \
	TS_WRAP_DRV(symbol##suffix, __typeof__(symbol##suffix), 1, params, args, class,            \
		    ##__VA_ARGS__)

/* --- classes ---------------------------------------------------------------------- */

#define TS_ALLOCATED(args, kind_, address_, bytes_, stream_, pool_, ordered_, node_)               \
	r_ = real_ args;                                                                           \
	if (ring_) {                                                                               \
		const struct ts_hook_alloc a_ = {                                                  \
			.error = (int)r_,                                                          \
			.kind = TS_MEM_##kind_,                                                    \
			.ordered = ordered_,                                                       \
			.node = node_,                                                             \
			.address = r_ ? 0 : address_,                                              \
			.bytes = bytes_,                                                           \
			.stream = TS_U64(stream_),                                                 \
			.pool = TS_U64(pool_),                                                     \
		};                                                                                 \
		ts_hook_alloc(ring_, &hook_, &a_);                                                 \
	}
/* out-parameter of the address, bytes */
#define TS_DO_ALLOC(args, kind, out, bytes)                                                        \
	TS_ALLOCATED(args, kind, TS_AT(out), bytes, 0, 0, false, false)
/* address that the caller gave, bytes */
#define TS_DO_ALLOC_AT(args, kind, address, bytes)                                                 \
	TS_ALLOCATED(args, kind, TS_U64(address), bytes, 0, 0, false, false)
#define TS_DO_ALLOC_STREAM(args, kind, out, bytes, stream, pool)                                   \
	TS_ALLOCATED(args, kind, TS_AT(out), bytes, stream, pool, true, false)
/* on a device that the caller names */
#define TS_DO_ALLOC_ON(args, kind_, out, bytes_, device_)                                          \
	r_ = real_ args;                                                                           \
	if (ring_) {                                                                               \
		const struct ts_hook_alloc a_ = {                                                  \
			.error = (int)r_,                                                          \
			.kind = TS_MEM_##kind_,                                                    \
			.address = TS_AT(out),                                                     \
			.bytes = bytes_,                                                           \
			.elsewhere = true,                                                         \
			.device = (int16_t)(device_),                                              \
		};                                                                                 \
		ts_hook_alloc(ring_, &hook_, &a_);                                                 \
	}
/* memory of another owner: bytes, or 0: the driver is asked */
#define TS_DO_ALLOC_IMPORT(args, kind, out, bytes_)                                                \
	TS_ALLOCATED(args, kind, TS_AT(out),                                                       \
			(bytes_) ? (bytes_) : ts_allocation_bytes(TS_AT(out)), 0, 0,               \
		     false, false)
#define TS_DO_ALLOC_NODE(args, kind, address, bytes)                                               \
	TS_ALLOCATED(args, kind, address, bytes, 0, 0, false, true)
/* a node of any type: only one that allocates is of interest */
#define TS_DO_ALLOC_NODE_OF(args, params)                                                          \
	if (TS_OF(params, type) == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {                                 \
		TS_ALLOCATED(args, GRAPH, (params)->alloc.dptr, (params)->alloc.bytesize, 0, 0,    \
			     false, true)                                                          \
	} else {                                                                                   \
		r_ = real_ args;                                                                   \
	}

#define TS_FREED(args, kind_, address_, ordered_, stream_)                                         \
	if (ring_)                                                                                 \
		ts_hook_free(ring_, &hook_, TS_MEM_##kind_, TS_U64(address_), ordered_,            \
				TS_U64(stream_));                                                  \
	r_ = real_ args;                                                                           \
	if (ring_)                                                                                 \
		ts_hook_freed(ring_, &hook_, TS_MEM_##kind_, TS_U64(address_), (int)r_);
#define TS_DO_FREE(args, kind, address) TS_FREED(args, kind, address, false, 0)
#define TS_DO_FREE_STREAM(args, kind, address, stream) TS_FREED(args, kind, address, true, stream)

/* The driver counts references to a handle: its memory goes with the last one. */
#define TS_DO_VMM_RETAIN(args, out)                                                                \
	r_ = real_ args;                                                                           \
	if (TS_AT(out))                                                                            \
		ts_vmm_retained(TS_AT(out));
#define TS_DO_VMM_RELEASE(args, handle)                                                            \
	if (ts_vmm_release_is_last(TS_U64(handle))) {                                              \
		TS_FREED(args, VMM, handle, false, 0)                                              \
	} else if (ts_outside()) {                                                                 \
		r_ = real_ args;                                                                   \
	} else {                                                                                   \
		TS_DO_CALL(args, 0, handle)                                                        \
	}

/* A handle of 0: unmapped. */
#define TS_DO_VMM_MAP(args, at, bytes_, handle_)                                                   \
	if (ts_outside()) {                                                                        \
		r_ = real_ args;                                                                   \
	} else {                                                                                   \
		TS_OPERATED(args, op_->dst = TS_U64(at), op_->src = TS_U64(handle_),               \
			    op_->bytes = bytes_)                                                   \
	}                                                                                          \
	if (ring_ && !r_)                                                                          \
		ts_hook_mapped(ring_, &hook_, TS_U64(at), bytes_, TS_U64(handle_));

#define TS_RESET(args, device_, context_, all_)                                                    \
	uint64_t begin_ = ring_ ? ts_hook_call_begin() : 0;                                        \
	const int where_ = (device_);                                                              \
	const unsigned which_ = (context_);                                                        \
	if (ring_ && ts_device_context_ends)                                                       \
		ts_device_context_ends(where_);                                                    \
	r_ = real_ args;                                                                           \
	if (ring_ && (all_))                                                                       \
		ts_hook_reset(ring_, &hook_, begin_, where_, which_, (int)r_);                     \
	else if (ring_ && !ts_outside())                                                           \
		ts_hook_call_end(ring_, &hook_, begin_, 0, 0, (int)r_);                            \
	ts_where_changed();
#define TS_DO_RESET_DEVICE(args) TS_RESET(args, ts_where().device, 0, true)
#define TS_DO_RESET_PRIMARY(args, dev)                                                             \
	TS_RESET(args, (int)(dev), 0, r_ || !ts_primary_is_active((int)(dev)))
#define TS_DO_RESET_CONTEXT(args, ctx)                                                             \
	TS_RESET(args, -1, ts_context_number(ctx), r_ || which_)                                   \
	if (!r_)                                                                                   \
		ts_context_destroyed(ctx);

/* `op_` is filled by the class: the record in the ring itself, or for a call inside another hook a
 * copy that tells that one what it does not know. */
#define TS_OPERATED(args, ...)                                                                     \
	if (ts_likely(ring_)) {                                                                    \
		struct ts_rec_op *op_ = ts_reserve(ring_, 2);                                      \
		void *token_ = NULL;                                                               \
		if (ts_likely(op_)) {                                                              \
			ts_hook_op_clear(op_);                                                     \
			__VA_ARGS__;                                                               \
			token_ = ts_hook_op_begin(&hook_, op_);                                    \
		}                                                                                  \
		r_ = real_ args;                                                                   \
		if (ts_likely(op_))                                                                \
			ts_hook_op_end(ring_, &hook_, op_, (int)r_, token_);                       \
	} else if (ts_self.outer) {                                                                \
		struct ts_rec_op nested_, *op_ = &nested_;                                         \
		void *token_;                                                                      \
		ts_hook_op_clear(op_);                                                             \
		__VA_ARGS__;                                                                       \
		token_ = ts_hook_op_nested(&hook_, op_);                                           \
		r_ = real_ args;                                                                   \
		if (ts_unlikely(token_ != NULL))                                                   \
			ts_hook_op_nested_end(token_, (int)r_);                                    \
	} else {                                                                                   \
		r_ = real_ args;                                                                   \
	}
#define TS_DO_LAUNCH(args, kernel_, stream_, gx, gy, gz, bx, by, bz, shared_)                      \
	TS_OPERATED(args, op_->handle = TS_U64(kernel_), op_->stream = TS_U64(stream_),            \
		    op_->grid[0] = (uint32_t)(gx), op_->grid[1] = (uint32_t)(gy),                  \
		    op_->grid[2] = (uint32_t)(gz), op_->block[0] = (uint32_t)(bx),                 \
		    op_->block[1] = (uint32_t)(by), op_->block[2] = (uint32_t)(bz),                \
		    op_->shared_bytes = (uint32_t)(shared_))
#define TS_DO_HOST_FUNC(args, stream_) TS_OPERATED(args, op_->stream = TS_U64(stream_))
#define TS_DO_GRAPH(args, exec_, stream_)                                                          \
	TS_OPERATED(args, op_->dst = TS_U64(exec_), op_->handle = TS_U64(exec_),                   \
		    op_->stream = TS_U64(stream_))
/* destination, source, bytes, cudaMemcpyKind + 1, stream */
#define TS_DO_COPY(args, dst_, src_, bytes_, kind_, stream_)                                       \
	TS_OPERATED(args, op_->dst = TS_U64(dst_), op_->src = TS_U64(src_), op_->bytes = bytes_,   \
		    op_->copy_kind = (uint8_t)(kind_), op_->stream = TS_U64(stream_))
#define TS_DO_COPY_BATCH(args, bytes_, count_, stream_)                                            \
	TS_OPERATED(args, op_->bytes = bytes_, op_->count = (uint32_t)(count_),                    \
		    op_->copy_kind = TS_COPY_DEFAULT, op_->stream = TS_U64(stream_))
#define TS_DO_COPY_WORDS(args, bytes_, count_)                                                     \
	TS_OPERATED(args, op_->bytes = bytes_, op_->count = (uint32_t)(count_),                    \
		    op_->copy_kind = TS_COPY_DEFAULT)
#define TS_DO_SET(args, dst_, bytes_, stream_)                                                     \
	TS_OPERATED(args, op_->dst = TS_U64(dst_), op_->bytes = bytes_,                            \
		    op_->stream = TS_U64(stream_))
#define TS_DO_OP(args, dst_, src_, bytes_, stream_)                                                \
	TS_OPERATED(args, op_->dst = TS_U64(dst_), op_->src = TS_U64(src_), op_->bytes = bytes_,   \
		    op_->stream = TS_U64(stream_))

#define TS_DO_CALL(args, stream_, object_)                                                         \
	if (ring_) {                                                                               \
		uint64_t begin_ = ts_hook_call_begin();                                            \
		r_ = real_ args;                                                                   \
		ts_hook_call_end(ring_, &hook_, begin_, TS_U64(stream_), TS_U64(object_),          \
				(int)r_);                                                          \
	} else {                                                                                   \
		r_ = real_ args;                                                                   \
	}
#define TS_DO_CAPTURE_BEGIN(args, stream_)                                                         \
	TS_DO_CALL(args, stream_, 0)                                                               \
	ts_capture_begun((int)r_);
#define TS_DO_CAPTURE_END(args, stream_)                                                           \
	TS_DO_CALL(args, stream_, 0)                                                               \
	ts_capture_ended((int)r_);

/* Of the runtime's call and the driver's inside it one is told. */
#define TS_DO_PROFILER_START(args)                                                                 \
	TS_DO_CALL(args, 0, 0)                                                                     \
	if (ts_self.depth == 1)                                                                    \
		ts_window_profiler(true);
#define TS_DO_PROFILER_STOP(args)                                                                  \
	TS_DO_CALL(args, 0, 0)                                                                     \
	if (ts_self.depth == 1)                                                                    \
		ts_window_profiler(false);

#define TS_DO_CONTEXT(args)                                                                        \
	r_ = real_ args;                                                                           \
	ts_where_changed();
#define TS_DO_CONTEXT_NEW(args, out)                                                               \
	TS_DO_CONTEXT(args)                                                                        \
	if (TS_AT(out))                                                                            \
		ts_context_made((CUcontext)TS_AT(out));
#define TS_DO_KERNEL_NAME(args, out, name_)                                                        \
	r_ = real_ args;                                                                           \
	if (TS_AT(out))                                                                            \
		ts_name_handle(TS_AT(out), name_);
#define TS_DO_KERNEL_OF(args, out, stub)                                                           \
	r_ = real_ args;                                                                           \
	if (TS_AT(out))                                                                            \
		ts_name_handle_of_stub(TS_AT(out), stub);
#define TS_DO_KERNEL_SAME(args, out, other)                                                        \
	r_ = real_ args;                                                                           \
	if (TS_AT(out))                                                                            \
		ts_name_handle_same(TS_AT(out), TS_U64(other));
#define TS_DO_UNLOAD(args)                                                                         \
	r_ = real_ args;                                                                           \
	ts_names_unloaded();
#define TS_DO_PROC(args, symbol_, pfn_, version_, flags_)                                          \
	r_ = real_ args;                                                                           \
	if (TS_AT(pfn_))                                                                           \
		ts_proc_wrap((void *)real_, hook_.fn, symbol_, pfn_, version_, flags_);

#endif
