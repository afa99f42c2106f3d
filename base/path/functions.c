/* SPDX-License-Identifier: BSD-3-Clause */
#include "functions.h"
#include "run.h"

#include "../tool/hash_table.h"

#define THREAD(p) ((uint32_t)(p)->rank ^ (p)->worker << 16)
#define HASH(p) mix((p)->site, (uint64_t)(p)->callers << 32 | THREAD(p))
#define SAME(a, b) \
	((a)->site == (b)->site && (a)->callers == (b)->callers && (a)->rank == (b)->rank && \
	(a)->worker == (b)->worker)
#define FREE(p) ((p)->site == UINT32_MAX)
#define MAKE_FREE(p) ((p)->site = UINT32_MAX)
HASH_TABLE(place_table, struct sampled, HASH, SAME, FREE, MAKE_FREE, HASH_KEEP_ALL,
    die("out of memory"))

/* No thread: its samples are lost ones of any thread; their number is in callers. */
enum { LOST = UINT32_MAX };

void
functions_add_place(struct functions *f, const struct sampled *more)
{
	const struct sampled new = { .site = more->site, .callers = more->callers,
	    .worker = more->worker, .rank = more->rank };
	struct sampled *place;

	if (more->site == UINT32_MAX)	/* of a damaged stream */
		return;
	place = place_table_add(&f->places, &new);
	place->all += more->all;
	place->samples += more->samples;
	place->blocked_ns += more->blocked_ns;
	place->before_ns += more->before_ns;
	place->awaited_ns += more->awaited_ns;
	place->counted_ns += more->counted_ns;
	for (int c = 0; c < COUNTERS; c++)
		place->counts.of[c] += more->counts.of[c];
}

void
run_take_samples(struct run *run, const struct message *message, bool all)
{
	struct functions *f = run->functions;
	struct reader *in = run->graph.in;
	struct samples *block;
	int64_t location;
	bool owns;

	if (f == NULL)
		return;
	if (body_int(in, message, "location", 0, run->graph.known.location_count - 1,
	    &location) < 0)
		die_input(in);
	owns = run_owns(run, (uint32_t)location);
	f->known = &run->graph.known;
	if (!owns && !all)
		return;
	block = &f->block;
	if (reader_verify(in, message) < 0 || samples_read(block, in, message) < 0)
		die_input(in);
	f->sums.any = true;
	if (block->switches) {
		f->sums.switched = true;
		f->sums.clock |= block->clock;
		f->sums.lost += owns ? block->lost : 0;
		lane_add(&f->lanes, block);
		return;
	}
	f->sums.period_ns = block->period_ns;
	if (owns && block->lost > 0) {
		uint32_t site = 0,
		    lost = block->lost < UINT32_MAX ? (uint32_t)block->lost : UINT32_MAX;
		int64_t at_ns = block->count > 0 ? block->time_ns[0] : block->until_ns;

		lane_add(&f->lanes, &(struct samples){ .location = block->location,
		    .worker = LOST, .count = 1, .time_ns = &at_ns, .site = &site,
		    .callers = &lost });
	}
	lane_add(&f->lanes, block);
}

void
functions_see_calls(struct functions *f, const struct calls *calls)
{
	struct thread_lane *lane = lane_find(&f->lanes, calls->location, 0);

	if (lane != NULL)
		lane_see(lane, calls);
}

void
functions_forget(struct functions *f, uint32_t location, int64_t before_ns, bool owns, bool counts)
{
	for (size_t k = 0; location < f->lanes.count && k < f->lanes.at[location].count; k++) {
		struct thread_lane *lane = &f->lanes.at[location].of[k];
		size_t to = lane_from(lane, before_ns);

		if (owns && lane->worker == 0 && to > lane->seen)	/* its calls will come */
			to = lane->seen;
		for (size_t i = lane->begin; i < to && counts; i++)
			if (lane->worker == LOST)
				f->sums.lost += lane->at[i].callers;
			else if (lane->at[i].site != SITE_IN_CALL)
				functions_add_place(f, &(struct sampled){ lane->at[i].site,
				    lane->at[i].callers, .all = 1 });
		lane_forget(lane, to);
	}
	off_forget(&f->lanes, location, before_ns);
}

/* Forgets samples before each location's first kept row; other members' rows are not here. */
void
run_forget_samples(struct run *run, bool counts)
{
	for (uint32_t l = 0; run->functions != NULL && l < run->graph.known.location_count; l++) {
		const bool owns = run_owns(run, l);
		const struct event_row *row = window_row(&run->graph.window, l,
		    window_first(&run->graph.window, l));

		if (!owns)
			functions_forget(run->functions, l, run->last_ns, false, false);
		else if (row != NULL)
			functions_forget(run->functions, l, row->row.enter_ns, true, counts);
	}
}

void
run_count_rest(struct run *run)
{
	for (uint32_t l = 0; run->functions != NULL && l < run->graph.known.location_count; l++)
		if (run_owns(run, l))
			functions_forget(run->functions, l, INT64_MAX, true, true);
}

void
functions_length(struct functions *f, const struct segment *s)
{
	if (s->kind != GAP)
		f->sums.path_ns[s->kind] += s->end_ns - s->begin_ns;
}

/* Where the thread of a piece is: its rank and number, if it does not make the calls. */
static struct sampled
place_in(const struct functions *f, const struct segment *s, const struct awaited_piece *piece)
{
	return (struct sampled){ .worker = piece->worker,
	    .rank = piece->worker > 0 ? f->known->location_rank[s->location] : 0 };
}

