/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool's state, and how it tells the path, in whichever form. */
#ifndef TELL_H
#define TELL_H

#include "choice.h"
#include "distance.h"
#include "functions.h"
#include "options.h"
#include "output.h"
#include "run.h"
#include "whatif.h"

struct critpath {
	struct options opt;
	struct team team;
	struct part part;		/* of --part */
	struct run run;
	struct writer out;
	struct text text;
	struct json json;		/* onto it */
	struct segments segments;	/* of one stretch, or of a part of it */
	struct segment_file early;	/* of the stretch, before it has ended */
	struct report report;
	struct whatif whatif;
	struct functions functions;
	struct distance distance;	/* of --distance */
	struct choice choice;		/* of --needed */
	bool path_counted;		/* they know the path; it need not be told again */
};

void begin_output(struct critpath *c, int argc, char **argv);
/* A message of the input, which a stream passes on. */
void pass_message(struct critpath *c, const struct message *message);
/* Into the sums, and into JSON. */
void report_segments(struct critpath *c, const struct segments *segments);
/* The same, and into a stream: the rest of a stretch, or all of it. */
void put_segments(struct critpath *c, const struct segments *segments);
void end_output(struct critpath *c);
/* What an approximate path lacks, when all else is out. */
void tell_gaps(const struct critpath *c);

#endif
