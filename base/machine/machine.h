/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine that a run is replayed on: the parameters of Dimemas' model, see lp-replay(1). */
#ifndef MACHINE_H
#define MACHINE_H

#include "../tool/tool.h"
#include "schedule.h"

/* between nodes; 1/bandwidth there; of a call */
enum parameter { LATENCY, GAP, OVERHEAD, PARAMETERS };

/* What something lasts: NS in all, of it so many times each parameter. */
struct cost { double ns, times[PARAMETERS]; };
#define NO_COST ((struct cost){ 0, { 0 } })

/* How often a phase of a collective costs latency and transfer; sizes that it may take them of. */
enum model { MODEL_NONE, MODEL_CONSTANT, MODEL_LINEAR, MODEL_LOGARITHMIC, MODEL_LINEAR_P };
enum size { BYTES_MIN, BYTES_MAX, BYTES_MEAN, BYTES_TWICE_MAX, BYTES_SUM, BYTES_SENT,
    BYTES_RECEIVED };

extern const char *const model_names[], *const size_names[];	/* NULL ends them */

struct phases {
	enum model in, out;
	enum size in_size, out_size;
};

struct island {			/* what Dimemas calls a machine */
	double ns_per_byte;	/* of its network; 0: no time at all */
	int64_t buses;		/* messages in flight at once; 0: no limit */
	struct phases phases[OPERATIONS];
	/* those of MPI_Reduce count; else it is a message from each to the root */
	bool models_reduce;
	int64_t nodes;
};

struct node {
	uint32_t island;
	int64_t cpus;
	/* speed of its CPUs; bursts are divided by it, or last 0 where it is not > 0 */
	double ratio;
	double local_latency_ns, local_ns_per_byte;
	/* 0: no limit; the links are those of a task */
	int64_t memory_buses, memory_in, memory_out;
	double latency_ns;
	int64_t in, out;	/* links; both 0: no limit; one of them 0: half duplex */
	double wide_latency_ns;
};

struct region {
	int64_t type, value;	/* of the event that opens it; type:0 closes it */
	/* bursts in it are divided by it; 0: they last 0; < 0: so many seconds each */
	double ratio;
};

struct list { int64_t *at; size_t count, capacity; };

/* Messages between two islands that have one of its tags and a fitting size may take it, one at a
 * time. */
struct connection {
	uint32_t islands[2];	/* in either direction */
	double ns_per_byte;	/* 0: no time at all */
	/* flight: from when it is free again until the data is there */
	double latency_ns, flight_ns;
	struct list tags;
	struct limit { int64_t bytes; char sign; } limits[2];	/* sizes <, = or > these */
	bool either;		/* one of the two limits is enough */
	bool defined;
};

enum mapping { FILL_NODES, TASKS_PER_NODE, INTERLEAVED, LISTED };

