/* SPDX-License-Identifier: BSD-3-Clause */
#include "meetings.h"

#include <stdlib.h>
#include <string.h>

#include "../tool/hash_table.h"
#include "../tool/tool.h"

enum { MOST_MEMBERS = 1 << 25 };

int
membership_read(struct membership *of, struct reader *in, const struct message *message)
{
	const bool inter = body_get(message, "remote_size") != NULL;

	*of = (struct membership){ .remote_size = -1 };
	if (body_int(in, message, "comm", 3, UINT32_MAX, &of->comm) < 0 ||
	    body_int(in, message, "size", 1, MOST_MEMBERS, &of->size) < 0 ||
	    body_int(in, message, "rank", 0, of->size - 1, &of->rank) < 0 ||
	    body_uint(in, message, "id", &of->id) < 0 ||
	    body_int_if(in, message, "from", 3, UINT32_MAX, &of->from) < 0 ||
	    body_int_if(in, message, "on", 1, UINT32_MAX, &of->on) < 0 ||
	    (body_get(message, "met") != NULL && (body_uint(in, message, "port", &of->port) < 0 ||
	    body_int(in, message, "at_ns", -LATEST_NS, LATEST_NS, &of->at_ns) < 0)) ||
	    (inter && (body_int(in, message, "remote_size", 1, MOST_MEMBERS,
	    &of->remote_size) < 0 || body_int(in, message, "side", 0, 1, &of->side) < 0)))
		return -1;
	of->type = body_string(message, "type");
	if (inter)
		of->met = body_string(message, "met");
	return 0;
}

int
neighbours_read(struct membership *of, struct reader *in, const struct message *message)
{
	uint32_t number;
	size_t count;

	if (body_int(in, message, "comm", 3, UINT32_MAX, &number) < 0 ||
	    body_count(in, message, "count", 0, 1 << 24, "sources", &count) < 0)
		return -1;
	if (of == NULL || of->comm != number || of->sources != NULL)
		return reader_fail(in, message->offset, "neighbours: not behind its communicator");
	of->sources = zalloc(count + 1, sizeof *of->sources);
	of->source_count = (uint32_t)count;
	return body_column(in, message, "sources", count, of->sources);
}

int
kernel_clock_read(struct kernel_clock *of, struct reader *in, const struct message *message)
{
	return body_uint(in, message, "kernel", &of->kernel) < 0 ||
	    body_int(in, message, "at_ns", -LATEST_NS, LATEST_NS, &of->at_ns) < 0 ||
	    body_int(in, message, "offset_ns", -LATEST_NS, LATEST_NS, &of->offset_ns) < 0 ? -1 : 0;
}

/* ---- names --------------------------------------------------------------------------- */

const struct membership *
membership_from(const struct membership *comms, size_t count, const struct membership *of)
{
	for (size_t i = 0; i < count && of->from != 0; i++)
		if (comms[i].comm == of->from)
			return &comms[i];
	return NULL;
}

/*
 * An object from a meeting is named by the meeting and its own id. Ids of other objects hold in
 * their world only.
 */
static void
name_communicators(struct met_rank *ranks, int32_t count)
{
	bool several = false;

	for (int32_t r = 0; r < count; r++)
		several |= ranks[r].run != ranks[0].run;
	for (struct met_rank *rank = ranks; rank < ranks + count; rank++)
		for (struct membership *m = rank->comms; m < rank->comms + rank->comm_count; m++) {
			const struct membership *from = membership_from(rank->comms,
			    rank->comm_count, m);

			if (m->joined)
				continue;
			m->name = from != NULL ? mix(from->name, m->id) :
			    several ? mix(m->id, rank->run) : m->id;
			if (from != NULL && m->met == NULL && m->remote_size >= 0)
				m->side = from->side;
		}
}

/* ---- meetings ------------------------------------------------------------------------ */

/* A rank's share of one side of a meeting. */
struct part {
	struct membership *of;
	int32_t rank;
};

/* One side: its parts are consecutive, in order of rank. */
struct half {
	struct part *parts;
	size_t count;
	uint64_t port, kernel;	/* 0: unknown */
	int64_t at_ns;		/* kernel's clock */
	bool joined;
};

struct halves {
	struct part *parts;
	struct half *at;
	size_t part_count, count;
};

#define NOBODY SIZE_MAX

ORDER(by_name, struct part, BY(of->name) BY(rank))

const struct kernel_clock *
kernel_at(const struct kernel_clock *kernels, size_t count, int64_t at_ns)
{
	const struct kernel_clock *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (best == NULL || llabs(kernels[i].at_ns - at_ns) < llabs(best->at_ns - at_ns))
			best = &kernels[i];
	return best;
}

