/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites: numbers for return addresses, and the loaded modules that contain them. */
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include "../front/front.h"
#include "frames.h"
#include "rows.h"
#include "sites.h"
#include "small.h"

enum {
	FIRST_BITS = 14,	/* size of the first table: 2^14 */
	MOST_SITES = 1 << 22,	/* further ones stay unknown */
	FUTEX_CODE = 64,	/* bytes before a system call that are searched */
	CALL_BYTES = 5,		/* of a call relative to itself */
	PUSH_CODE = 24,		/* bytes before its end that are searched: arguments go between */
};
/* Of the key of a place that is a frame so far: a call there gets a number of its own. */
#define FRAME ((uint64_t)1 << 63)
static struct { struct site_table head; struct site slots[1 << FIRST_BITS]; } first_table =
    { .head = { 64 - FIRST_BITS, (1 << FIRST_BITS) - 1 } };
struct site_table *_Atomic sites = &first_table.head;
static uint32_t site_count;
static unsigned long long modules_seen;		/* objects ever loaded, at the last look */
static uint32_t module_count;

/* The build id of a loaded object, to find the same file again. */
static const unsigned char *
build_id(const struct dl_phdr_info *info, size_t *size)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const unsigned char *at = (const unsigned char *)(info->dlpi_addr + part->p_vaddr);
		const unsigned char *end = at + part->p_memsz;

		while (part->p_type == PT_NOTE && at + sizeof(ElfW(Nhdr)) <= end) {
			ElfW(Nhdr) note;

			memcpy(&note, at, sizeof note);
			at += sizeof note;
			if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			    memcmp(at, "GNU", 4) == 0 && note.n_descsz <= 64) {
				*size = note.n_descsz;
				return at + 4;
			}
			at += ((note.n_namesz + 3) & ~3u) + ((note.n_descsz + 3) & ~3u);
		}
	}
	return NULL;
}

/*
 * Reported objects that are still loaded: where their code is, and whether call sites are in them.
 */
static struct told { uint64_t base, bytes, code, code_bytes; bool here, has_sites; } *told;
static size_t told_count, told_capacity;
static unsigned long long unloads_seen;
static uint64_t unload_count;		/* how often an object with call sites was unloaded */

static struct told *
find_told(uint64_t base)
{
	for (size_t i = 0; i < told_count; i++)
		if (told[i].base == base)
			return &told[i];
	return NULL;
}

/* Returns false if it is known already, or without memory. */
static bool
note_told(struct told new)
{
	struct told *more;

	if (find_told(new.base) != NULL ||
	    (more = room_for(told, &told_capacity, told_count + 1, sizeof *told)) == NULL)
		return false;
	told = more;
	told[told_count++] = new;
	return true;
}

static int
append_module(struct dl_phdr_info *info, size_t info_size, void *unused)
{
	char program[4096] = "";
	const char *path = info->dlpi_name;
	struct told new = { .base = info->dlpi_addr, .here = true };
	const unsigned char *id;
	size_t id_size = 0;

	(void)info_size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD)
			continue;
		if (part->p_vaddr + part->p_memsz > new.bytes)
			new.bytes = part->p_vaddr + part->p_memsz;
		if ((part->p_flags & PF_X) != 0) {
			new.code = new.base + part->p_vaddr;
			new.code_bytes = part->p_memsz;
		}
	}
	if (!note_told(new))
		return 0;
	if (path[0] == '\0') {		/* the program, or the vDSO, which has no file */
		if (module_count > 0 || readlink("/proc/self/exe", program, sizeof program - 1) < 0)
			return 0;
		path = program;
	}
	id = build_id(info, &id_size);
	small_append("module", PAIRS(
	    pair_uint("module", module_count++),
	    pair_text("path", path),
	    pair_uint("base", new.base),
	    pair_uint("bytes", new.bytes),
	    pair_if(id != NULL, pair_bytes("build_id", id, id_size))));
	return 0;
}

static void modules_unloaded(void);

/* Appends all modules at first, later those loaded since. The table is locked. */
static void
append_modules(void)
{
	const unsigned long long loads = count_objects().loads;

	if (loads == modules_seen)
		return;
	modules_seen = loads;
	dl_iterate_phdr(append_module, NULL);
	longpole_unloaded = modules_unloaded;
}

void
modules_append(void)
{
	pthread_mutex_lock(&table_lock);
	append_modules();
	pthread_mutex_unlock(&table_lock);
}

