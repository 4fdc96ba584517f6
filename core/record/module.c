/* Loaded files: found by address, named by path and build-id, noticed when they go. */
#include "core/record/module.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/loader.h"
#include "core/record/arena.h"
#include "core/record/clock.h"
#include "core/record/file.h"
#include "core/record/stack_impl.h"

#define MODULES 2048
#define PAGE 4096u
#define PATH_BYTES 4096
#define BUILD_ID_BYTES 20

static struct module {
	uint64_t start, base;
	uint64_t fingerprint; /* of what the file looks like, path included */
	uint32_t id;
	uint32_t seen; /* the value of `departures` when it was last known to be there */
} modules[MODULES];
static unsigned module_count, last_hit;
static uint32_t departures; /* counts the times that files went */

/* ---- found by address ---- */

struct search {
	uint64_t pc;
	struct ts_dso *object;
};

static int search_file(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;
	struct ts_dso found = {.start = UINT64_MAX, .base = info->dlpi_addr};

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_GNU_EH_FRAME)
			found.eh_frame_hdr = at;
		if (p->p_type != PT_LOAD)
			continue;
		if (at < found.start)
			found.start = at & ~(uint64_t)(PAGE - 1);
		if (at + p->p_memsz > found.end)
			found.end = at + p->p_memsz;
	}
	if (search->pc < found.start || search->pc >= found.end)
		return 0;
	found.name = info->dlpi_name;
	*search->object = found;
	return 1;
}

static bool find_by_iteration(uint64_t pc, struct ts_dso *object)
{
	struct search search = {.pc = pc, .object = object};

	return ts_loader_walk(search_file, &search) == 1;
}

#if __GLIBC_PREREQ(2, 35)
/* Looked up, not linked: a library that names a symbol of 2.35, weak or not, does not load with an
 * older glibc, and a preloaded library that does not load ends every program. */
static int (*find_object)(void *pc, struct dl_find_object *found);

__attribute__((constructor(102))) static void look_up(void)
{
	*(void **)&find_object = ts_libc_dlsym(RTLD_DEFAULT, "_dl_find_object");
}

bool ts_dso_find(uint64_t pc, struct ts_dso *object)
{
	struct dl_find_object found;

	if (!find_object)
		return find_by_iteration(pc, object);
	if (find_object((void *)(uintptr_t)pc, &found))
		return false;
	*object = (struct ts_dso){
	    .start = (uintptr_t)found.dlfo_map_start,
	    .end = (uintptr_t)found.dlfo_map_end,
	    .base = found.dlfo_link_map->l_addr,
	    .eh_frame_hdr = (uintptr_t)found.dlfo_eh_frame,
	    .name = found.dlfo_link_map->l_name,
	};
	return true;
}
#else
bool ts_dso_find(uint64_t pc, struct ts_dso *object)
{
	return find_by_iteration(pc, object);
}
#endif

/* The program headers, from the ELF header that begins the first mapping.  A file whose first
 * segment does not hold them has no build-id for us, and only the pages of .eh_frame_hdr. */
TS_RAW_MEMORY static const ElfW(Phdr) *
    program_headers(const struct ts_dso *object, unsigned *count)
{
	const ElfW(Ehdr) *elf = (const void *)(uintptr_t)object->start;

	*count = 0;
	if (memcmp(elf->e_ident, ELFMAG, SELFMAG) || elf->e_phentsize != sizeof(ElfW(Phdr)) ||
	    elf->e_phoff % sizeof(uint64_t) ||
	    elf->e_phoff + elf->e_phnum * sizeof(ElfW(Phdr)) > PAGE)
		return NULL;
	*count = elf->e_phnum;
	return (const void *)(uintptr_t)(object->start + elf->e_phoff);
}

TS_RAW_MEMORY unsigned ts_dso_segments(const struct ts_dso *object,
					  struct ts_segment *segments)
{
	unsigned headers, n = 0;
	const ElfW(Phdr) *p = program_headers(object, &headers);

