#include "core/trace/symbols.h"

#include "core/trace/demangle.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A module of the trace with the file that is it, if there is one. */
struct image {
	Dwfl *dwfl;
	Dwfl_Module *module;
	const char *note;
};

struct ts_symbols {
	char *debug_path; /* for libdw: where separate debug files lie */
	char *folders;	  /* the same folders, for us */
	Dwfl_Callbacks callbacks;
	struct ts_map image_ids; /* by id of the module */
	struct image *images;
	size_t image_capacity;
	struct ts_map place_ids; /* by id of the module and offset */
	struct ts_place **places;
	size_t place_capacity;
};

struct ts_symbols *ts_symbols_open(const char *debug_path)
{
	struct ts_symbols *symbols = ts_grow(NULL, sizeof(*symbols));
	const char *more = debug_path && *debug_path ? debug_path : NULL;

	*symbols = (struct ts_symbols){0};
	/* libdw would ask servers on the network for debug files; a report must not depend on that.
	 */
	unsetenv("DEBUGINFOD_URLS");
	if (asprintf(&symbols->folders, "%s%s/usr/lib/debug", more ? more : "", more ? ":" : "") <
		0 ||
	    asprintf(&symbols->debug_path, "+:.debug:%s", symbols->folders) < 0) {
		fputs("tstrace: out of memory\n", stderr);
		exit(2);
	}
	symbols->callbacks = (Dwfl_Callbacks){
	    .find_elf = dwfl_build_id_find_elf,
	    .find_debuginfo = dwfl_standard_find_debuginfo,
	    .section_address = dwfl_offline_section_address,
	    .debuginfo_path = &symbols->debug_path,
	};
	return symbols;
}

/* The build-id of a file in hex; empty when it has none.  False when it is no readable ELF file. */
static bool read_build_id(const char *path, char *hex, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const void *bits;
	Elf *elf;
	ssize_t length;
	bool is_elf;

	hex[0] = '\0';
	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	is_elf = elf && elf_kind(elf) == ELF_K_ELF;
	length = is_elf ? dwelf_elf_gnu_build_id(elf, &bits) : 0;
	for (ssize_t i = 0; i < length && (size_t)(2 * i + 2) < size; i++)
		sprintf(hex + 2 * i, "%02x", ((const unsigned char *)bits)[i]);
	elf_end(elf);
	close(fd);
	return is_elf;
}

/* A file of that build-id under one of the folders, as distributions lay them out. */
static bool find_by_build_id(const char *folders, const char *build_id, char *path)
{
	char found[256];

	if (strlen(build_id) < 4 || strchr(build_id, '/'))
		return false;
	for (const char *at = folders; *at; at += strspn(at, ":")) {
		int size = (int)strcspn(at, ":");

		if (snprintf(path, PATH_MAX, "%.*s/.build-id/%.2s/%s.debug", size, at, build_id,
			     build_id + 2) < PATH_MAX &&
		    read_build_id(path, found, sizeof(found)) && !strcmp(found, build_id))
			return true;
		at += size;
	}
	return false;
}

/* The file that is this module: the one at its path, if it still is, else its debug file. */
static const char *find_file(const struct ts_symbols *symbols, const struct ts_module *module,
			     char *path)
{
	const char *build_id = module->build_id.at, *note = "file missing";
	char found[256];

	if (module->path.at[0] == '/' && read_build_id(module->path.at, found, sizeof(found))) {
		note = "file changed";
		if (!strcmp(found, build_id)) {
			snprintf(path, PATH_MAX, "%s", module->path.at);
			return NULL;
		}
	}
	if (find_by_build_id(symbols->folders, build_id, path))
		return NULL;
	return note;
}

static struct image open_image(const struct ts_symbols *symbols, const struct ts_module *module)
{
	struct image image = {0};
	char path[PATH_MAX];

