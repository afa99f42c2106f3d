/* SPDX-License-Identifier: BSD-3-Clause */
/* The definitions at the head of a trace: ranks, locations, communicators, call sites. */
#ifndef DEFINITIONS_H
#define DEFINITIONS_H

#include "../mpi/call_class.h"
#include "../stream/stream.h"
#include "headline.h"

struct communicator {
	int32_t size, remote_size;	/* 0: not defined; remote_size 0: no intercommunicator */
	/* world ranks, -1 unknown, -2 outside; NULL for MPI_COMM_WORLD and MPI_COMM_SELF */
	int32_t *members, *remote;
	uint8_t *in_members;		/* a bit for each world rank; intercommunicators only */
	int32_t outside;		/* members of both groups outside MPI_COMM_WORLD */
	bool is_world;			/* one of several MPI_COMM_WORLDs */
	struct neighbours {
		int32_t *sources;	/* ranks of the communicator, -2 none; NULL: unknown */
		uint32_t count;
	} *neighbours;			/* by rank of the communicator; NULL: no topology */
};

struct inlined {
	char *function, *file;		/* file NULL: unknown */
	int32_t line;			/* where the one before was inlined; 0: unknown */
};

struct site {
	uint64_t offset;		/* of the return address in its module */
	uint32_t module;		/* UINT32_MAX: unknown */
	int32_t line;			/* 0: unknown */
	const char *call;		/* the MPI function called there */
	const char *function, *file;	/* of the call; each NULL: unknown */
	struct inlined *inlined;	/* functions into which it is inlined, innermost first */
	size_t inlined_count;
	uint32_t *stack, depth;		/* sites of its frames, the call first; NULL: no stack */
	bool defined;
	char *text;			/* of site_text; NULL: not asked for yet */
};

/* The origin of a spawned process: the enter of the root in MPI_Comm_spawn. */
struct beginning {
	uint64_t seq;
	int64_t ns;
	uint32_t location;
};

/* What the last call of a location waits for until the run ends. */
struct awaited_call {
	uint16_t operation;	/* index of call_name; 0: it is not proved that the call waits */
	uint32_t location;	/* whose last row never came; UINT32_MAX: none is left */
};

/* Does a thread sleep between polls that find nothing? As measured: trace.5. */
struct poll_gaps {
	uint32_t location, site;	/* of the poll after the gap, which found nothing */
	int64_t count, apart_ns, awake_ns;
};

/* 0, or -1 with the reason in the reader. */
int poll_gaps_read(struct poll_gaps *gaps, struct reader *in, const struct message *message);
/* By location, then site, for qsort. */
int poll_gaps_order(const void *left, const void *right);

struct definitions {
	int32_t ranks;			/* 0 before the message of kind run */
	uint32_t location_count;
	int64_t run_ns;
	struct headline headline;	/* program, hosts, date */
	int32_t *location_rank;		/* by location; -1 until defined */
	uint32_t *location_thread;
	struct awaited_call *open_calls;	/* by location; NULL: the run has ended */
	struct beginning *begins;	/* by rank, location UINT32_MAX: not spawned; NULL: none */
	struct communicator *comms;
	size_t comm_count, comm_capacity;
	struct site *sites;
	size_t site_count, site_capacity;
	struct module_name {
		char *path;		/* NULL: undefined */
		char *shown;		/* "[libm.so.6]" */
	} *modules;			/* by number */
	size_t module_count, module_capacity;
	char **regions;			/* names, by number; NULL: undefined */
	size_t region_count, region_capacity;
	struct poll_gaps *poll_gaps;	/* in order of locations, then sites */
	size_t poll_gaps_count, poll_gaps_capacity;
	bool polls_wait;		/* lp-graph counted successful polling loops as waits */
	int64_t poll_gap_ns;		/* the longest gap between two of these polls */
	int64_t handovers;		/* rows in which a thread waits for another one */
};

/* Whether the thread was measured to sleep for about so long before it polls at the site again. */
bool is_seen_asleep(const struct definitions *known, uint32_t location, uint32_t site,
    int64_t apart_ns);

/*
 * Takes a message if it is a definition. Bad input ends the tool: also calls or edges before the
 * message of kind run, or of an undefined location.
 */
void definitions_take(struct definitions *definitions, struct reader *in,
    const struct message *message);
