/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of lp-merge: the raw traces as surveyed by the first pass. */
#ifndef MERGE_H
#define MERGE_H

#include "../base/run/definitions.h"
#include "../base/run/meetings.h"
#include "../base/run/shard_files.h"
#include "../base/stream/calls.h"
#include "../base/stream/samples.h"
#include "../base/stuck/unreturned.h"
#include "../base/symbols/symbols.h"
#include "../base/team/team.h"
#include "../base/tool/tool.h"

enum sync { SYNC_NONE, SYNC_OFFSET, SYNC_LINEAR, SYNC_CLC };

struct options {
	enum sync sync;
	bool partial;	/* continue if ranks are missing */
	bool no_names;	/* do not look for functions and lines in the recorded program */
	const char *folder;	/* of shards; NULL: one stream */
	uint32_t shards;	/* number of shards; 0: one per node */
	bool counted;	/* the number was given */
	bool follow;	/* the run may still go on */
	bool no_samples;	/* of such a run */
	bool until_spawn;	/* only until it has spawned processes */
	char **files;	/* NULL-terminated; none: standard input */
};

/* A measured offset to another clock. */
struct sample {
	int64_t at_ns, offset_ns, error_ns;
	int32_t peer;
};

/* A correction of a clock at one of its own times. */
struct knot {
	int64_t at_ns, offset_ns;
};

/* Linear from knot to knot, and with the drift before the first and after the last. */
struct correction {
	struct knot *knots;	/* in order of time; shared by ranks that share a clock */
	size_t count;		/* 0: the clock is taken as it is */
	double drift;		/* ns per ns */
	int64_t error_ns;	/* bound between the first and last sample, if linear */
	double error_rate;	/* added per ns before and after these */
	bool known;
	/* receives that ended before the send, at first and at last */
	uint64_t reversed, reversed_left;
	int64_t moved_ns;	/* the largest shift that corrected these */
};

/* Of a thread that did not end: see check.c. */
struct last_row {
	int64_t enter_ns;	/* own clock */
	uint64_t address;
	uint32_t number, comm, site;	/* the rank's own numbers */
	int32_t peer, tag;
	uint16_t call;		/* index of call_name; 0: there is no such row */
	bool in_call;
};

/* A surveyed thread. The survey keeps no blocks, since there may be any number of them. */
struct thread {
	uint64_t rows;
	uint64_t last_offset;	/* of its last block */
	int64_t begin_ns, end_ns;	/* first enter, last leave; own clock; if it has rows */
	uint32_t worker;	/* its number while it had made no call; 0: none */
	bool ends;		/* the last leave is known */
	bool aborted;		/* its last row is MPI_Abort */
	uint32_t last_number;	/* call of its last row, in the file's numbering; 0: unknown */
	struct last_row last;
};

struct raw_module {
	uint64_t base, bytes;	/* in the rank's memory */
	uint32_t module;	/* in the table of all modules */
};

struct raw_site {
	uint32_t site;		/* number within the rank */
	uint16_t call;		/* number of the function called there; 0: unknown */
	bool futex;		/* threads wait for each other there */
	uint64_t address;
	uint32_t *stack;	/* numbers of other sites of the rank; NULL: a place of its own */
	uint32_t depth;
	size_t modules;		/* of the rank, so far; the last at the address has it */
};

struct raw_region {
	char *name;		/* NULL: no region has this number */
	uint32_t number;	/* in the trace; 0: none so far */
	bool unsure;		/* no region so far: see trace.5 */
};

/* An MPI_COMM_WORLD: ranks FIRST to FIRST + RANKS - 1. All its raw traces share RUN. */
struct world {
	uint64_t run;
	int32_t first, ranks;
	const char *file;	/* its source, and the offset there */
	uint64_t offset;
	int32_t meets;		/* an earlier world that it met; -1: none */
	struct meeting met;	/* OTHER is of this world */
	bool guessed;		/* the clock is known from the meeting only */
};