	image.note = find_file(symbols, module, path);
	if (image.note)
		return image;
	image.dwfl = dwfl_begin(&symbols->callbacks);
	if (!image.dwfl)
		return image;
	dwfl_report_begin(image.dwfl);
	/* Base 0 and add_p_vaddr: addresses are those of the link, as the trace's offsets are. */
	image.module = dwfl_report_elf(image.dwfl, module->path.at, path, -1, 0, true);
	dwfl_report_end(image.dwfl, NULL, NULL);
	if (!image.module)
		image.note = "file not usable";
	return image;
}

static char *copy_text(const char *text)
{
	return memcpy(ts_grow(NULL, strlen(text) + 1), text, strlen(text) + 1);
}

/* The name that the symbol table has for the code there; readable, for free(), or NULL. */
static char *symbol_at(Dwfl_Module *module, GElf_Addr address)
{
	GElf_Off into = 0;
	GElf_Sym symbol;
	const char *name = dwfl_module_addrinfo(module, address, &into, &symbol, NULL, NULL, NULL);
	char *readable, *version;

	/* Without a symbol table the nearest exported function before the address is offered: only
	 * a size that covers the address makes it the right one. */
	if (!name || into >= symbol.st_size)
		return NULL;
	readable = ts_demangle(name);
	version = strchr(readable, '@'); /* of the library's interface, not of the function */
	if (version && version != readable)
		*version = '\0';
	return readable;
}

/* The entry that says where a function was declared: its copies, inlined or not, refer to it. */
static Dwarf_Die declaration_of(Dwarf_Die *die)
{
	static const unsigned references[] = {DW_AT_abstract_origin, DW_AT_specification};
	Dwarf_Attribute attribute;
	Dwarf_Die found = *die;

	for (size_t i = 0; i < sizeof(references) / sizeof(references[0]); i++) {
		Dwarf_Die next;

		if (dwarf_attr(&found, references[i], &attribute) &&
		    dwarf_formref_die(&attribute, &next))
			found = next;
	}
	return found;
}

/* The name with the namespaces and classes around it. */
static char *qualified_name(Dwarf_Die *die, const char *name)
{
	Dwarf_Die declaration = declaration_of(die), *scopes = NULL;
	int count = dwarf_getscopes_die(&declaration, &scopes);
	char *whole = copy_text(name), *longer;

	for (int i = 1; i < count; i++) {
		int tag = dwarf_tag(&scopes[i]);
		const char *around = dwarf_diename(&scopes[i]);

		if (tag != DW_TAG_namespace && tag != DW_TAG_class_type &&
		    tag != DW_TAG_structure_type && tag != DW_TAG_union_type)
			continue;
		if (asprintf(&longer, "%s::%s", around ? around : "(anonymous)", whole) < 0)
			break;
		free(whole);
		whole = longer;
	}
	free(scopes);
	return whole;
}

/* The name of a function, of an inlined one too; readable, for free(), or NULL. */
static char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	if (name)
		return ts_demangle(name);
	/* What was only ever inlined has no name for the linker. */
	name = dwarf_diename(die);
	return name ? qualified_name(die, name) : NULL;
}

/* Where the function that was inlined here is called. */
static struct ts_place *place_of_call(Dwarf_Die *inlined)
{
	struct ts_place *place = ts_grow(NULL, sizeof(*place));
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Word number;
	const char *file;
	size_t count;
	Dwarf_Die unit;

	*place = (struct ts_place){0};
	if (dwarf_attr_integrate(inlined, DW_AT_call_line, &attribute) &&
	    !dwarf_formudata(&attribute, &number))
		place->line = (int)number;
	if (dwarf_attr_integrate(inlined, DW_AT_call_file, &attribute) &&
	    !dwarf_formudata(&attribute, &number) && dwarf_diecu(inlined, &unit, NULL, NULL) &&
	    !dwarf_getsrcfiles(&unit, &files, &count) && number < count) {
		file = dwarf_filesrc(files, number, NULL, NULL);
		place->file = file ? copy_text(file) : NULL;
	}
	return place;
}

