/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The callers of a call. backtrace() searches the tables of an object for every frame and
 * interprets them, up to main(): that takes microseconds. Here the rule of an address is learnt
 * once; from then on it costs a few additions. Only the requested number of frames is walked.
 * Unusual frames are left to backtrace().
 */
#include "frames.h"

#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>

enum {
	RULES = 1 << 10,
	/* for backtrace(): the frames asked for, and this library's own */
	MOST_FRAMES = 64 + 8,
	OWN_FRAMES = 8,
};

struct frame_memory {
	/* by address; a new rule replaces an old one in its slot */
	struct frame_rule rules[RULES];
	unsigned long long unloads;	/* objects unloaded so far, when the rules were learnt */
	uintptr_t low, high;		/* bounds of the thread's stack; 0: not known */
	uintptr_t moved;		/* from the stack to its copy; 0: it is no copy */
};

static int
look_at_first(struct dl_phdr_info *info, size_t size, void *counts)
{
	(void)size;
	*(struct object_counts *)counts =
	    (struct object_counts){ info->dlpi_adds, info->dlpi_subs };
	return 1;
}

struct object_counts
count_objects(void)
{
	struct object_counts counts = { 0, 0 };

	dl_iterate_phdr(look_at_first, &counts);
	return counts;
}

bool
find_stack(uintptr_t *low, uintptr_t *high)
{
	pthread_attr_t attributes;
	void *stack;
	size_t size;
	bool found;

	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return false;
	if ((found = pthread_attr_getstack(&attributes, &stack, &size) == 0)) {
		*low = (uintptr_t)stack;
		*high = (uintptr_t)stack + size;
	}
	pthread_attr_destroy(&attributes);
	return found;
}

/* After an unload, other code may be at an address. */
static void
forget_unloaded(struct frame_memory *memory, unsigned long long unloads)
{
	if (unloads == memory->unloads)
		return;
	for (size_t i = 0; i < RULES; i++)
		memory->rules[i].address = NULL;
	memory->unloads = unloads;
}

static const struct frame_rule *
rule_of(struct frame_memory *memory, const void *address)
{
	struct frame_rule *rule = &memory->rules[((uintptr_t)address * 0x9e3779b97f4a7c15u) >> 54];

	if (rule->address != address)
		frame_rule(address, rule);
	return rule;
}

/* A position of the walk: on the stack, in a function. */
struct place {
	const void *address;
	uintptr_t stack, base, link;	/* link: 0 unless it holds the return address */
};

/* Whether the eight bytes are on the stack and in use. */
static inline bool
is_stack(const struct frame_memory *memory, const struct place *at, uintptr_t address)
{
	return address >= at->stack && address <= memory->high - 8 && address % 8 == 0;
}

static inline uintptr_t
word(const struct frame_memory *memory, uintptr_t address)
{
	return *(const uintptr_t *)(address + memory->moved);
}

/* Without the signature that AArch64 may keep in the upper bits of a return address. */
static inline const void *
unsigned_address(uintptr_t address)
{
#ifdef __aarch64__
	register uintptr_t link __asm__("x30") = address;

	__asm__("hint #7" : "+r"(link));	/* xpaclri */
	address = link;
#endif
	return (const void *)address;
}

/* Steps to the caller. Returns 0 if there is none, -1 if it is unknown. */
static inline int
step_up(struct frame_memory *memory, struct place *at)
{
	const struct frame_rule *rule = rule_of(memory, at->address);
	const uintptr_t offset = (uintptr_t)(intptr_t)rule->cfa;
	uintptr_t cfa, saved, back;

	switch ((enum frame_kind)rule->kind) {
	case FRAME_LAST: return 0;
	case FRAME_BY_STACK: cfa = at->stack + offset; break;
	case FRAME_BY_BASE: cfa = at->base + offset; break;
	case FRAME_AT_BASE:
		if (!is_stack(memory, at, at->base + offset))
			return -1;
		cfa = word(memory, at->base + offset);
		break;
	default: return -1;
	}
	back = cfa + (uintptr_t)(intptr_t)rule->back;
	if (rule->in_link ? at->link == 0 || cfa < at->stack :
	    cfa <= at->stack || !is_stack(memory, at, back))
		return -1;
	if (rule->base_is != NOT_SAVED) {
		saved = (rule->base_is == SAVED_AT_CFA ? cfa : at->base) +
		    (uintptr_t)(intptr_t)rule->base;
		if (!is_stack(memory, at, saved))
			return -1;
		at->base = word(memory, saved);
	}
	at->address = unsigned_address(rule->in_link ? at->link : word(memory, back));
	at->stack = cfa;
	at->link = 0;
	return at->address != NULL;
}

/* Returns -1 if backtrace() is needed. */
static int
walk(struct frame_memory *memory, struct place at, const void *first,
    const void **frames, int depth)
{
	int count = 0, step = 1;

	if (at.stack < memory->low || at.stack >= memory->high)
		return -1;	/* a stack that the program made for itself */
	for (int own = 0; at.address != first; own++)
		if (own == OWN_FRAMES || (step = step_up(memory, &at)) <= 0)
			return -1;
	do
		frames[count++] = at.address;
	while (count < depth && (step = step_up(memory, &at)) > 0);
	return step < 0 ? -1 : count;
}

