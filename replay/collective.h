/* SPDX-License-Identifier: BSD-3-Clause */
/* How collectives come about and what they cost: collective.c, collective_marks.c, models.c. */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H

#include "engine.h"

/* collective.c: true where the runner may go on at once. */
bool collective_enter(struct engine *engine, uint32_t runner, const struct op *op, bool waits);
bool collective_wait(struct engine *engine, uint32_t runner, const struct op *op);
void collective_done(struct engine *engine, uint32_t instance, double at_ns);
void collective_part(struct engine *engine, uint32_t flight);	/* of a reduction: data is at the root */
struct cost reduction_startup(const struct engine *engine, uint32_t runner, uint32_t instance);
struct cost collective_startup(const struct engine *engine, uint32_t runner, uint32_t instance);
/* collective_marks.c: for who looks on. */
void mark_leave(struct engine *engine, uint32_t instance, uint32_t member, const struct cost *cost);
void mark_arrival(struct engine *engine, uint32_t runner, uint32_t instance, uint32_t member, bool waits);
void mark_if_sync(struct engine *engine, uint32_t instance);
bool holds_all(const struct instance *instance);	/* all leave at one time */

/* models.c */
struct cost collective_cost(const struct engine *engine, const struct instance *instance);
enum operation operation_of(uint16_t call);

#endif
