/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulation. Ranks run through the rows of their lanes. Messages and instances of collectives
 * connect them; these live in pools from their edge until nobody needs them.
 *
 * Without limits the order of events does not matter: a rank runs until it needs something from
 * another, and all times follow from maxima. Otherwise (contended) all passes through an event
 * queue, in order of time and then of scheduling.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "../run/collective.h"
#include "../run/graph_input.h"
#include "../run/scale.h"
#include "../run/span.h"
#include "events.h"
#include "watchers.h"

/* ---- rows and their lanes ------------------------------------------------------------ */

enum { NONE = UINT32_MAX };

/* The action of a row. */
enum act {
	ACT_LOCAL,		/* nothing, in no time */
	ACT_KEEP,		/* nothing, in its recorded time: files */
	ACT_FILE,	/* as ACT_KEEP; if it held up all, a collective of recorded length */
	ACT_EVENT,		/* opens or closes a region */
	ACT_SEND, ACT_RECEIVE,
	ACT_PROBE,		/* sees the message of its edge; without one nothing, in no time */
	ACT_SENDRECV,		/* the send; its part is an ACT_WAIT posted with the call */
	ACT_SEND_START, ACT_POST,
	ACT_POST_FREED,		/* of a receive whose request is freed: no edge shows what it got */
	ACT_START,	/* of a persistent request: the edge shows whether it sends or posts */
	ACT_COMPLETE,		/* of what its request says, which becomes one of these: */
	ACT_WAIT, ACT_WAIT_SEND, ACT_WAIT_COLLECTIVE,
	ACT_COLLECTIVE, ACT_COLLECTIVE_START,
	ACT_FREE,		/* the request is not seen again */
	ACT_REQUEST,		/* makes a request to be started: local */
};

/*
 * A row has two parts: one for each step of the simulation, two to a cache line, and one for
 * reading and rare use. With a thousand ranks taking turns, every step misses the caches, so the
 * cache lines that it touches are its cost.
 */
struct op {
	int64_t gap_ns;		/* since the leave before; once done: simulated enter */
	int64_t duration_ns;	/* as recorded; once done: simulated leave */
	double startup_ns;	/* on the CPU at its begin; collectives: see collective.c */
	uint32_t link;		/* message or instance; NONE */
	uint8_t act;
	bool part : 1;		/* of the call before it */
	bool open : 1;		/* starts a request whose completion has not been read */
	bool rendezvous : 1;	/* a send that waits for its receive */
	bool costs : 1;		/* the overhead of a call */
	bool frames : 1;	/* may begin or end the span */
	bool sends_too : 1;	/* once it has received */
};

/* Its duration does not depend on the machine. */
static inline bool
is_kept(const struct op *op)
{
	return op->act == ACT_KEEP || op->act == ACT_FILE;
}

/* What rows of a call have in common. */
struct op_pattern { struct op op; uint64_t rendezvous_from; bool known; };

struct replay_row {			/* as in the stream */
	uint64_t sent, received;	/* bytes */
	union {
		struct { uint32_t request, request_at; };
		int64_t enter_ns;	/* as recorded: of ACT_FILE and ACT_COLLECTIVE */
	};
	uint32_t comm, site;
	uint32_t member;	/* of its instance; if the row sends, too: the flight */
	int32_t peer, tag;
	uint16_t call;		/* of a part: its call's */
};

struct op_lane {			/* the rows of a location that are read and not done */
	struct op *ops;
	size_t begin, count;
	uint64_t first;		/* seq of the first */
	uint64_t ready;		/* rows before it may be simulated */
	uint64_t settled;	/* rows before it have their edges */
	struct replay_row *rows;
	size_t capacity;
	int64_t last_leave_ns;	/* of the rows read */
};

static inline uint64_t
lane_end(const struct op_lane *lane)
{
	return lane->first + lane->count;
}

/* Forgets the rows before SEQ, which are done. */
static inline void
lane_drop(struct op_lane *lane, uint64_t seq)
{
	const size_t rows = (size_t)(seq - lane->first);

	lane->begin += rows;
	lane->count -= rows;
	lane->first = seq;
}

/* ---- messages and collectives in flight, their links and buses ----------------------- */

