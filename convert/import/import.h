/* SPDX-License-Identifier: BSD-3-Clause */
/* What the importers share: text that may be compressed, and a graph that is built beside
 * memory. */
#ifndef IMPORT_H
#define IMPORT_H

#include <zlib.h>

#include "../../base/stream/calls.h"
#include "../../base/tool/sorter.h"
#include "../../base/tool/spill.h"
#include "../../base/tool/tool.h"

/* ---- text.c: lines of a file, of standard input, or of either in gzip form ---------------- */

struct text {
	int fd;
	bool gzip, ended;	/* compressed; and all of it is inflated */
	z_stream zlib;
	unsigned char packed[1 << 16];	/* as in the file */
	uint64_t file_bytes;	/* read of it */
	uint64_t file_size;	/* 0 where it is not known, as of a pipe */
	const char *name;	/* for messages */
	char *line;		/* without its end; valid until the next one is read */
	size_t capacity;
	char buffer[1 << 17];	/* text that is not read yet: AT to before FILLED */
	size_t at, filled;
	uint64_t offset;	/* of the line, in the text */
	uint64_t next;		/* of the line behind it */
	size_t number;		/* of the line, from 1 */
};

void text_open(struct text *text, const char *file);	/* NULL or "-": standard input */
void text_close(struct text *text);
bool text_next(struct text *text);			/* false: the text has ended */
/* Whether the file, as far as it is known, may stand for so much memory: trace.5, NUMBERS. */
bool text_allows(const struct text *text, uint64_t count, size_t size);
_Noreturn void die_text(const struct text *text, const char *what);	/* at the line read last */
void text_end(const struct text *text, const char *at);	/* nothing is behind the last field */
/* The next integer of a line of numbers with ':' or ',' between them, or death; *AT goes behind
 * it. */
int64_t text_integer(const struct text *text, char **at, int64_t min, int64_t max);

/* ---- build.c, build_match.c, build_write.c: a graph ------------------------------------------ */

/*
 * Rows go to temporary files by location, edges are sorted there by the round of blocks in which
 * they are written: memory is for locations, and for the members of one collective.
 */
struct build {
	/* locations: ranks, and behind them their further threads */
	uint32_t ranks, locations;
	size_t round_rows;		/* rows of a location in a round */
	struct spill rows;		/* by location */
	struct build_location {
		uint64_t rows, head;	/* so far; the last one that is no part */
		int64_t enter_ns;	/* of the last row that was put, or taken */
	} *of;
	struct build_thread { uint32_t rank, thread; } *threads;	/* from location ranks on */
	size_t thread_capacity;
	int64_t run_ns;
	struct sorter messages, members, open_ends, patches, called;
	uint64_t message_count, instance_count, member_count;
	struct build_comm {
		int32_t *members;	/* world ranks; NULL: all of them, MPI_COMM_WORLD */
		int32_t size;
	} *comms;			/* by number in the stream; 0 to 2 are not used */
	size_t comm_count, comm_capacity;
	struct build_id {
		uint32_t number;	/* in the stream */
		int32_t size, *members;
	} *ids;				/* by its number in the file; size 0: not defined */
	size_t id_capacity;
	uint64_t comm_members;
	uint64_t unmatched_sends, unmatched_receives, unmatched_collectives;
	bool *used;			/* by index of call_name */
	/* writes sites; NULL: there are none */
	void (*define)(void *context, struct writer *out);
	void *context;
	struct build_useful {		/* by rank; NULL: not known */
		int64_t running_ns, instructions, cycles;
	} *useful;
};

uint16_t build_call(const char *name);	/* index of call_name */
/* All ranks with so many further threads each, NULL: none. */
void build_begin(struct build *build, uint32_t ranks, const int32_t *further);
/* Its seq. */
uint64_t build_row(struct build *build, uint32_t location, const struct call_row *row);
/* The row is what is not known before all is read: another peer, and tag and bytes received unless
 * they are 0. */
struct build_patch {
	uint64_t round;			/* set by build_patch */
	uint64_t head, seq;		/* the row, and the one that it is a part of */
	uint32_t location;
	int32_t peer, tag;
	bool peer_known, tag_known, bytes_known;
	uint64_t bytes_received;
};
void build_patch(struct build *build, const struct build_patch *patch);
/* The NUMBERth message: in a round they are written in the order of these. */
void build_message(struct build *build, uint64_t number, uint32_t source, uint64_t send,
    uint32_t target, uint64_t receive);
/* A rank's call of a collective. The k-th of all members of a communicator are one instance. */
struct build_call {
	uint32_t comm;		/* as the other tool numbers it */
	int32_t size;		/* of the communicator */
	uint32_t rank, location;	/* the same but for further threads */
	int64_t at_ns;
	uint64_t seq;
	uint64_t index;		/* set by build_match: which of the rank's collectives on it */
	bool root;		/* known to be the root: its rank becomes the peer of all */
};
void build_called(struct build *build, const struct build_call *call);
void build_match(struct build *build);
/* Into ids, from a line COMM:N:task:task..., whose numbers begin at BASE. */
void build_comm(struct build *build, const struct text *text, char *at, int64_t base);
void build_write(struct build *build, int argc, char **argv);

/* Definitions, as each importer of traces writes them. */
void write_run(struct writer *out, uint32_t ranks, uint32_t locations, int64_t run_ns,
    uint64_t date_s);
void write_location(struct writer *out, uint32_t location, uint32_t rank, uint32_t thread);
struct place {			/* what is NULL or 0 is not known */
	uint32_t site;
	uint64_t offset;
	const char *call, *function, *file;
	int64_t line;
};
void write_place(struct writer *out, const struct place *place);
void write_stack(struct writer *out, uint32_t site, const uint32_t *frames, uint32_t depth);

/* What build.c keeps for build_write.c. */
struct build_edge {		/* a message */
	uint64_t round, number, send, receive;
	uint32_t source, target;
};
struct build_member {		/* of an instance */
	uint64_t round, number, instance, seq;
	uint32_t location;
};
struct build_end {		/* of an edge that is written in a later round than its row */
	uint64_t begin, round, seq;
	uint32_t location;
};
/* a row is left, which is one */
bool build_any(struct build *build, uint32_t location, bool *part);
void build_take(struct build *build, uint32_t location, struct call_row *row);
void build_end(struct build *build, uint32_t location, uint64_t seq, uint64_t round);
/* The last round in which an edge with this end may be written without its block. */
static inline uint64_t
build_round(const struct build *build, uint64_t round, uint64_t seq)
{
	/* Parts that spill over are written a round early; that does no harm. */
	return seq / build->round_rows > round ? seq / build->round_rows : round;
}

/* ---- measurement.c ------------------------------------------------------------------------- */

struct samples {		/* trace.5, MEASUREMENTS */
	const char *name, *function, *role, *guideline;
	int number;
	uint64_t bytes, volume, count;
	const uint64_t *ns;
};
void write_mpirun(struct writer *out, uint64_t ranks, const char *sync);
void write_samples(struct writer *out, const struct samples *samples);
_Noreturn void die_line(const struct text *text, const char *what);	/* at the line read last */
/* Each file, or standard input, into one stream. */
void import_measurement(char **files, int argc, char **argv,
    void (*read_file)(struct text *, struct writer *));

/* ---- one source file a format; FILES end with NULL, none is standard input ----------------- */

void import_dim(char **files, int argc, char **argv);
void import_prv(char **files, int argc, char **argv);
void import_reprompi(char **files, int argc, char **argv);
void import_pingpong(char **files, int argc, char **argv);
void import_otf2(char **files, int argc, char **argv);

#endif
