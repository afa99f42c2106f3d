/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/mpi/call_class.h"
#include "../base/team/team.h"
#include "../base/tool/process.h"
#include "order.h"

/*
 * Pipes the trace as corrected so far through lp-graph: merge (a child) | lp-graph (a child) | this
 * process.
 */

static char *command[] = { "lp-merge", NULL };

struct lane_replay {
	uint64_t next, settled;	/* rows */
	bool entered;		/* the call in row next has entered */
	bool queued;
	uint32_t open;		/* waits of non-blocking collectives that are not complete */
	uint32_t blocked_at;	/* node */
	uint32_t next_blocked;	/* 1 + location */
};

struct replay {
	struct input *input;
	struct graph_input graph;	/* the matched trace */
	pid_t merge, matcher;
	const struct visitor *visitor;
	struct lane_replay *lanes;
	uint32_t *queue;	/* locations that may continue */
	size_t queued;
	struct nodes nodes;
};

/* Starts a child that writes to ends[1]: 0 in the child, which has no standard error. */
static pid_t
start(int ends[2])
{
	pid_t child;
	int nowhere;

	if (pipe(ends) < 0)
		die("no more pipes");
	if ((child = fork()) < 0)
		die("cannot start a process");
	close(ends[child > 0]);
	if (child == 0 && (nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)) >= 0)
		dup2(nowhere, STDERR_FILENO);
	return child;
}

/*
 * Neither child has standard error. This process finds damage in the raw traces by writing the
 * trace once more. Messages of lp-graph appear only if the user runs it.
 */
static _Noreturn void
die_matching(const struct replay *r)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (nowhere >= 0)
		write_trace(r->input, nowhere, false, 1, command);
	die("lp-graph cannot match the trace: %s (--sync offset does without it)",
	    reader_error(r->graph.in, NULL));
}

static void
open_graph(struct replay *r)
{
	int trace[2], graph[2];
	char name[32];

	fflush(NULL);
	if ((r->merge = start(trace)) == 0) {
		r->input->sampled = r->input->regions = false;	/* not needed here */
		write_trace(r->input, trace[1], false, 1, command);
		_exit(DONE);
	}
	if ((r->matcher = start(graph)) == 0) {
		dup2(trace[0], STDIN_FILENO);
		dup2(graph[1], STDOUT_FILENO);
		close(trace[0]);
		close(graph[1]);
		launcher_forget();	/* the child is not a process of the launcher */
		become_tool((char *[]){ "lp-graph", NULL });
	}
	close(trace[0]);
	snprintf(name, sizeof name, "/dev/fd/%d", graph[0]);
	if (reader_open(&r->graph.in, name, READ_STREAM) < 0)
		die_matching(r);
	close(graph[0]);	/* the reader has its own */
}

static void
close_graph(struct replay *r)
{
	const pid_t children[] = { r->merge, r->matcher };
	int status;

	graph_close(&r->graph);
	for (int i = 0; i < 2; i++)
		if (waitpid(children[i], &status, 0) < 0 || status != 0)
			die("lp-graph failed after it had matched the trace");
}

/* ---- the replay ---- */

static void
enqueue(struct replay *r, uint32_t location)
{
	struct lane_replay *lane = &r->lanes[location];

	if (lane->queued || lane->blocked_at != NONE)
		return;
	lane->queued = true;
	r->queue[r->queued++] = location;
}

/* The node has one source less to wait for; after the last one its waiting locations continue. */
static void
node_step(struct replay *r, uint32_t number)
{
	for (struct node *node = node_at(&r->nodes, number); --node->pending == 0; ) {
		struct node *later;

		while (node->blocked != 0) {
			uint32_t location = node->blocked - 1;

			node->blocked = r->lanes[location].next_blocked;
			r->lanes[location].blocked_at = NONE;
			enqueue(r, location);
		}
		if (node->later == NONE)
			return;
		later = node_at(&r->nodes, node->later);
		node_enter(later, node->latest_location, node->latest_ns);
		node_enter(later, UINT32_MAX, node->second_ns);
		node = later;
	}
}