/* A message of kind cores. */
struct cores {
	int64_t at_ns, cpu_ns, thread_cpu_ns, waited_ns, busy_ns, threads, switches_ns;
	unsigned char mask[128];
};

/* A file, or a part of one, with a segment of a raw trace. */
struct raw_segment {
	const char *file;
	uint64_t base;		/* where in the file offsets count from */
	uint64_t offset;	/* of the message with its rank */
};

/* Offsets of a rank's messages: the number of the segment, and the offset in it. */
enum { SEGMENT_BITS = 44 };
#define SEGMENT_OFFSET ((UINT64_C(1) << SEGMENT_BITS) - 1)

struct bytes {
	char *at;
	size_t count, capacity;
};

struct rank {
	const char *file;	/* its source, the first of its segments */
	struct raw_segment *segments;
	size_t segments_count, segments_capacity;
	uint64_t messages;	/* in segments before the current one */
	bool present, ended;
	bool threaded;		/* not only the first thread may call MPI */
	bool asks_samples;
	int64_t died_ns;	/* own clock; 0: unknown */
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
	int32_t clock;		/* rank that names this clock; set with the clocks */
	struct sample *samples;
	size_t sample_count, sample_capacity;
	struct membership *comms;
	size_t comm_count, comm_capacity;
	struct raw_module *modules;
	size_t module_count, module_capacity;
	struct raw_site *sites;
	size_t site_count, site_capacity;
	uint32_t *comm_map;	/* own number -> number in the trace */
	size_t comm_map_size;
	uint32_t *site_map;
	size_t site_map_size;
	struct raw_region *regions;	/* by own number */
	size_t region_size;
	uint32_t threads;	/* locations of its own, at least 1 once rows were seen */
	uint32_t location_base;	/* location of thread t > 0 is this + t - 1 */
	struct poll_gaps *gaps;	/* location: the thread; site: its own number */
	size_t gaps_count, gaps_capacity;
	struct cores *cores;	/* when recording began, and when it ended */
	size_t cores_count, cores_capacity;
	struct correction correction;
};

struct known_site {
	uint32_t module;	/* UINT32_MAX: not in a known module */
	uint64_t offset;
	uint16_t call;		/* index of call_name; 0: unknown */
	bool futex;
};

struct input {
	struct rank *ranks;
	int32_t rank_count;	/* of all worlds; 0 until the first trace is read */
	struct world *worlds;
	int32_t world_count;
	size_t world_capacity;
	int64_t date_s;		/* when the first rank began to record; 0: unknown */
	char **files;		/* NULL: standard input */
	size_t file_count, file_capacity;
	uint32_t holders;	/* members of the team with files of their own; 0: all see these */
	char *no_file;		/* why a named folder has no file; NULL: it has */
	uint64_t traces;	/* read so far */
	bool died;		/* one of them before it wrote its rank */
	bool keeps;		/* definitions, for other processes */
	bool tells_open;	/* writes open calls of ranks that have not ended */
	bool partial;		/* continues if traces are missing, or cannot be read */
	struct variable *environment;	/* from rank 0 */
	size_t variable_count, variable_capacity;
	struct module *modules;
	size_t module_count, module_capacity;
	bool sampled, regions;	/* there are samples; there are regions */
	bool used[65536];	/* named calls, by index of call_name */
	int64_t origin_ns;	/* first enter of the run, on the common clock */
	uint32_t location_count;
	int32_t *location_rank;	/* by location */
	struct shift *shifts;	/* by location: shifts from clc; NULL: none */
	struct reader *in;	/* over all raw traces: names of calls, and the history */
};

/* ---- scans messages of a raw trace, one by one, into the data of its rank ---------------- */

