/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulation. Ranks run through the rows of their lanes; messages and instances of collectives
 * tie them together, and live in pools from the edge that makes them until nobody needs them.
 *
 * Where nothing is limited the order of events does not matter: a rank runs until it needs what
 * another has not done yet, and all times follow from maxima. Else (contended) all goes through
 * events, in order of time and, at the same time, of scheduling.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "../base/run/graph_input.h"
#include "../base/run/span.h"
#include "events.h"
#include "flights.h"
#include "lanes.h"
#include "machine.h"
#include "marks.h"

/* A move is a part of a collective that is done by messages. */
enum step { STEP_COMPUTE, STEP_ENTER, STEP_PART, STEP_ACT, STEP_AFTER, STEP_LEAVE, STEP_MOVE, STEP_MOVE_ACT,
	STEP_MOVE_AFTER, STEP_END };

struct spent {			/* by a location, outside computing, in ns */
	double latency_ns, wire_ns, link_ns, bus_ns, partner_ns, cpu_ns;
};

struct runner {			/* a location; what each step needs comes first */
	double now_ns;
	uint64_t seq, part;	/* row of the call, row in it */
	uint64_t move;		/* in the schedule of its collective */
	double enter_ns;	/* of the call it is in */
	double useful_ns;	/* computed so far, simulated */
	double cpu_ratio;	/* of its node's CPUs */
	int64_t recorded_useful_ns, recorded_leave_ns;
	struct span span, recorded;	/* of calls left so far */
	uint8_t step;
	bool starved;		/* waits for rows */
	bool blocked;		/* waits for others */
	bool has_cpu;
	uint32_t rank, next;	/* next: in the queue for a CPU */
	double begin_ns;	/* end of the call before */
	double act_ns, woken_ns;	/* it began what its row does; it last could go on */
	struct spent spent;
	struct open_region { int64_t type; double ratio; } *regions;
	size_t region_count, region_capacity;
};

struct engine {
	const struct machine *machine;
	struct definitions *known;
	bool contended, limited_cpus, ended;	/* ended: all input has been read */
	uint32_t locations, starving;
	struct op_lane *lanes;
	struct runner *runners;
	uint32_t *node_of;	/* by location */
	struct flight *flights;
	struct trail *trails;	/* by flight; NULL where nobody asks */
	double *held_ns;	/* by flight: links and bus, where the machine tells gaps; else NULL */
	size_t held_capacity;
	size_t flight_count, flight_capacity, trail_capacity;
	bool explains;		/* somebody asks, so trails are kept */
	uint32_t *free_flights;	/* a stack, as a list would lead through lines that are far */
	size_t free_flight_count, free_flight_capacity;
	struct instance *instances;
	size_t instance_count, instance_capacity;
	uint32_t free_instance;
	struct letters *letters;	/* messages of collectives, see moves.c */
	/* contended: */
	struct events events;
	double now_ns;
	struct place *links, *memory_links;	/* by node; by rank */
	struct place *wide_links, *connections;	/* by island; by connection */
	struct pool *buses, *memory_buses;	/* by island; by node */
	int64_t *free_cpus;			/* by node */
	struct queue *cpu_queues;
	/* else: */
	uint32_t *stack;
	size_t stack_count;
	/* A call is done: rows FIRST to before END, with simulated times. */
	void (*done)(void *context, uint32_t location, uint64_t first, uint64_t end);
	/* What --scale makes of the computing before a row, or of its communication. NULL: nothing. */
	double (*scale)(void *context, uint32_t rank, const struct replay_row *row, bool compute);
	/* What a row waited for, and a message that is over, for --explain. NULL: nobody asks. */
	void (*slept)(void *context, uint32_t location, const struct op *op, double begin_ns);
	void (*over)(void *context, uint32_t flight);
	void *context;
	struct marks *marks;	/* who looks on how times come about; NULL: nobody */
	struct made_requests *made;	/* by location, see modes.c */
	struct lost_ends { struct lost *items; size_t count, capacity; } lost_sends, lost_posts;
};