/* The node has one user less. Without users it is freed; its limit goes to the earlier node. */
static void
node_leave(struct replay *r, uint32_t number)
{
	while (number != NONE && --node_at(&r->nodes, number)->users == 0) {
		struct node *node = node_at(&r->nodes, number);
		uint32_t earlier = node->earlier;

		if (r->visitor->done != NULL)
			r->visitor->done(r->visitor, node,
			    (struct sender *)r->nodes.sources.items);
		if (earlier != NONE && node->limit_ns < node_at(&r->nodes, earlier)->limit_ns)
			node_at(&r->nodes, earlier)->limit_ns = node->limit_ns;
		for (uint32_t s = node->sources, next; s != NONE; s = next) {
			next = ((struct sender *)pool_item(&r->nodes.sources, s))->next;
			pool_give(&r->nodes.sources, s);
		}
		pool_give(&r->nodes.nodes, number);
		number = earlier;
	}
}

static void
call_enters(struct replay *r, uint32_t location, uint64_t begin, uint64_t end)
{
	struct lane_replay *lane = &r->lanes[location];
	const struct shift *shift = r->visitor->shifts != NULL ? &r->visitor->shifts[location] :
	    NULL;

	for (uint64_t seq = begin; seq < end; seq++) {
		struct event_row *row = window_change(&r->graph.window, location, seq);

		for (uint32_t s = row->sources; s != NONE; ) {
			const struct sender *source = pool_item(&r->nodes.sources, s);
			uint32_t node = source->node;

			s = source->next_of_row;
			node_enter(node_at(&r->nodes, node), location, source->at_ns +
			    (shift == NULL ? 0 : forward_shift_ns(shift, source->event,
			    source->at_ns)));
			node_step(r, node);
		}
		row->sources = NONE;
		while (is_collective_start(call_class(row->row.call)) && row->waits != NONE) {
			struct wait *wait = pool_item(&r->nodes.waits, row->waits);
			uint32_t number = row->waits;

			row->waits = wait->next;
			wait->next = lane->open;
			lane->open = number;
		}
	}
	lane->entered = true;
}

/* The link to the first wait of the row, or to the open wait that it completes; or to NONE. */
static uint32_t *
row_wait(struct replay *r, struct event_row *row, uint32_t location, uint64_t seq)
{
	uint32_t to, *link;
	uint64_t start;

	if (row->waits != NONE || call_class(row->row.call) != CLASS_COMPLETE ||
	    !row_refers(&row->row, location, seq, &to, &start))
		return &row->waits;
	for (link = &r->lanes[to].open; *link != NONE; ) {
		struct wait *wait = pool_item(&r->nodes.waits, *link);

		if (wait->start == start)
			break;
		link = &wait->next;
	}
	return link;
}

/* False: it has to wait, unless FORCED. */
static bool
call_leaves(struct replay *r, uint32_t location, uint64_t begin, uint64_t end, bool forced)
{
	struct lane_replay *lane = &r->lanes[location];
	struct event_row *row = window_change(&r->graph.window, location, begin);
	int64_t leave_ns = row->row.leave_ns;

	for (uint64_t seq = begin; seq < end; seq++) {
		row = window_change(&r->graph.window, location, seq);
		for (uint32_t *link; *(link = row_wait(r, row, location, seq)) != NONE; ) {
			struct wait *wait = pool_item(&r->nodes.waits, *link);
			struct node *node = node_at(&r->nodes, wait->node);
			uint32_t number = *link, of = wait->node;

			if (node->pending > 0 && !forced) {
				lane->blocked_at = of;
				lane->next_blocked = node->blocked;
				node->blocked = location + 1;
				return false;
			}
			*link = wait->next;
			pool_give(&r->nodes.waits, number);
			if (node->pending > 0)
				continue;	/* the node stays: its sources will come */
			r->visitor->leave(r->visitor, location, 2 * begin + 1, leave_ns, node);
			node_leave(r, of);
		}
	}
	return true;
}

