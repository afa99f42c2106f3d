/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of addresses, and stacks of processes of this host, from elfutils' libdwfl. */
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "../base/tool/tool.h"
#include "stuck.h"

enum { MOST_FRAMES = 64 };

static char *debug_path;
static const Dwfl_Callbacks offline = {
	.find_elf = dwfl_build_id_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address, .debuginfo_path = &debug_path,
};
static const Dwfl_Callbacks running = {
	.find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debug_path,
};

static struct place
place_in(Dwfl_Module *module, GElf_Addr address)
{
	struct place place = { 0 };
	const char *name = module == NULL ? NULL : dwfl_module_addrname(module, address), *file;
	Dwfl_Line *line = module == NULL ? NULL : dwfl_module_getsrc(module, address);

	if (name != NULL)
		place.function = need(strdup(name));
	if (line != NULL &&
	    (file = dwfl_lineinfo(line, NULL, &place.line, NULL, NULL, NULL)) != NULL)
		place.file = need(strdup(strrchr(file, '/') != NULL ?
		    strrchr(file, '/') + 1 : file));
	return place;
}

/* Ranks of one program have the same modules at different addresses: opens each module once. */
struct known {
	const char *path;
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias;
	uint64_t offset;	/* the last one looked up */
	struct place place;
};

static struct known *
open_module(const char *path)
{
	static struct known *all;
	static size_t count, capacity;
	struct known *it;

	for (size_t i = 0; i < count; i++)
		if (strcmp(all[i].path, path) == 0)
			return &all[i];
	it = APPEND(all, count, capacity);
	*it = (struct known){ .path = need(strdup(path)), .dwfl = dwfl_begin(&offline),
	    .offset = UINT64_MAX };
	if (it->dwfl == NULL)
		return it;
	it->module = dwfl_report_offline(it->dwfl, path, path, -1);
	dwfl_report_end(it->dwfl, NULL, NULL);
	if (it->module != NULL && dwfl_module_getelf(it->module, &it->bias) == NULL)
		it->module = NULL;
	return it;
}

struct place
place_of(const struct rank *rank, uint64_t address)
{
	struct known *known;

	for (size_t m = 0; m < rank->module_count; m++) {
		const struct module_place *module = &rank->modules[m];
		const uint64_t offset = address - module->base;

		if (address < module->base || offset >= module->bytes || module->path == NULL)
			continue;
		known = open_module(module->path);
		if (known->offset != offset && known->module != NULL) {
			known->offset = offset;
			/* of the call before it */
			known->place = place_in(known->module, known->bias + offset - 1);
		}
		return known->place;
	}
	return (struct place){ 0 };
}

static char *
name_place(struct namer *namer, int32_t rank, uint64_t address)
{
	const struct places *places = (const struct places *)namer;
	const struct place place = place_of(&places->look->ranks[rank], address);

	return place_named(place.function, place.file, place.line);
}

struct places
places_of(const struct look *look)
{
	return (struct places){ { name_place }, look };
}

struct frames {
	char **lines;
	size_t count;
};

static int
add_frame(Dwfl_Frame *frame, void *to)
{
	struct frames *frames = to;
	Dwarf_Addr pc;
	bool is_call;
	Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(frame));
	struct place place;

	if (frames->count == MOST_FRAMES || !dwfl_frame_pc(frame, &pc, &is_call))
		return DWARF_CB_ABORT;
	pc -= is_call;
	place = place_in(dwfl_addrmodule(dwfl, pc), pc);
	frames->lines[frames->count++] = formatted(place.file != NULL ? "%s %s:%d" : "%s",
	    place.function != NULL ? place.function : "?", place.file, place.line);
	free(place.function);
	free(place.file);
	return DWARF_CB_OK;
}

/* Stops the process for a moment. */
char **
stack_of(const struct rank *rank, uint32_t thread)
{
	struct frames frames = { zalloc(MOST_FRAMES + 1, sizeof *frames.lines), 0 };
	Dwfl *dwfl = rank->life == ALIVE && rank->state != 'T' ? dwfl_begin(&running) : NULL;

	if (dwfl != NULL && dwfl_linux_proc_report(dwfl, (pid_t)rank->pid) == 0 &&
	    dwfl_report_end(dwfl, NULL, NULL) == 0 &&
	    dwfl_linux_proc_attach(dwfl, (pid_t)rank->pid, false) == 0)
		dwfl_getthread_frames(dwfl, (pid_t)thread, add_frame, &frames);
	dwfl_end(dwfl);
	if (frames.count > 0)
		return frames.lines;
	free(frames.lines);
	return NULL;
}