enum { MESSAGE_SENT = 1, MESSAGE_POSTED = 2, MESSAGE_ARRIVED = 4, MESSAGE_RENDEZVOUS = 8,
	MESSAGE_HAS_OUT = 16, MESSAGE_HAS_IN = 32, MESSAGE_HAS_BUS = 64,
	MESSAGE_PART = 128 };	/* of a reduction, to its root */

/* WIRE_BUSES: not a message, but a collective that queues for all buses. */
enum wire { WIRE_MEMORY, WIRE_NETWORK, WIRE_WIDE, WIRE_CONNECTION, WIRE_BUSES };

struct flight {			/* a message: a cache line */
	double sent_ns, posted_ns;	/* send reached, receive reached */
	double arrived_ns;		/* data arrived; before that: got its link out */
	double wire_ns;			/* time for which it holds links and bus */
	uint32_t source, target;	/* locations */
	/* rank that sleeps on it, or NONE; of a part: its member */
	union { uint32_t sender, member; };
	union { uint32_t receiver, instance; };	/* likewise; of a part: its reduction */
	uint32_t next, previous;	/* in a queue */
	union { uint32_t next_lender, connection; };	/* see struct port; the connection in use */
	uint8_t references;	/* rows that are not done, and the transfer */
	uint8_t flags, wire;
	bool departed;		/* all data has left the source */
};

struct trail {			/* of a message, for --explain */
	uint64_t bytes, send_seq, receive_seq;
	/* both ends ready; links held; data began to move */
	double due_ns, linked_ns, start_ns;
};

struct arrival {		/* of a member */
	uint32_t location, payer;
	bool waits, started;
	uint8_t wires;		/* a bit for each enum wire to another member, once known */
	double at_ns, own_ns;
	uint32_t group;		/* whose sources it needs; NONE */
	uint32_t waiters;	/* groups that wait for this member first, as a list */
};

struct group {			/* of needs */
	double at_ns;		/* latest arrival of a source, also of groups it is chained to */
	uint32_t arrived;	/* sources in turn */
	uint32_t next;		/* in a list of waiters */
	bool met;		/* all have arrived */
};

struct instance {		/* of a collective */
	struct arrival *members;
	uint32_t count, capacity, arrived, left, references;
	uint32_t sleeping;	/* members that wait for it in a row of their own */
	double last_ns;		/* latest arrival so far */
	double done_ns;		/* all leave; -1 before */
	double factor;		/* from --scale */
	double own_ns;		/* lasts so long by itself, on any network */
	uint64_t sent, received;	/* of the root, or of the last to arrive */
	uint32_t root;		/* member; NONE */
	uint32_t next;
	uint32_t first_time, times;	/* of the latest arrival and of its members: watchers.h */
	uint8_t class, operation;
	bool costed;		/* with these sizes: cost */
	bool wired;		/* the members' wires are known */
	struct cost cost;
	struct needs needs;	/* not on Dimemas' machine, where all wait for all */
	struct group *groups;
	size_t group_capacity;
	bool by_last;		/* who waits, waits for all */
	bool uneven;		/* sizes differ, so the order of arrival matters */
	double *blocks;		/* by member, for the plan: if they differ */
	size_t block_capacity;
	struct plan plan;	/* as messages, members in communicator order; or NO_SCHEDULE */
};

struct queue { uint32_t head, tail; };	/* of flights */

/* Links or buses; total 0: no limit. */
struct resource { int64_t total, busy; struct queue queue; };

/* A node; for memory a rank; between islands an island or a connection. */
struct port {
	struct resource out, in;	/* half duplex: out is both */
	/* list of messages with a link out of here that wait for one into another */
	uint32_t lenders;
	bool half_duplex;
};

/* MEMBERS: of an instance, while they are counted. */
struct node_parts {
	struct port links;
	struct resource memory_buses, cpus;	/* runners queue for CPUs */
	uint32_t locations, members;
};
struct island_parts {
	struct port wide_links;
	struct resource buses;
	uint32_t members, nodes, lowest;	/* nodes with members, and the first of them */
};

/* ---- the simulation ------------------------------------------------------------------ */

