/* Loaded objects and their symbols; see elf.h. */
#include "preload/elf.h"

#include "core/loader.h"

#include <elf.h>

#include "preload/fn.h"

#define HIDDEN_VERSION 0x8000   /* this is not the symbol's default version */

/* The loader of glibc relocates these pointers in place on most machines, not on all. */
static const void *pointer(const struct ts_object *object, uintptr_t value)
{
	return (const void *)(value < object->base ? value + object->base : value);
}

static const char *base_name(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

static void read_dynamic(struct ts_object *object)
{
	const ElfW(Dyn) *soname = NULL;

	for (const ElfW(Dyn) *d = object->dynamic; d && d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB: object->symbols = pointer(object, d->d_un.d_ptr); break;
		case DT_STRTAB: object->strings = pointer(object, d->d_un.d_ptr); break;
		case DT_VERSYM: object->versions = pointer(object, d->d_un.d_ptr); break;
		case DT_GNU_HASH: object->gnu_hash = pointer(object, d->d_un.d_ptr); break;
		case DT_HASH: object->sysv_hash = pointer(object, d->d_un.d_ptr); break;
		case DT_SONAME: soname = d; break;
		}
	}
	object->name = base_name(object->path);
	if (soname && object->strings)
		object->name = object->strings + soname->d_un.d_val;
}

struct walk {
	int (*visit)(const struct ts_object *object, void *data);
	void *data;
	unsigned index;
};

static int step(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct walk *walk = data;
	struct ts_object object = {
		.base = info->dlpi_addr,
		.low = UINTPTR_MAX,
		.path = info->dlpi_name ? info->dlpi_name : "",
		.index = walk->index++,
	};

	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC)
			object.dynamic = (const ElfW(Dyn) *)at;
		if (p->p_type != PT_LOAD)
			continue;
		if (at < object.low)
			object.low = at;
		if (at + p->p_memsz > object.high)
			object.high = at + p->p_memsz;
	}
	read_dynamic(&object);
	return walk->visit(&object, walk->data);
}

int ts_objects_walk(int (*visit)(const struct ts_object *object, void *data), void *data)
{
	struct walk walk = { visit, data, 0 };

	return ts_loader_walk(step, &walk);
}

static int counts(struct dl_phdr_info *info, size_t bytes, void *data)
{
	unsigned long long *both = data;

	(void)bytes;
	both[0] = info->dlpi_adds;
	both[1] = info->dlpi_subs;
	return 1;
}

void ts_objects_counts(unsigned long long *loads, unsigned long long *unloads)
{
	unsigned long long both[2] = { 0, 0 };

	ts_loader_walk(counts, both);
	*loads = both[0];
	*unloads = both[1];
}

static const ElfW(Sym) *matches(const struct ts_object *o, uint32_t i, const char *name)
{
	const ElfW(Sym) *s = &o->symbols[i];
	unsigned type = s->st_info & 15, bind = s->st_info >> 4;

	if (s->st_shndx == SHN_UNDEF ||
	    (bind != STB_GLOBAL && bind != STB_WEAK && bind != STB_GNU_UNIQUE))
		return NULL;
	if (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC && type != STT_OBJECT)
		return NULL;
	if (o->versions && (o->versions[i] & HIDDEN_VERSION))
		return NULL;
	return ts_same(o->strings + s->st_name, name) ? s : NULL;
}

static const ElfW(Sym) *find_gnu(const struct ts_object *o, const char *name)
{
	uint32_t buckets = o->gnu_hash[0], first = o->gnu_hash[1], words = o->gnu_hash[2];
	uint32_t shift = o->gnu_hash[3], h = 5381;
	const ElfW(Addr) *bloom = (const ElfW(Addr) *)(o->gnu_hash + 4);
	const uint32_t *bucket = (const uint32_t *)(bloom + words), *chain = bucket + buckets;
	unsigned bits = 8 * sizeof(ElfW(Addr));
	const ElfW(Sym) *s;
	ElfW(Addr) word;

	for (const char *c = name; *c; c++)
		h = h * 33 + (unsigned char)*c;
	word = words ? bloom[h / bits % words] : 0;
	if (!buckets || !(word >> h % bits & 1) || !(word >> (h >> shift) % bits & 1))
		return NULL;
	for (uint32_t i = bucket[h % buckets]; i >= first && i; i++) {
		if ((chain[i - first] | 1) == (h | 1) && (s = matches(o, i, name)))
			return s;
		if (chain[i - first] & 1)
			break;
	}
	return NULL;
}

static const ElfW(Sym) *find_sysv(const struct ts_object *o, const char *name)
{
	uint32_t buckets = o->sysv_hash[0], h = 0;
	const uint32_t *bucket = o->sysv_hash + 2, *chain = bucket + buckets;
	const ElfW(Sym) *s;

	for (const char *c = name; *c; c++) {
		h = (h << 4) + (unsigned char)*c;
		h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
	}
	for (uint32_t i = buckets ? bucket[h % buckets] : 0; i; i = chain[i])
		if ((s = matches(o, i, name)))
			return s;
	return NULL;
}

void *ts_object_symbol(const struct ts_object *o, const char *name)
{
	const ElfW(Sym) *s = NULL;
	void *address;

	if (!o->symbols || !o->strings)
		return NULL;
	if (o->gnu_hash)
		s = find_gnu(o, name);
	else if (o->sysv_hash)
		s = find_sysv(o, name);
	if (!s)
		return NULL;
	address = (void *)(o->base + s->st_value);
	if ((s->st_info & 15) == STT_GNU_IFUNC)
		address = ((void *(*)(void))address)();
	return address;
}

const char *ts_object_needs(const struct ts_object *object, const char *prefix)
{
	for (const ElfW(Dyn) *d = object->dynamic; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag != DT_NEEDED || !object->strings)
			continue;
		if (ts_begins(object->strings + d->d_un.d_val, prefix))
			return object->strings + d->d_un.d_val;
	}
	return NULL;
}

/* libcudart.so.12, libcudart-1a2b3c4d.so.11.0 (renamed by a wheel); libcuda.so.1,
 * libcuda.so.580.65.06: never libcudadevrt, libcudart_static or libcudadebugger. */
bool ts_object_is(const struct ts_object *object, unsigned lib)
{
	const char *want = lib == TS_LIB_RT ? "libcudart" : "libcuda";
	size_t n = lib == TS_LIB_RT ? sizeof("libcudart") - 1 : sizeof("libcuda") - 1;

	return ts_begins(object->name, want) && (object->name[n] == '.' || object->name[n] == '-');
}

struct question {
	uintptr_t address;
	int lib;
};

static int ask(const struct ts_object *object, void *data)
{
	struct question *q = data;

	if (q->address < object->low || q->address >= object->high)
		return 0;
	for (int lib = 0; lib < TS_LIBS; lib++)
		if (ts_object_is(object, (unsigned)lib))
			q->lib = lib;
	return 1;
}

int ts_address_lib(const void *address)
{
	struct question q = { (uintptr_t)address, -1 };

	ts_objects_walk(ask, &q);
	return q.lib;
}

bool ts_address_loaded(const void *address)
{
	struct question q = { (uintptr_t)address, -1 };

	return ts_objects_walk(ask, &q) != 0;
}
