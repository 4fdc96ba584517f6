#include "core/trace/symbols.h"

#include "core/trace/demangle.h"

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
	const char *debug_dir;
	Dwfl_Callbacks callbacks;
	struct ts_map image_ids; /* by id of the module */
	struct image *images;
	size_t image_capacity;
	struct ts_map place_ids; /* by id of the module and offset */
	struct ts_place **places;
	size_t place_capacity;
};

struct ts_symbols *ts_symbols_open(const char *debug_dir)
{
	struct ts_symbols *symbols = ts_grow(NULL, sizeof(*symbols));

	*symbols = (struct ts_symbols){.debug_dir = debug_dir};
	/* libdw would ask servers on the network for debug files; a report must not depend on that.
	 */
	unsetenv("DEBUGINFOD_URLS");
	if (asprintf(&symbols->debug_path, "+:.debug:/usr/lib/debug%s%s", debug_dir ? ":" : "",
		     debug_dir ? debug_dir : "") < 0)
		symbols->debug_path = NULL;
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

/* A file of that build-id under `root`, as distributions lay them out. */
static bool find_by_build_id(const char *root, const char *build_id, char *path)
{
	char found[256];

	if (!root || strlen(build_id) < 4 ||
	    snprintf(path, PATH_MAX, "%s/.build-id/%.2s/%s.debug", root, build_id, build_id + 2) >=
		PATH_MAX)
		return false;
	return read_build_id(path, found, sizeof(found)) && !strcmp(found, build_id);
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
	if (find_by_build_id(symbols->debug_dir, build_id, path) ||
	    find_by_build_id("/usr/lib/debug", build_id, path))
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

static void look_up(struct ts_place *place, const struct image *image, uint64_t offset)
{
	/* Frames lie inside their call instruction (core/record/arena.h): looked up as they are. */
	GElf_Addr address = offset;
	GElf_Off into = 0;
	GElf_Sym symbol;
	const char *name, *file;
	Dwfl_Line *line;

	name = dwfl_module_addrinfo(image->module, address, &into, &symbol, NULL, NULL, NULL);
	/* Without a symbol table the nearest exported function before the address is offered: only
	 * a size that covers the address makes it the right one. */
	if (name && into < symbol.st_size)
		place->function = ts_demangle(name);
	line = dwfl_module_getsrc(image->module, address);
	file = line ? dwfl_lineinfo(line, NULL, &place->line, NULL, NULL, NULL) : NULL;
	if (file)
		place->file = copy_text(file);
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
	for (size_t i = 0; i < symbols->place_ids.count; i++) {
		free(symbols->places[i]->function);
		free(symbols->places[i]->file);
		free(symbols->places[i]);
	}
	for (size_t i = 0; i < symbols->image_ids.count; i++)
		dwfl_end(symbols->images[i].dwfl);
	ts_map_free(&symbols->place_ids);
	ts_map_free(&symbols->image_ids);
	free(symbols->places);
	free(symbols->images);
	free(symbols->debug_path);
	free(symbols);
}