/* Adds the places where the piece's thread blocked. */
static void
add_blocked(struct functions *f, const struct segment *s, const struct awaited_piece *piece)
{
	struct off_cut cut = off_between(off_lane(piece->lane), piece->from_ns, piece->to_ns);
	struct off_span part;

	while (off_next(&cut, &part)) {
		const int64_t ns = part.to_ns - part.from_ns - part.on_core_ns;
		struct sampled place = place_in(f, s, piece);

		if (part.reason != OFF_BLOCKED)
			continue;
		place.site = part.site > 0 ? part.site : s->site;
		place.callers = part.site > 0 ? part.callers : 0;
		*(part.site > 0 ? &place.blocked_ns : &place.before_ns) = ns;
		functions_add_place(f, &place);
	}
}

/* The counts of sample I are the place's if the thread's sample before is in it, and in WHOLE. */
static void
add_counts(const struct functions *f, const struct awaited_piece *whole, size_t i,
    struct sampled *place)
{
	const struct thread_lane *lane = whole->lane;
	const struct thread_sample *now = &lane->at[i], *before = now - 1;

	if (lane->counts == NULL || i == lane->begin || before->at_ns < whole->from_ns ||
	    !same_function(f->known, before->site, now->site))
		return;
	place->counts = lane->counts[i];
	place->counted_ns = core_time(off_lane(lane), before->at_ns, now->at_ns).on_ns;
}

/* PIECE: a part of WHOLE. */
static void
add_samples(struct functions *f, const struct segment *s, const struct awaited_piece *piece,
    const struct awaited_piece *whole)
{
	const struct thread_lane *lane = piece->lane;

	for (size_t i = lane_from(lane, piece->from_ns); lane_has(lane, i, piece->to_ns); i++) {
		struct sampled place = place_in(f, s, piece);

		place.site = lane->at[i].site;
		place.callers = lane->at[i].callers;
		place.samples = 1;
		add_counts(f, whole, i, &place);
		functions_add_place(f, &place);
	}
}

/* Adds the time of the piece's thread on a core. */
static void
add_core_time(struct functions *f, const struct segment *s, const struct awaited_piece *piece)
{
	const struct core_time time = core_time(off_lane(piece->lane), piece->from_ns,
	    piece->to_ns);
	struct sampled place = place_in(f, s, piece);

	core_time_add(&f->sums.core, &time);
	add_blocked(f, s, piece);
	place.awaited_ns = piece->to_ns - piece->from_ns;
	if (piece->worker > 0)
		functions_add_place(f, &place);
}

void
functions_find(struct functions *f, const struct segment *s)
{
	if (s->kind == COMPUTE && f->known != NULL)
		awaited_find(&f->awaited, f->known, &f->lanes, f->sums.period_ns,
		    s->location, s->begin_ns, s->end_ns);
}

void
functions_part(struct functions *f, const struct segment *part)
{
	functions_length(f, part);
	if (part->kind != COMPUTE || f->known == NULL)
		return;
	for (size_t i = 0; i < f->awaited.count; i++) {
		struct awaited_piece piece = f->awaited.at[i];

		if (piece.from_ns < part->begin_ns)
			piece.from_ns = part->begin_ns;
		if (piece.to_ns > part->end_ns)
			piece.to_ns = part->end_ns;
		if (piece.from_ns >= piece.to_ns)
			continue;
		if (f->sums.switched)
			add_core_time(f, part, &piece);
		add_samples(f, part, &piece, &f->awaited.at[i]);
	}
	if (!f->sums.switched)
		return;
	/* How many threads of the process were on cores meanwhile? */
	for (uint32_t l = 0; l < f->known->location_count; l++)
		if (f->known->location_rank[l] == f->known->location_rank[part->location])
			thread_states_add(&f->threads, &f->lanes, l, part->begin_ns, part->end_ns,
			    NULL);
	thread_states_time(&f->threads, &f->sums.threads_ns, &f->sums.alone_ns);
}

void
functions_segment(struct functions *f, const struct segment *s)
{
	functions_find(f, s);
	functions_part(f, s);
}

void
functions_begin_window(struct functions *f)
{
	struct function_sums *sums = &f->sums;

	memset(sums->path_ns, 0, sizeof sums->path_ns);
	sums->core = (struct core_time){ 0 };
	sums->threads_ns = sums->alone_ns = 0;
	for (struct sampled *place = NULL; (place = place_table_next(f->places, place)) != NULL; ) {
		place->samples = 0;
		place->blocked_ns = place->before_ns = place->awaited_ns = place->counted_ns = 0;
		place->counts = (struct sample_counts){ { 0 } };
	}
}

ORDER(by_site, struct sampled, BY(site) BY(callers) BY(rank) BY(worker))

struct sampled *
functions_places(const struct functions *f, size_t *count)
{
	*count = place_table_count(f->places);
	return place_table_sorted(f->places, by_site);
}

struct on_path
functions_on_path(const struct functions *f)
{
	struct on_path path = { .compute_ns = f->sums.path_ns[COMPUTE] };

	for (const struct sampled *p = NULL; (p = place_table_next(f->places, p)) != NULL; ) {
		path.samples += p->samples;
		path.awaited_ns += p->awaited_ns;
	}
	path.drawn_ns = f->sums.switched ? f->sums.core.on_ns : path.compute_ns;
	path.worth_ns = sample_worth(f->sums.period_ns, path.samples, path.drawn_ns);
	path.on_core_ns = on_path_ns(&path, path.samples);
	path.off_ns[OFF_UNKNOWN] = path.compute_ns - path.on_core_ns;
	if (f->sums.switched) {
		path.unsampled_ns = path.drawn_ns - path.on_core_ns;
		path.on_core_ns = path.drawn_ns;
		memcpy(path.off_ns, f->sums.core.off_ns, sizeof path.off_ns);
	}
	return path;
}

int64_t
on_path_ns(const struct on_path *path, uint64_t samples)
{
	return (int64_t)samples * path->worth_ns;
}