/* A move is a part of a collective that runs as messages. */
enum step { STEP_COMPUTE, STEP_ENTER, STEP_PART, STEP_ACT, STEP_AFTER, STEP_LEAVE,
    STEP_MOVE, STEP_MOVE_ACT,
	STEP_MOVE_AFTER, STEP_END };

struct spent {			/* by a location, outside computing, in ns */
	double latency_ns, wire_ns, link_ns, bus_ns, partner_ns, cpu_ns;
};

struct move {			/* of a member of such a collective */
	enum { MOVE_POST, MOVE_SEND, MOVE_FINISH, MOVE_RECEIVE, MOVES } kind;
	uint32_t peer, number, flight;
	double bytes;
	bool combines;		/* it combines received data with its own */
};

struct runner {			/* a location; fields of each step come first */
	double now_ns;
	uint64_t seq, part;	/* row of the call, row in it */
	struct op *op;		/* of the part */
	struct replay_row *row;
	uint64_t moves;		/* done in the schedule of its collective */
	double enter_ns;	/* of the call it is in */
	double useful_ns;	/* computed so far, simulated */
	double cpu_ratio;	/* of its node's CPUs */
	int64_t recorded_useful_ns, recorded_leave_ns;
	struct span span, recorded;	/* of calls left so far */
	uint8_t step;
	bool starved;		/* waits for rows */
	bool has_cpu;
	bool unborn;		/* MPI_Comm_spawn is to come: known->begins */
	uint32_t rank, next;	/* next: in the queue for a CPU */
	double begin_ns;	/* end of the call before */
	double act_ns, woken_ns;	/* begin of its row's action; last time it could continue */
	struct spent spent;
	struct move move;
	struct open_region { int64_t type; double ratio; } *regions;
	size_t region_count, region_capacity;
};

struct engine {
	const struct machine *machine;
	struct definitions *known;
	bool contended, limited_cpus;
	bool begun, ended;	/* simulating; all input has been read */
	uint32_t locations, starving;
	uint32_t unborn;			/* number of unborn runners */
	struct op_lane *lanes;
	struct op_pattern *patterns;	/* by call */
	struct runner *runners;
	uint32_t *node_of;	/* by location */
	struct flight *flights;
	struct trail *trails;			/* by flight; NULL if nobody asks */
	double *held_ns;	/* by flight: links and bus, if the machine has gaps; or NULL */
	size_t held_capacity;
	struct comm_ranks comm_ranks;
	struct member *members;	/* of the collective that is read, with their rows */
	struct row *member_rows;
	size_t member_capacity, member_row_capacity;
	size_t flight_count, flight_capacity, trail_capacity;
	bool explains;				/* trails, and what runners spent, are kept */
	uint32_t *free_flights;	/* a stack: a list would touch distant cache lines */
	size_t free_flight_count, free_flight_capacity;
	struct instance *instances;
	size_t instance_count, instance_capacity;
	uint32_t free_instance;
	struct letters *letters;	/* messages of collectives, see scheduled.c */
	/* if contended: */
	struct events events;
	double now_ns;
	struct node_parts *nodes;
	struct island_parts *islands;
	struct port *memory_links, *connections;	/* by rank; by connection */
	/* otherwise: */
	uint32_t *stack;
	size_t stack_count;
	struct scales *scales;	/* of computing and communication; NULL: none */
	bool keeps_rows;	/* that are done, with simulated times; else they are forgotten */
	/* A call is done, the runner's. NULL: nobody asks. */
	void (*done)(void *context, uint32_t location);
	/* A message is over, for --explain. NULL: nobody asks. */
	void (*over)(void *context, uint32_t flight);
	void *context;
	struct marks *marks;	/* a watcher of how times follow from others; NULL: nobody */
	struct made_requests *made;	/* see lanes.c */
	struct early_posts *early;	/* see unmatched.c */
	struct lost_ends { struct lost *items; size_t count, capacity; } lost_sends, lost_posts;
	uint64_t locks;		/* calls that waited for one, which no replay shows */
};

/* lanes.c: reads rows. */
void engine_begin(struct engine *engine, const struct machine *machine, struct definitions *known);
int lanes_add(struct engine *engine, struct reader *in, const struct message *message,
    const struct calls *calls);