/* lanes.c: rows that are read. */
void engine_begin(struct engine *engine, const struct machine *machine, struct definitions *known);
int lanes_add(struct engine *engine, struct reader *in, const struct message *message,
    const struct calls *calls);
/* From a row to the one that started its request; NULL: there is none. */
struct op *started_by(const struct engine *engine, uint32_t *location, uint64_t *seq);
void lane_settle(struct engine *engine, uint32_t location, uint64_t seq);	/* rows before have all edges */
void lanes_advance(struct engine *engine);	/* sees how far they may be simulated */
void lanes_end(struct engine *engine);		/* no more input: everything is settled */
/* Forgets the rows before SEQ, which are done. */
void lane_drop(struct op_lane *lane, uint64_t seq);

/* edges.c: edges that are read. */
int lanes_messages(struct engine *engine, struct reader *in, const struct message *message,
    const struct edge_block *edges);
int lanes_collectives(struct engine *engine, struct reader *in, const struct message *message,
    const struct edge_block *edges);
int lanes_settle(struct engine *engine, struct reader *in, const struct message *message, const uint64_t *seqs);

static inline struct op *
op_at(const struct engine *engine, uint32_t location, uint64_t seq)
{
	const struct op_lane *lane = &engine->lanes[location];

	return seq - lane->first < lane->count ? &lane->ops[lane->begin + (size_t)(seq - lane->first)] :
	    NULL;
}

static inline struct replay_row *
row_at(const struct engine *engine, uint32_t location, uint64_t seq)
{
	const struct op_lane *lane = &engine->lanes[location];

	return &lane->rows[lane->begin + (size_t)(seq - lane->first)];
}

/* engine.c: simulates as far as what is read allows. */
void engine_run(struct engine *engine);
void wake(struct engine *engine, uint32_t runner, double at_ns);
void arrive(struct engine *engine, uint32_t flight, double at_ns);
bool block(struct engine *engine, uint32_t runner);	/* sleeps until wake; false */

/* act.c: what a row does. */
double compute_ns(const struct engine *engine, uint32_t runner, const struct op *op);
/* What an operation costs on the CPU at its begin. */
struct cost startup(const struct engine *engine, uint32_t runner, const struct op *op);
bool act(struct engine *engine, uint32_t runner);	/* false: the runner sleeps */
/* A runner reaches the receive of a message. */
void post(struct engine *engine, uint32_t runner, uint32_t flight);
/* A message begins its way, or waits for its receive; false: the runner sleeps until it is over. */
void begin_send(struct engine *engine, uint32_t runner, uint32_t flight, double bytes);
bool wait_posted(struct engine *engine, uint32_t runner, uint32_t flight);	/* a rendezvous one */
bool wait_arrived(struct engine *engine, uint32_t runner, uint32_t flight);
/* The overhead of a receive whose data is there, or of a send whose data is on its way. */
double after_ns(const struct engine *engine, uint32_t runner, const struct op *op);
void depart(struct engine *engine, uint32_t flight, double at_ns);	/* all data has left */

/* moves.c: collectives as messages. */
void moves_begin(struct engine *engine);
bool is_scheduled(const struct engine *engine, const struct op *op);
void moves_enter(struct engine *engine, uint32_t runner);
/* What it does next and what that costs on the CPU first; false: it has done all. */
bool move_next(struct engine *engine, uint32_t runner, double *ns);
bool move_act(struct engine *engine, uint32_t runner);	/* false: the runner sleeps */
double move_after(struct engine *engine, uint32_t runner);	/* cost of what is done */

/* modes.c: which sends wait for their receive, and what was made to be started. */
struct made_requests *made_requests(uint32_t locations);
bool is_rendezvous(const struct machine *machine, uint16_t call, uint64_t bytes);
void note_request(struct engine *engine, uint32_t location, uint64_t seq, struct op *op, struct replay_row *row);

/* lost.c: ends of messages that have no edge. */
bool lost_send(struct engine *engine, uint32_t runner, const struct op *op);	/* false: it sleeps */
void lost_post(struct engine *engine, uint32_t runner);

#endif