/* The raw trace being read. */
struct scan {
	struct input *input;
	struct reader *in;
	const char *file;	/* lives as long as the process */
	struct rank *rank;	/* NULL until the message of kind rank */
	uint64_t messages;	/* of this raw trace so far */
	uint64_t traces;	/* of this file so far */
	struct calls calls;	/* a block, when read */
	bool again;		/* messages that a process has kept after checking them */
};

/*
 * Reads a number that the rank assigns itself, from MIN on. Ranks number almost without gaps, so
 * the number can index an array. Returns 0 or -1.
 */
int own_number(struct scan *scan, const struct message *message, const char *key, int64_t min,
    uint32_t *number);

/* Each returns 0, or -1 with the reason in the reader. */
int scan_communicator(struct scan *scan, const struct message *message);
int scan_module(struct scan *scan, const struct message *message);
int scan_site(struct scan *scan, const struct message *message);
int scan_region_name(struct scan *scan, const struct message *message);
int scan_cores(struct scan *scan, const struct message *message);
/* When the rank died; the open call, in a block or alone. */
int scan_died(struct scan *scan, const struct message *message);
int scan_open(struct scan *scan, const struct message *message, struct thread *thread);
/* Skips unknown kinds. */
int scan_message(struct scan *scan, const struct message *message);

/* ---- the passes ------------------------------------------------------------------------- */

/* input.c: surveys one of the files, or standard input if FILE is NULL. Dies on bad input. */
void survey_file(struct input *input, const char *file);
/* Scans the kept definitions of one rank from its trace FILE again. */
struct rank *scan_kept(struct input *input, const char *file, const char *bytes, size_t size);
void bytes_add(struct bytes *to, const void *more, size_t size);
/*
 * share.c: the first pass. Each member of the team reads some files; then all know the definitions
 * of all ranks, in the order of a single process.
 */
void survey(struct input *input, const struct team *team);
/*
 * If not all see the same files, sets input->files to the ones that this process must read, and
 * input->holders to the size of the team. Dies if nobody sees any.
 */
void divide_files(struct input *input, const struct team *team);
/* Copies other nodes' raw traces to processes that need them; input->ranks then name the copies. */
void files_to_all(struct input *input, const struct team *team);
/* check.c: finds the last leaves of all surveyed threads. */
void find_ends(struct input *input);
/* A rank's first thread has the rank's number; the others follow after all ranks. */
void number_locations(struct input *input);
/*
 * Dies if a rank is missing, unless the run died or opt.partial is set; numbers the locations;
 * finds threads that get a last row.
 */
void check_ranks(struct input *input);
/* The number of this location's thread within its rank, and the location of a thread. */
uint32_t thread_number(const struct input *input, uint32_t location);
uint32_t location_of(const struct input *input, int32_t rank, uint32_t thread);
/* The thread of this location; NULL if it has no rows. */
const struct thread *thread_of(const struct input *input, uint32_t location);

/*
 * worlds.c: worlds that have met are one run. Gives both sides of each object that they made at a
 * meeting one name. WHOLE: only if all members of both have defined it.
 */
void join_met(struct input *input, bool whole);
/* The same, and says what it found; dies if a world has met no other. FOLLOWED: it still may. */
void join_worlds(struct input *input, bool followed);
bool world_has_met(const struct input *input, const struct world *world);
/* Corrects the clocks of all worlds to that of the first. */
void join_clocks(struct input *input);
/*
 * If a world's clock is a guess, messages to others may show how late it is, and a bound of the
 * error then; -1: they do not. latency.c looks, the other one corrects it.
 */
struct late {
	int64_t late_ns, error_ns;
};
struct late look_at_guessed(struct input *input, const struct world *world);
void correct_guessed(struct input *input, const struct world *world, struct late late);
/* The communicator of all ranks of a world: 1 if there is one world. */
uint32_t world_comm(const struct input *input, int32_t world);
/* The first one that is not predefined. */
uint32_t first_comm(const struct input *input);

/*
 * clock.c: finds every rank's correction from its samples, and the origin (ns, on the common
 * clock).
 */
