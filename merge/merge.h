/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of lp-merge share: the raw traces as surveyed by the first pass. */
#ifndef MERGE_H
#define MERGE_H

#include "../base/run/headline.h"
#include "../base/run/poll_gaps.h"
#include "../base/run/shard_files.h"
#include "../base/stream/calls.h"
#include "../base/stream/samples.h"
#include "../base/team/team.h"
#include "../base/tool/tool.h"

enum sync { SYNC_NONE, SYNC_OFFSET, SYNC_LINEAR, SYNC_CLC };

/* A measured offset to another clock. */
struct sample {
	int64_t at_ns, offset_ns, error_ns;
	int32_t peer;
};

/* What is added to a clock at an instant of its own. */
struct knot {
	int64_t at_ns, offset_ns;
};

/* Linear from knot to knot, and with the drift before the first and behind the last. */
struct correction {
	struct knot *knots;	/* in order of time; ranks that share a clock share them */
	size_t count;		/* 0: the clock is taken as it is */
	double drift;		/* ns per ns */
	/* bound between the first and the last sample, where a clock is linear */
	int64_t error_ns;
	double error_rate;	/* as much more for each ns before and behind these */
	bool known;
};

/* A thread of a rank, as surveyed: its blocks are not, for there may be any number of them. */
/* Of a thread that did not end: see unended.h. */
struct last_row {
	int64_t enter_ns, since_ns;	/* own clock */
	uint64_t address;
	uint32_t number, comm, site;	/* the rank's own */
	int32_t peer, tag;
	uint16_t call;		/* index of call_name; 0: there is no such row */
	bool in_call;
};

struct thread {
	uint64_t rows;
	uint64_t last_offset;	/* of its last block */
	/* first enter, last leave; own clock; where there are rows */
	int64_t begin_ns, end_ns;
	bool ends;		/* the last leave is known */
	bool aborted;		/* its last row is MPI_Abort */
	/* of the call in its last row, as the file numbers calls; 0: not known */
	uint32_t last_number;
	struct last_row last;
};

/* One rank's definition of a communicator. */
struct membership {
	uint64_t id;		/* as told */
	uint64_t name;		/* the same on all members, and on no others: join_worlds() */
	uint32_t comm;		/* number within the rank */
	int32_t rank, size;	/* own rank in its group, members of the group */
	int32_t side;		/* 0 or 1 */
	int32_t remote_size;	/* -1: no intercommunicator */
	uint32_t from;		/* the rank's number of what its id goes with; 0: none */
	char *met;		/* how the members of another world were met: NULL, they were not */
	uint64_t port;		/* the same on both sides; 0: not known */
	int64_t at_ns;		/* of the meeting; own clock */
	bool joined;		/* both sides of the meeting are here */
	char *type;		/* "window", "file", or NULL: a communicator */
	int32_t *sources;	/* neighbours in its topology; NULL: it has none */
	uint32_t source_count;
};

struct raw_module {
	uint64_t base, bytes;	/* in the rank's memory */
	uint32_t module;	/* in the table of all modules */
};

struct raw_site {
	uint32_t site;		/* number within the rank */
	uint16_t call;		/* number of the function called there; 0: not known */
	uint64_t address;
	uint32_t *stack;	/* numbers of other sites of the rank; NULL: a place of its own */
	uint32_t depth;
	/* of the rank that had been told by then: the last of them at the address has it */
	size_t modules;
};

/* A stack of frames: numbers of sites in the trace, the call itself first. */
struct stack {
	uint32_t *frames;
	uint32_t depth;
	int32_t rank;		/* that it was read from */
	uint32_t raw;		/* its number there */
};

/* Own clock and the kernel's, at one instant. */
struct kernel_clock {
	uint64_t kernel;
	int64_t at_ns, offset_ns;
};

/* An MPI_COMM_WORLD: its ranks are FIRST and those behind it. */
struct world {
	uint64_t run;
	int32_t first, ranks;
	const char *file;	/* that told, and where */
	uint64_t offset;
	int32_t meets;		/* a world before it that it met; -1: none */
	int32_t own_rank, rank;	/* of both, that were there */
	int64_t own_ns, at_ns;	/* when, on their clocks */
	bool guessed;		/* its clock is known by that alone */
	int64_t late_ns;	/* by what messages say that the guess is late, and */
	int64_t error_ns;	/* the bound of its error then; -1: they do not say */
};

