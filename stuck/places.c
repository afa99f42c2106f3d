/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of addresses, and stacks of processes of this host, from elfutils' libdwfl. */
#include <stdlib.h>
#include <string.h>

#include "../base/tool/tool.h"
#include "stuck.h"

enum { MOST_FRAMES = 64 };

static char *debug_path;
static const Dwfl_Callbacks running = {
	.find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debug_path,
};

/* Ranks of one program have the same modules at different addresses: opens each module once. */
struct known {
	struct module module;
	struct symbols *symbols;	/* NULL: unknown */
	struct site last;		/* looked up */
};

static struct known *
known_module(const struct module *module)
{
	static struct known *all;
	static size_t count, capacity;
	struct known *it;

	for (size_t i = 0; i < count; i++)
		if (module_is(&all[i].module, module))
			return &all[i];
	it = APPEND(all, count, capacity);
	*it = (struct known){ *module, symbols_open(module), { .offset = UINT64_MAX } };
	it->module.path = need(strdup(module->path));
	return it;
}

struct site
place_of(const struct rank *rank, uint64_t address)
{
	for (size_t m = 0; m < rank->module_count; m++) {
		const uint64_t offset = address - rank->modules[m].base;
		struct known *known;

		if (offset >= rank->modules[m].bytes)
			continue;
		known = known_module(&rank->modules[m].module);
		if (known->last.offset != offset && known->symbols != NULL) {
			site_forget(&known->last);
			known->last = (struct site){ .offset = offset };
			symbols_find(known->symbols, &known->last);
		}
		return known->last;
	}
	return (struct site){ 0 };
}

static char *
name_place(struct namer *namer, int32_t rank, uint64_t address)
{
	const struct places *places = (const struct places *)namer;
	const struct site place = place_of(&places->look->ranks[rank], address);

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
	struct site place = { 0 };
	Dwfl_Module *module;

	if (frames->count == MOST_FRAMES || !dwfl_frame_pc(frame, &pc, &is_call))
		return DWARF_CB_ABORT;
	pc -= is_call;
	if ((module = dwfl_addrmodule(dwfl, pc)) != NULL)
		module_find(module, pc, &place);
	frames->lines[frames->count++] = place.function == NULL && place.file == NULL ?
	    need(strdup("?")) : place_named(place.function, place.file, place.line);
	site_forget(&place);
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
