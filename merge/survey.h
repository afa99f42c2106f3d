/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the messages of a trace tell of its clocks: which are reversed, how long the shortest take,
 * and how fast clocks drift apart. Memory: ranks, and pairs of clocks between which messages went.
 */
#ifndef SURVEY_H
#define SURVEY_H

#include "merge.h"

struct survey {
	struct input *input;
	struct pairs *pairs;
	uint64_t *reversed;	/* by rank: receives and members of collectives that end before */
	uint64_t reversed_count;	/* what they wait for has begun; and of all ranks */
	int64_t least_latency_ns;	/* of all pairs of clocks; 0 where there are no messages */
};

/* Of the trace as corrected so far; TELL of calls that wait in a circle. */
void survey_open(struct survey *survey, struct input *input, bool tell);
void survey_close(struct survey *survey);

/* A lower bound for what a message between two ranks takes. */
int64_t survey_latency_ns(const struct survey *survey, int32_t rank, int32_t other);

/* Whether there are clocks of which only the offset is known. */
bool lacks_drift(const struct input *input);
/* Corrects clocks whose drift no samples tell for what messages tell, where they tell any. */
void survey_drift(struct input *input);

/* clc.c: shifts until no message is reversed, where one is; notes what that took. */
void correct_order(struct input *input);

#endif