void correct_clocks(struct input *input, enum sync sync);
void set_origin(struct input *input);
/*
 * Clocks of a followed run are corrected as they were at the begin: says how well they were known
 * then, or how far they have drifted when it has ENDED.
 */
void tell_of_clocks(const struct input *input, bool ended);
int64_t corrected_ns(const struct correction *correction, int64_t time_ns);
/* Bound of the correction's error from BEGIN_NS to END_NS of the rank's clock. */
int64_t correction_error_ns(const struct correction *correction, int64_t begin_ns, int64_t end_ns);
/* As corrected_ns, for COUNT times that never decrease; they are then since ORIGIN_NS. */
void correct_times(const struct correction *correction, int64_t origin_ns, int64_t *times_ns,
    size_t count);

/* latency.c, clc.c: corrections from the messages of the run. Whether a clock has no drift. */
bool lacks_drift(const struct input *input);
/* Gives such clocks the drift that messages show, if any. */
void correct_drift(struct input *input);
/* Shifts events until no message is reversed, and records the shifts. */
void correct_order(struct input *input);
/* share.c: shares the results of these two, which the first of the team has computed. */
void share_clocks(struct input *input, const struct team *team);

/*
 * output.c: MOVED_NS: shift of all times, so that the first enter stays the origin. RUN_NS: the
 * last leave, if the run is not FOLLOWED.
 */
void write_ranks(struct writer *out, const struct input *input, int64_t moved_ns, int64_t run_ns,
    bool followed);

/* definitions.c: gives communicators and sites common numbers, and writes their messages. */
void write_communicators(struct writer *out, struct input *input);
void write_sites(struct writer *out, struct input *input, bool names);

/* load.c: writes the threads' work between polls, after sites have their numbers. */
void write_poll_gaps(struct writer *out, const struct input *input);

/* From a rank's own clock to the trace's, before all is moved by the shift of the first enter. */
int64_t event_ns(const struct input *input, uint32_t location, uint64_t event, int64_t own_ns);

/* check.c: the number of last rows in the rank. */
uint64_t last_rows(const struct rank *rank);
/* The thread's last leave, or the later begin of its last row; own clock. */
int64_t end_of_thread(const struct rank *rank, const struct thread *thread);
/*
 * Adds the thread's last row, if any, after its last block, on its own clock. It lasts until END_NS
 * of the trace.
 */
void add_last_row(struct calls *calls, const struct thread *thread);
void stretch_last_row(struct calls *calls, const struct thread *thread, int64_t end_ns);
/*
 * Which calls did not return, and why; NULL: there are none, or not all of the run's traces are
 * here. The names of calls in it are then used. NAMES: of places in the program, too.
 */
struct unreturned *find_unreturned(struct input *input, bool names);
/* Writes which rank was where, and closes what was found. */
void write_unended(struct writer *out, const struct input *input, struct unreturned *found,
    int64_t end_ns, int64_t moved_ns);

/* load.c: the cores that the ranks of each host got. */
void write_loads(struct writer *out, const struct input *input);

/*
 * blocks.c: reads messages of the raw traces by rank and place, in any order; there may be more
 * files than can be open.
 */
enum { OPEN_FILES = 64 };

struct open_file {
	const char *name;	/* NULL: none */
	int fd;
};

struct source {
	const struct input *input;
	struct reader *in;
	struct open_file files[OPEN_FILES];	/* by rank modulo OPEN_FILES */
	size_t segment;				/* the rank's segment with the last message */
	uint64_t base;				/* of that piece */
};

void source_open(struct source *source, const struct input *input);
void source_close(struct source *source);

