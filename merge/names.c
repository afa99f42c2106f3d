/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds functions and source lines of addresses, with elfutils' libdw. */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "merge.h"

/* From the C++ runtime, which has no C header for it. */
char *__cxa_demangle(const char *name, char *buffer, size_t *length, int *status);

static char *debug_path;	/* NULL: the system's usual places for separate debug files */
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

struct symbols {
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias;		/* offset within the module -> address that libdw gave it */
};

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

struct symbols *
symbols_open(const struct module *module)
{
	struct symbols *symbols = zalloc(1, sizeof *symbols);
	const unsigned char *bits;
	GElf_Addr at;
	int fd = open_file(module->path), size;

	if (fd < 0 || (symbols->dwfl = dwfl_begin(&callbacks)) == NULL)
		goto unknown;
	symbols->module = dwfl_report_offline(symbols->dwfl, module->path, module->path, fd);
	if (symbols->module != NULL)
		fd = -1;	/* libdw owns it now */
	dwfl_report_end(symbols->dwfl, NULL, NULL);
	if (symbols->module == NULL || dwfl_module_getelf(symbols->module, &symbols->bias) == NULL)
		goto unknown;
	/* The file may have been rebuilt: its lines would then be wrong. */
	size = dwfl_module_build_id(symbols->module, &bits, &at);
	if (module->build_id_size > 0 && (size != (int)module->build_id_size ||
	    memcmp(bits, module->build_id, (size_t)size) != 0)) {
		note("%s: not the file that was recorded; its functions are not named",
		    module->path);
		goto unknown;
	}
	return symbols;
unknown:
	if (fd >= 0)
		close(fd);
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

static char *
readable(const char *name)
{
	int status;
	char *text = __cxa_demangle(name, NULL, NULL, &status);

	if (text == NULL)
		text = module_procedure(name);
	return text != NULL ? text : need(strdup(name));
}

/* The name of a function with its classes and namespaces. */
static char *
name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *linkage = NULL, *name = dwarf_diename(die);

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) != NULL)
		linkage = dwarf_formstring(&attribute);
	return linkage != NULL ? readable(linkage) : name != NULL ? need(strdup(name)) : NULL;
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
find_functions(Dwfl_Module *module, GElf_Addr address, struct place *place)
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
		if (place->function == NULL)
			place->function = name;
		else if (place->inlined_count < sizeof place->inlined / sizeof place->inlined[0]) {
			place->inlined[place->inlined_count].function = name;
			place->inlined[place->inlined_count].file = file;
			place->inlined[place->inlined_count++].line = line;
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
symbols_find(struct symbols *symbols, uint64_t offset, struct place *place)
{
	/* A return address is after the call: one byte before it is still inside. */
	GElf_Addr address = offset + symbols->bias - 1;
	const char *name;
	Dwfl_Line *line = dwfl_module_getsrc(symbols->module, address);
	const char *file;
	int number;

	find_functions(symbols->module, address, place);
	if (place->function == NULL &&
	    (name = dwfl_module_addrname(symbols->module, address)) != NULL)
		place->function = readable(name);
	if (line != NULL && (file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL)) != NULL) {
		place->file = need(strdup(file));
		place->line = number;
	}
}

void
place_free(struct place *place)
{
	for (uint32_t i = 0; i < place->inlined_count; i++) {
		free(place->inlined[i].function);
		free(place->inlined[i].file);
	}
	free(place->function);
	free(place->file);
}

void
symbols_close(struct symbols *symbols)
{
	if (symbols->dwfl != NULL)
		dwfl_end(symbols->dwfl);
	free(symbols);
}
