/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions. An event, a begin or an end, is a time and the number of a name, stored into a block
 * that is mapped from the file, like rows (blocks.c). So nothing is lost with the process, and an
 * event costs a reading of the clock, a comparison of the name with the one at its address before,
 * and two stores. Ends that are missing are found by lp-merge.
 *
 * Regions that begin before MPI_Init are remembered, and begin with it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../front/front.h"
#include "clock.h"
#include "file.h"
#include "pack.h"
#include "small.h"

enum {
	MOST_NAMES = 1 << 14,		/* further ones are one region, OTHERS */
	OTHERS = MOST_NAMES + 1,
	NAME_BYTES = 255,		/* kept of a name */
	NEAR = 64,			/* names that a thread finds by their address */
	EARLY = 64,			/* open regions of a thread before MPI_Init, at most */
	FIRST_EVENTS = 64,		/* of a thread's first block */
	MOST_EVENTS = 1 << 13,
	HEADER_BYTES = 160,		/* more than the keys of a block need */
};

/* ---- names ---- */

struct name {
	uint64_t hash;
	uint32_t number;
	_Atomic enum { UNTOLD, UNSURE, SURE } told;	/* its definition in the trace */
	char text[];
};

static struct name *_Atomic names[4 * MOST_NAMES];
static struct name *_Atomic others;
static uint32_t name_count;
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

/* What a thread knows of regions. */
struct region_state {
	struct near_name { const char *at; struct name *name; } near[NEAR];
	uint64_t events;
	/* Open regions before MPI_Init: as many as have room, and the number of all. */
	struct name *early[EARLY];
	uint32_t early_count;
};
static __thread struct region_state *own __attribute__((tls_model("initial-exec")));
static _Atomic bool started;		/* between MPI_Init and MPI_Finalize */

static struct name *
new_name(const char *text, size_t size, uint64_t hash, uint32_t number)
{
	struct name *name = malloc(sizeof *name + size + 1);

	if (name == NULL)
		return NULL;
	*name = (struct name){ .hash = hash, .number = number };
	memcpy(name->text, text, size);
	name->text[size] = '\0';
	return name;
}

/* The slot of a name, or the free one where it belongs. */
static struct name *_Atomic *
slot_of(const char *text, size_t size, uint64_t hash)
{
	size_t i = hash % (4 * MOST_NAMES);
	struct name *name;

	while ((name = names[i]) != NULL && (name->hash != hash ||
	    strncmp(name->text, text, size) != 0 || name->text[size] != '\0'))
		i = (i + 1) % (4 * MOST_NAMES);
	return &names[i];
}

/* NULL: no memory. */
static SELDOM struct name *
find_name(const char *text)
{
	static const char other_regions[] = "(other regions)";
	const size_t size = strnlen(text, NAME_BYTES);
	struct name *_Atomic *slot;
	struct name *name;
	const uint64_t hash = hash_of(text, size);

	if ((name = *slot_of(text, size, hash)) != NULL)
		return name;
	pthread_mutex_lock(&names_lock);
	slot = slot_of(text, size, hash);	/* another thread may have added it */
	if ((name = *slot) == NULL && name_count == MOST_NAMES) {
		if (others == NULL) {
			others = new_name(other_regions, strlen(other_regions), 0, OTHERS);
			say("more than 16384 names of regions: further ones are recorded as one "
			    "region, (other regions)");
		}
		name = others;
	} else if (name == NULL &&
	    (name = new_name(text, size, hash, name_count + 1)) != NULL) {
		name_count++;
		*slot = name;
	}
	pthread_mutex_unlock(&names_lock);
	return name;
}

/* Again, when it is surer than before. */
static SELDOM void
write_name(struct name *name, int how)
{
	pthread_mutex_lock(&names_lock);
	if ((int)name->told < how) {
		small_append("region_name", PAIRS(
		    pair_uint("number", name->number),
		    pair_text("name", name->text),
		    pair_true("unsure", how == UNSURE)));
		name->told = how;
	}
	pthread_mutex_unlock(&names_lock);
}

ALWAYS struct name *
name_at(struct region_state *state, const char *text)
{
	struct near_name *near = &state->near[((uintptr_t)text >> 2 ^ (uintptr_t)text >> 8) % NEAR];

	if (LIKELY(near->at == text && strcmp(near->name->text, text) == 0))
		return near->name;
	struct name *name = find_name(text);

	if (name != NULL)
		*near = (struct near_name){ text, name };
	return name;
}

/* ---- events ---- */

/* Begins the thread's next block; events from FROM_NS on, or from now on if that is earlier. */
static SELDOM bool
open_block(struct thread *thread, int64_t from_ns)
{
	struct block *b = &thread->regions;
	const uint32_t capacity = block_capacity(own->events, FIRST_EVENTS, MOST_EVENTS);
	unsigned char *at = NULL;
	bool old;

	pthread_mutex_lock(&raw.lock);
	if (started && !lost) {
		block_close(b, false);
		segment_go_on();
		from_ns = from_ns < clock_ns() ? from_ns : clock_ns();
		at = block_map(b, HEADER_BYTES + 12 * (size_t)capacity);
	}
	if (at != NULL) {
		put_text(&at, "regions");
		put_map_head(&at, 7 + (thread->number > 0));
		put_u32(&at, "location", thread->location);
		if (thread->number > 0)
			put_u32(&at, "worker", thread->number);
		put_u32(&at, "count", 0);
		b->count_at = at - 4;
		put_u32(&at, "capacity", capacity);
		put_text(&at, "from_ns");
		put_byte(&at, 0xd3);
		put_big(&at, (uint64_t)from_ns, 8);
		block_column(&at, "time", &b->enter, 8 * capacity);
		block_column(&at, "region", &b->site, 4 * capacity);
		b->capacity = capacity;
		block_show(b, at);
	}
	old = block_is_old(&thread->block);
	pthread_mutex_unlock(&raw.lock);
	if (old)		/* keeps an earlier segment from its end */
		rows_begin(thread);
	return at != NULL;
}