struct code
code_around(const void *address)
{
	struct code code = { 0, 0 };

	pthread_mutex_lock(&table_lock);
	for (size_t i = 0; i < told_count && code.bytes == 0; i++)
		if ((uint64_t)(uintptr_t)address - told[i].code < told[i].code_bytes)
			code = (struct code){ told[i].code, told[i].code_bytes };
	pthread_mutex_unlock(&table_lock);
	return code;
}

void
function_append(uint64_t base, uint64_t bytes, const char *file, const char *name)
{
	small_append("module", PAIRS(
	    pair_uint("module", module_count++),
	    pair_text("path", file),
	    pair_text("function", name),
	    pair_uint("base", base),
	    pair_uint("bytes", bytes)));
}

/* ---- unloaded libraries ---- */

static int
mark_here(struct dl_phdr_info *info, size_t info_size, void *unused)
{
	struct told *object = find_told(info->dlpi_addr);

	(void)info_size;
	(void)unused;
	if (object != NULL)
		object->here = true;
	return 0;
}

/* Replaces addresses whose code was unloaded, so that searches for others still go past them. */
static const char forgotten[1];

static void
forget_sites(const struct told *object)
{
	struct site_table *table = sites;

	for (size_t i = 0; i <= table->mask; i++)
		if (((uint64_t)(uintptr_t)table->slots[i].address & ~FRAME) -
		    object->base < object->bytes)
			__atomic_store_n(&table->slots[i].address, (const void *)forgotten,
			    __ATOMIC_RELEASE);
}

/*
 * After the program unloaded a library: whatever is loaded there later is reported anew, and so are
 * call sites in it and all stacks.
 */