void lanes_spawned(struct engine *e);	/* after each message of that kind */
/* From a row to the row that its request comes from. */
void follow_request(const struct replay_row *row, uint32_t *location, uint64_t *seq);
/* From a row to the row that started its request; NULL: none. */
struct op *started_by(const struct engine *engine, uint32_t *location, uint64_t *seq);
/* Rows before SEQ have all edges. */
void lane_settle(struct engine *engine, uint32_t location, uint64_t seq);
void lanes_advance(struct engine *engine);	/* finds how far rows may be simulated */
void lanes_end(struct engine *engine);		/* no more input: everything is settled */
/* edges.c: reads edges. */
int lanes_messages(struct engine *engine, struct reader *in, const struct message *message,
    const struct edge_block *edges);
/* The cost at the begin of a row that sends. */
double send_startup_ns(const struct engine *e, uint32_t flight, const struct replay_row *row);
int lanes_collectives(struct engine *engine, struct reader *in, const struct message *message,
    const struct edge_block *edges);
int lanes_settle(struct engine *engine, struct reader *in, const struct message *message,
    const uint64_t *seqs);

static inline struct op *
op_at(const struct engine *engine, uint32_t location, uint64_t seq)
{
	const struct op_lane *lane = &engine->lanes[location];

	return seq - lane->first < lane->count ?
	    &lane->ops[lane->begin + (size_t)(seq - lane->first)] : NULL;
}

static inline struct replay_row *
row_at(const struct engine *engine, uint32_t location, uint64_t seq)
{
	const struct op_lane *lane = &engine->lanes[location];

	return &lane->rows[lane->begin + (size_t)(seq - lane->first)];
}

static inline bool
is_any_collective(const struct op *op)
{
	return op->act == ACT_COLLECTIVE || op->act == ACT_COLLECTIVE_START;
}

/* Does it run as messages? */
static inline bool
is_scheduled(const struct engine *e, const struct op *op)
{
	return op->act == ACT_COLLECTIVE && op->link != NONE &&
	    e->instances[op->link].plan.schedule != NO_SCHEDULE;
}

/* The factor from --scale for the computing before a runner's row, or for its communication. */
static inline double
scale_of(const struct engine *e, uint32_t runner, bool compute)
{
	const struct replay_row *row = e->runners[runner].row;

	if (e->scales == NULL)
		return 1;
	return scale_factor(e->scales, e->known, e->runners[runner].rank, row->call,
	    row->site, compute);
}

/* engine.c: simulates as far as the rows read so far allow. */
void engine_run(struct engine *engine);
void wake(struct engine *engine, uint32_t runner, double at_ns);
void arrive(struct engine *engine, uint32_t flight, double at_ns);
bool block(struct engine *engine, uint32_t runner);	/* sleeps until wake; false */
/* What it waits for is known to be over; true. With an event queue, AT_NS is in the past. */
static inline bool
sleep_until(struct runner *r, double at_ns)
{
	if (at_ns > r->now_ns)
		r->now_ns = at_ns;
	r->woken_ns = r->now_ns;
	return true;
}

/* act.c: executes a row. */
double compute_ns(const struct engine *engine, uint32_t runner);
/* The cost of an operation on the CPU at its begin. */
struct cost startup(const struct engine *engine, uint32_t runner, const struct op *op);
bool act(struct engine *engine, uint32_t runner);	/* false: the runner sleeps */
/* A runner reaches the receive of a message. */
void post(struct engine *engine, uint32_t runner, uint32_t flight);
/* A message starts, or waits for its receive; false: the runner sleeps until it is over. */
void begin_send(struct engine *engine, uint32_t runner, uint32_t flight, double bytes);
/* a rendezvous one */
bool wait_posted(struct engine *engine, uint32_t runner, uint32_t flight);
bool wait_arrived(struct engine *engine, uint32_t runner, uint32_t flight);
/* The overhead of a receive whose data has arrived, or of a send whose data is on its way. */
double after_ns(const struct engine *engine, uint32_t runner);
void depart(struct engine *engine, uint32_t flight, double at_ns);	/* all data has left */

/* scheduled.c: collectives as messages. */
void moves_enter(struct engine *engine, uint32_t runner);
/* A step of a move, and its cost on the CPU; false: the runner sleeps. */
bool move_step(struct engine *engine, uint32_t runner, double *ns);