/*
 * AT_NS: INT64_MAX is now. Later blocks of the rank must not have earlier events, so the clock is
 * read after the block is there.
 */
ALWAYS void
put_event(struct thread *thread, int32_t region, int64_t at_ns)
{
	struct block *b = &thread->regions;

	if (UNLIKELY(b->count == b->capacity) && !open_block(thread, at_ns))
		return;
	if (at_ns == INT64_MAX)
		at_ns = clock_ns();
	memcpy(b->enter + 8 * (size_t)b->count, &at_ns, 8);
	memcpy(b->site + 4 * (size_t)b->count, &region, 4);
	b->count++;
	put_count(b);
	own->events++;
}

/* ---- before MPI_Init ---- */

static SELDOM void
forget(struct region_state *state, const struct name *name)
{
	uint32_t i = state->early_count;

	if (state->early_count > EARLY || name == NULL)
		state->early_count -= state->early_count > 0;
	else {
		while (i > 0 && state->early[i - 1] != name)
			i--;
		state->early_count = i > 0 ? i - 1 : state->early_count;
	}
}

static SELDOM void
begin_early(struct thread *thread, struct region_state *state, int64_t at_ns)
{
	for (uint32_t i = 0; i < state->early_count && i < EARLY; i++) {
		write_name(state->early[i], SURE);
		put_event(thread, (int32_t)state->early[i]->number, at_ns);
	}
	state->early_count = 0;
}

void
regions_start(int64_t init_ns)
{
	started = true;
	if (own != NULL && self != NULL)
		begin_early(self, own, init_ns);
}

void
regions_stop(void)
{
	started = false;
}

/* ---- the program's own begins and ends ---- */

static SELDOM struct region_state *
new_state(void)
{
	return own = calloc(1, sizeof *own);
}

/* The thread that records now; NULL: none does. */
ALWAYS struct thread *
recorded(struct region_state *state)
{
	struct thread *thread;

	if (UNLIKELY(!started || lost || !recording))
		return NULL;
	thread = LIKELY(self != NULL) ? self : new_thread();
	if (UNLIKELY(state->early_count > 0) && thread != NULL)
		begin_early(thread, state, INT64_MAX);
	return thread;
}

ALWAYS void
note_own(const char *text, bool begins)
{
	struct region_state *state = LIKELY(own != NULL) ? own : new_state();
	struct name *name = state != NULL && text != NULL ? name_at(state, text) : NULL;
	struct thread *thread;

	if (UNLIKELY(state == NULL || (name == NULL && (begins || text != NULL))))
		return;
	if (UNLIKELY((thread = recorded(state)) == NULL)) {
		if (!begins)
			forget(state, name);
		else {
			if (state->early_count < EARLY)
				state->early[state->early_count] = name;
			state->early_count++;
		}
		return;
	}
	if (UNLIKELY(name != NULL && name->told != SURE))
		write_name(name, SURE);
	put_event(thread, name == NULL ? 0 :
	    begins ? (int32_t)name->number : -(int32_t)name->number, INT64_MAX);
}

void
region_begin(const char *text)
{
	note_own(text, true);
}

void
region_end(const char *text)
{
	note_own(text, false);
}

/* Copies a text of 1 to NAME_BYTES printable bytes. False: there is none. */
static bool
read_text(const char *from, char *to)
{
	const int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd >= 0 ? pread(fd, to, NAME_BYTES + 1, (off_t)(uintptr_t)from) : 0;
	ssize_t i = 0;

	if (fd >= 0)
		close(fd);
	while (i < got && ((unsigned char)to[i] >= ' ' && to[i] != 127))
		i++;
	return i > 0 && i < got && to[i] == '\0';
}

void
region_by_level(int level, const char *name)
{
	enum { FIRST_REGION = 5 };
	char text[NAME_BYTES + 1];
	struct region_state *state;
	struct thread *thread;
	struct name *found;

	if (level >= FIRST_REGION || level <= -FIRST_REGION) {
		snprintf(text, sizeof text, "MPI_Pcontrol(%d)", level < 0 ? -level : level);
		(level > 0 ? region_begin : region_end)(text);
	} else if ((level == 1 || level == -1) && name != NULL && read_text(name, text)) {
		if (level < 0) {
			if (*slot_of(text, strlen(text), hash_of(text, strlen(text))) != NULL)
				region_end(text);
			return;
		}
		state = own != NULL ? own : new_state();
		found = state != NULL ? find_name(text) : NULL;
		if (found == NULL || (thread = recorded(state)) == NULL)
			return;
		write_name(found, UNSURE);
		put_event(thread, (int32_t)found->number, INT64_MAX);
	}
}

/* The front has the functions that programs call. */
static __attribute__((constructor)) void
listen(void)
{
	longpole_regions = (struct region_hooks){ region_begin, region_end };
}