/* Ends the tool if the sum of NS of each location might overflow. */
void refuse_long_sums(const struct definitions *definitions, int64_t ns);
/* Reads the next message and takes it so. False: the stream has ended. */
bool definitions_next(struct definitions *definitions, struct reader *in, struct message *message);

/* The rank of a location of the stream; -1: it is out of range, or nothing defines it. */
static inline int32_t
defined_rank(const struct definitions *definitions, uint32_t location)
{
	return location < definitions->location_count ? definitions->location_rank[location] : -1;
}

/* A site with a number above 0; NULL: unknown. */
static inline struct site *
defined_site(const struct definitions *definitions, uint32_t site)
{
	return site > 0 && site < definitions->site_count ? &definitions->sites[site] : NULL;
}

/* The path of its module; NULL: unknown. */
static inline const char *
site_module(const struct definitions *definitions, uint32_t site)
{
	const struct site *s = defined_site(definitions, site);

	return s != NULL && s->module < definitions->module_count ?
	    definitions->modules[s->module].path : NULL;
}

/* The origin of a location; NULL: it begins with the run. */
static inline const struct beginning *
beginning_of(const struct definitions *definitions, uint32_t location)
{
	const int32_t rank = definitions->begins != NULL ?
	    definitions->location_rank[location] : -1;

	return rank < 0 || definitions->begins[rank].location == UINT32_MAX ? NULL :
	    &definitions->begins[rank];
}

/* What a row of the location waits for until the run ends; NULL: that is not proved. */
static inline const struct awaited_call *
awaited_to_end(const struct definitions *definitions, uint32_t location, unsigned call,
    int64_t leave_ns)
{
	const struct awaited_call *of = definitions->open_calls != NULL &&
	    leave_ns == definitions->run_ns ? &definitions->open_calls[location] : NULL;

	return of != NULL && of->operation != 0 && call_is_open(call) ? of : NULL;
}

/* definitions_write.c: the same as messages. TYPE: of an object on the communicator, or NULL. */
void location_write(struct writer *out, uint32_t location, int32_t rank, uint32_t thread);
void communicator_write(struct writer *out, uint32_t number, const struct communicator *c,
    const char *type);
void neighbours_write(struct writer *out, uint32_t comm, int32_t member,
    const struct neighbours *of);
void site_write(struct writer *out, size_t number, const struct site *s);

/* ---- unended.c: a run that did not end, or not yet ---- */

/* Where threads were when a run ended: the columns of a message of kind unended (trace.5). */
struct thread_ends {
	size_t count;
	uint32_t *locations, *sites;
	uint16_t *calls, *operations;
	int32_t *waits_for;
	int64_t *since_ns;
};
struct thread_ends ends_begin(size_t most);
void ends_free(struct thread_ends *ends);
/*
 * Takes a message of kind unended: a part of the headline, "killed at 12.3 s: deadlock: 0 waits in
 * MPI_Ssend to 1 ...", and what open calls wait for.
 */
void unended_take(struct definitions *definitions, struct reader *in,
    const struct message *message);

/* How far the ranks of a run in progress have come: a message of kind reached. */
struct reached {
	int64_t at_ns;
	int64_t *since_ns;	/* by location: the enter of its current call, or at_ns */
	uint16_t *call;		/* index of call_name; 0: none */
};
/* For COUNT locations. Bad input ends the tool. */
void reached_read(struct reached *reached, struct reader *in, const struct message *message,
    uint32_t count);
void reached_free(struct reached *reached);

/* ---- */

/* Does more than one thread of the rank make calls? */
bool several_threads_call(const struct definitions *definitions, int32_t rank);

/* Where the samples of a thread are: those of workers with the first thread of their rank. */
static inline uint32_t
thread_location(const struct definitions *definitions, uint32_t location, uint32_t worker)
{
	const int32_t rank = definitions->location_rank[location];

	return worker > 0 && rank >= 0 ? (uint32_t)rank : location;
}

/* Is its kind one at the head of a trace, including names of calls? */
bool is_definition(const struct message *message);

/* The world rank of PEER in COMM as RANK sees it; -1: unknown. */
int32_t world_rank(const struct definitions *definitions, uint32_t comm, int32_t rank,
    int32_t peer);

/*
 * "MPI_Send at function (file:line)", "... at function (module+0xoffset)" without lines,
 * "... at module+0xoffset" without names, or "" for an unknown site. At most 1023 bytes, which live
 * as long as the definitions.
 */
const char *site_text(const struct definitions *definitions, uint32_t site);

#endif
