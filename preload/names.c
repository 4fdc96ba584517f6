/* Kernel names; see names.h. */
#include "preload/names.h"

#include <errno.h>

#include "core/record/arena.h"
#include "core/record/record.h"
#include "preload/context.h"
#include "preload/elf.h"
#include "preload/map.h"

static struct ts_map stubs;     /* stub -> const char * */
static struct ts_map handles;   /* stub or handle -> arena text */

#define UNKNOWN UINT64_MAX      /* the driver was asked and has no name */

void ts_name_stub(const void *stub, const char *name)
{
	if (stub && name)
		ts_map_put(&stubs, (uintptr_t)stub, (uintptr_t)name);
}

static uint32_t keep(uint64_t handle, const char *name)
{
	uint32_t text = ts_arena_text(name);

	if (text)
		ts_map_put(&handles, handle, text);
	return text;
}

void ts_name_handle(uint64_t handle, const char *name)
{
	/* The store of names comes with the session; a kernel's look-up is a use of CUDA. */
	if (handle && name && ts_record_open() == 0)
		keep(handle, name);
}

void ts_name_handle_of_stub(uint64_t handle, const void *stub)
{
	uint64_t name = ts_map_get(&stubs, (uintptr_t)stub);

	if (handle && name)
		ts_map_put(&stubs, handle, name);
}

void ts_name_handle_same(uint64_t handle, uint64_t other)
{
	uint64_t text = ts_map_get(&handles, other);

	if (handle && text)
		ts_map_put(&handles, handle, text);
}

/* The first launch of a kernel, and those of a kernel without a name.  `text`: what `handles` has.
 */
static __attribute__((noinline)) uint32_t find_name(uint64_t handle, bool driver, uint64_t text)
{
	uint64_t name = ts_map_get(&stubs, handle);
	int saved = errno;
	const char *asked;
	uint32_t found = 0;

	if (name) {
		found = keep(handle, (const char *)(uintptr_t)name);
	} else if (driver && text != UNKNOWN) {
		asked = ts_driver_kernel_name(handle);
		if (asked)
			found = keep(handle, asked);
		else
			ts_map_put(&handles, handle, UNKNOWN);
	}
	errno = saved;
	return found;
}

uint32_t ts_name_of(uint64_t handle, bool driver)
{
	uint64_t text;

	if (!handle)
		return 0;
	text = ts_map_get(&handles, handle);
	return ts_likely(text && text != UNKNOWN) ? (uint32_t)text
						  : find_name(handle, driver, text);
}

void ts_names_unloaded(void)
{
	ts_map_drop(&handles, NULL);
}

static bool is_gone(uint64_t key, uint64_t value)
{
	(void)key;
	return !ts_address_loaded((void *)(uintptr_t)value);
}

void ts_names_code_gone(void)
{
	ts_map_drop(&stubs, is_gone);
	ts_map_drop(&handles, NULL);
}

void ts_names_child(void)
{
	ts_map_child(&stubs);
	ts_map_child(&handles);
	/* Their texts are in the parent's store. */
	ts_map_drop(&handles, NULL);
}