struct machine {
	bool dimemas;		/* collectives and requests as in Dimemas; else as in MPI */
	/* MPI_Bsend is eager and MPI_Ssend rendezvous whatever their size, as in MPI */
	bool heeds_modes;
	/*
	 * Messages as in LogGP, requests and collectives as in MPI: a send costs its overhead on
	 * the CPU, and a receive its own once the data is there, which travels latency and size
	 * over bandwidth.
	 */
	bool loggp;
	double call_ns;		/* of each call that communicates, on the CPU at its begin */
	struct wire_costs {	/* between nodes; in memory */
		struct curve_by_size {	/* measured, by size; or so much and a byte so much */
			struct travel { double bytes, ns; } *at;
			size_t count, capacity;
			double ns, ns_per_byte;
			bool told;
		} send, sent, receive;	/* overheads; sent: of a send, its data being on its way */
		/* on its way, latency included; not told: by latency and bandwidth */
		struct curve_by_size travel;
		/* of that it holds links and bus; not told: all but the latency */
		struct curve_by_size gap;
		/* the gap is work of the processors: a message need not wait for it to be on its
		 * way */
		bool works;
	} network, memory;
	/* of what was received in a reduction, on the CPU; by schedules */
	struct curve_by_size combining;
	struct rule {		/* of collectives as messages; of those that fit the last counts */
		enum operation operation;
		enum schedule schedule;
		double from_bytes;	/* of a block */
		uint32_t from_ranks;
		double segment;		/* bytes; 0: none */
	} *rules;
	size_t rule_count, rule_capacity;
	/* what members of a collective spend beside its messages, by size of a block */
	struct beside {
		enum operation operation;
		uint32_t from_ranks;	/* of those that fit the last counts */
		struct curve_by_size curve;
	} *besides;
	size_t beside_count, beside_capacity;
	/* calls that make communicators last as long as recorded, likewise */
	bool keeps_making;
	/* MPI_Init and MPI_Finalize last as long as recorded once all are there */
	bool keeps_init;
	/* messages of this size and more are rendezvous; -1: the calls tell */
	int64_t eager_bytes;
	struct island *islands;
	size_t island_count, island_capacity;
	struct node_group {	/* nodes that are alike */
		int64_t end;	/* number of the first behind them */
		struct node node;
	} *groups;
	size_t group_count, group_capacity;
	struct node *nodes;	/* after machine_map: those that have ranks, in order */
	size_t node_count;
	double wide_ns_per_byte;
	enum model wide_model;
	struct connection *connections;
	size_t connection_count;
	enum mapping mapping;
	int64_t tasks_per_node;
	struct list list;	/* by rank, of LISTED: the number of its node */
	uint32_t *node_of;	/* by rank, after machine_map: index of its node */
	struct region *regions;
	size_t region_count, region_capacity;
};

/* Zero latency, infinite bandwidth, no limits: what lp-replay uses by itself. */
void machine_ideal(struct machine *machine);
/* The same with a node for each rank and messages as in LogGP, for questions about the network. */
void machine_loggp(struct machine *machine);
/* A parameter of the network, which may differ between nodes, or of a call. */
double machine_value(const struct machine *machine, enum parameter parameter);
void machine_set(struct machine *machine, enum parameter parameter, double value);
bool machine_is_uniform(const struct machine *machine, enum parameter parameter);
/* A file of either format, or death naming the line; or TEXT, which is given away, under that
 * name. */
void machine_read(struct machine *machine, const char *file);
void machine_read_text(struct machine *machine, const char *file, char *text);
/* By a table of sizes: linear between two, and like the last two behind. */
double by_size_ns(const struct curve_by_size *curve, double bytes);
/* models.c: how often a phase costs latency and bytes; BUSES 0: no limit. */
double model_factor(enum model model, int64_t ranks, int64_t buses);
double model_bytes(enum size size, double sent, double received);
enum operation operation_named(const char *name);	/* in small letters, without MPI_ */
enum operation operation_of(uint16_t call);
/* What the CPU spends on a message at one of its ends; where nothing is told of memory, as between
 * nodes. */
double overhead_ns(const struct machine *machine, bool in_memory, bool receives, double bytes);
double beside_ns(const struct machine *machine, enum operation operation, uint32_t ranks,
    double bytes);
double sent_ns(const struct machine *machine, bool in_memory, double bytes);
/* How a collective of so many ranks and bytes a block is done, or NULL: as its class. */
const struct rule *machine_rule(const struct machine *machine, enum operation operation,
    uint32_t ranks, double bytes);
/* Gives each rank its node; ranks that find none are an error. */
void machine_map(struct machine *machine, uint32_t ranks);
/* True where something that is limited may make one wait for another: events must be in order. */
bool machine_is_contended(const struct machine *machine, uint32_t ranks);

/* Island I, made up to there. */
struct island *machine_island(struct machine *machine, size_t i);
/* so many more; one for all */
struct node *machine_nodes(struct machine *machine, int64_t count);
void list_add(struct list *list, int64_t value);
void island_phases(struct island *island, struct phases phases);	/* of all collectives */
/* A tree each. */
#define LOGGP_PHASES ((struct phases){ MODEL_LOGARITHMIC, MODEL_NONE, BYTES_MAX, BYTES_MAX })
/* The first connection between two islands that may carry such a message, or -1. */
int64_t machine_connection(const struct machine *machine, uint32_t from, uint32_t to, int64_t tag,
    uint64_t bytes);

#endif
