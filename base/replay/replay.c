/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Feeds a graph stream to the engine. At its end, reports which rank is blocked, in which call, and
 * by which rank.
 */
#include <math.h>
#include <stdlib.h>

#include "replay.h"
#include "../tool/text.h"

enum { NAMED = 16 };		/* more are only counted */

/* What the rank waits for in a row. */
static void
name_wait(const struct engine *e, uint32_t location, const struct op *op,
    const struct replay_row *row, char *text, size_t size)
{
	const uint32_t rank = e->runners[location].rank;
	const int32_t peer = world_rank(e->known, row->comm, (int32_t)rank, row->peer);
	const bool collective = op->act == ACT_COLLECTIVE || op->act == ACT_WAIT_COLLECTIVE;

	if (op->link == NONE && collective)
		snprintf(text, size, "for members of communicator %u that never call it",
		    row->comm);
	else if (collective) {
		const struct instance *i = &e->instances[op->link];
		size_t used = (size_t)snprintf(text, size, "for rank");

		for (uint32_t k = 0; k < i->count && used < size; k++)
			if (i->members[k].at_ns < 0)
				used += (size_t)snprintf(text + used, size - used, " %u",
				    e->runners[i->members[k].location].rank);
	} else if (op->link != NONE) {
		const struct flight *f = &e->flights[op->link];

		snprintf(text, size, "for rank %u, tag %d", e->runners[f->source == location ?
		    f->target : f->source].rank, row->tag);
	} else if (peer >= 0)
		snprintf(text, size, "for rank %d, tag %d, and has no match", peer, row->tag);
	else
		snprintf(text, size, "for anybody, tag %d, and has no match", row->tag);
}

static unsigned
name_blocked(const struct engine *e)
{
	unsigned blocked = 0;
	char what[160];

	for (uint32_t l = 0; l < e->locations; l++) {
		const struct runner *r = &e->runners[l];
		const uint64_t part = op_at(e, l, r->part) != NULL ? r->part : r->seq;

		if (r->step == STEP_END || ++blocked > NAMED)
			continue;
		if (op_at(e, l, r->seq) == NULL) {	/* it has no more rows */
			note("rank %u: it has ended", r->rank);
			continue;
		}
		name_wait(e, l, op_at(e, l, part), row_at(e, l, part), what, sizeof what);
		note("rank %u is blocked in %s, row %llu, %s", r->rank,
		    call_name(row_at(e, l, r->seq)->call), (unsigned long long)r->seq, what);
	}
	if (blocked > NAMED)
		note("and %u more", blocked - NAMED);
	return blocked;
}

void
replay_open(struct replay *r)
{
	if (r->opt.network != NULL)
		machine_read(&r->machine, r->opt.network);
	else
		r->opt.plain(&r->machine);
	if (r->opt.eager_bytes >= 0)
		r->machine.eager_bytes = r->opt.eager_bytes;
	graph_open(&r->graph, r->opt.file, READ_STREAM);
}

enum graph_item
replay_take(struct replay *r, const struct message *message)
{
	struct graph_input *g = &r->graph;
	struct engine *e = &r->engine;
	enum graph_item item = graph_take(g, message);
	int taken = 0;

	switch (item) {
	case GRAPH_RUN:
		machine_map(&r->machine, (uint32_t)g->known.ranks);
		engine_begin(e, &r->machine, &g->known);
		e->scales = r->opt.scales.count > 0 ? &r->opt.scales : NULL;
		break;
	case GRAPH_CALLS: taken = lanes_add(e, g->in, message, &g->calls); break;
	case GRAPH_MESSAGES: case GRAPH_PROBES: case GRAPH_LOCKS:
		taken = lanes_messages(e, g->in, message, &g->edges);
		break;
	case GRAPH_COLLECTIVES: taken = lanes_collectives(e, g->in, message, &g->edges); break;
	case GRAPH_SETTLED: case GRAPH_SYNC:
		taken = lanes_settle(e, g->in, message, g->seqs);
		if (taken == 0)
			engine_run(e);
		break;
	default:
		if (is_kind(message, "spawned"))
			lanes_spawned(e);
	}
	if (taken < 0)
		die_input(g->in);
	return item;
}

void
replay_end(struct replay *r)
{
	struct engine *e = &r->engine;
	unsigned blocked;

	if (e->known == NULL)
		die("the stream has no message of kind run");
	lanes_end(e);
	engine_run(e);
	blocked = name_blocked(e);
	if (e->locks > 0 && r->opt.scales.count == 0)	/* else the replay without them said so */
		note("%llu calls waited for the lock of an MPI window: replayed, they take no time",
		    (unsigned long long)e->locks);
	if (e->lost_sends.count > 0)
		note("%zu sends have no receive", e->lost_sends.count);
	if (blocked == 0 && e->lost_sends.count == 0)
		return;
	if (!r->opt.partial)
		die(blocked > 0 ? "the run does not end; --partial replays it up to that point" :
		    "messages are lost; --partial replays the run without them");
	note("the replay is partial: %u of %u ranks blocked", blocked, e->locations);
}

void
replay_headline(struct text *text, const struct replay *r, int64_t run_ns, int64_t recorded_ns)
{
	const struct headline *headline = &r->engine.known->headline;
	char *run = headline_text(headline);

	if (recorded_ns > 0)
		text_line(text, "%s: %.4g s on this network, %.4g s as recorded: %.1f %% %s", run,
		    1e-9 * (double)run_ns, 1e-9 * (double)recorded_ns,
		    100 * fabs((double)run_ns / (double)recorded_ns - 1),
		    run_ns > recorded_ns ? "more" : "less");
	else
		text_line(text, "%s: %.4g s on this network", run, 1e-9 * (double)run_ns);
	free(run);
	load_line(text, headline);
	if (r->opt.scales.count > 0)
		text_line(text, "this is of the network and of --scale together; lp-gain --scale "
		    "keeps the recorded network");
}

int64_t
finish_ns(const struct runner *r)
{
	return (int64_t)((r->step == STEP_END ? r->begin_ns : r->now_ns) + 0.5);
}
