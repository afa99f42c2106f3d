/* SPDX-License-Identifier: BSD-3-Clause */
/* Delays by rank and piece of code, each with a number that stays. */
#ifndef DELAYS_H
#define DELAYS_H

#include "causes.h"

struct delays;

struct delays *delays_new(void);
/* The number of that, which may be new. */
uint32_t delay_of(struct delays *delays, uint32_t key, int32_t rank);
void delay_add(struct delays *delays, uint32_t number, double short_ns, double long_ns);
/* Into the cells of ranks and sites. */
void delays_tell(const struct delays *delays, struct imbalance *im);
/* At most MOST of them, from *NEXT on, which goes on; and one of another part of the run, but for the cells. */
size_t delays_some(const struct delays *delays, size_t *next, struct delay *some, size_t most);
void delay_join(struct delays *delays, const struct delay *more);
/* A copy, most costly first, to be freed. */
struct delay *delays_sorted(const struct delays *delays, size_t *count);

#endif