/* A message of kind cores. */
struct cores {
	int64_t at_ns, cpu_ns, thread_cpu_ns, waited_ns, busy_ns, threads;
	unsigned char mask[128];
};

/* A file, or a part of one, with a segment of a raw trace. */
struct raw_segment {
	const char *file;
	uint64_t base;		/* where in it the bytes begin that offsets count from */
	uint64_t offset;	/* of what tells that it is this rank's */
};

/* Offsets of a rank's messages: in which of its segments, and where there. */
enum { SEGMENT_BITS = 44 };
#define SEGMENT_OFFSET ((UINT64_C(1) << SEGMENT_BITS) - 1)

struct bytes {
	char *at;
	size_t count, capacity;
};

struct rank {
	const char *file;	/* that it was read from, the first of its segments */
	struct raw_segment *segments;
	size_t segments_count, segments_capacity;
	uint64_t messages;	/* in those before the one that is being read */
	bool present, ended;
	int64_t died_ns;	/* own clock; 0: not known */
	char *host, *program;
	uint64_t rows;
	uint64_t order;		/* in which the traces were read */
	int32_t world;
	struct kernel_clock *kernels;
	size_t kernel_count, kernel_capacity;
	struct bytes kept;	/* its definitions, as messages: see share.c */
	int32_t holder;		/* member of the team that has read it */
	uint64_t calls_offset;	/* of its first block */
	int64_t begin_ns, end_ns;	/* first enter, last leave; own clock */
	struct thread *thread;	/* by thread */
	int32_t clock_peer;	/* rank whose clock it shares; -1 none */
	int32_t clock;		/* rank that this clock is named after; known once clocks are */
	struct sample *samples;
	size_t sample_count, sample_capacity;
	struct membership *comms;
	size_t comm_count, comm_capacity;
	struct raw_module *modules;
	size_t module_count, module_capacity;
	struct raw_site *sites;
	size_t site_count, site_capacity;
	uint64_t unwound;	/* samples with stacks of the ranks before it: see unwind.h */
	uint32_t *comm_map;	/* own number -> number in the trace */
	size_t comm_map_size;
	uint32_t *site_map;
	size_t site_map_size;
	uint32_t threads;	/* locations of its own, at least 1 once rows were seen */
	uint32_t location_base;	/* location of thread t > 0 is this + t - 1 */
	struct poll_gaps *gaps;	/* location: the thread; site: its own number */
	size_t gaps_count, gaps_capacity;
	struct cores *cores;	/* when recording began, and when it ended */
	size_t cores_count, cores_capacity;
	struct correction correction;
	/* receives that ended before the send, at first and at last */
	uint64_t reversed, reversed_left;
	int64_t moved_ns;	/* at most, for the sake of these */
};

struct module {
	char *path;
	unsigned char build_id[64];
	uint32_t build_id_size;
};

struct known_site {
	uint32_t module;	/* UINT32_MAX: not in a known module */
	uint64_t offset;
	uint16_t call;		/* index of call_name; 0: not known */
};

struct input {
	struct rank *ranks;
	int32_t rank_count;	/* of all worlds; 0 until the first trace tells */
	struct world *worlds;
	int32_t world_count;
	size_t world_capacity;
	int64_t date_s;		/* when the first rank began to record; 0: not known */
	uint64_t run;		/* shared by all raw traces of a run */
	char **files;		/* NULL: standard input */
	size_t file_count, file_capacity;
	/* members of the team that have such files of their own; 0: all see these */
	uint32_t holders;
	char *no_file;		/* why there is none of a folder that was named; NULL: there is */
	const char *run_file;	/* that told */
	uint64_t traces;	/* read so far */
	bool died;		/* one of them before it told its rank */
	bool keeps;		/* definitions, for other processes */
	bool tells_open;	/* what ranks that have not ended were in */
	bool partial;		/* goes on without traces that are missing, or cannot be read */
	struct variable *environment;	/* as rank 0 has told */
	size_t variable_count, variable_capacity;
	struct module *modules;
	size_t module_count, module_capacity;
	struct known_site *sites;	/* index 0 is unused */
	size_t site_count;
	struct stack *stacks;	/* sites from site_count on */
	size_t stack_count;
	bool sampled;		/* there are samples */
	int unwound;		/* their callers, as unwind.c has found them */
	bool used[65536];	/* indices of call_name of the calls that are named */
	int64_t origin_ns;	/* first enter of the run, on the common clock */
	uint32_t location_count;
	int32_t *location_rank;	/* by location */
	struct shift *shifts;	/* by location: what clc adds; NULL: nothing */
	/* of all raw traces, one after the other: names of calls, and the history */
	struct reader *in;
};

