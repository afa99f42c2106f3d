/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../tool/text.h"
#include "../tool/tool.h"

/* From the C++ runtime, which has no C header for it. */
char *__cxa_demangle(const char *name, char *buffer, size_t *length, int *status);

static char *debug_path;	/* NULL: the system's usual places for separate debug files */
static const Dwfl_Callbacks module_files = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

struct symbols {
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias;		/* offset within the module -> address that libdw gave it */
	struct module script;	/* with a function: there is no other */
	struct site last;	/* found */
};

struct symbol_file {
	struct module module;
	struct symbols *symbols;
};

enum { MOST_INLINED = 16, SCRIPT_LINE_SHIFT = 16 };	/* lp-trace(5), module */

bool
module_read(struct module *module, const struct message *message)
{
	size_t size;
	const void *id = body_bin(message, "build_id", &size);

	*module = (struct module){ .path = body_string(message, "path"),
	    .function = body_string(message, "function") };
	if (id != NULL && size <= sizeof module->build_id) {
		memcpy(module->build_id, id, size);
		module->build_id_size = (uint32_t)size;
	}
	return module->path != NULL;
}

bool
module_is(const struct module *a, const struct module *b)
{
	return strcmp(a->path, b->path) == 0 && text_compare(a->function, b->function) == 0 &&
	    a->build_id_size == b->build_id_size &&
	    memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

/*
 * The path comes from a trace and may name anything: only opening a regular file is known to do no
 * harm.
 */
static int
open_file(const char *path)
{
	struct stat about;
	int fd;

	if (stat(path, &about) < 0 || !S_ISREG(about.st_mode))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode))) {	/* it has changed */
		close(fd);
		return -1;
	}
	return fd;
}

/* Opens the file; -1: it cannot be read, is no program, or OTHER than the recorded one. */
static int
module_open(const struct module *module, bool *other)
{
	int fd = open_file(module->path);
	Elf *elf = fd >= 0 && elf_version(EV_CURRENT) != EV_NONE ?
	    elf_begin(fd, ELF_C_READ, NULL) : NULL;
	const bool program = elf != NULL && elf_kind(elf) == ELF_K_ELF;
	const void *bits;
	const ssize_t size = program ? dwelf_elf_gnu_build_id(elf, &bits) : -1;

	/* The file may have been rebuilt: its lines would then be wrong. */
	*other = program && module->build_id_size > 0 && (size != (ssize_t)module->build_id_size ||
	    memcmp(bits, module->build_id, (size_t)size) != 0);
	if (elf != NULL)
		elf_end(elf);
	if (fd < 0 || (program && !*other))
		return fd;
	close(fd);
	return -1;
}

struct symbols *
symbols_open(const struct module *module)
{
	struct symbols *symbols = zalloc(1, sizeof *symbols);
	bool other = false;
	int fd = module->function != NULL ? -1 : module_open(module, &other);

	symbols->script = *module;
	if (module->function != NULL)
		return symbols;
	if (other)
		note("%s: not the file that was recorded; its functions are not named",
		    module->path);
	if (fd >= 0 && (symbols->dwfl = dwfl_begin(&module_files)) != NULL) {
		symbols->module = dwfl_report_offline(symbols->dwfl, module->path, module->path,
		    fd);
		if (symbols->module != NULL)
			fd = -1;	/* libdw owns it now */
		dwfl_report_end(symbols->dwfl, NULL, NULL);
	}
	if (fd >= 0)
		close(fd);
	if (symbols->module != NULL && dwfl_module_getelf(symbols->module, &symbols->bias) != NULL)
		return symbols;
	symbols_close(symbols);
	return NULL;
}

/*
 * A procedure of a Fortran module, as MODULE::PROCEDURE; NULL for any other name. Compilers write
 * it as __MODULE_MOD_PROCEDURE (GNU), MODULE_mp_PROCEDURE_ (Intel) or _QMMODULEPPROCEDURE (LLVM).
 */
static char *
module_procedure(const char *name)
{
	static const struct {
		const char *before, *between, *behind;
	} forms[] = { { "__", "_MOD_", "" }, { "", "_mp_", "_" }, { "_QM", "P", "" } };
	char *text = NULL;

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		const size_t before = strlen(forms[i].before), behind = strlen(forms[i].behind);
		const size_t size = strlen(name);
		const char *between, *procedure;

		if (strncmp(name, forms[i].before, before) != 0 ||
		    size < before + behind || strcmp(name + size - behind, forms[i].behind) != 0 ||
		    (between = strstr(name + before, forms[i].between)) == NULL ||
		    between == name + before)
			continue;
		procedure = between + strlen(forms[i].between);
		if (procedure >= name + size - behind)
			continue;
		text = formatted("%.*s::%.*s", (int)(between - name - (ptrdiff_t)before),
		    name + before, (int)(name + size - behind - procedure), procedure);
		return text;
	}
	return NULL;
}

/* What compilers make of a part of a function has its name, and behind it one of these. */
static const struct {
	const char *mark, *means;
} parts[] = {
	{ "._omp_fn.", " (OpenMP region)" },		/* GNU */
	{ ".omp_outlined", " (OpenMP region)" },	/* LLVM */
	{ ".constprop.", "" }, { ".isra.", "" }, { ".part.", "" }, { ".cold", "" },
};

