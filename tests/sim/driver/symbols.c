/* Sizes of `__device__` variables and names of kernels: the symbol table of an uncompressed ELF in
 * the container. */
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

static void remember_kernel(struct symbols *symbols, const char *name)
{
	const char *interned = sim_intern(name);
	const char **grown = realloc(symbols->kernels, (symbols->nkernels + 1) * sizeof *grown);
	if (!grown)
		return;
	symbols->kernels = grown;
	if (interned)
		grown[symbols->nkernels++] = interned;
}

static bool inside(uint64_t offset, uint64_t size, size_t limit)
{
	return offset <= limit && size <= limit - offset;
}

/* An ELF, and where its sections and their names are. */
struct elf {
	const unsigned char *bytes;
	size_t limit;
	Elf64_Ehdr head;
	const char *names;
	uint64_t names_size;
};

static bool section(const struct elf *elf, unsigned i, Elf64_Shdr *to)
{
	if (i >= elf->head.e_shnum)
		return false;
	memcpy(to, elf->bytes + elf->head.e_shoff + i * sizeof *to, sizeof *to);
	return true;
}

/* A table of names, which must end in a zero byte. */
static const char *names(const struct elf *elf, unsigned i, uint64_t *size)
{
	Elf64_Shdr s;
	if (!section(elf, i, &s) || !inside(s.sh_offset, s.sh_size, elf->limit) || !s.sh_size ||
	    elf->bytes[s.sh_offset + s.sh_size - 1])
		return NULL;
	*size = s.sh_size;
	return (const char *)elf->bytes + s.sh_offset;
}

/* The code of each kernel is in a section of its own. */
static bool is_kernel(const struct elf *elf, const Elf64_Sym *sym, const char *name)
{
	static const char prefix[] = ".text.";
	Elf64_Shdr s;
	return ELF64_ST_TYPE(sym->st_info) == STT_FUNC &&
	       ELF64_ST_BIND(sym->st_info) == STB_GLOBAL && section(elf, sym->st_shndx, &s) &&
	       elf->names && s.sh_name < elf->names_size &&
	       !strncmp(elf->names + s.sh_name, prefix, sizeof prefix - 1) &&
	       !strcmp(elf->names + s.sh_name + sizeof prefix - 1, name);
}

static void read_table(struct symbols *symbols, const struct elf *elf, const Elf64_Shdr *table)
{
	uint64_t size;
	const char *strings = names(elf, table->sh_link, &size);
	if (!strings || !inside(table->sh_offset, table->sh_size, elf->limit))
		return;
	for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym sym;
		memcpy(&sym, elf->bytes + table->sh_offset + at, sizeof sym);
		if (sym.st_name >= size)
			continue;
		const char *name = strings + sym.st_name;
		if (ELF64_ST_TYPE(sym.st_info) == STT_OBJECT && sym.st_size)
			remember(symbols, name, sym.st_size);
		else if (is_kernel(elf, &sym, name))
			remember_kernel(symbols, name);
	}
}

static bool read_elf(struct symbols *symbols, const unsigned char *bytes, size_t limit)
{
	struct elf elf = {.bytes = bytes, .limit = limit};
	const Elf64_Ehdr *head = &elf.head;
	if (limit < sizeof elf.head)
		return false;
	memcpy(&elf.head, bytes, sizeof elf.head);
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_shentsize != sizeof(Elf64_Shdr) ||
	    !inside(head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr), limit))
		return false;
	elf.names = names(&elf, head->e_shstrndx, &elf.names_size);
	Elf64_Shdr table;
	for (unsigned i = 0; section(&elf, i, &table); i++) {
		if (table.sh_type != SHT_SYMTAB)
			continue;
		read_table(symbols, &elf, &table);
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
	free(symbols->kernels);
	symbols->kernels = NULL;
	symbols->nkernels = 0;
}
