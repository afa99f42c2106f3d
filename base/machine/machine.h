/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine that a run is replayed on: the parameters of Dimemas' model, see lp-replay(1). */
#ifndef MACHINE_H
#define MACHINE_H

#include "../tool/tool.h"
#include "schedule.h"

/* between nodes; 1/bandwidth there; of a call */
enum parameter { LATENCY, GAP, OVERHEAD, PARAMETERS };

/* A duration: NS in all, which includes each parameter TIMES times. */
struct cost { double ns, times[PARAMETERS]; };
#define NO_COST ((struct cost){ 0, { 0 } })

/* How often a phase of a collective costs latency and transfer, and which size it transfers. */
enum model { MODEL_NONE, MODEL_CONSTANT, MODEL_LINEAR, MODEL_LOGARITHMIC, MODEL_LINEAR_P };
enum size { BYTES_MIN, BYTES_MAX, BYTES_MEAN, BYTES_TWICE_MAX, BYTES_SUM, BYTES_SENT,
    BYTES_RECEIVED };

extern const char *const model_names[], *const size_names[];	/* end with NULL */

struct phases {
	enum model in, out;
	enum size in_size, out_size;
};

struct island {			/* Dimemas calls this a machine */
	double ns_per_byte;	/* of its network; 0: takes no time */
	int64_t buses;		/* messages in flight at once; 0: no limit */
	struct phases phases[OPERATIONS];
	bool models_reduce;	/* use the phases of MPI_Reduce; otherwise all send to the root */
	int64_t nodes;
};

struct node {
	uint32_t island;
	int64_t cpus;
	double ratio;		/* speed of its CPUs: divides bursts; <= 0: they take no time */
	double local_latency_ns, local_ns_per_byte;
	int64_t memory_buses, memory_in, memory_out;	/* 0: no limit; links of a task */
	double latency_ns;
	int64_t in, out;	/* links; both 0: no limit; one of them 0: half duplex */
	double wide_latency_ns;
};

struct region {
	int64_t type, value;	/* of the event that opens it; type:0 closes it */
	double ratio;		/* divides its bursts; 0: they take no time; < 0: seconds of each */
};

struct list { int64_t *at; size_t count, capacity; };

/* A link between two islands for messages of matching tag and size, one at a time. */
struct connection {
	uint32_t islands[2];	/* in either direction */
	double ns_per_byte;	/* 0: takes no time */
	double latency_ns, flight_ns;	/* flight: from its release until the data arrives */
	struct list tags;
	struct limit { int64_t bytes; char sign; } limits[2];	/* sizes <, = or > these */
	bool either;		/* one of the two limits is enough */
	bool defined;
};

enum mapping { FILL_NODES, TASKS_PER_NODE, INTERLEAVED, LISTED };

struct machine {
	bool dimemas;		/* collectives and requests as in Dimemas; otherwise as in MPI */
	/* as in MPI, MPI_Bsend is eager and MPI_Ssend rendezvous at any size */
	bool heeds_modes;
	/*
	 * Messages as in LogGP, requests and collectives as in MPI. A send costs its overhead on
	 * the CPU; the data then travels latency + size / bandwidth; the receive costs its overhead
	 * after the data has arrived.
	 */
	bool loggp;
	double call_ns;		/* on the CPU at the begin of each communicating call */
	struct wire_costs {	/* between nodes; in memory */
		struct curve_by_size {	/* measured by size, or ns + ns_per_byte * bytes */
			struct travel { double bytes, ns; } *at;
			size_t count, capacity;
			double ns, ns_per_byte;
			bool told;
		} send, sent, receive;	/* overheads; sent: of a send, after the data has left */
		/* travel time with latency; if missing: latency and bandwidth */
		struct curve_by_size travel;
		/* time it holds links and bus; if missing: travel less latency */
		struct curve_by_size gap;
		/* processors work during the gap: a message may be on its way before */
		bool works;
	} network, memory;
	/* of data received in a reduction, on the CPU; by schedules */
	struct curve_by_size combining;
	struct rule {		/* collectives as messages; the last matching rule counts */
		enum operation operation;
		enum schedule schedule;
		double from_bytes;	/* of a block */
		uint32_t from_ranks;
		double segment;		/* bytes; 0: none */
	} *rules;
	size_t rule_count, rule_capacity;
	/* time of members of a collective beside its messages, by block size */
	struct beside {
		enum operation operation;
		uint32_t from_ranks;	/* the last matching one counts */
		struct curve_by_size curve;
	} *besides;
	size_t beside_count, beside_capacity;
	bool keeps_making;	/* calls that make communicators last as long as recorded */
	/* MPI_Init and MPI_Finalize last as recorded after all have entered */
	bool keeps_init;
	/* messages of at least this size are rendezvous; -1: the calls decide */
	int64_t eager_bytes;
	struct island *islands;
	size_t island_count, island_capacity;
	struct node_group {	/* nodes that are alike */
		int64_t end;	/* one past the last node's number */
		struct node node;
	} *groups;
	size_t group_count, group_capacity;
	struct node *nodes;	/* after machine_map: nodes with ranks, in order */
	size_t node_count;
	double wide_ns_per_byte;
	enum model wide_model;
	struct connection *connections;
	size_t connection_count;
	enum mapping mapping;
	int64_t tasks_per_node;
	struct list list;	/* for LISTED, by rank: its node's number */
	uint32_t *node_of;	/* by rank, after machine_map: index of its node */
	struct region *regions;
	size_t region_count, region_capacity;
};

