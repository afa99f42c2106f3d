/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of a block of calls as codes and bits: trace.5, Coded times. */
#ifndef TIMES_H
#define TIMES_H

#include "calls.h"

/* Enters, or gaps: the time since the leave of the row before. A part has the times of its call. */
static const struct column_type time_type = { 8, true, true, 0 };
static const struct column_type duration_type = { 8, false, true, 0 };

enum { TIME_CUTS = 80 };

struct coded_times {
	unsigned char *codes, *bits;
	size_t code_bytes, bit_bytes;
	/* offsets in codes at which other call sites, with other frequencies, begin */
	uint32_t cuts[TIME_CUTS];
	unsigned cut_count;
};

/* ROWS: by site. 0; -1: no memory, or a call begins before the last one ends: no code for that. */
int times_code(const struct calls *calls, const uint32_t *rows, struct coded_times *coded);
void times_free(struct coded_times *coded);

/* The rows sorted by call site, in their own order within each; free() it. NULL: no memory. */
uint32_t *rows_by_site(const struct calls *calls);

/*
 * Decodes gaps, the first of which is BEGIN_NS, and durations into enter_ns and leave_ns of a block
 * whose other columns are there. 0; -1: no memory, or codes and bits do not fit the block.
 */
struct bytes { const void *at; size_t size; };
int times_decode(struct calls *calls, const uint32_t *rows, int64_t begin_ns, struct bytes codes,
    struct bytes bits);

#endif
