#include "core/record/compress.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>

#include "core/log.h"

#define LEVEL 1

/* The few functions of zstd.h that are used, with their types there; the header is not needed to
 * build the library. */
static struct {
	size_t (*bound)(size_t bytes);
	size_t (*compress)(void *context, void *to, size_t room, const void *from, size_t bytes,
			   int level);
	unsigned (*is_error)(size_t code);
	void *(*make)(void);
	size_t (*end)(void *context);
} zstd;

static void *context;
static void *room;
static size_t room_bytes;

bool ts_compress_start(void)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);

	if (library) {
		*(void **)&zstd.bound = ts_libc_dlsym(library, "ZSTD_compressBound");
		*(void **)&zstd.compress = ts_libc_dlsym(library, "ZSTD_compressCCtx");
		*(void **)&zstd.is_error = ts_libc_dlsym(library, "ZSTD_isError");
		*(void **)&zstd.make = ts_libc_dlsym(library, "ZSTD_createCCtx");
		*(void **)&zstd.end = ts_libc_dlsym(library, "ZSTD_freeCCtx");
		if (zstd.bound && zstd.compress && zstd.is_error && zstd.make && zstd.end)
			context = zstd.make();
	}
	if (!context)
		ts_say_once(
		    "TSTRACE_COMPRESS=zstd: libzstd.so.1 is not here; the trace is written plain");
	return context != NULL;
}

bool ts_compress_on(void)
{
	return context != NULL;
}

int ts_compress(const void *data, size_t bytes, const void **out, size_t *out_bytes)
{
	size_t bound = zstd.bound(bytes);

	if (bound > room_bytes) {
		void *more =
		    mmap(NULL, bound, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (more == MAP_FAILED)
			return -ENOMEM;
		if (room)
			munmap(room, room_bytes);
		room = more;
		room_bytes = bound;
	}
	*out_bytes = zstd.compress(context, room, room_bytes, data, bytes, LEVEL);
	*out = room;
	return zstd.is_error(*out_bytes) ? -EIO : 0;
}

void ts_compress_stop(void)
{
	if (context)
		zstd.end(context);
	context = NULL;
}

void ts_compress_child(void)
{
	context = NULL;         /* the parent's; its memory is left alone */
	room = NULL;
	room_bytes = 0;
}