/* Names the functions from the innermost, an inlined one, outwards; returns the last place, whose
 * function is a real one. */
static struct ts_place *unfold(struct ts_place *place, Dwarf_Die *inlined)
{
	Dwarf_Die *scopes = NULL;
	int count = dwarf_getscopes_die(inlined, &scopes);

	for (int i = 0; i < count; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_subprogram)
			break;
		if (tag != DW_TAG_inlined_subroutine)
			continue;
		place->function = name_of(&scopes[i]);
		place->into = place_of_call(&scopes[i]);
		place = place->into;
	}
	free(scopes);
	return place;
}

static void look_up(struct ts_place *place, const struct image *image, uint64_t offset)
{
	/* Frames lie inside their call instruction (core/record/arena.h): looked up as they are. */
	GElf_Addr address = offset;
	Dwfl_Line *line = dwfl_module_getsrc(image->module, address);
	const char *file = line ? dwfl_lineinfo(line, NULL, &place->line, NULL, NULL, NULL) : NULL;
	Dwarf_Die *scopes = NULL, *unit;
	Dwarf_Addr bias = 0;
	int count, inner = 0;

	if (file)
		place->file = copy_text(file);
	unit = dwfl_module_addrdie(image->module, address, &bias);
	count = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0;
	while (inner < count && dwarf_tag(&scopes[inner]) != DW_TAG_inlined_subroutine &&
	       dwarf_tag(&scopes[inner]) != DW_TAG_subprogram)
		inner++;
	if (inner < count && dwarf_tag(&scopes[inner]) == DW_TAG_inlined_subroutine)
		place = unfold(place, &scopes[inner]);
	place->function = symbol_at(image->module, address);
	if (!place->function && inner < count && dwarf_tag(&scopes[inner]) == DW_TAG_subprogram)
		place->function = name_of(&scopes[inner]);
	free(scopes);
}

static void free_place(struct ts_place *place)
{
	while (place) {
		struct ts_place *into = place->into;

		free(place->function);
		free(place->file);
		free(place);
		place = into;
	}
}

const struct ts_place *ts_symbols_find(struct ts_symbols *symbols, const struct ts_module *module,
				       uint64_t offset)
{
	static const struct ts_place nowhere;
	uint64_t key[2] = {module ? module->id : 0, offset};
	size_t images = symbols->image_ids.count, places = symbols->place_ids.count;
	uint32_t image, number;
	struct ts_place *place;

	if (!module || !module->path.size)
		return &nowhere;
	number = ts_map_add(&symbols->place_ids, (struct ts_str){(const char *)key, sizeof(key)});
	if (number < places)
		return symbols->places[number];
	image = ts_map_add(&symbols->image_ids, (struct ts_str){(const char *)key, sizeof(key[0])});
	if (image == images) {
		symbols->images = ts_array_room(symbols->images, images, &symbols->image_capacity,
						sizeof(*symbols->images));
		symbols->images[image] = open_image(symbols, module);
	}
	place = ts_grow(NULL, sizeof(*place));
	*place = (struct ts_place){.note = symbols->images[image].note};
	if (symbols->images[image].module)
		look_up(place, &symbols->images[image], offset);
	symbols->places = ts_array_room(symbols->places, places, &symbols->place_capacity,
					sizeof(*symbols->places));
	symbols->places[number] = place;
	return place;
}

void ts_symbols_close(struct ts_symbols *symbols)
{
	for (size_t i = 0; i < symbols->place_ids.count; i++)
		free_place(symbols->places[i]);
	for (size_t i = 0; i < symbols->image_ids.count; i++)
		dwfl_end(symbols->images[i].dwfl);
	ts_map_free(&symbols->place_ids);
	ts_map_free(&symbols->image_ids);
	free(symbols->places);
	free(symbols->images);
	free(symbols->debug_path);
	free(symbols->folders);
	free(symbols);
}