/* Zero latency, infinite bandwidth, no limits: the default of lp-replay. */
void machine_ideal(struct machine *machine);
/* The same with a node for each rank and messages as in LogGP, for questions about the network. */
void machine_loggp(struct machine *machine);
/* A parameter of the network, which may differ between nodes, or of a call. */
double machine_value(const struct machine *machine, enum parameter parameter);
void machine_set(struct machine *machine, enum parameter parameter, double value);
bool machine_is_uniform(const struct machine *machine, enum parameter parameter);
/*
 * Reads a file of either format, or dies naming the line. machine_read_text reads TEXT, which it
 * frees, under this name.
 */
void machine_read(struct machine *machine, const char *file);
void machine_read_text(struct machine *machine, const char *file, char *text);
/* From a table by size: linear between entries and beyond the last two. */
double by_size_ns(const struct curve_by_size *curve, double bytes);
/*
 * Of both phases over one kind of wire, among so many ranks. BUSES 0: no limit. LATENCY and EACH,
 * the time of a byte, may have another unit than ns; then the cost has it, too.
 */
struct cost phases_cost(const struct phases *phases, double sent, double received, int64_t ranks,
    int64_t buses, double latency, double each);
enum operation operation_named(const char *name);	/* in lower case, without MPI_ */
enum operation operation_of(uint16_t call);
/* Its function, MPI_Bcast, or the one that STARTS it, MPI_Ibcast; to be freed. */
char *operation_call(enum operation operation, bool starts);
/* CPU time of a message at one of its ends. Memory without values is as between nodes. */
double overhead_ns(const struct machine *machine, bool in_memory, bool receives, double bytes);
double beside_ns(const struct machine *machine, enum operation operation, uint32_t ranks,
    double bytes);
double sent_ns(const struct machine *machine, bool in_memory, double bytes);
/* The rule for a collective with these ranks and block bytes; NULL: modelled by its class. */
const struct rule *machine_rule(const struct machine *machine, enum operation operation,
    uint32_t ranks, double bytes);
/* Gives each rank its node; dies if a rank has none. */
void machine_map(struct machine *machine, uint32_t ranks);
/* Whether a limit may make one rank wait for another, so that events must run in order. */
bool machine_is_contended(const struct machine *machine, uint32_t ranks);

/* Island I; adds islands up to I. */
struct island *machine_island(struct machine *machine, size_t i);
/* adds COUNT nodes; they share one struct */
struct node *machine_nodes(struct machine *machine, int64_t count);
void island_phases(struct island *island, struct phases phases);	/* for all collectives */
/* One tree in each phase. */
#define LOGGP_PHASES ((struct phases){ MODEL_LOGARITHMIC, MODEL_NONE, BYTES_MAX, BYTES_MAX })
/* The first connection between two islands that takes such a message, or -1. */
int64_t machine_connection(const struct machine *machine, uint32_t from, uint32_t to, int64_t tag,
    uint64_t bytes);

#endif
