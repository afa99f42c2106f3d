/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lp-export and lp-import say to each other in an archive of OTF2 beside what every reader knows.
 *
 * A row of a call is told by the event that OTF2 has for it. What that does not say, or says
 * otherwise, stands in attributes of the event, one a column; where OTF2 has no event the attributes
 * are those of the call's Enter, or, for a further row, of a parameter. Other readers may leave
 * them all out.
 */
#ifndef OTF2_WORDS_H
#define OTF2_WORDS_H

#include <otf2/otf2.h>

/* X(NAME, field of a row, name, what it is, type) */
#define OTF2_COLUMNS(X) \
	X(COMM, comm, "longpole::communicator", "of the call: a communicator, window or file", COMM) \
	X(PEER, peer, "longpole::peer", "rank; -1: any, -2: none, -3: does not apply, -4: MPI_ROOT", INT32) \
	X(TAG, tag, "longpole::tag", "-1: any, -2: does not apply", INT32) \
	X(SENT, sent, "longpole::bytes_sent", "handed to others", UINT64) \
	X(RECEIVED, received, "longpole::bytes_received", "got from others; of a posted receive the room", UINT64) \
	X(REQUEST, request, "longpole::request", "how many operations before this one lies what it is about", UINT32) \
	X(REQUEST_AT, request_at, "longpole::request_at", "or 1 + the location of that, which request counts there", \
	    UINT32) \
	X(FOLDED, folded, "longpole::folded", "further calls that this one stands for", UINT32)

enum otf2_word {
#define X(NAME, field, name, what, type) WORD_##NAME,
	OTF2_COLUMNS(X)
#undef X
	WORD_COLUMNS,
	WORD_ASIDE = WORD_COLUMNS,	/* the event repeats for others what attributes say */
	WORD_WAIT, WORD_WAIT_STATE, WORD_WAITS_FOR,	/* of a Leave */
	WORD_KIND, WORD_CALL, WORD_SITE,		/* of the path's metric */
	WORDS
};

/* What the events of a row say. */
struct otf2_row {
	uint32_t comm;		/* number in the stream */
	int32_t peer, tag;
	uint64_t sent, received;
	uint32_t request, request_at, folded;
};

/* Descriptions of regions, and how names begin; a number follows. */
#define OTF2_CREATOR "longpole"
#define OTF2_CALL "call of longpole"
#define OTF2_PLACE "call site of longpole"	/* and in lines: offset, module, call,
							   function, file, line it was inlined into, ... */
#define OTF2_COMMUNICATOR "communicator "
#define OTF2_WINDOW "window "
#define OTF2_FILE "file "
#define OTF2_PARTITIONS "partitions "
/*
 * Properties of the root of the system tree: lists of numbers, as trace.5 has them. Members are there
 * where some are not of the run, which groups of OTF2 cannot hold.
 */
#define OTF2_MEMBERS "longpole::members::"		/* and a communicator */
#define OTF2_REMOTE "longpole::remote::"
#define OTF2_NEIGHBOURS "longpole::neighbours::"	/* and a communicator, :: and a member */
#define OTF2_RANK "longpole::"			/* before the keys of a message of kind rank */

/* Those keys: X(name). The program is apart: a string. */
#define OTF2_RANK_KEYS(X) \
	X(rows) X(ended) X(offset_ns) X(drift_ppb) X(error_ns) X(reversed) X(reversed_left) X(moved_ns)

#endif
