/* SPDX-License-Identifier: BSD-3-Clause */
/* What if: factors on selected computing or communication, as given to --scale. */
#ifndef SCALE_H
#define SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "definitions.h"

struct scales { struct scale *items; size_t count, capacity; };

/*
 * "rank=3,site=NAME,call=MPI_Bcast factor=0.5": commas between the parts, or a blank before
 * factor. If the factor is the next word of the command line, takes it from *NEXT of ARGV.
 */
void scale_add(struct scales *scales, const char *text, int argc, char **argv, int *next);
/* The factor of the computation before a call at SITE, or of that call (an index of call_name). */
double scale_factor(struct scales *scales, const struct definitions *known, uint32_t rank,
    uint16_t call, uint32_t site, bool compute);

#endif