static void
modules_unloaded(void)
{
	const unsigned long long unloads = count_objects().unloads;
	size_t kept = 0;
	bool forgot = false;

	if (!in_recorded_process() || unloads == __atomic_load_n(&unloads_seen, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&table_lock);
	__atomic_store_n(&unloads_seen, unloads, __ATOMIC_RELAXED);
	for (size_t i = 0; i < told_count; i++)
		told[i].here = false;
	dl_iterate_phdr(mark_here, NULL);
	for (size_t i = 0; i < told_count; i++)
		if (told[i].here)
			told[kept++] = told[i];
		else if (told[i].has_sites) {
			forget_sites(&told[i]);
			forgot = true;
		}
	__atomic_store_n(&unload_count, unload_count + forgot, __ATOMIC_RELAXED);
	told_count = kept;
	pthread_mutex_unlock(&table_lock);
}

static void
put_into(struct site_table *table, const void *address, uint32_t number)
{
	size_t at = site_slot(table, address);

	while (table->slots[at].address != NULL)
		at = (at + 1) & table->mask;
	table->slots[at].number = number;
	__atomic_store_n(&table->slots[at].address, address, __ATOMIC_RELEASE);
}

/*
 * Doubles the table when it is three quarters full. Other threads may be searching the old one, so
 * it is kept; all old ones together are no larger than the new one. Returns false without memory.
 */
static bool
make_room(void)
{
	struct site_table *old = sites, *new;
	size_t size = 2 * (old->mask + 1);

	if (site_count < (old->mask + 1) / 4 * 3)
		return true;
	if ((new = zeroed(sizeof *new + size * sizeof new->slots[0])) == NULL)
		return false;
	new->shift = old->shift - 1;
	new->mask = size - 1;
	for (size_t i = 0; i <= old->mask; i++)
		if (old->slots[i].address != NULL && old->slots[i].address != forgotten)
			put_into(new, old->slots[i].address, old->slots[i].number);
	sites = new;
	return true;
}

/* Returns 0 if it is not there. */
static uint32_t
known_site(const void *address)
{
	const struct site_table *table = sites;
	const void *found;

	for (size_t at = site_slot(table, address);
	    (found = __atomic_load_n(&table->slots[at].address, __ATOMIC_ACQUIRE)) != NULL;
	    at = (at + 1) & table->mask)
		if (found == address)
			return table->slots[at].number;
	return 0;
}

/* A new number, with the table locked; 0: all are used up. */
static uint32_t
new_number(void)
{
	static bool said;

	if (site_count >= MOST_SITES) {
		if (!said)
			say("more than 4194304 call sites: further ones are recorded as unknown");
		said = true;
		return 0;
	}
	return make_room() ? ++site_count : 0;
}

/*
 * Do threads wait for each other there? It is behind a system call whose number, futex's, was
 * loaded a few instructions before; or behind a call to a routine for all system calls that may be
 * cancelled, for which the number was pushed. A stripped C library has no name for such places.
 */
static bool
is_futex(uint64_t address, const struct told *module)
{
	static const unsigned char load[] = { 0xb8, 202, 0, 0, 0 }, push[] = { 0x68, 202, 0, 0, 0 },
	    system_call[] = { 0x0f, 0x05 }, call = 0xe8;
	const unsigned char *end = (const unsigned char *)(uintptr_t)address;
	const unsigned char *from = end - FUTEX_CODE;

	if (address - module->code >= module->code_bytes ||
	    address - module->code <= FUTEX_CODE)
		return false;
	/* a place is counted one further, so that it is looked up like a return address */
	if (memcmp(end - 1 - sizeof system_call, system_call, sizeof system_call) == 0)
		return memmem(from, FUTEX_CODE, load, sizeof load) != NULL;
	return end[-CALL_BYTES] == call &&
	    memmem(end - PUSH_CODE, PUSH_CODE - CALL_BYTES, push, sizeof push) != NULL;
}

static const void *
frame_key(const void *address)
{
	return (const void *)(uintptr_t)((uint64_t)(uintptr_t)address ^ FRAME);
}

static uint32_t
add_site(const void *address, uint16_t call)
{
	uint32_t number = new_number();
	bool futex = false;

	if (number == 0)
		return 0;
	append_modules();
	for (size_t i = 0; i < told_count; i++) {
		told[i].has_sites |= (uint64_t)(uintptr_t)address - told[i].base < told[i].bytes;
		futex |= is_futex((uint64_t)(uintptr_t)address, &told[i]);
	}
	small_append("site", PAIRS(
	    pair_true("futex", futex),
	    pair_uint("site", number),
	    pair_uint("address", (uint64_t)(uintptr_t)address),
	    pair_unless_0("call", call)));
	put_into(sites, call != 0 ? address : frame_key(address), number);
	return number;
}

/* A frame may have the number of a call there. */
static uint32_t
known_place(const void *address, uint16_t call)
{
	const uint32_t number = known_site(address);

	return number != 0 || call != 0 ? number : known_site(frame_key(address));
}

uint32_t
plain_site(const void *address, uint16_t call)
{
	uint32_t number = known_place(address, call);

	if (number != 0)
		return number;
	pthread_mutex_lock(&table_lock);
	number = known_place(address, call);	/* another thread may have added it */
	if (number == 0)
		number = add_site(address, call);
	pthread_mutex_unlock(&table_lock);
	return number;
}

/*
 * A stack is a site like any other, under a hash of its addresses. It is reported as the sites of
 * its frames, the call itself first.
 */
uint32_t
frames_site(const void *const *frames, int depth, uint16_t call)
{
	uint32_t stack[MOST_CALLERS], number;
	uint64_t key = __atomic_load_n(&unload_count, __ATOMIC_RELAXED);

	if (depth < 2)
		return depth == 0 ? 0 : plain_site(frames[0], call);
	for (int i = 0; i < depth; i++)
		key = (key ^ (uintptr_t)frames[i]) * 0x9e3779b97f4a7c15u + 1;
	if ((number = known_site((const void *)(uintptr_t)key)) != 0)
		return number;
	for (int i = 0; i < depth; i++)
		stack[i] = plain_site(frames[i], i == 0 ? call : 0);
	pthread_mutex_lock(&table_lock);
	number = known_site((const void *)(uintptr_t)key);
	if (number == 0 && (number = new_number()) != 0) {
		small_append("site", PAIRS(
		    pair_uint("site", number),
		    pair_uint("count", (uint64_t)depth),
		    pair_bytes("stack", stack, (size_t)depth * sizeof stack[0])));
		put_into(sites, (const void *)(uintptr_t)key, number);
	}
	pthread_mutex_unlock(&table_lock);
	return number;
}

uint32_t
stack_site(const void *address, uint16_t call)
{
	const void *frames[MOST_CALLERS];
	int depth = python_places(address, call, frames, options.stack);

	if (depth == 0 && options.stack > 1)
		depth = callers_from(&self->frames, address, frames, options.stack);
	return depth == 0 ? plain_site(address, call) : frames_site(frames, depth, call);
}
