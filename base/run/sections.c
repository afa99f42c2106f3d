/* SPDX-License-Identifier: BSD-3-Clause */
#include "steps.h"

#include <stdlib.h>

#include "../tool/hash_table.h"
#include "../tool/search.h"
#include "../tool/spool.h"
#include "../tool/tool.h"

struct seen { struct call_place place; uint32_t section; };

HASH_TABLE_OF(place_seen, struct seen, place.site, place.call, section, UINT32_MAX)

struct loop *
section_loop(const struct sections *s, uint32_t section, uint64_t *instance)
{
	for (struct loop *loop = s->steps.loops; loop < s->steps.loops + s->steps.count; loop++)
		if (section >= loop->first && section - loop->first < loop->steps) {
			*instance = section - loop->first + 1;
			return loop;
		}
	return NULL;
}

static void
add_mark(struct sections *s, struct section_lane *lane, int64_t at_ns, uint64_t seq,
    uint32_t section)
{
	struct section *old = &s->at[lane->now], *new = &s->at[section];

	if (at_ns > old->end_ns)
		old->end_ns = at_ns;
	if (at_ns < new->begin_ns)
		new->begin_ns = at_ns;
	*ENQUEUE(lane->marks, lane->begin, lane->end, lane->capacity) = (struct section_mark){
	    at_ns, seq, section };
	lane->now = section;
}

/* The section's kind gets the place, if it is new in it. */
static void
see_place(struct sections *s, uint32_t section, struct call_place place)
{
	struct seen *seen = place_seen_add(&s->seen, &(struct seen){ place, UINT32_MAX - 1 });

	if (seen->section == section || section == 0)
		return;
	seen->section = section;
	s->at[section].kind += mix(place.site, place.call + 1U);
}

#define BEGINS_UNTIL(mark, ns) ((mark)->at_ns <= (ns))
SEARCH(mark_after, struct section_mark, int64_t, BEGINS_UNTIL)
#define COMES_UNTIL(mark, row) ((mark)->seq <= (row))
SEARCH(mark_after_row, struct section_mark, uint64_t, COMES_UNTIL)

/* The section before mark I of those kept. */
static uint32_t
section_before(const struct section_lane *lane, size_t i)
{
	return lane->begin + i > 0 ? lane->marks[lane->begin + i - 1].section : 0;
}

/* Are the steps instances of regions? */
static bool
is_named(const struct sections *s)
{
	return s->steps.count > 0 && s->steps.loops[0].region > 0;
}

static void
see_call(struct sections *s, int32_t rank, const struct calls *calls, size_t row)
{
	struct section_lane *lane = &s->lanes[rank];
	const struct call_place place = call_place(&s->same, s->known, calls->site[row],
	    calls->call[row]);
	const uint64_t number = lane->calls++;
	const uint64_t seq = calls->first + row;
	const struct loop *loop = &s->steps.loops[lane->loop];
	const struct rank_steps *steps;
	bool divides = false, over;

	if (is_named(s)) {
		if (rank == 0)
			see_place(s, section_before(lane, mark_after(lane->marks + lane->begin,
			    lane->end - lane->begin, calls->enter_ns[row])), place);
		return;
	}
	if (lane->loop == s->steps.count)
		return;
	steps = &loop->ranks[rank];
	if (same_place(place, steps->place)) {
		divides = lane->at == 0 || number + 1 - lane->at != steps->burst;
		over = lane->at > 0 && number + 1 == lane->at + steps->unit && divides;
		lane->at = number + 1;
		divides = divides && lane->turn++ % steps->period == 0;
	} else {
		over = lane->at > 0 && number + 1 == lane->at + steps->unit;
	}
	if (number == steps->first)
		add_mark(s, lane, lane->leave_ns, seq, loop->first);
	else if ((loop->ends ? over : divides) && number > steps->first && number <= steps->last)
		add_mark(s, lane, lane->leave_ns, seq, lane->now + 1);
	if (rank == 0 && lane->now > 0)
		see_place(s, lane->now, place);
	if (number == steps->last) {
		add_mark(s, lane, calls->leave_ns[row], seq + 1, 0);
		lane->loop++;
		lane->at = lane->turn = 0;
	}
}