/* input.c: surveys one of the files, or standard input when FILE is NULL. Dies on bad input. */
void survey_file(struct input *input, const char *file);
/* Once more the definitions of one rank that a process has kept, from its trace FILE. */
struct rank *scan_kept(struct input *input, const char *file, const char *bytes, size_t size);
void bytes_add(struct bytes *to, const void *more, size_t size);
/*
 * share.c: the first pass over all files, each by one of the team; then all know the definitions of
 * all ranks, in the order in which one process would have found them.
 */
void survey(struct input *input, const struct team *team);
/* check.c: the last leaves of all threads that were surveyed. */
void find_ends(struct input *input);
/* A rank's first thread has the rank's number; the others follow behind all ranks. */
void number_locations(struct input *input);
/* Dies where a rank is missing, unless the run died or some may be missing; numbers the
 * locations. */
void check_ranks(struct input *input, const char *whole);
/* The thread that is this location; NULL where it has no rows. */
const struct thread *thread_of(const struct input *input, uint32_t location);

/* own_files.c: raw traces on disks that only some of the team see. */
/*
 * If not all see the same files, input->files become those that this process is to read, and
 * input->holders the size of the team. Dies if nobody sees any.
 */
void divide_files(struct input *input, const struct team *team);
/* Processes that need other nodes' raw traces get copies, which input->ranks name from now on. */
void files_to_all(struct input *input, const struct team *team);

/*
 * worlds.c: several MPI_COMM_WORLDs are one run if they have met. Gives both sides of what they
 * made when they met one id; dies of a world that has met none of the others.
 */
void join_worlds(struct input *input);
/* Of a communicator of a rank, in its world. */
uint64_t communicator_name(const struct rank *rank, const struct membership *of);
/* Clocks of all worlds, each corrected alone, to that of the first. */
void join_clocks(struct input *input);
/* Is there a world whose clock is a guess? What messages with others say of it: latency.c. */
bool has_guessed(const struct input *input);
void look_at_guessed(struct input *input, struct world *world);
/* What that says becomes its clock. */
void correct_guessed(struct input *input, struct world *world);
/* The communicator of the world of all its ranks: 1, where there is one world. */
uint32_t world_comm(const struct input *input, int32_t world);

/* clock.c: every rank's correction from its samples, and the origin (ns, on the common clock). */
void correct_clocks(struct input *input, enum sync sync);
void set_origin(struct input *input);
int64_t corrected_ns(const struct correction *correction, int64_t time_ns);
/* Bound of its error from BEGIN_NS to END_NS, of the clock that is corrected. */
int64_t correction_error_ns(const struct correction *correction, int64_t begin_ns, int64_t end_ns);
/* The same as corrected_ns for COUNT times that never decrease. */
void correct_times(const struct correction *correction, int64_t *times_ns, size_t count);

/* latency.c, clc.c: what the messages of the run say about clocks. Is there a clock without a
 * drift? */
bool lacks_drift(const struct input *input);
/* Gives such clocks the drift that messages show, if they show any. */
void correct_drift(struct input *input);
/* Shifts events until no message is reversed, if any is; notes what that took. */
void correct_order(struct input *input);
/* share.c: the first of the team has done the last two; now all know the results. */
void share_clocks(struct input *input, const struct team *team);

/* output.c: MOVED_NS: by what all is moved, since shifts have moved the first enter. */
void write_ranks(struct writer *out, const struct input *input, int64_t moved_ns, bool followed);

/* definitions.c: numbers communicators and sites alike on all ranks and writes their messages. */
void write_communicators(struct writer *out, struct input *input);
void write_sites(struct writer *out, struct input *input, bool names);

/* poll_gaps.c: what all threads did between polls; sites have their numbers by then. */
void write_poll_gaps(struct writer *out, const struct input *input);

/* From a rank's own clock to the trace, before all is moved by what has moved the first enter. */
int64_t event_ns(const struct input *input, uint32_t location, uint64_t event, int64_t own_ns);

/* load.c: what the ranks of each host had of its cores. Of a message: 0, or -1 with the reason in
 * the reader. */
int cores_read(struct rank *rank, struct reader *in, const struct message *message);
void write_loads(struct writer *out, const struct input *input);

