/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the importers: text that may be compressed, and a graph built outside memory. */
#ifndef IMPORT_H
#define IMPORT_H

#include <zlib.h>

#include "../../base/run/definitions.h"
#include "../../base/stream/calls.h"
#include "../../base/tool/sorter.h"
#include "../../base/tool/spill.h"
#include "../../base/tool/tool.h"

/* ---- text.c: lines of a file, of standard input, or of either in gzip form ---------------- */

struct source {
	int fd;
	bool gzip, ended;	/* compressed; fully inflated */
	z_stream zlib;
	unsigned char packed[1 << 16];	/* as in the file */
	uint64_t file_bytes;	/* read so far */
	uint64_t file_size;	/* 0: unknown, as for a pipe */
	const char *name;	/* for messages */
	char *line;		/* without its end; valid until the next line is read */
	size_t capacity;
	char buffer[1 << 17];	/* unread text: AT to before FILLED */
	size_t at, filled;
	uint64_t offset;	/* of the line, in the text */
	uint64_t next;		/* of the next line */
	size_t number;		/* of the line, from 1 */
};

void text_open(struct source *text, const char *file);	/* NULL or "-": standard input */
void text_close(struct source *text);
bool text_next(struct source *text);			/* false: end of text */
/* Whether a file of the size known so far may stand for so much memory: trace.5, NUMBERS. */
bool text_allows(const struct source *text, uint64_t count, size_t size);
/* reports the line read last */
_Noreturn void die_text(const struct source *text, const char *what);
/* dies if anything follows the last field */
void text_end(const struct source *text, const char *at);
/* The next integer of those separated by ':' or ','. Advances *AT; dies if there is none. */
int64_t text_integer(const struct source *text, char **at, int64_t min, int64_t max);

/* ---- build.c, build_write.c: a graph ------------------------------------------ */

/*
 * Rows go to temporary files by location. Edges are sorted there by the round in which they are
 * written. So memory holds only locations and the members of one collective.
 */
struct build {
	/* locations: ranks first, then their further threads */
	uint32_t ranks, locations;
	size_t round_rows;		/* rows of a location per round */
	struct spill rows;		/* by location */
	struct build_location {
		uint32_t rank, thread;	/* thread 0: the first of its rank */
		uint64_t rows, head;	/* so far; the last row that is not a part */
		struct call_row row;	/* the last one written, or read */
	} *of;
	struct build_regions *regions;	/* by location */
	int64_t run_ns;
	struct sorter messages, members, open_ends, patches;
	struct sorter calls, sides;	/* of collectives; of messages: see build_match */
	uint64_t message_count, instance_count, member_count;
	struct communicator *comms;	/* by number in the stream; 0 and 2 are unused */
	size_t comm_count, comm_capacity;
	uint32_t *ids;			/* these, by number in the file; 0: undefined */
	size_t id_capacity;
	uint64_t comm_members;
	uint64_t unmatched_sends, unmatched_receives, unmatched_collectives;
	bool *used;			/* by index of call_name */
	uint16_t events[6][256];	/* calls of Extrae's events, by type and value */
	bool trace;			/* without edges: for lp-graph */
	uint64_t date_s;		/* of the run; 0: unknown */
	/* Write definitions: of a rank, unless NULL; further ones, unless NULL. */
	void (*define_rank)(void *context, uint32_t rank, struct writer *out);
	void (*define)(void *context, struct writer *out);
	void *context;
	struct build_useful {		/* by rank; NULL: unknown */
		int64_t running_ns, instructions, cycles;
	} *useful;
};

uint16_t build_call(const char *name);	/* index of call_name */
/* The call of one of Extrae's events: base/mpi/paraver.h. */
uint16_t build_event(const struct build *build, int64_t type, int64_t value);
/* RANK_OF: the ranks of further threads, whose locations follow those of the ranks. */
void build_begin(struct build *build, uint32_t ranks, const uint32_t *rank_of, uint32_t further);
/* Returns its seq. */
uint64_t build_row(struct build *build, uint32_t location, const struct call_row *row);
/* A region of the user begins on the location; 0: the innermost one ends. */
void build_region(struct build *build, uint32_t location, int64_t at_ns, uint32_t region);
void build_regions_end(struct build *build);	/* at build->run_ns: ends what is open */
/* Writes what comes before a block that is left at UNTIL_NS; INT64_MAX: the location's last. */
void build_regions_before(struct build *build, struct writer *out, uint32_t location,
    int64_t until_ns);
/* Columns of a row that were unknown when it was read. */
enum {
#define X(field, key, type, is_signed, required, absent) KNOWN_##field,
	CALL_COLUMNS(X)
#undef X
};
struct build_patch {
	uint64_t round;			/* set by build_patch */
	uint64_t head, seq;		/* the row, and the row that it is a part of */
	uint32_t location;
	unsigned known;			/* bits of columns: 1 << KNOWN_peer */
	struct call_row row;
};
void build_patch(struct build *build, const struct build_patch *patch);
/* Adds message NUMBER; a round writes its messages in order of numbers. */
void build_message(struct build *build, uint64_t number, uint32_t source, uint64_t send,
    uint32_t target, uint64_t receive);
/*
 * A call of a collective, or a side of a message. The k-th calls of all members of a channel belong
 * together: of ranks on a communicator, or of the two sides of messages with the same ends, tag and
 * communicator.
 */
enum { SEND_SIDE, RECEIVE_SIDE };
#define NOWHERE UINT64_MAX	/* seq of a side outside of calls */
struct build_call {
	uint64_t channel[2];	/* as numbered by the other tool */
	uint32_t size;		/* of the communicator */
	uint32_t member, location;	/* rank or side; the location of further threads differs */
	int64_t at;		/* orders the calls of a member */
	uint64_t seq;
	uint64_t index;		/* set by build_match: number of the member's call */
	bool root;		/* known to be the root: its rank becomes the peer of all */
};
/* Joins build->calls or build->sides. SEVERAL: a member may have more than one in a channel. */
void build_match(struct build *build, struct sorter *from, bool several);
/* Adds a communicator from a line COMM:N:task:task..., with tasks from BASE. */
void build_comm(struct build *build, const struct source *text, char *at, int64_t base);
void build_write(struct build *build, int argc, char **argv);

/* Kept by build.c for build_write.c. */
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
/* The last round in which an edge with this end may be written without its block. */
static inline uint64_t
build_round(const struct build *build, uint64_t round, uint64_t seq)
{
	/* Parts beyond the round's end are counted a round early, which does no harm. */
	return seq / build->round_rows > round ? seq / build->round_rows : round;
}

/* ---- one function per format; FILE NULL: standard input ---- */

void import_dim(const char *file, int argc, char **argv);
void import_prv(const char *file, int argc, char **argv);
void import_otf2(const char *file, int argc, char **argv);
void take_reprompi(struct source *text, struct writer *out);
void take_pingpong(struct source *text, struct writer *out);

#endif
