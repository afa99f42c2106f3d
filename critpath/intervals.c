/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topological sort by intervals (Korkhov et al. 2023). Intervals are the locations' computations
 * between calls, in order of their begin. Intervals that overlap the longest among them form a
 * group. The longest one is assumed to lie on the path, which reaches it through the call before
 * it. This uses no edges, so it is an approximation. If that call began only after the previous
 * group's piece had ended, the gap between is unknown.
 */
#include "critpath.h"

void
add_interval(struct intervals *intervals, struct interval interval)
{
	*APPEND(intervals->at, intervals->count, intervals->capacity) = interval;
}

void
add_intervals(struct intervals *intervals, const struct stretch *stretch, uint32_t location)
{
	const struct beginning *begin = stretch->from_sync ? NULL :
	    beginning_of(stretch->known, location);
	const int64_t first_ns = begin != NULL ? begin->ns : stretch->begin_ns;
	const struct row *before = NULL;

	for (uint64_t seq = stretch->first_seq[location]; seq < stretch->end_seq[location]; seq++) {
		const struct row *row = window_row(stretch->window, location, seq);
		int64_t begin_ns = before != NULL ? before->leave_ns : first_ns;

		if (row->part > 0)
			continue;
		/*
		 * At a synchronisation point the compute time before belongs to the previous
		 * stretch.
		 */
		if (row->enter_ns > begin_ns && (before != NULL || !stretch->from_sync))
			add_interval(intervals, (struct interval){ begin_ns, row->enter_ns,
			    location, row->site, before != NULL ? before->enter_ns : first_ns,
			    before != NULL ? before->site : 0, before != NULL ? before->call : 0,
			    (uint8_t)kind_before(row->call, before == NULL) });
		before = row;
	}
}

ORDER(earlier, struct interval, BY(begin_ns) BY(location))

/* Merges neighbours until one is left. */
void
merge_intervals(struct intervals *intervals, size_t *bounds, size_t arrays)
{
	struct interval *from = intervals->at, *to = zalloc(intervals->count, sizeof *to), *kept;

	for (; arrays > 1; arrays = (arrays + 1) / 2) {
		for (size_t a = 0; a < arrays; a += 2) {
			size_t i = bounds[a], j = bounds[a + 1], i_end = j, k = i;
			size_t j_end = a + 1 < arrays ? bounds[a + 2] : j;

			while (i < i_end || j < j_end)
				if (j == j_end || (i < i_end && earlier(&from[i], &from[j]) <= 0))
					to[k++] = from[i++];
				else
					to[k++] = from[j++];
			bounds[a / 2] = bounds[a];
		}
		bounds[(arrays + 1) / 2] = intervals->count;
		kept = from;
		from = to;
		to = kept;
	}
	intervals->at = from;
	free(to);
}

/* The path so far ends at AT_NS on LOCATION. */
struct chain {
	struct segments *segments;
	int64_t at_ns;
	uint32_t location;
	bool begun;
};

static void
add_link(struct chain *chain, struct segment segment)
{
	struct segments *s = chain->segments;

	if (segment.end_ns > segment.begin_ns)
		*APPEND(s->at, s->count, s->capacity) = segment;
	chain->at_ns = segment.end_ns;
	chain->location = segment.location;
	chain->begun = true;
}

/* Adds the path up to END_NS, through a call that began at ENTER_NS. */
static void
add_call(struct chain *chain, uint32_t location, int64_t enter_ns, int64_t end_ns, uint32_t site,
    uint16_t call)
{
	bool stays = !chain->begun || chain->location == location;

	if (enter_ns > chain->at_ns)
		add_link(chain, (struct segment){ chain->at_ns, enter_ns < end_ns ? enter_ns :
		    end_ns, location, 0, 0, GAP, false });
	add_link(chain, (struct segment){ chain->at_ns, end_ns, location, site, call,
	    (uint8_t)(call == 0 ? COMPUTE : stays ? MPI : TRANSFER), false });
}

static void
add_longest(struct chain *chain, const struct interval *longest)
{
	if (longest->begin_ns > chain->at_ns)
		add_call(chain, longest->location, longest->call_enter_ns, longest->begin_ns,
		    longest->call_site, longest->call);
	add_link(chain, (struct segment){ longest->begin_ns, longest->end_ns, longest->location,
	    longest->site, 0, longest->kind, false });
}

void
connect_groups(const struct intervals *intervals, int64_t begin_ns, const struct ending *ending,
    struct segments *segments)
{
	struct chain chain = { segments, begin_ns, 0, false };
	const struct interval *longest = NULL;

	for (const struct interval *i = intervals->at; i < intervals->at + intervals->count; i++) {
		if (longest != NULL && i->begin_ns >= longest->end_ns) {
			add_longest(&chain, longest);
			longest = NULL;
		}
		if (longest == NULL ||
		    i->end_ns - i->begin_ns > longest->end_ns - longest->begin_ns)
			longest = i;
	}
	if (longest != NULL)
		add_longest(&chain, longest);
	if (ending->end_ns > chain.at_ns)
		add_call(&chain, ending->location, ending->enter_ns, ending->end_ns, ending->site,
		    ending->call);
}

bool
solve_intervals(const struct stretch *stretch, struct segments *segments)
{
	const struct row *last = window_row(stretch->window, stretch->to.location, stretch->to.seq);
	struct ending ending = { time_of(stretch, stretch->to), last->enter_ns, 0,
	    stretch->to.location, last->site, last->call };
	uint32_t locations = stretch->window->locations;
	size_t *bounds = zalloc((size_t)locations + 2, sizeof *bounds);
	struct intervals intervals = { 0 };

	for (uint32_t l = 0; l < locations; l++) {
		bounds[l] = intervals.count;
		add_intervals(&intervals, stretch, l);
	}
	bounds[locations] = bounds[locations + 1] = intervals.count;
	merge_intervals(&intervals, bounds, locations);
	connect_groups(&intervals, stretch->begin_ns, &ending, segments);
	free(intervals.at);
	free(bounds);
	return true;
}

/* Both paths cover the stretch without gaps. */
void
distance_add(struct distance *d, const struct stretch *stretch, const struct segments *segments)
{
	const int32_t *rank = stretch->known->location_rank;
	struct segments exact = { 0 };
	size_t i = 0, j = 0;

	while (!solve_walk(stretch, &exact))
		cut_cycle(stretch);
	if (exact.count > 0)
		d->all_ns += exact.at[exact.count - 1].end_ns - exact.at[0].begin_ns;
	while (i < exact.count && j < segments->count) {
		const struct segment *a = &exact.at[i], *b = &segments->at[j];
		const int64_t from_ns = larger(a->begin_ns, b->begin_ns);
		const int64_t to_ns = smaller(a->end_ns, b->end_ns);

		if (b->kind != GAP && to_ns > from_ns && rank[a->location] == rank[b->location]) {
			d->same_rank_ns += to_ns - from_ns;
			if (a->site == b->site)
				d->same_site_ns += to_ns - from_ns;
		}
		i += a->end_ns == to_ns;
		j += b->end_ns == to_ns;
	}
	free(exact.at);
}

double
distance_share(const struct distance *d, int64_t same_ns)
{
	return d->all_ns > 0 ? (double)same_ns / (double)d->all_ns : 1;
}
