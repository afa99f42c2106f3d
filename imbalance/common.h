/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When two locations, or a location and the others of a communicator, synchronised last: the latest
 * enter of the two calls, or of all. The last few times are kept for each.
 */
#ifndef COMMON_H
#define COMMON_H

#include <stdint.h>

void common_begin(void);
uint64_t common_pair(uint32_t a, uint32_t b);		/* keys: of two locations */
uint64_t common_comm(uint32_t location, uint32_t comm);	/* and of one in a communicator */
void common_note(uint64_t key, int64_t at_ns);
/*
 * The last before NOW, as one that is being explained may have been noted by the other already;
 * INT64_MIN where there is none.
 */
int64_t common_before(uint64_t key, int64_t now_ns);
/* Times until AT may go. */
void common_forget(int64_t at_ns);

#endif
