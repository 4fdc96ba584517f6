/* Sizes of `__device__` variables: the symbol table of an uncompressed ELF in the container. */
#include "code.h"
#include <elf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPER_MAGIC 0x466243b1u /* fatbinary_section.h */
#define FATBIN_MAGIC 0xba55ed50u

struct wrapper {
	uint32_t magic, version;
	const void *data;
	void *more;
};
struct fatbin {
	uint32_t magic;
	uint16_t version, header_size;
	uint64_t size;
};
struct variable {
	const char *name;
	size_t size;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void remember(struct symbols *symbols, const char *name, size_t size)
{
	struct variable *v = malloc(sizeof *v);
	if (!v)
		return;
	*v = (struct variable){sim_intern(name), size};
	struct variable **found = v->name ? tsearch(v, &symbols->tree, by_name) : NULL;
	if (!found || *found != v)
		free(v);
}

static bool inside(uint64_t offset, uint64_t size, size_t limit)
{
	return offset <= limit && size <= limit - offset;
}

static void read_table(struct symbols *symbols, const unsigned char *elf, size_t limit,
		       const Elf64_Shdr *table, const Elf64_Shdr *strings)
{
	if (!inside(table->sh_offset, table->sh_size, limit) ||
	    !inside(strings->sh_offset, strings->sh_size, limit) || !strings->sh_size ||
	    elf[strings->sh_offset + strings->sh_size - 1])
		return;
	for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym sym;
		memcpy(&sym, elf + table->sh_offset + at, sizeof sym);
		if (ELF64_ST_TYPE(sym.st_info) == STT_OBJECT && sym.st_size &&
		    sym.st_name < strings->sh_size)
			remember(symbols, (const char *)elf + strings->sh_offset + sym.st_name,
				 sym.st_size);
	}
}

static bool read_elf(struct symbols *symbols, const unsigned char *elf, size_t limit)
{
	Elf64_Ehdr head;
	if (limit < sizeof head)
		return false;
	memcpy(&head, elf, sizeof head);
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_shentsize != sizeof(Elf64_Shdr) ||
	    !inside(head.e_shoff, (uint64_t)head.e_shnum * sizeof(Elf64_Shdr), limit))
		return false;
	for (unsigned i = 0; i < head.e_shnum; i++) {
		Elf64_Shdr table, strings;
		memcpy(&table, elf + head.e_shoff + i * sizeof table, sizeof table);
		if (table.sh_type != SHT_SYMTAB || table.sh_link >= head.e_shnum)
			continue;
		memcpy(&strings, elf + head.e_shoff + table.sh_link * sizeof strings,
		       sizeof strings);
		read_table(symbols, elf, limit, &table, &strings);
		symbols->readable = true;
	}
	return true;
}

/* A bare ELF says its size itself: the section headers come last. */
static size_t elf_size(const unsigned char *elf)
{
	Elf64_Ehdr head;
	memcpy(&head, elf, sizeof head);
	return head.e_shoff + (size_t)head.e_shnum * head.e_shentsize;
}

void sim_symbols_read(struct symbols *symbols, const void *image)
{
	struct wrapper wrapper;
	struct fatbin fatbin;
	if (!image)
		return;
	memcpy(&fatbin.magic, image, sizeof fatbin.magic);
	if (fatbin.magic == WRAPPER_MAGIC) {
		memcpy(&wrapper, image, sizeof wrapper);
		image = wrapper.data;
		if (!image)
			return;
		memcpy(&fatbin.magic, image, sizeof fatbin.magic);
	}
	const unsigned char *bytes = image;
	if (!memcmp(&fatbin.magic, ELFMAG, SELFMAG)) {
		read_elf(symbols, bytes, elf_size(bytes));
		return;
	}
	if (fatbin.magic != FATBIN_MAGIC)
		return;
	memcpy(&fatbin, image, sizeof fatbin);
	size_t size = fatbin.header_size + fatbin.size;
	const unsigned char *end = bytes + size;
	while (bytes < end && (bytes = memmem(bytes, (size_t)(end - bytes), ELFMAG, SELFMAG))) {
		read_elf(symbols, bytes, (size_t)(end - bytes));
		bytes += SELFMAG;
	}
}

size_t sim_symbols_size(const struct symbols *symbols, const char *name)
{
	const struct variable key = {.name = name};
	struct variable **found = tfind(&key, &symbols->tree, by_name);
	if (found)
		return (*found)->size;
	return symbols->readable ? 0 : sim_config.global_size;
}

void sim_symbols_free(struct symbols *symbols)
{
	tdestroy(symbols->tree, free);
	symbols->tree = NULL;
}