/* Advances to the location's next call; false if it must wait or is not settled. */
static bool
advance(struct replay *r, uint32_t location, bool forced)
{
	struct lane_replay *lane = &r->lanes[location];
	uint64_t begin = lane->next, end = begin + 1;
	const struct event_row *row;

	while (end <= lane->settled &&
	    (row = window_row(&r->graph.window, location, end)) != NULL &&
	    row->row.part > 0)
		end++;
	if (end > lane->settled)
		return false;
	if (!lane->entered)
		call_enters(r, location, begin, end);
	if (!call_leaves(r, location, begin, end, forced))
		return false;
	lane->entered = false;
	lane->next = end;
	window_drop(&r->graph.window, location, end);
	return true;
}

static void
run(struct replay *r)
{
	while (r->queued > 0) {
		uint32_t location = r->queue[--r->queued];

		r->lanes[location].queued = false;
		while (advance(r, location, false))
			;
	}
}

static void
settle(struct replay *r, const uint64_t *seqs)
{
	for (uint32_t l = 0; l < r->graph.known.location_count; l++) {
		r->lanes[l].settled = seqs != NULL ? seqs[l] :
		    window_end(&r->graph.window, l);
		enqueue(r, l);
	}
	run(r);
}

/*
 * All rows are settled, so locations that still wait form a circle: the earliest goes on. Returns
 * the number of calls forced.
 */
static uint64_t
break_circles(struct replay *r)
{
	uint64_t count = 0;

	for (;;) {
		uint32_t first = UINT32_MAX, *link;
		int64_t first_ns = INT64_MAX;

		for (uint32_t l = 0; l < r->graph.known.location_count; l++) {
			const struct event_row *row;

			if (r->lanes[l].blocked_at == NONE)
				continue;
			row = window_row(&r->graph.window, l, r->lanes[l].next);
			if (row->row.leave_ns < first_ns) {
				first_ns = row->row.leave_ns;
				first = l;
			}
		}
		if (first == UINT32_MAX)
			return count;
		if (count++ == 0 && r->visitor->tell)
			note("rank %d, row %llu: waits in a cycle of calls; its clock is not "
			    "corrected there", (int)r->graph.known.location_rank[first],
			    (unsigned long long)r->lanes[first].next);
		link = &node_at(&r->nodes, r->lanes[first].blocked_at)->blocked;
		while (*link != first + 1)
			link = &r->lanes[*link - 1].next_blocked;
		*link = r->lanes[first].next_blocked;
		r->lanes[first].blocked_at = NONE;
		advance(r, first, true);
		enqueue(r, first);
		run(r);
	}
}

uint64_t
replay(struct input *input, const struct visitor *visitor)
{
	struct replay r = { .input = input, .visitor = visitor,
	    .graph = { .row_bytes = sizeof(struct event_row) } };
	struct graph_input *graph = &r.graph;
	struct message message;
	enum graph_item item;
	uint64_t circles;
	int got;

	nodes_begin(&r.nodes);
	open_graph(&r);
	while ((got = reader_next(graph->in, &message)) > 0)
		switch (item = graph_take(graph, &message)) {
		case GRAPH_RUN:
			r.lanes = zalloc(graph->known.location_count, sizeof *r.lanes);
			r.queue = zalloc(graph->known.location_count, sizeof *r.queue);
			break;
		case GRAPH_SETTLED: settle(&r, graph->seqs); break;
		default: nodes_take(&r.nodes, graph, item);
		}
	if (got < 0)
		die_matching(&r);
	settle(&r, NULL);
	circles = break_circles(&r);
	close_graph(&r);
	nodes_end(&r.nodes);
	free(r.lanes);
	free(r.queue);
	return circles;
}