/* The same where an outermost instance of some regions is a step. */
static void
see_named_step(struct sections *s, struct section_lane *lane, int64_t at_ns, int32_t number)
{
	size_t loop = 0;		/* the one whose steps are instances of the region */

	if (number > 0) {
		*APPEND(lane->inside, lane->depth, lane->room) = (uint32_t)number;
		while (loop < s->steps.count && s->steps.loops[loop].region != (uint32_t)number)
			loop++;
		if (lane->now > 0 || loop == s->steps.count)
			return;
		lane->step_depth = lane->depth;
		add_mark(s, lane, at_ns, 0, s->steps.loops[loop].first +
		    (uint32_t)(*AT(lane->steps, lane->steps_room, loop))++);
	} else if (lane->depth > 0) {
		if (lane->now > 0 && lane->depth == lane->step_depth)
			add_mark(s, lane, at_ns, 0, 0);
		lane->depth--;
	}
}

/* A region of the thread begins, or NUMBER is 0 and the innermost one ends. */
static void
see_region(struct sections *s, struct section_lane *lane, int64_t at_ns, int32_t number)
{
	if (number > 0) {
		*APPEND(lane->inside, lane->depth, lane->room) = (uint32_t)number;
		AT(s->at, s->capacity, number)->instances++;
	} else if (lane->depth > 0) {
		lane->depth--;
	}
	add_mark(s, lane, at_ns, 0, lane->depth > 0 ? lane->inside[lane->depth - 1] : 0);
}

/* A thread of the location; NULL: it has no regions of its own. */
static struct section_lane *
lane_of_thread(const struct section_lane *lane, uint32_t worker)
{
	for (size_t i = 0; worker > 0 && i < lane->worker_count; i++)
		if (lane->workers[i].worker == worker)
			return &lane->workers[i];
	return NULL;
}

void
check_regions(const struct definitions *known, struct reader *in, const struct message *message,
    const struct samples *block)
{
	for (size_t i = 0; i < block->count; i++)
		if (block->region[i] > 0 && ((size_t)block->region[i] >= known->region_count ||
		    known->regions[block->region[i]] == NULL))
			die_message(in, message, "regions: region %d has no name",
			    (int)block->region[i]);
}

static void
see_regions(struct sections *s, struct reader *in, const struct message *message)
{
	struct section_lane *lane;

	if (reader_verify(in, message) < 0 || samples_read(&s->block, in, message) < 0)
		die_input(in);
	check_regions(s->known, in, message, &s->block);
	if ((s->block.worker > 0 && !s->regions) || s->block.location >= s->lane_count)
		return;
	lane = &s->lanes[s->block.location];
	if (s->block.worker > 0 && lane_of_thread(lane, s->block.worker) == NULL)
		APPEND(lane->workers, lane->worker_count, lane->worker_room)->worker =
		    s->block.worker;
	if (s->block.worker > 0)
		lane = lane_of_thread(lane, s->block.worker);
	for (size_t i = 0; i < s->block.count; i++)
		(s->regions ? see_region : see_named_step)(s, lane, s->block.time_ns[i],
		    s->block.region[i]);
}

void
sections_take(struct sections *s, const struct definitions *known, struct reader *in,
    const struct message *message, const struct calls *calls)
{
	if (s->window_ns > 0)
		return;
	if (s->lanes == NULL && known->ranks > 0) {
		s->known = known;
		s->lane_count = s->regions ? known->location_count : (size_t)known->ranks;
		s->lanes = zalloc(s->lane_count, sizeof *s->lanes);
	}
	if (!s->regions && is_kind(message, "calls")) {
		/* a rank's first thread has the steps */
		for (size_t i = 0; i < calls->count && calls->location < s->lane_count; i++) {
			if (is_step_call(calls->call[i]))
				see_call(s, (int32_t)calls->location, calls, i);
			s->lanes[calls->location].leave_ns = calls->leave_ns[i];
		}
	} else if ((s->regions || is_named(s)) && is_kind(message, "regions"))
		see_regions(s, in, message);
	else if (s->regions && is_kind(message, "region_name"))
		s->count = known->region_count > 1 ? known->region_count : 1;
}

