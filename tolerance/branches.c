/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bends that several times have in common, kept once: see tolerance.h. All times begin on the
 * trunk. A look takes the bends that all times of a group have in common out of them, and puts them
 * on their branch. A group has heard of each other since the last look. If other times are on the
 * same branch, such as those of another group or of a thread that makes no more calls, the group
 * gets a branch of its own, which grows from that one. When times of two branches meet, both get
 * back the bends since these parted.
 */
#include "tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shorter runs keep all bends, in a few MB at most: what is taken out is rounded. */
#define MERGES_BEFORE_A_LOOK 65536

void
branches_begin(struct curve *c)
{
	*APPEND(c->branches, c->branch_count, c->branch_capacity) = (struct branch){ 0 };
	c->groups = zalloc(c->locations, sizeof *c->groups);
	for (uint32_t l = 0; l < c->locations; l++)
		c->groups[l] = l;
	c->next_look = MERGES_BEFORE_A_LOOK;
}

static uint32_t
group_of(const struct curve *c, uint32_t location)
{
	while (c->groups[location] != location)
		location = c->groups[location] = c->groups[c->groups[location]];
	return location;
}

void
unite(struct curve *c, uint32_t location, uint32_t other)
{
	if (location != other && location != NO_LOCATION && other != NO_LOCATION)
		c->groups[group_of(c, location)] = group_of(c, other);
}

/* ---- times get bends back --------------------------------------------------------------- */

ORDER(by_place, struct bend, BY(at))

void
sort_bends(struct bend *bends, size_t count)
{
	SORT(bends, count, by_place);
}

static void
add_bends(struct curve *c, struct envelope *e, const struct bend *bends, size_t bend_count)
{
	const uint32_t lines = lines_of(e);
	struct line sum = { 0, 0 };
	uint32_t count = 0;
	size_t k = 0;

	GROW(c->merged, c->merged_capacity, lines + bend_count);
	for (uint32_t i = 0; i < lines; i++) {
		struct line line = line_at(e, i);
		const double end = i + 1 < lines ? bend_between(line, line_at(e, i + 1)).at :
		    INFINITY;

		line = (struct line){ line.ns + sum.ns, line.slope + sum.slope };
		count = push(c, c->merged, count, line);
		for (; k < bend_count && bends[k].at < end; k++) {
			const struct line more = { -bends[k].by * bends[k].at, bends[k].by };

			sum = (struct line){ sum.ns + more.ns, sum.slope + more.slope };
			line = (struct line){ line.ns + more.ns, line.slope + more.slope };
			count = push(c, c->merged, count, line);
		}
	}
	take_merged(c, e, count);
}

/* The bends of the time's branch and of those below, down to BELOW, become its own. */
static void
climb_down(struct curve *c, struct envelope *e, uint32_t below)
{
	struct bend *bends = NULL;
	size_t count = 0, capacity = 0;

	if (e->branch == below)
		return;
	for (; e->branch != below; e->branch = c->branches[e->branch].below) {
		const struct branch *branch = &c->branches[e->branch];

		for (size_t k = 0; k < branch->count; k++)
			*APPEND(bends, count, capacity) = branch->bends[k];
	}
	sort_bends(bends, count);
	add_bends(c, e, bends, count);
	free(bends);
}

/* The first branch that both grow from. */
static uint32_t
fork_of(const struct curve *c, uint32_t one, uint32_t other)
{
	while (one != other)	/* a branch has a larger number than the one below */
		if (one > other)
			one = c->branches[one].below;
		else
			other = c->branches[other].below;
	return one;
}

void
meet(struct curve *c, struct envelope *a, struct envelope *b)
{
	uint32_t fork;

	if (a->location == NO_LOCATION)
		a->location = b->location;
	unite(c, a->location, b->location);
	if (a->branch == b->branch)
		return;
	fork = fork_of(c, a->branch, b->branch);
	climb_down(c, a, fork);
	climb_down(c, b, fork);
}

void
bends_to_trunk(struct curve *c, struct envelope *e)
{
	struct branch *trunk = c->branches;

	climb_down(c, e, 0);
	for (uint32_t i = 1; i < e->count; i++)
		*APPEND(trunk->bends, trunk->count, trunk->capacity) =
		    bend_between(e->lines[i - 1], e->lines[i]);
	for (; c->branch_count > 1; c->branch_count--)
		free(c->branches[c->branch_count - 1].bends);
}