/* Reads the message at this place of the rank's trace, without the columns of calls. */
void source_message(struct source *source, int32_t rank, uint64_t offset, struct message *message);
/* The same; false at the end of the rank's trace. */
bool source_look(struct source *source, int32_t rank, uint64_t offset, struct message *message);
/* The place of the last message, and the place after it. */
uint64_t source_place(const struct source *source, const struct message *message);
uint64_t source_behind(const struct source *source);
/* Reads the columns of the last message; numbers of calls become indices. */
void source_calls(struct source *source, const struct message *message, struct calls *calls);
/* Dies because a message that the survey found is gone. */
_Noreturn void source_changed(const struct source *source);

/*
 * The second pass: the blocks of all locations in order of time, with a cursor for each
 * location. Memory: locations, one block, and 8 bytes for each block that precedes another thread's
 * next one.
 */
struct blocks;
/* The blocks of the ranks in SHARD, with OF by rank; NULL: of all. */
struct blocks *blocks_open(struct source *source, const uint32_t *of, uint32_t shard);
void blocks_close(struct blocks *blocks);
/*
 * The next block, or slice of one, on the location's own clock. The caller may change it until the
 * next call. False: there are no more.
 */
bool blocks_next(struct blocks *blocks, struct calls *slice);

/* output.c: writes the trace on corrected clocks. NAMES: places in the program get names. */
void write_trace(struct input *input, int fd, bool names, int argc, char **argv);
/* The same as a folder of shards. Each member of the team writes its own. */
void write_shards(struct input *input, const struct options *opt, const struct team *team, int argc,
    char **argv);
/* Writes rows on the trace's clock; maps their rank's numbers to the trace's. */
void output_rows(struct writer *out, const struct input *input, struct calls *calls);

/*
 * follow.c: merges the traces of the folders to FD while their run continues, until it ends. The
 * clocks are corrected as at the begin. True: it ended before, as the run has spawned processes.
 */
bool follow(struct input *input, const struct options *opt, int fd, int argc, char **argv);

/* ---- samples and regions --------------------------------------------------------------- */

/*
 * Samples on their way into the trace. Memory, for each rank: the samples between the last written
 * leave and the recorder's next look at its rings; in a compressed trace those that belong to 16384
 * calls. Of regions, those up to the next block of calls, and the rest of their own block. If the
 * threads of a rank call at different times, also the samples between.
 */
struct sample_pass {
	const struct input *input;
	struct writer *out;
	struct source *source;		/* the source of the calls, too */
	struct rank_samples *ranks;
	struct samples block;		/* as read */
	struct nesting *nesting;	/* of regions */
	struct later *later;		/* of a followed run, which defines sites when needed */
	int64_t moved_ns;
};

/* An instant before and after its shift, since the origin. */
struct moved {
	int64_t at_ns, to_ns;
};

/* Of a block of calls: enters and leaves in turn; a part has those of its call. */
struct moves {
	const struct moved *of;
	size_t count;			/* 0: there are no shifts */
	struct moved last;		/* the last leave of the previous block, if it has BEGUN */
	bool begun;
};

/* MOVED_NS: shift of all times, so that the first enter stays the origin. */
void samples_begin(struct sample_pass *pass, struct writer *out, struct source *source,
    int64_t moved_ns, struct nesting *nesting, struct later *later);
/* Gives a block of a followed run. In others samples_before reads them. */
void samples_take(struct sample_pass *pass, int32_t rank, const struct message *message);
/*
 * The location of a thread's samples, switches and regions. A thread without known calls is a
 * worker of its rank, numbered beyond those that the recorder counts.
 */
uint32_t place_of_thread(const struct input *input, int32_t rank, uint32_t thread,
    uint32_t *worker);
/* When the recorder looked at all rings, for this message of samples or switches; 0 or -1. */
int look_of(struct reader *in, const struct message *message, int64_t *look_ns);
/* Writes the location's remaining samples from before UNTIL_NS of its own clock; INT64_MAX: all. */
void samples_before(struct sample_pass *pass, uint32_t location, int64_t until_ns,
    const struct moves *moves);
void samples_end(struct sample_pass *pass);

#endif
