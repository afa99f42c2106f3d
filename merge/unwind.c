/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the callers of a sample from its registers and the copied top of its stack, by libdw, which
 * reads the program's tables for exceptions (or its debug information). Frame pointers are not
 * needed. The callers become sites of the rank, like those from its recorder. A file keeps each
 * sample's number until the samples are written.
 *
 * Memory: a rank's modules as libdw has them, the places and stacks found, and one message.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/tool/hash_table.h"
#include "../base/tool/spool.h"
#include "source.h"

enum { MOST_FRAMES = 128, SELF = 1 };	/* SELF: the one thread that libdw knows */

/* A place or stack of callers, by its frames. */
struct found {
	const uint64_t *frames;		/* NULL: a free slot */
	uint32_t depth, number;		/* number: of the rank's site */
};

static uint64_t
hash_frames(const struct found *found)
{
	uint64_t hash = found->depth;

	for (uint32_t i = 0; i < found->depth; i++)
		hash = mix(hash, found->frames[i]);
	return hash;
}

#define HASH(f) hash_frames(f)
#define SAME(a, b) ((a)->depth == (b)->depth && \
	memcmp((a)->frames, (b)->frames, (a)->depth * sizeof *(a)->frames) == 0)
HASH_TABLE_BY(found_table, struct found, HASH, SAME, frames, NULL)

struct unwinder {
	struct input *input;
	struct rank *rank;
	Dwfl *dwfl;		/* of the rank; NULL: none of its modules is known any more */
	struct found_table found;
	uint32_t next;		/* number of the rank's next site */
	int spool;
	uint64_t written;	/* samples, of all ranks */
	/* Of the sample: */
	const unsigned char *stack;
	Dwarf_Word registers[SAMPLE_REGISTERS];
	uint64_t stack_bytes;
	uint64_t frames[MOST_FRAMES];
	uint32_t depth;
	bool self;		/* the next frame is the place itself */
};

/* ---- callbacks of libdw -------------------------------------------------------------- */

static pid_t
next_thread(Dwfl *dwfl, void *u, void **thread)
{
	(void)dwfl;
	if (*thread != NULL)
		return 0;
	*thread = u;
	return SELF;
}

static bool
get_thread(Dwfl *dwfl, pid_t tid, void *u, void **thread)
{
	(void)dwfl;
	*thread = u;
	return tid == SELF;
}

/* Reads memory: only the copied stack is known. */
static bool
read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *context)
{
	const struct unwinder *u = context;
	const uint64_t at = address - u->registers[7];	/* from the stack pointer */

	(void)dwfl;
	if (u->stack_bytes < sizeof *result || at > u->stack_bytes - sizeof *result)
		return false;
	memcpy(result, u->stack + at, sizeof *result);
	return true;
}

static bool
set_registers(Dwfl_Thread *thread, void *context)
{
	struct unwinder *u = context;

	return dwfl_thread_state_registers(thread, 0, SAMPLE_REGISTERS, u->registers);
}

static int
take_frame(Dwfl_Frame *frame, void *context)
{
	struct unwinder *u = context;
	bool activation;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, &activation))
		return DWARF_CB_ABORT;
	if (!u->self && pc != 0)
		u->frames[u->depth++] = pc + activation;	/* like a return address */
	u->self = false;
	return u->depth < MOST_FRAMES && pc != 0 ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread, .get_thread = get_thread, .memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/* ---- modules ---- */

/* Opens the rank's modules at their addresses. */
static void
open_rank(struct unwinder *u)
{
	size_t known = 0;

	if ((u->dwfl = dwfl_begin(&module_files)) == NULL)
		return;
	for (size_t m = 0; m < u->rank->module_count; m++) {
		const struct raw_module *raw = &u->rank->modules[m];
		const struct module *module = &u->input->modules[raw->module];
		bool other;
		const int fd = module_open(module, &other);

		if (fd >= 0 && dwfl_report_elf(u->dwfl, module->path, module->path, fd, raw->base,
		    true) != NULL)
			known++;
		else if (fd >= 0)
			close(fd);
	}
	if (dwfl_report_end(u->dwfl, NULL, NULL) != 0 || known == 0 ||
	    !dwfl_attach_state(u->dwfl, NULL, SELF, &thread_callbacks, u)) {
		dwfl_end(u->dwfl);
		u->dwfl = NULL;
	}
}

/* ---- sites ---- */

static struct raw_site *
new_site(struct unwinder *u)
{
	struct rank *rank = u->rank;

	GROW(rank->sites, rank->site_capacity, rank->site_count + 1);
	rank->sites[rank->site_count] = (struct raw_site){ .site = u->next++,
	    .modules = rank->module_count };
	return &rank->sites[rank->site_count++];
}