	for (unsigned i = 0; i < headers && n < TS_SEGMENTS; i++) {
		uint64_t at = object->base + p[i].p_vaddr;

		if (p[i].p_type != PT_LOAD || !(p[i].p_flags & PF_R) || at < object->start ||
		    at + p[i].p_memsz > object->end)
			continue;
		segments[n].start = at & ~(uint64_t)(PAGE - 1);
		segments[n++].end = (at + p[i].p_memsz + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	}
	return n;
}

/* ---- what it is ---- */

/* The path of the mapping that begins at `start`, from /proc/self/maps: the loader's own name may
 * be relative to a working directory of the past. */
static bool path_from_maps(uint64_t start, char *path)
{
	static char text[2 * PATH_BYTES];
	size_t have = 0;
	bool found = false;
	long got;
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	while (!found && (got = syscall(SYS_read, fd, text + have, sizeof(text) - have)) > 0) {
		char *line = text, *end;

		have += (size_t)got;
		while ((end = memchr(line, '\n', have - (size_t)(line - text)))) {
			char *name = memchr(line, '/', (size_t)(end - line));
			uint64_t value = 0;

			for (const char *c = line; *c != '-'; c++)
				value =
				    value << 4 | (uint64_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
			if (value == start && name && end - name < PATH_BYTES) {
				memcpy(path, name, (size_t)(end - name));
				path[end - name] = '\0';
				found = true;
				break;
			}
			line = end + 1;
		}
		have -= (size_t)(line - text);
		memmove(text, line, have);
		if (have == sizeof(text))
			have = 0;
	}
	syscall(SYS_close, fd);
	return found;
}

static void find_path(const struct ts_dso *object, char *path)
{
	size_t bytes = strnlen(object->name, PATH_BYTES - 1);

	if (!bytes) {
		long n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, PATH_BYTES - 1);

		path[n > 0 ? n : 0] = '\0';
		return;
	}
	if (object->name[0] != '/' && memchr(object->name, '/', bytes) &&
	    path_from_maps(object->start, path))
		return;
	memcpy(path, object->name, bytes);
	path[bytes] = '\0';
}

/* Copy the build-id to `id`; returns its bytes, 0 when there is none. */
TS_RAW_MEMORY static uint8_t find_build_id(const struct ts_dso *object, uint8_t *id)
{
	unsigned headers;
	const ElfW(Phdr) *p = program_headers(object, &headers);

	for (unsigned i = 0; i < headers; i++) {
		uint64_t at = object->base + p[i].p_vaddr, end = at + p[i].p_filesz;

		if (p[i].p_type != PT_NOTE || at < object->start || end > object->end || at % 4)
			continue;
		while (at + sizeof(ElfW(Nhdr)) < end) {
			const ElfW(Nhdr) *note = (const void *)(uintptr_t)at;
			uint64_t name = at + sizeof(*note);
			uint64_t desc = name + ((note->n_namesz + 3u) & ~3u);
			uint64_t next = desc + ((note->n_descsz + 3u) & ~3u);

			if (next > end)
				break;
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			    !memcmp((const void *)(uintptr_t)name, "GNU", 4) &&
			    note->n_descsz <= BUILD_ID_BYTES) {
				memcpy(id, (const void *)(uintptr_t)desc, note->n_descsz);
				return (uint8_t)note->n_descsz;
			}
			at = next;
		}
	}
	return 0;
}

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *c = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ c[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Two files at one place are told apart by name, build-id and shape. */
TS_RAW_MEMORY static uint64_t fingerprint(const struct ts_dso *object)
{
	uint8_t id[BUILD_ID_BYTES];
	unsigned headers;
	const ElfW(Phdr) *p = program_headers(object, &headers);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	hash = mix(hash, id, find_build_id(object, id));
	hash = mix(hash, object->name, strlen(object->name));
	hash = mix(hash, &object->end, sizeof(object->end));
	return p ? mix(hash, p, headers * sizeof(*p)) : hash;
}

/* ---- known to the arena ---- */

/* Not by the event clock: that one waits for its rate in a process's first milliseconds. */
static uint64_t session_ns(void)
{
	return ts_monotonic_ns() - (ts_file ? ts_file->start_ns : 0);
}

static uint32_t add_module(const struct ts_dso *object)
{
	/* the lock's holder is its only user */
	static _Alignas(struct ts_module) char entry[sizeof(struct ts_module) + PATH_BYTES];
	struct ts_module *m = (struct ts_module *)entry;
	struct module *slot;

	memset(m, 0, sizeof(*m));
	m->base = object->base;
	m->load_ns = session_ns();
	m->build_id_bytes = find_build_id(object, m->build_id);
	find_path(object, m->path);
	if (module_count == MODULES) /* never seen; their ids stay good, only known no more */
		module_count = 0;
	slot = &modules[last_hit = module_count];
	*slot = (struct module){.start = object->start,
				.base = object->base,
				.fingerprint = fingerprint(object),
				.seen = departures};
	slot->id = ts_arena_put(TS_ENTRY_MODULE, 0, m,
				offsetof(struct ts_module, path) + strlen(m->path) + 1);
	if (slot->id)
		module_count++;
	return slot->id;
}

/* The file is on the caller's stack, so that it stays while we look at it. */
uint32_t ts_module_id(const struct ts_dso *object)
{
	uint64_t print;

	if (last_hit < module_count && modules[last_hit].start == object->start &&
	    modules[last_hit].seen == departures)
		return modules[last_hit].id;
	for (unsigned i = 0; i < module_count; i++)
		if (modules[i].start == object->start && modules[i].seen == departures)
			return modules[last_hit = i].id;
	/* Not since files went: the same file at the same place keeps its id, so that a program
	 * that loads and unloads for ever does not fill the arena. */
	print = fingerprint(object);
	for (unsigned i = 0; i < module_count; i++)
		if (modules[i].start == object->start && modules[i].base == object->base &&
		    modules[i].fingerprint == print) {
			modules[i].seen = departures;
			return modules[last_hit = i].id;
		}
	return add_module(object);
}

void ts_modules_doubt(void)
{
	departures++;
}

void ts_modules_forget(void)
{
	module_count = 0;
}

/* ---- noticed when they go ---- */

static int read_unloads(struct dl_phdr_info *info, size_t size, void *unloads)
{
	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs))
		*(uint64_t *)unloads = info->dlpi_subs;
	return 1;
}

bool ts_modules_went(void)
{
	static _Atomic uint64_t last;
	uint64_t now = UINT64_MAX;

	ts_loader_walk(read_unloads, &now);
	return now == UINT64_MAX || atomic_exchange(&last, now) != now;
}
