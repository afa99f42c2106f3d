/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of places that were sampled. */
#ifndef SAMPLED_PLACE_H
#define SAMPLED_PLACE_H

#include "definitions.h"

/* Its function is known by name, and so may be file and line. */
bool place_has_lines(const struct definitions *known, uint32_t site);
/* The function of a sampled place; "[module]" where that is all that is known. */
const char *place_name(const struct definitions *known, uint32_t site, char *text, size_t size);

#endif