/*
 * unmatched.c: ends of messages that have no edge. lost_send: false: it sleeps. early_post: the
 * runner posts a receive whose message is not known yet. early_take: the message that was begun
 * for that row, for its edge; NONE. early_over: the row's request is completed or FREED, and no
 * edge has come or will.
 */
bool lost_send(struct engine *engine, uint32_t runner, const struct op *op);
void lost_post(struct engine *engine, uint32_t rank, const struct replay_row *row, double at_ns);
void early_post(struct engine *engine, uint32_t runner);
uint32_t early_take(struct engine *engine, uint32_t location, uint64_t seq);
void early_over(struct engine *engine, uint32_t location, uint64_t seq, bool freed);

/* collective.c: true if the runner may continue at once. */
bool collective_enter(struct engine *engine, uint32_t runner, const struct op *op, bool waits);
bool collective_wait(struct engine *engine, uint32_t runner, const struct op *op);
void collective_done(struct engine *engine, uint32_t instance, double at_ns);
/* Looks whether a group is met, and the groups chained to it. */
void collective_meet(struct engine *engine, uint32_t instance, uint32_t group);
/* When all that a member waited for had entered; it leaves now, or has left. */
double collective_met_ns(const struct engine *engine, uint32_t instance, uint32_t member);
/* of a reduction: data is at the root */
void collective_part(struct engine *engine, uint32_t flight);
/* collective_cost.c: the cost of its phases, for all members the same. */
struct cost collective_cost(const struct engine *engine, struct instance *instance);
/* MPI_Reduce is messages to the root, unless the machine has phases for it. */
bool collective_is_messages(const struct engine *engine, const struct instance *instance);
struct cost reduction_startup(const struct engine *engine, uint32_t runner, uint32_t instance);
struct cost collective_startup(const struct engine *engine, uint32_t runner, uint32_t instance);

/* explain.c: a runner's wait since act_ns is over, and it computes for COST_NS behind it. */
void explain_wait(struct engine *engine, uint32_t runner, double cost_ns);
void explain_part(struct engine *engine, uint32_t flight);	/* of a reduction: it has arrived */

/* links.c */
uint32_t flight_new(struct engine *engine);
void flight_unref(struct engine *engine, uint32_t flight);
uint32_t instance_new(struct engine *engine, uint32_t members);
void instance_unref(struct engine *engine, uint32_t instance);
void resource_begin(struct resource *resource, int64_t total);
bool is_free(const struct resource *resource);
/*
 * Takes one for a message without one, recorded in FLAG; false: none is free, and the message waits
 * in QUEUE.
 */
bool resource_take(struct engine *engine, struct resource *resource, struct queue *queue,
    uint32_t flight, uint8_t flag);
void queue_add(struct engine *engine, struct queue *queue, uint32_t flight);
void queue_remove(struct engine *engine, struct queue *queue, uint32_t flight);

void port_begin(struct port *port, int64_t in, int64_t out);
bool links_take(struct engine *engine, uint32_t flight);	/* false: it waits for one */
/* wakes messages that wait for them */
void links_give(struct engine *engine, uint32_t flight);

/* transfer.c: moves messages. */
void transfer_begin(struct engine *engine);
double latency_ns(const struct engine *engine, uint32_t source, uint32_t target);
double wire_latency_ns(const struct engine *engine, uint32_t source, enum wire wire);
enum wire wire_of(const struct engine *engine, uint32_t source, uint32_t target);
/* once routed */
double flight_latency_ns(const struct engine *engine, const struct flight *flight);
/* Finds the wire and the time on it. */
void flight_route(const struct engine *engine, struct flight *flight, int64_t tag, uint64_t bytes);
void transfer_start(struct engine *engine, uint32_t flight, double at_ns);
/* takes the resources it lacks, or waits */
void transfer_try(struct engine *engine, uint32_t flight);
void transfer_end(struct engine *engine, uint32_t flight);	/* gives its resources back */
void bus_take_all(struct engine *engine, uint32_t instance);	/* ends with an EVENT_INSTANCE */
void bus_give_all(struct engine *engine, uint32_t instance);

#endif
