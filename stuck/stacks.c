/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks of processes of this host, by elfutils' libdwfl. */
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
	char *text;

	if (frames->count == MOST_FRAMES || !dwfl_frame_pc(frame, &pc, &is_call))
		return DWARF_CB_ABORT;
	pc -= is_call;
	if ((module = dwfl_addrmodule(dwfl, pc)) != NULL)
		module_find(module, pc, &place);
	text = place_text(&place);
	frames->lines[frames->count++] = text != NULL ? text : need(strdup("?"));
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