/* The slot of these frames; new ones are copied. */
static struct found *
find(struct unwinder *u, const uint64_t *frames, uint32_t depth, bool *new)
{
	struct found key = { frames, depth, 0 }, *found = found_table_find(&u->found, &key);
	uint64_t *copy;

	*new = found == NULL;
	if (found != NULL)
		return found;
	copy = zalloc(depth, sizeof *copy);
	memcpy(copy, frames, depth * sizeof *copy);
	key.frames = copy;
	return found_table_add(&u->found, &key);
}

static uint32_t
place_number(struct unwinder *u, uint64_t address)
{
	bool new;
	struct found *found = find(u, &address, 1, &new);

	if (new) {
		struct raw_site *site = new_site(u);

		site->address = address;
		found->number = site->site;
	}
	return found->number;
}

/* The callers found, as a site; 0: none. */
static uint32_t
callers_number(struct unwinder *u)
{
	struct found *found;
	uint32_t *stack, number;
	struct raw_site *site;
	bool new;

	if (u->depth == 0)
		return 0;
	if (u->depth == 1)
		return place_number(u, u->frames[0]);
	found = find(u, u->frames, u->depth, &new);
	if (!new)
		return found->number;
	found->number = number = u->next;
	site = new_site(u);
	site->depth = u->depth;
	site->stack = stack = zalloc(u->depth, sizeof *stack);
	/* may add sites and move SITE and FOUND */
	for (uint32_t i = 0; i < u->depth; i++)
		stack[i] = place_number(u, u->frames[i]);
	return number;
}

/* ---- samples ---- */

static void
unwind_message(struct unwinder *u, struct samples *block, const struct stacks *stacks)
{
	uint32_t *callers = zalloc(block->count + 1, sizeof *callers);
	uint64_t at = 0;

	for (size_t i = 0; i < block->count; i++) {
		u->stack = stacks->stacks + at;
		u->stack_bytes = stack_bytes(stacks, i);
		at += u->stack_bytes;
		memcpy(u->registers, stacks->registers + i * sizeof u->registers,
		    sizeof u->registers);
		u->depth = 0;
		u->self = true;
		if (u->dwfl != NULL && u->stack_bytes > 0)
			dwfl_getthread_frames(u->dwfl, SELF, take_frame,
			    u);	/* as far as it goes */
		callers[i] = callers_number(u);
	}
	spool_put(u->spool, callers, block->count * sizeof *callers, u->written * sizeof *callers);
	u->written += block->count;
	free(callers);
}

static void
unwind_rank(struct unwinder *u, struct source *source, int32_t number)
{
	struct samples block = { 0 };
	struct message message;
	uint64_t offset;

	u->rank = &u->input->ranks[number];
	u->rank->unwound = u->written;
	for (size_t i = 0; i < u->rank->site_count; i++)
		if (u->rank->sites[i].site >= u->next)
			u->next = u->rank->sites[i].site + 1;
	for (offset = u->rank->segments[0].offset; source_look(source, number, offset, &message);
	    offset = source_behind(source)) {
		struct stacks stacks;
		int got;

		if (!is_kind(&message, "sampled"))
			continue;
		if (reader_verify(source->in, &message) < 0 ||
		    samples_read(&block, source->in, &message) < 0 ||
		    (got = stacks_read(&stacks, source->in, &message, block.count)) < 0)
			die_input(source->in);
		if (got == 0)
			continue;
		if (u->dwfl == NULL && u->written == u->rank->unwound)
			open_rank(u);
		unwind_message(u, &block, &stacks);
	}
	samples_free(&block);
}

int
unwind_samples(struct input *input)
{
	struct unwinder u = { .input = input };
	struct source source;

	if (!input->sampled)
		return -1;
	u.spool = spool_open();
	source_open(&source, input);
	for (int32_t r = 0; r < input->rank_count; r++) {
		if (input->ranks[r].rows == 0)
			continue;
		u.next = 1;
		found_table_begin(&u.found, 1024);
		unwind_rank(&u, &source, r);
		for (size_t i = 0; i < u.found.size; i++)
			free((void *)(uintptr_t)u.found.slots[i].frames);
		free(u.found.slots);
		if (u.dwfl != NULL)
			dwfl_end(u.dwfl);
		u.dwfl = NULL;
	}
	source_close(&source);
	return u.spool;
}

void
unwound_callers(int spool, uint64_t first, uint32_t *callers, size_t count)
{
	uint32_t *found = zalloc(count + 1, sizeof *found);

	spool_get(spool, found, count * sizeof *found, first * sizeof *found);
	for (size_t i = 0; i < count; i++)
		if (found[i] != 0)
			callers[i] = found[i];
	free(found);
}