/* ---- bends are taken out ---------------------------------------------------------------- */

/*
 * The same bend of two times? One may have rounded sums of fractions otherwise: LINE is the line
 * behind BEND.
 */
static bool
is_same(struct bend bend, struct line line, struct bend other)
{
	return fabs(bend.at - other.at) <= 1e-14 * (fabs(line.ns) / bend.by + bend.at);
}

/* Keeps of COMMON what the time bends there as well; returns how many. */
static size_t
keep_common(const struct envelope *e, struct bend *common, size_t count)
{
	size_t kept = 0, k = 0;

	for (uint32_t i = 1; i < e->count && k < count; i++) {
		const struct bend bend = bend_between(e->lines[i - 1], e->lines[i]);

		while (k < count && common[k].at < bend.at &&
		    !is_same(bend, e->lines[i], common[k]))
			k++;
		if (k < count && is_same(bend, e->lines[i], common[k])) {
			common[kept++] = (struct bend){ common[k].at,
			    fmin(common[k].by, bend.by) };
			k++;
		}
	}
	return kept;
}

/* What is left of a bend as small as rounding goes as well. */
static void
take_out(struct envelope *e, const struct bend *common, size_t count)
{
	struct line before = e->lines[0], less = { 0, 0 };
	const uint32_t lines = e->count;
	size_t k = 0;

	e->count = 1;
	for (uint32_t i = 1; i < lines; i++) {
		const struct line line = e->lines[i];
		const struct bend bend = bend_between(before, line);
		double left = bend.by;

		if (k < count && is_same(bend, line, common[k])) {
			less.slope += common[k].by;
			less.ns -= common[k].by * common[k].at;
			left -= common[k++].by;
		}
		if (left > 1e-12 * bend.by)
			e->lines[e->count++] = (struct line){ line.ns - less.ns,
			    line.slope - less.slope };
		before = line;
	}
	if (e->count == 1)
		e->count = 0;
}

/* GROUP: NOT_USED if the time was not used since the last look. */
struct grouped { uint32_t group, branch, time; };
enum { NOT_USED = UINT32_MAX };

ORDER(by_group, struct grouped, BY(group))

ORDER(by_branch, struct grouped, BY(branch) BY(group))

/* The bends that all MEMBERS have in common; the caller frees them. */
static struct bend *
common_bends(const struct curve *c, const struct grouped *members, size_t n, size_t *count)
{
	const struct envelope *least = &c->times[members->time];
	struct bend *common;
	size_t before;

	for (size_t i = 1; i < n; i++)
		if (c->times[members[i].time].count < least->count)
			least = &c->times[members[i].time];
	*count = lines_of(least) - 1;
	common = zalloc(*count + 1, sizeof *common);
	for (uint32_t i = 1; i <= *count; i++)
		common[i - 1] = bend_between(least->lines[i - 1], least->lines[i]);
	do {	/* until all of them are found in all times, in this order */
		before = *count;
		for (size_t i = 0; i < n && *count > 0; i++)
			*count = keep_common(&c->times[members[i].time], common, *count);
	} while (*count < before && *count > 0);
	return common;
}

/* Does the time bend as much at all of these places? */
static bool
has_all(const struct envelope *e, const struct bend *common, size_t count)
{
	struct bend *same;
	bool has;

	if (e->count <= count)
		return false;
	same = zalloc(count, sizeof *same);
	memcpy(same, common, count * sizeof *same);
	has = keep_common(e, same, count) == count;
	for (size_t k = 0; k < count && has; k++)
		has = same[k].by == common[k].by;
	free(same);
	return has;
}

/*
 * The bends that all MEMBERS, of one branch, have in common go to their branch, or to a new one
 * that grows from it. UNUSED times of the branch follow if they have all these bends.
 */
