/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passing over blocks of calls: what the reader needs of them is their small values, and where they
 * end. Of each column only the beginning is read; the rest is a hole in the reader's buffer.
 */
#ifndef SKIM_H
#define SKIM_H

#include "stream.h"

enum { SKIM_BYTES = 1 << 14 };	/* asked of the kernel at once */

/*
 * Brings the message that begins at the unread part into the buffer, with holes, where it is a block
 * of calls as writers make them. Anything else, damage included, is left for the reader to read whole.
 */
void skim(struct reader *in);

#endif