static __attribute__((noinline)) int
ask_system(const void *first, const void **frames, int depth)
{
	void *all[MOST_FRAMES];
	int count = backtrace(all, MOST_FRAMES), from = 0, found = 0;

	while (from < count && all[from] != first)
		from++;		/* skip frames of this library */
	for (; from < count && found < depth; from++)
		frames[found++] = all[from];
	return found;
}

__attribute__((noinline)) int
callers_from(struct frame_memory **kept, const void *first, const void **frames, int depth)
{
	int count = -1;
#if defined __x86_64__ || defined __aarch64__
	/*
	 * The frame of a function with a base pointer begins with the caller's and the return
	 * address.
	 */
	const uintptr_t *own = __builtin_frame_address(0);
	struct frame_memory *memory = *kept;

	if (memory == NULL && (memory = *kept = calloc(1, sizeof *memory)) != NULL)
		find_stack(&memory->low, &memory->high);
	if (memory != NULL) {
		forget_unloaded(memory, count_objects().unloads);
		count = walk(memory, (struct place){ unsigned_address(own[1]),
		    (uintptr_t)__builtin_dwarf_cfa(), own[0], 0 }, first, frames, depth);
	}
#else
	(void)kept;
#endif
	return count >= 0 ? count : ask_system(first, frames, depth);
}

struct copied {
	struct frame_memory *memory;
	const struct stack_copy *copy;
	const void **frames;
	int depth, count;
};

static void
add_chain(struct copied *of, int from)
{
	while (from < of->copy->chained && of->count < of->depth)
		of->frames[of->count++] = of->copy->chain[from++];
}

/* Is it behind a call, in a function that is known? Else something else lay on the stack. */
static bool
is_behind_call(struct frame_memory *memory, const void *address)
{
	bool is = rule_of(memory, address)->kind != FRAME_UNKNOWN;
#ifdef __x86_64__
	const unsigned char *end = address, direct = 0xe8, indirect = 0xff;
	int bytes = 2;

	if (!is || end[-5] == direct)
		return is;
	while (bytes <= 7 && (end[-bytes] != indirect || (end[1 - bytes] >> 3 & 7) != 2))
		bytes++;
	is = bytes <= 7;
#elif defined __aarch64__
	const uint32_t *call = (const uint32_t *)address - 1;

	/* bl, or blr, perhaps with a signature */
	is = is && (*call >> 26 == 0x25 || (*call & 0xfe600000) == 0xd6200000);
#endif
	return is;
}

/* Is its frame one of those that the base pointer's chain links? */
static bool
keeps_frame(const struct frame_rule *rule)
{
#ifdef __aarch64__
	return rule->base_is == SAVED_AT_CFA && rule->back == rule->base + 8;
#else
	return rule->kind == FRAME_BY_BASE || rule->kind == FRAME_AT_BASE;
#endif
}

/*
 * Meanwhile no object can be unloaded: the frames are those of another thread, which goes on. Frame
 * pointers are followed at the end only if they have led to the same callers so far.
 */
static int
walk_copy(struct dl_phdr_info *info, size_t size, void *context)
{
	struct copied *of = context;
	const struct stack_copy *copy = of->copy;
	/* a thread is stopped before an instruction, and a caller behind one */
	struct place at = { (const void *)(copy->address + 1), copy->stack, copy->base,
	    copy->link };
	int step = 1, passed = 0;	/* of the chain */

	(void)size;
	forget_unloaded(of->memory, info->dlpi_subs);
	while (of->count < of->depth) {
		const struct frame_rule rule = *rule_of(of->memory, at.address);
		const bool keeps_base = keeps_frame(&rule);
		const uintptr_t base = at.base;

		step = step_up(of->memory, &at);
		if (step < 0 && (keeps_base || (rule.kind == FRAME_UNKNOWN && of->count == 0)))
			add_chain(of, passed);
		if (step <= 0 || !is_behind_call(of->memory, at.address))
			return 1;
		of->frames[of->count++] = at.address;
		if (keeps_base && passed < copy->chained && copy->chain[passed] == at.address)
			passed++;
		else if (keeps_base || at.base != base)
			passed = copy->chained;
	}
	return 1;
}

int
callers_in(struct frame_memory **kept, const struct stack_copy *copy, const void **frames,
    int depth)
{
	struct copied of = { NULL, copy, frames, depth, 0 };

	if (copy->size < 8 || copy->stack % 8 != 0 ||
	    (*kept == NULL && (*kept = calloc(1, sizeof **kept)) == NULL)) {
		add_chain(&of, 0);
		return of.count;
	}
	of.memory = *kept;
	of.memory->high = copy->stack + copy->size;
	of.memory->moved = (uintptr_t)copy->bytes - copy->stack;
	dl_iterate_phdr(walk_copy, &of);
	return of.count;
}