static void
share(struct curve *c, const struct grouped *members, size_t n, const struct grouped *unused,
    size_t unused_count)
{
	const uint32_t from = c->times[members->time].branch;
	uint32_t to = from, *moved = zalloc(n + unused_count, sizeof *moved);
	size_t count, moves = 0;
	struct bend *common = common_bends(c, members, n, &count);
	struct branch *branch;

	for (size_t i = 0; i < n && count > 0; i++)
		moved[moves++] = members[i].time;
	for (size_t i = 0; i < unused_count && count > 0; i++)
		if (c->times[unused[i].time].branch == from &&
		    has_all(&c->times[unused[i].time], common, count))
			moved[moves++] = unused[i].time;
	if (count > 0 && c->branches[from].users > moves) {
		c->branches[from].users -= (uint32_t)moves - 1;
		to = (uint32_t)c->branch_count;
		*APPEND(c->branches, c->branch_count, c->branch_capacity) =
		    (struct branch){ .below = from, .users = (uint32_t)moves };
	}
	branch = &c->branches[to];
	for (size_t i = 0; i < moves; i++) {
		take_out(&c->times[moved[i]], common, count);
		c->times[moved[i]].branch = to;
	}
	for (size_t k = 0; k < count; k++)
		*APPEND(branch->bends, branch->count, branch->capacity) = common[k];
	free(common);
	free(moved);
}

/*
 * Times that may have bends. A location that is at the last synchronisation is on the trunk;
 * another time from before it is over, or is set first.
 */
static struct grouped *
find_members(const struct curve *c, size_t *count)
{
	struct grouped *members = zalloc(c->time_count, sizeof *members);

	for (uint32_t i = 0; i < c->time_count; i++) {
		const struct envelope *e = &c->times[i];

		if (i != c->locations && e->generation == c->generation &&
		    e->location != NO_LOCATION)
			members[(*count)++] = (struct grouped){ e->look == c->looks ?
			    group_of(c, e->location) : NOT_USED, 0, i };
		else if (i < c->locations)
			members[(*count)++] = (struct grouped){ NOT_USED, 0, i };
	}
	SORT(members, *count, by_group);
	return members;
}

/* Counts who is on each branch, and frees the bends of those without. */
static void
count_users(struct curve *c, struct grouped *members, size_t count)
{
	for (size_t b = 0; b < c->branch_count; b++)
		c->branches[b].users = 0;
	for (size_t i = 0; i < count; i++) {
		const struct envelope *e = &c->times[members[i].time];

		members[i].branch = e->generation == c->generation ? e->branch : 0;
		c->branches[members[i].branch].users++;
	}
	for (size_t b = c->branch_count - 1; b > 0; b--) {
		struct branch *branch = &c->branches[b];

		if (branch->users > 0)
			c->branches[branch->below].users++;
		else {
			free(branch->bends);
			*branch = (struct branch){ 0 };
			c->branch_count -= b == c->branch_count - 1;
		}
	}
}

void
look(struct curve *c)
{
	size_t count = 0, lines = 0;
	struct grouped *members = find_members(c, &count);

	/* A group whose times are on several branches goes to where these fork. */
	for (size_t i = 0, end; i < count && members[i].group != NOT_USED; i = end) {
		uint32_t fork = c->times[members[i].time].branch;

		for (end = i; end < count && members[end].group == members[i].group; end++)
			fork = fork_of(c, fork, c->times[members[end].time].branch);
		for (size_t k = i; k < end; k++)
			climb_down(c, &c->times[members[k].time], fork);
	}
	count_users(c, members, count);
	SORT(members, count, by_branch);
	for (size_t i = 0, end; i < count; i = end) {
		size_t used = i;	/* up to here */

		for (end = i; end < count && members[end].branch == members[i].branch; end++) {
			const struct envelope *e = &c->times[members[end].time];

			lines += e->generation == c->generation ? e->count : 0;
			if (members[end].group != NOT_USED)
				used = end + 1;
		}
		if (used == i)
			continue;
		/* What all used times of a branch have in common, then what each group has. */
		share(c, members + i, used - i, members + used, end - used);
		if (members[i].group == members[used - 1].group)
			continue;
		for (size_t k = i, next; k < used; k = next) {
			for (next = k; next < used && members[next].group == members[k].group; )
				next++;
			share(c, members + k, next - k, members + used, end - used);
		}
	}
	free(members);
	for (uint32_t l = 0; l < c->locations; l++)
		c->groups[l] = l;
	c->looks++;
	c->next_look = c->merges + 64 * lines + c->time_count / 2 + MERGES_BEFORE_A_LOOK;
}