/* Returns the section of that instant. */
static uint32_t
lane_forget_marks(struct section_lane *lane, int64_t before_ns)
{
	const size_t passed = mark_after(lane->marks + lane->begin, lane->end - lane->begin,
	    before_ns);

	if (passed > 1)		/* the last of them is the section of that instant */
		lane->begin += passed - 1;
	for (size_t i = 0; i < lane->worker_count; i++)
		lane_forget_marks(&lane->workers[i], before_ns);
	return section_before(lane, passed > 0);
}

/* The window of an instant. */
static uint64_t
window_at(const struct sections *s, int64_t at_ns)
{
	return at_ns > 0 ? (uint64_t)(at_ns / s->window_ns) + 1 : 1;
}

uint64_t
sections_forget(struct sections *s, int64_t before_ns)
{
	uint32_t oldest = UINT32_MAX;

	if (s->window_ns > 0)
		return window_at(s, before_ns);
	for (size_t l = 0; l < s->lane_count; l++) {
		const uint32_t now = lane_forget_marks(&s->lanes[l], before_ns);

		oldest = now < oldest ? now : oldest;
	}
	return s->regions ? 0 : oldest;		/* a region may begin again */
}

/* The lane's section where the piece begins; ends the piece where the next one begins. */
static uint32_t
cut_by_lane(const struct section_lane *lane, struct section_cut *cut)
{
	size_t next;

	if (lane == NULL || lane->end == 0)
		return 0;
	next = mark_after(lane->marks + lane->begin, lane->end - lane->begin, cut->from_ns);
	if (lane->begin + next < lane->end &&
	    lane->marks[lane->begin + next].at_ns < cut->to_ns)
		cut->to_ns = lane->marks[lane->begin + next].at_ns;
	return section_before(lane, next);
}

static uint64_t
cut_by_window(const struct sections *s, struct section_cut *cut)
{
	const uint64_t section = window_at(s, cut->from_ns);

	cut->to_ns = smaller(cut->to_ns, (int64_t)section * s->window_ns);
	return section;
}

bool
section_next(const struct sections *s, struct section_cut *cut)
{
	const struct section_lane *lane = s->lanes == NULL ? NULL : &s->lanes[s->regions ?
	    cut->location : (uint32_t)s->known->location_rank[cut->location]];

	if (cut->left_from_ns >= cut->left_to_ns)
		return false;
	cut->from_ns = cut->left_from_ns;
	cut->to_ns = cut->left_to_ns;
	cut->section = s->window_ns > 0 ? cut_by_window(s, cut) :
	    lane != NULL ? cut_by_lane(lane_of_thread(lane, cut->worker), cut) : 0;
	if (cut->section == 0)
		cut->section = cut_by_lane(lane, cut);
	cut->left_from_ns = cut->to_ns;
	return true;
}

/* ---- sums of a tool ------------------------------------------------------------------- */

void *
section_sums(struct sections *s, uint64_t section)
{
	void **sums = &s->none_sums;

	if (section > 0) {
		const uint64_t i = section > s->closed ? section - s->closed - 1 : 0;

		while (s->sums_end - s->sums_begin <= i)
			ENQUEUE(s->sums, s->sums_begin, s->sums_end, s->sums_room);
		sums = &s->sums[s->sums_begin + i];
	}
	if (*sums == NULL)
		*sums = zalloc(1, s->sums_size);
	return *sums;
}

void
sections_close(struct sections *s, uint64_t first, void (*end)(void *of, uint64_t section),
    void *of)
{
	while (s->closed + 1 < first) {
		end(of, s->closed + 1);
		free(section_sums(s, s->closed + 1));
		s->sums_begin++;
		s->closed++;
	}
}

