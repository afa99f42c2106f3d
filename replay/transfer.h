/* SPDX-License-Identifier: BSD-3-Clause */
/* How messages get across: pools.c, links.c, transfer.c. */
#ifndef TRANSFER_H
#define TRANSFER_H

#include "engine.h"

/* pools.c */
uint32_t flight_new(struct engine *engine);
void flight_unref(struct engine *engine, uint32_t flight);
uint32_t instance_new(struct engine *engine, uint32_t members);
void instance_unref(struct engine *engine, uint32_t instance);
void pool_begin(struct pool *pool, int64_t total);
bool is_free(const struct pool *pool);
/* Takes one for a message that has none, as FLAG tells; false: there is none, and it waits in QUEUE. */
bool pool_take(struct engine *engine, struct pool *pool, struct queue *queue, uint32_t flight,
    uint8_t flag);
void queue_add(struct engine *engine, struct queue *queue, uint32_t flight);
void queue_add_first(struct engine *engine, struct queue *queue, uint32_t flight);
void queue_remove(struct engine *engine, struct queue *queue, uint32_t flight);
uint32_t queue_take(struct engine *engine, struct queue *queue);	/* NONE: it is empty */

/* links.c */
void place_begin(struct place *place, int64_t in, int64_t out);
bool links_take(struct engine *engine, uint32_t flight);	/* false: it waits for one */
void links_give(struct engine *engine, uint32_t flight);	/* and who waits for them goes on */

/* transfer.c: how messages get across. */
void transfer_begin(struct engine *engine);
double latency_ns(const struct engine *engine, uint32_t source, uint32_t target);
bool is_between_nodes(const struct engine *engine, uint32_t source, uint32_t target);
double flight_latency_ns(const struct engine *engine, const struct flight *flight);	/* once routed */
/* By which wire it goes, and how long. */
void flight_route(const struct engine *engine, struct flight *flight, int64_t tag, uint64_t bytes);
void transfer_start(struct engine *engine, uint32_t flight, double at_ns);
void transfer_try(struct engine *engine, uint32_t flight);	/* takes what it lacks, or waits */
void transfer_end(struct engine *engine, uint32_t flight);	/* gives back what it held */
void bus_take_all(struct engine *engine, uint32_t instance);	/* in the end an EVENT_INSTANCE */
void bus_give_all(struct engine *engine, uint32_t instance);

#endif