static struct half
half_of(const struct met_rank *ranks, struct part *parts, size_t count)
{
	struct half half = { .parts = parts, .count = count };

	for (size_t i = 0; i < count; i++) {
		const struct membership *m = parts[i].of;
		const struct met_rank *rank = &ranks[parts[i].rank];
		const struct kernel_clock *kernel = kernel_at(rank->kernels, rank->kernel_count,
		    m->at_ns);

		if (half.port == 0)
			half.port = m->port;
		if (half.kernel == 0 && kernel != NULL) {
			half.kernel = kernel->kernel;
			half.at_ns = m->at_ns + kernel->offset_ns;
		}
	}
	return half;
}

/* Sides that have not been joined, each with all of its parts. */
static struct halves
find_halves(struct met_rank *ranks, int32_t rank_count, bool whole)
{
	struct halves found = { 0 };
	size_t parts = 0, halves = 0;

	for (int32_t r = 0; r < rank_count; r++)
		for (size_t i = 0; i < ranks[r].comm_count; i++) {
			struct membership *m = &ranks[r].comms[i];

			if (m->met == NULL || m->joined)
				continue;
			*APPEND(found.parts, found.part_count, parts) = (struct part){ m, r };
		}
	SORT(found.parts, found.part_count, by_name);
	for (size_t i = 0, end = 0; i < found.part_count; i = end) {
		while (end < found.part_count &&
		    found.parts[end].of->name == found.parts[i].of->name)
			end++;
		if (!whole || end - i == (size_t)found.parts[i].of->size)
			*APPEND(found.at, found.count, halves) = half_of(ranks, &found.parts[i],
			    end - i);
	}
	return found;
}

static bool
may_have_met(const struct half *a, const struct half *b)
{
	static const char *const other_side[][2] = { { "spawn", "parent" }, { "parent", "spawn" },
		{ "accept", "connect" }, { "connect", "accept" }, { "join", "join" },
		{ "create", "create" } };
	const struct membership *x = a->parts->of, *y = b->parts->of;

	if (a->joined || b->joined || x->size != y->remote_size || x->remote_size != y->size ||
	    (a->port != 0 && b->port != 0 && a->port != b->port))
		return false;
	for (size_t i = 0; i < sizeof other_side / sizeof other_side[0]; i++)
		if (strcmp(x->met, other_side[i][0]) == 0 && strcmp(y->met, other_side[i][1]) == 0)
			return true;
	return false;
}

/* Of several sides that half H may have met: the nearest in time, if all times are known. */
static size_t
best_of(const struct halves *all, size_t h)
{
	const struct half *of = &all->at[h];
	size_t best = NOBODY, count = 0;
	int64_t best_ns = INT64_MAX;
	bool timed = of->kernel != 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct half *it = &all->at[i];

		if (i == h || !may_have_met(of, it))
			continue;
		timed &= it->kernel == of->kernel;
		if (count++ == 0 || llabs(it->at_ns - of->at_ns) < best_ns) {
			best_ns = llabs(it->at_ns - of->at_ns);
			best = i;
		}
	}
	return count < 2 || timed ? best : NOBODY;
}

static void
join_half(struct half *half, uint64_t name, int32_t side)
{
	half->joined = true;
	for (size_t i = 0; i < half->count; i++) {
		half->parts[i].of->name = name;
		half->parts[i].of->side = side;
		half->parts[i].of->joined = true;
	}
}

/* The lowest rank's side is 0, and names the meeting. */
static struct meeting
join_halves(struct half *a, struct half *b)
{
	const struct part *x = a->parts, *y = b->parts;

	join_half(a, x->of->name, 0);
	join_half(b, x->of->name, 1);
	return (struct meeting){ x->rank, y->rank, x->of->at_ns, y->of->at_ns };
}

struct meeting *
meetings_join(struct met_rank *ranks, int32_t rank_count, bool whole, size_t *count)
{
	struct meeting *joined = NULL;
	size_t capacity = 0;
	bool more = true;

	/* When some are joined, others may get the same name. */
	for (*count = 0; more; ) {
		struct halves all;

		more = false;
		name_communicators(ranks, rank_count);
		all = find_halves(ranks, rank_count, whole);
		for (size_t a = 0; a < all.count; a++) {
			const size_t b = best_of(&all, a);
			struct half *x = &all.at[a], *y;

			if (b == NOBODY || best_of(&all, b) != a)
				continue;
			y = &all.at[b];
			*APPEND(joined, *count, capacity) = x->parts->rank < y->parts->rank ?
			    join_halves(x, y) : join_halves(y, x);
			more = true;
		}
		free(all.parts);
		free(all.at);
	}
	return joined;
}
