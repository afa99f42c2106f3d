/* SPDX-License-Identifier: BSD-3-Clause */
/* What the importers share: text that may be compressed, and a graph that is built in memory. */
#ifndef IMPORT_H
#define IMPORT_H

#include <zlib.h>

#include "../../base/stream/calls.h"
#include "../../base/tool/tool.h"

/* ---- text.c: lines of a file, of standard input, or of either in gzip form ---------------- */

struct text {
	gzFile file;
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
_Noreturn void die_text(const struct text *text, const char *what);	/* at the line read last */
void text_end(const struct text *text, const char *at);	/* nothing is behind the last field */
/* The next integer of a line of numbers with ':' or ',' between them, or death; *AT goes behind it. */
int64_t text_integer(const struct text *text, char **at, int64_t min, int64_t max);

/* ---- build.c, build_write.c: a graph in memory --------------------------------------------- */

struct build {
	uint32_t ranks, locations;	/* locations: ranks, and behind them their further threads */
	struct calls *rows;		/* by location */
	size_t row_capacity;
	struct build_thread { uint32_t rank, thread; } *threads;	/* from location ranks on */
	size_t thread_capacity;
	struct build_message {
		uint32_t source, target;	/* locations */
		uint64_t send, receive;
	} *messages;
	size_t message_count, message_capacity;
	struct build_instance {
		size_t first;		/* of its members, in the order in which they were added */
		uint32_t count;
	} *instances;
	size_t instance_count, instance_capacity;
	uint32_t *member_location;
	uint64_t *member_seq;
	size_t member_count, member_capacity, member_seq_capacity;
	struct build_call *called;
	size_t called_count, called_capacity;
	struct build_comm {
		int32_t *members;	/* world ranks; NULL: all of them, MPI_COMM_WORLD */
		int32_t size;
	} *comms;			/* by number in the stream; 0 to 2 are not used */
	size_t comm_count, comm_capacity;
	uint64_t unmatched_sends, unmatched_receives, unmatched_collectives;
	bool *used;			/* by index of call_name */
	struct build_useful {		/* by rank; NULL: not known */
		int64_t running_ns, instructions, cycles;
	} *useful;
};

struct build_row {
	int64_t enter_ns, leave_ns;
	uint16_t call;			/* index of call_name; 0: a part */
	uint32_t comm, request;
	int32_t peer, tag;
	uint64_t bytes_sent, bytes_received;
};

/* A row in which nothing applies. */
#define BUILD_ROW (struct build_row){ .peer = NO_PEER, .tag = NO_TAG }

uint16_t build_call(const char *name);	/* index of call_name */
void build_begin(struct build *build, uint32_t ranks);
uint32_t build_thread(struct build *build, uint32_t rank, uint32_t thread);	/* its location */
/* Its seq. */
uint64_t build_row(struct build *build, uint32_t location, const struct build_row *row);
void build_message(struct build *build, uint32_t source, uint64_t send, uint32_t target,
    uint64_t receive);
/* An instance is begun, and then gets its members. */
void build_instance(struct build *build);
void build_member(struct build *build, uint32_t location, uint64_t seq);
/* A rank's call of a collective. The k-th of all members of a communicator are one instance. */
struct build_call {
	uint32_t comm;		/* as the other tool numbers it */
	int32_t size;		/* of the communicator */
	uint32_t rank, location;	/* the same but for further threads */
	int64_t at_ns;
	uint64_t seq;
	bool root;		/* known to be the root: its rank becomes the peer of all */
	uint64_t index;		/* set by build_match: which of the rank's collectives on it */
};
void build_called(struct build *build, const struct build_call *call);
void build_match(struct build *build);
/* The number of a communicator of these world ranks, which it keeps. */
uint32_t build_comm(struct build *build, int32_t *members, int32_t size);
void build_write(struct build *build, int argc, char **argv);

/* ---- one source file a format; FILES end with NULL, none is standard input ----------------- */

void import_dim(char **files, int argc, char **argv);
void import_prv(char **files, int argc, char **argv);
void import_reprompi(char **files, int argc, char **argv);
void import_pingpong(char **files, int argc, char **argv);
void import_otf2(char **files, int argc, char **argv);

#endif