/* ---- finding steps --------------------------------------------------------------------- */

static void
note_point(struct sections *s, uint32_t section, bool differs)
{
	uint64_t instance;
	struct loop *loop = section_loop(s, section, &instance);

	if (loop == NULL)
		return;
	loop->synchronised++;
	loop->differ += differs;
}

/* Are all ranks in the same step at their rows SEQS? Forgets earlier ones. */
static void
check_point(struct sections *s, const uint64_t *seqs)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (int32_t r = 0; r < s->steps.ranks && s->lanes != NULL; r++) {
		struct section_lane *lane = &s->lanes[r];
		const size_t passed = mark_after_row(lane->marks + lane->begin,
		    lane->end - lane->begin, seqs[r]);
		const uint32_t section = section_before(lane, passed);

		least = section < least ? section : least;
		most = section > most ? section : most;
		if (passed > 1)
			lane->begin += passed - 1;
	}
	note_point(s, least, least != most);
	if (least != most)
		note_point(s, most, true);
}

/* Reads the file once more, and leaves out loops in which ranks are in different steps. */
static void
check_steps(struct sections *s, const char *file)
{
	struct definitions known = { 0 };
	struct calls calls = { 0 };
	struct message message;
	struct reader *in;
	uint64_t *seqs = NULL;

	if (reader_open(&in, file, READ_LAZY) < 0)
		die_input(in);
	while (definitions_next(&known, in, &message)) {
		if (is_kind(&message, "run") && seqs == NULL)
			seqs = zalloc(known.location_count, sizeof *seqs);
		if (is_kind(&message, "calls")) {
			if (calls_read(&calls, in, &message) < 0)
				die_input(in);
			sections_take(s, &known, in, &message, &calls);
		} else if (is_kind(&message, "sync")) {
			if (body_column(in, &message, "seq", known.location_count, seqs) < 0)
				die_input(in);
			check_point(s, seqs);
		}
	}
	reader_close(in);
	calls_free(&calls);
	free(seqs);
}

/* Makes room for the sections of the loops, and begins again. */
static void
begin(struct sections *s)
{
	uint64_t count = 1;

	for (size_t i = 0; i < s->steps.count; i++) {
		s->steps.loops[i].first = (uint32_t)count;
		count += s->steps.loops[i].steps;
	}
	if (count >= UINT32_MAX)
		die("%llu steps are too many", (unsigned long long)count);
	s->count = (size_t)count;
	free(s->at);
	s->at = zalloc(s->count, sizeof *s->at);
	for (size_t i = 0; i < s->count; i++)
		s->at[i] = (struct section){ .begin_ns = INT64_MAX, .end_ns = INT64_MIN };
	for (size_t l = 0; l < s->lane_count; l++)
		free(s->lanes[l].marks);
	free(s->lanes);
	s->lanes = NULL;
	s->lane_count = 0;
	free(s->seen);
	s->seen = NULL;
	s->same = (struct same_sites){ NULL };
}

void
sections_by_steps(struct sections *s, const char *file, uint64_t wanted)
{
	size_t kept = 0;

	if (file == NULL || strcmp(file, "-") == 0)
		spool_stdin();
	*s = (struct sections){ .at = NULL };
	if (!steps_named(&s->steps, file, wanted)) {
		rewind_input(file);
		steps_find(&s->steps, file, wanted);
	}
	begin(s);
	rewind_input(file);
	if (s->steps.count > 0 && !is_named(s))
		check_steps(s, file);
	for (size_t i = 0; i < s->steps.count; i++)
		if (s->steps.loops[i].differ == 0)
			s->steps.loops[kept++] = s->steps.loops[i];
	s->steps.count = kept;
	begin(s);
	rewind_input(file);
}

void
sections_by_regions(struct sections *s)
{
	*s = (struct sections){ .regions = true, .count = 1 };
	AT(s->at, s->capacity, 0)->instances = 0;
}

void
sections_by_windows(struct sections *s, int64_t window_ns)
{
	*s = (struct sections){ .window_ns = window_ns };
}