/* A name as in the source. */
static char *
readable(const char *name)
{
	const char *means = "";
	char *own = need(strdup(name)), *text = NULL, *said;
	int status;

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		char *mark = strstr(own, parts[i].mark);

		if (mark != NULL && mark > own) {
			*mark = '\0';
			means = parts[i].means[0] != '\0' ? parts[i].means : means;
		}
	}
	if (strncmp(own, "_Z", 2) == 0)		/* others may be names of types: f is float */
		text = __cxa_demangle(own, NULL, NULL, &status);
	else
		text = module_procedure(own);
	said = formatted("%s%s", text != NULL ? text : own, means);
	free(text);
	free(own);
	return said;
}

/* The name of a function with its classes and namespaces. */
static char *
name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) != NULL)
		name = dwarf_formstring(&attribute);
	if (name == NULL)
		name = dwarf_diename(die);
	return name != NULL ? readable(name) : NULL;
}

/* The place of an inlined function in the next function outwards; false: unknown. */
static bool
find_call(Dwarf_Die *inlined, Dwarf_Die *unit, char **file, int *line)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number, index;
	Dwarf_Files *files;
	const char *name;

	if (dwarf_tag(inlined) != DW_TAG_inlined_subroutine ||
	    dwarf_attr(inlined, DW_AT_call_line, &attribute) == NULL ||
	    dwarf_formudata(&attribute, &number) < 0 || number > INT32_MAX ||
	    dwarf_attr(inlined, DW_AT_call_file, &attribute) == NULL ||
	    dwarf_formudata(&attribute, &index) < 0 || dwarf_getsrcfiles(unit, &files, NULL) < 0 ||
	    (name = dwarf_filesrc(files, index, NULL, NULL)) == NULL)
		return false;
	*file = need(strdup(name));
	*line = (int)number;
	return true;
}

/*
 * Finds the innermost function at the address, inlined or not, and then the functions it is inlined
 * into. Finds nothing without debug information.
 */
static void
find_functions(Dwfl_Module *module, GElf_Addr address, struct site *site)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias), *scopes = NULL,
	    *outer = NULL;
	int count = unit != NULL ? dwarf_getscopes(unit, address - bias, &scopes) : 0, line = 0;
	char *file = NULL;

	/*
	 * The scopes around an inlined function are those of its source, not of the place of
	 * inlining.
	 */
	count = count > 0 ? dwarf_getscopes_die(&scopes[0], &outer) : 0;
	for (int i = 0; i < count; i++) {
		int tag = dwarf_tag(&outer[i]);
		char *name;

		if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) ||
		    (name = name_of(&outer[i])) == NULL)
			continue;
		if (site->function == NULL)
			site->function = name;
		else if (site->inlined_count < MOST_INLINED) {
			if (site->inlined == NULL)
				site->inlined = zalloc(MOST_INLINED, sizeof *site->inlined);
			site->inlined[site->inlined_count++] = (struct inlined){ name, file, line };
			file = NULL;
		} else
			free(name);
		free(file);
		file = NULL;
		if (!find_call(&outer[i], unit, &file, &line))
			line = 0;
	}
	free(file);
	free(scopes);
	free(outer);
}

void
module_find(Dwfl_Module *module, GElf_Addr address, struct site *site)
{
	const char *name, *file;
	Dwfl_Line *line = dwfl_module_getsrc(module, address);
	int number;

	find_functions(module, address, site);
	if (site->function == NULL && (name = dwfl_module_addrname(module, address)) != NULL)
		site->function = readable(name);
	if (line != NULL && (file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL)) != NULL) {
		site->file = need(strdup(file));
		site->line = number;
	}
}

void
site_forget(struct site *site)
{
	for (size_t i = 0; i < site->inlined_count; i++) {
		free(site->inlined[i].function);
		free(site->inlined[i].file);
	}
	free(site->inlined);
	free((void *)(uintptr_t)site->function);
	free((void *)(uintptr_t)site->file);
}

const struct site *
symbols_find(struct symbols *symbols, uint64_t offset)
{
	struct site *last = &symbols->last;

	if (!last->defined || last->offset != offset) {
		site_forget(last);
		*last = (struct site){ .offset = offset, .defined = true };
		/* A return address is after the call: one byte before it is still inside. */
		if (symbols->script.function == NULL)
			module_find(symbols->module, offset + symbols->bias - 1, last);
		else {
			last->function = need(strdup(symbols->script.function));
			last->file = need(strdup(symbols->script.path));
			last->line = (int32_t)(offset >> SCRIPT_LINE_SHIFT & INT32_MAX);
		}
	}
	return last;
}

char *
place_text(const struct site *place)
{
	if (place->file == NULL)
		return place->function != NULL ? need(strdup(place->function)) : NULL;
	return formatted("%s %s:%d", place->function != NULL ? place->function : "?",
	    file_name(place->file), (int)place->line);
}

void
symbols_close(struct symbols *symbols)
{
	if (symbols == NULL)
		return;
	site_forget(&symbols->last);
	dwfl_end(symbols->dwfl);
	free(symbols);
}

struct symbols *
symbols_of(struct symbol_files *files, const struct module *module)
{
	struct symbol_file *file = files->at;

	while (file < files->at + files->count && !module_is(&file->module, module))
		file++;
	if (file == files->at + files->count) {
		file = APPEND(files->at, files->count, files->capacity);
		*file = (struct symbol_file){ *module, NULL };
		file->module.path = need(strdup(module->path));
		if (module->function != NULL)
			file->module.function = need(strdup(module->function));
		file->symbols = symbols_open(&file->module);
	}
	return file->symbols;
}

void
symbol_files_close(struct symbol_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		symbols_close(files->at[i].symbols);
		free(files->at[i].module.path);
		free(files->at[i].module.function);
	}
	free(files->at);
}
