/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the formats: the options, and what they read of a stream. */
#ifndef EXPORT_H
#define EXPORT_H

#include "../../base/run/graph_input.h"
#include "../../base/run/segments.h"
#include "../../base/tool/text.h"
#include "../../base/tool/tool.h"
#include "../../base/tool/whole_file.h"

struct export {
	char **files;		/* ends with NULL; none: standard input */
	const char *name;	/* of the output; NULL: standard output */
	struct whole_file out;	/* formats of one file write it */
	int64_t from_ns, to_ns;	/* calls that overlap this interval */
	struct ranks ranks;
	bool scout;		/* only what Scalasca's scout accepts */
	bool speedscope;	/* the path for it, not as folded lines */
};

/* Whether a call of that rank and time is wanted. */
static inline bool
is_wanted(const struct export *export, int32_t rank, int64_t enter_ns, int64_t leave_ns)
{
	return has_rank(&export->ranks, rank) && leave_ns >= export->from_ns &&
	    enter_ns <= export->to_ns;
}

/* Whether the whole stream is wanted. */
static inline bool
is_all_wanted(const struct export *export)
{
	return export->ranks.count == 0 && export->from_ns == INT64_MIN &&
	    export->to_ns == INT64_MAX;
}

/*
 * Reads a stream of any content for an observer of messages, or of calls, too. Then a graph goes
 * through the engine of lp-imbalance, IM, which adds the waits of each call. Returns whether these
 * are known.
 */
struct imbalance;
struct observer;
bool observe(struct imbalance *im, struct observer *observer, struct reader *in);
struct reader *open_stream(const char *file);

/* Rows of a location whose waits are not known yet: those of its calls that IM has not counted. */
struct uncounted {
	struct calls rows;
	size_t begin;		/* rows before it are counted */
};
/* Adds a block. */
void uncounted_add(struct uncounted *of, struct reader *in, const struct message *message,
    const struct calls *block);
/* The end of the first call. */
size_t uncounted_end(const struct uncounted *of);
/* The first call, up to END, is counted. Returns how many rows are dropped. */
size_t uncounted_drop(struct uncounted *of, size_t end);

/* The segments in a message; NULL: it has none. Dies on bad input. */
const struct segments *message_segments(struct reader *in, const struct message *message,
    const struct definitions *known);

/* The frames of a site, outermost first, as numbers of places in FRAMES. */
enum { PLACES = 256 };
size_t site_frames(const struct definitions *known, uint32_t site, uint32_t frames[PLACES]);

/* One function per format. */
void export_prv_files(const struct export *export);
void export_perfetto(const struct export *export);
void export_flame(const struct export *export);
void export_extrap(const struct export *export);
void export_csv(const struct export *export);
void export_otf2(const struct export *export);
void export_waits(const struct export *export);

#endif