/*
 * blocks.c: the second pass: the blocks of all locations in order of time, by one cursor a
 * location. Memory: locations, one block, and 8 bytes for each block that lies before another
 * thread's next one.
 */
struct blocks;
struct source;
/* Of the ranks in SHARD, with OF by rank; NULL: of all. */
struct blocks *blocks_open(const struct input *input, const uint32_t *of, uint32_t shard);
struct source *blocks_source(struct blocks *blocks);
void blocks_close(struct blocks *blocks);
/*
 * The next block, or slice of one, on the own clock of its location, which is that of the trace.
 * It is the caller's to change until the next call. False: there are no more.
 */
bool blocks_next(struct blocks *blocks, struct calls *slice);

/* output.c: the trace on corrected clocks, as one stream. */
void write_trace(struct input *input, int fd, bool names, int argc, char **argv);
/* Or piece by piece: */
struct output *output_begin(struct input *input);
void output_end(struct output *output);
/* The definitions; places in the program get their names only if NAMES. */
void output_define(struct output *output, struct writer *out, bool names);
/* Blocks go to FD from now on, behind a header; the caller ends it. */
struct writer *output_open(struct output *output, int fd, int argc, char **argv);
/* The blocks of the ranks in SHARD, with OF by rank; NULL: of all. */
void output_blocks(struct output *output, const uint32_t *of, uint32_t shard);

/* Rows on the clock of the trace, with numbers of their rank, which become the trace's. */
void output_rows(struct writer *out, const struct input *input, struct calls *calls);

/*
 * follow.c: the traces of FOLDER while their run goes on, to FD, until it ends. What goes out is a
 * trace with the clocks of its beginning.
 */
void follow(struct input *input, const char *folder, int fd, bool names, enum sync sync,
    int argc, char **argv);

/*
 * shards.c: a folder of shards, COUNT of them; 0: one a node. Each member of the team writes its
 * own; the first one names what they define, if NAMES.
 */
void write_shards(struct input *input, const char *folder, uint32_t count, const struct team *team,
    bool names, int argc, char **argv);

/* ---- samples ------------------------------------------------------------------------- */

/*
 * Samples on their way into the trace. Memory: of each rank those between the last leave that has
 * gone out and the recorder's next look at its rings, or in a compressed trace those that go with
 * 16384 calls; where the threads of a rank call at other times than each other, those of the time
 * between.
 */
struct sample_pass {
	const struct input *input;
	struct writer *out;
	struct source *source;		/* that of the calls, in turn */
	struct rank_samples *ranks;
	struct samples block;		/* as read */
	int64_t moved_ns;
};

/* What the logical clock has made of a block of calls, times since the origin; count 0: nothing. */
struct moves {
	size_t count;
	const int64_t *enter_ns, *leave_ns, *moved_enter_ns, *moved_leave_ns;
	int64_t from_ns, from_moved_ns;	/* the last leave of the block before, if there was one */
	bool begun;
};

/* MOVED_NS: by what all is moved, since shifts have moved the first enter. */
void samples_begin(struct sample_pass *pass, struct writer *out, struct source *source,
    int64_t moved_ns);
/*
 * Writes the location's samples from before UNTIL_NS, its own clock, that have not gone out yet;
 * INT64_MAX: all that are left.
 */
void samples_before(struct sample_pass *pass, uint32_t location, int64_t until_ns,
    const struct moves *moves);
void samples_end(struct sample_pass *pass);

/*
 * unwind.c: the callers of samples that came with their stacks, of all ranks in the order of their
 * messages. They become sites. The number of each sample's callers goes to a file, from the rank's
 * UNWOUND on; -1: there are no samples.
 */
int unwind_samples(struct input *input);
/* Callers that were found so take the place of those that frame pointers led to. */
void unwound_callers(int spool, uint64_t first, uint32_t *callers, size_t count);

/* ---- names --------------------------------------------------------------------------- */

/* names.c: function, file and line of places in one module; NULL where unknown. */
struct place {
	char *function, *file;
	int line;
	struct {		/* functions that this was compiled into, the innermost first */
		char *function, *file;
		int line;	/* where in it the one before is; 0: not known */
	} inlined[16];
	uint32_t inlined_count;
};
struct symbols;
struct symbols *symbols_open(const struct module *module);
void symbols_find(struct symbols *symbols, uint64_t offset, struct place *place);
void symbols_close(struct symbols *symbols);

#endif
